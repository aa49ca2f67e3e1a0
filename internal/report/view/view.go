// Package view makes what a section shows of rows × columns: a section declares its rows, its
// columns and what a cell of both is; the form is a table or the lines of a plot. Package page
// draws either as HTML, Markdown and text.
package view

import (
	"slices"

	"rumbench/internal/page"
)

// Column is a column with the cell that it has in a row.
type Column[R any] struct {
	Name, Title string
	Cell        func(R) page.Cell
}

// Words returns a column of words, and Number a column of numbers that are formatted.
func Words[R any](name, title string, text func(R) string) Column[R] {
	return Column[R]{name, title, func(r R) page.Cell { return page.Words(text(r)) }}
}

// Number returns a column of numbers as text.
func Number[R any](name, title string, text func(R) string) Column[R] {
	return Column[R]{name, title, func(r R) page.Cell { return page.Cell{Text: text(r), Number: true} }}
}

// Table completes a table: each column is declared with its cells.
func Table[R any](t page.Table, rows []R, head func(R) page.Row, columns ...Column[R]) page.Table {
	for _, c := range columns {
		t.Columns = append(t.Columns, page.Column{Name: c.Name, Title: c.Title})
	}
	if len(rows) > 0 {
		t.Add(Rows(rows, head, columns, func(r R, c Column[R]) page.Cell { return c.Cell(r) })...)
	}
	return t
}

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

// Any reports whether any cell of a row has a value.
func Any(r page.Row) bool {
	return slices.ContainsFunc(r.Cells, func(c page.Cell) bool { return !c.Absent })
}
