package page

import (
	"strconv"
	"strings"

	"rumbench/internal/quantity"
)

// Unknown stands for what is not known. It is never a 0.
const Unknown = quantity.Unknown

// Table is rows in groups under common columns.
type Table struct {
	Title   string
	Note    string // a sentence below the title
	Level   int    // of the title as a heading; 0 is 3
	Head    string // heads the first column
	Columns []Column
	Groups  []Group
	Folded  bool // seldom read: shown when asked for
	Long    bool // too long for a post: HTML only
	Signed  bool // signs have a place of their own behind the numbers
}

// Column is a column's head.
type Column struct {
	Name, Sub string
	Title     string // what it means
	Link      string // the id of what explains it, or of the section it is about
}

// Group is some rows under a common head.
type Group struct {
	Name, Title string   // "" without a head of its own
	Link        string   // as of a column
	Subs        []string // what the columns' numbers are of or per; may be nil
	Rows        []Row
	Foot        []string // lines below it in a text; other forms have none
}

// Row is a row.
type Row struct {
	Head   string
	Series int    // whose row it is, -1 for others
	Base   bool   // of the series that others are compared with
	Class  string // of a row that is not of the page's own numbers
	Cells  []Cell
}

// Cell is a number with its ratio to another, or text.
type Cell struct {
	Text    string
	Per     string  // the denominator, where it is not the column's
	Ratio   string  // "" without one
	Sign    string  // how it compares, without colour
	Class   string  // the same as a style
	Tag     string  // why it cannot be compared; then it is hatched
	Title   string  // more of it, for who points at it
	Value   float64 // of a number
	Data    []int   // what the number is made of, by its places in the page's data
	Notes   []Note
	Number  bool // aligned as a number
	Absent  bool
	Differs bool // marked: it differs from its neighbours
}

// Words is a cell of words.
func Words(s string) Cell { return Cell{Text: s} }

// Absent is a cell without a number, and why there is none.
func Absent(why string) Cell { return Cell{Text: Unknown, Title: why, Absent: true, Number: true} }

// Exact is a number that shows on hover what rounding took away.
func Exact(text, inFull string) Cell {
	c := Cell{Text: text, Number: true}
	if inFull != text {
		c.Title = inFull
	}
	return c
}

// Marks are the numbers of the cell's notes, as "⚠1,2".
func (c Cell) Marks() string {
	if len(c.Notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("⚠")
	for i, n := range c.Notes {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(strconv.Itoa(n.Number))
	}
	return b.String()
}

// Note gives the cell a note, once.
func (c *Cell) Note(n Note) {
	for _, o := range c.Notes {
		if o.ID == n.ID {
			return
		}
	}
	c.Notes = append(c.Notes, n)
}

// class are the styles of a cell. Most are numbers, which have none.
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

// Right reports whether a column holds numbers, which stand to the right.
func (t Table) Right(column int) bool {
	return t.any(func(r Row) bool { return r.Cells[column].Number && !r.Cells[column].Absent })
}

// Empty reports whether the table has nothing to show.
func (t Table) Empty() bool { return !t.any(func(Row) bool { return true }) }

func (t Table) any(is func(Row) bool) bool {
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			if is(r) {
				return true
			}
		}
	}
	return false
}
