package page

import (
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/text/quantity"
)

// Table is rows in groups under common columns.
type Table struct {
	Title   string
	Note    string // a sentence below the title
	Level   int    // of the title as a heading; 0 is 3
	Head    string // the heading of the first column
	Columns []Column
	Groups  []Group
	Signed  bool // signs are aligned after the numbers
}

// Column is a column's heading.
type Column struct {
	Name, Sub string
	Title     string // its meaning
	Link      string // the id of its explanation or section
}

// Columns returns columns of which no more than the names is to be said.
func Columns(names ...string) (out []Column) {
	for _, name := range names {
		out = append(out, Column{Name: name})
	}
	return out
}

// Group is rows under a common heading.
type Group struct {
	Name, Title string   // "" without a heading
	Link        string   // as in Column
	Subs        []string // units or denominators of the columns; may be nil
	Rows        []Row
	Foot        []string // lines below it, in text only
}

// Row is a row of a table.
type Row struct {
	Head   string
	Link   string // the page about it; "" without
	Series int    // the row's series, -1 for none
	Base   bool   // of the series that others are compared with
	Class  string // of a row with numbers from elsewhere
	Cells  []Cell
}

// Cell is a number with its ratio to another, or text.
type Cell struct {
	Text    string
	Link    string  // the page about it; "" without
	Boxes   []Box   // before the text
	Per     string  // small print after the number, mostly its denominator
	Ratio   string  // "" without one
	Sign    string  // the verdict without colour
	Class   string  // the verdict as a style
	Tag     string  // why it cannot be compared; the cell is then hatched
	Title   string  // tooltip
	Value   float64 // of a number
	Data    []int   // indexes in the page's data of the rows behind the number
	Notes   []Note
	Number  bool // aligned as a number
	Absent  bool
	Differs bool // marked: it differs from its neighbours
}

// WordTable returns a table of words. The first column holds the rows' heads.
func WordTable(heads []string, rows ...[]string) Table {
	t := Table{Head: heads[0], Columns: Columns(heads[1:]...), Groups: []Group{{}}}
	for _, words := range rows {
		t.AddWords(words...)
	}
	return t
}

// AddWords adds a row of words. The first is its head.
func (t *Table) AddWords(words ...string) {
	row := Row{Head: words[0]}
	for _, text := range words[1:] {
		row.Cells = append(row.Cells, Words(text))
	}
	t.Add(row)
}

// Add adds rows to the last group, and starts the first group if there is none.
func (t *Table) Add(rows ...Row) {
	if len(t.Groups) == 0 {
		t.Groups = []Group{{}}
	}
	last := &t.Groups[len(t.Groups)-1]
	last.Rows = append(last.Rows, rows...)
}

// Words returns a cell of words.
func Words(s string) Cell { return Cell{Text: s} }

// Absent returns a cell without a number, with the reason.
func Absent(reason string) Cell {
	return Cell{Text: quantity.Unknown, Title: reason, Absent: true, Number: true}
}

// Exact returns a number with its full value as tooltip.
func Exact(text, inFull string) Cell {
	c := Cell{Text: text, Number: true}
	if inFull != text {
		c.Title = inFull
	}
	return c
}

// Marks returns the numbers of the cell's notes, as "⚠1,2".
func (c Cell) Marks() string {
	sign, out := "⚠", ""
	for _, n := range c.Notes {
		out += sign + strconv.Itoa(n.Number)
		sign = ","
	}
	return out
}

// Note adds a note to the cell, once.
func (c *Cell) Note(n Note) {
	if !slices.ContainsFunc(c.Notes, func(o Note) bool { return o.ID == n.ID }) {
		c.Notes = append(c.Notes, n)
	}
}

// class returns the styles of a cell; plain numbers have none.
func (c Cell) class() string {
	var out []string
	for _, is := range []struct {
		so   bool
		name string
	}{{!c.Number, "x"}, {c.Absent, "absent"}, {c.Tag != "", "hatch"}, {c.Differs, "differs"}, {c.Class != "", c.Class}} {
		if is.so {
			out = append(out, is.name)
		}
	}
	return strings.Join(out, " ")
}

// Right reports whether a column holds numbers, which are right-aligned.
func (t Table) Right(column int) bool {
	return slices.ContainsFunc(t.Groups, func(g Group) bool {
		return slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Cells[column].Number && !r.Cells[column].Absent })
	})
}

// Empty reports whether the table has nothing to show.
func (t Table) Empty() bool {
	return !slices.ContainsFunc(t.Groups, func(g Group) bool { return len(g.Rows) > 0 })
}
