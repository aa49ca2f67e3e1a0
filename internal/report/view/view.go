// Package view makes what a section shows of rows × columns: a section declares its rows, its
// columns and what a cell of both is; the form is a table or the lines of a plot. Package page
// draws either as HTML, Markdown and text.
package view

import "rumbench/internal/page"

// Rows returns rows × columns of one kind each.
func Rows[R, C any](rows []R, head func(R) page.Row, columns []C, cell func(R, C) page.Cell) (out []page.Row) {
	for _, r := range rows {
		row := head(r)
		for _, c := range columns {
			row.Cells = append(row.Cells, cell(r, c))
		}
		out = append(out, row)
	}
	return out
}

// Lines returns a line for each row, with a point for each column.
func Lines[R, C any](rows []R, series func(R) int, columns []C, point func(R, C) page.Point) (out []page.Line) {
	for _, r := range rows {
		line := page.Line{Series: series(r), Each: true}
		for _, c := range columns {
			line.Points = append(line.Points, point(r, c))
		}
		out = append(out, line)
	}
	return out
}

// Named returns the head of a row that has a name and no series.
func Named(name string) page.Row { return page.Row{Head: name, Series: -1} }

// Filter returns the parts of a list that are wanted.
func Filter[T any](list []T, wanted func(T) bool) (out []T) {
	for _, v := range list {
		if wanted(v) {
			out = append(out, v)
		}
	}
	return out
}

// Paragraphs returns a paragraph of one style for each text.
func Paragraphs(class string, texts ...string) (out []page.Block) {
	for _, text := range texts {
		out = append(out, page.Prose(class, text))
	}
	return out
}

// Texts returns a list of texts without names.
func Texts(class string, texts ...string) page.List {
	l := page.List{Class: class}
	for _, text := range texts {
		l.Items = append(l.Items, page.Item{Text: text})
	}
	return l
}
