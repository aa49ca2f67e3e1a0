package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"rumbench/internal/compare"
)

// RelativeText writes a relative table as text. Where its columns do not fit
// into the width they are put below each other; a width of 0 is unlimited.
func RelativeText(w io.Writer, r *compare.Relative, style RelativeStyle, width int) error {
	t := relativeTable(r, style, &notes{}, nil)
	common := shorten(t.Columns[:len(r.Targets)])
	return buffered(w, func(b *bufio.Writer) error {
		if r.Durability != "" {
			fmt.Fprintf(b, "⚠ %s\n", DurabilityDiffers(r.Durability))
		}
		fmt.Fprintf(b, "%s\n", t.Note)
		if common != "" {
			fmt.Fprintf(b, "names of targets: %s\n", common)
		}
		g := newGrid(&t)
		for _, columns := range g.fit(width) {
			g.write(b, columns)
		}
		fmt.Fprintln(b)
		relativeFoot(b, r, style, &g.notes)
		return nil
	})
}

// leastCommon is how many characters names must have in common to be shortened.
const leastCommon = 6

// shorten leaves out of names what all begin and end with, whole words only,
// and returns how a name is to be completed; "" where that would save nothing.
func shorten(columns []Column) (common string) {
	if len(columns) < 2 {
		return ""
	}
	first := columns[0].Name
	before, after := len(first), len(first)
	for _, c := range columns[1:] {
		for !strings.HasPrefix(c.Name, first[:before]) {
			before--
		}
		for !strings.HasSuffix(c.Name, first[len(first)-after:]) {
			after--
		}
	}
	for before > 0 && !separates(first, before-1) {
		before--
	}
	for after > 0 && !separates(first, len(first)-after) {
		after--
	}
	for _, c := range columns {
		if len(c.Name) <= before+after {
			return ""
		}
	}
	if before+after < leastCommon {
		return ""
	}
	for i := range columns {
		columns[i].Name = columns[i].Name[before : len(columns[i].Name)-after]
	}
	return first[:before] + "…" + first[len(first)-after:]
}

// separates tells whether a character stands between words: not a point within
// a number.
func separates(s string, i int) bool {
	digit := func(i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
	return strings.ContainsRune("._-/ ", rune(s[i])) && !(s[i] == '.' && digit(i-1) && digit(i+1))
}

// RelativeMarkdown writes a relative table as Markdown.
func RelativeMarkdown(w io.Writer, r *compare.Relative, style RelativeStyle) error {
	n := &notes{section: "relative"}
	t := relativeTable(r, style, n, nil)
	t.Title = ""
	return buffered(w, func(b *bufio.Writer) error {
		if r.Durability != "" {
			fmt.Fprintf(b, "> ⚠ %s\n\n", escape(DurabilityDiffers(r.Durability)))
		}
		markdownRelative(b, Relative{Tables: []Table{t}, Cautions: relativeCautions(r, style), Notes: n.list})
		return nil
	})
}

// markdownRelative shows relative tables with the signs behind their numbers.
func markdownRelative(w io.Writer, r Relative) {
	for _, t := range r.Tables {
		for _, g := range t.Groups {
			for _, row := range g.Rows {
				for i := range row.Cells {
					row.Cells[i].Text += row.Cells[i].Arrow
				}
			}
		}
		markdownTable(w, t, "###")
	}
	for _, line := range r.Cautions {
		fmt.Fprintf(w, "- %s\n", escape(line))
	}
	markdownNotes(w, r.Notes)
}

func relativeFoot(w io.Writer, r *compare.Relative, style RelativeStyle, n *notes) {
	for _, line := range relativeCautions(r, style) {
		fmt.Fprintln(w, line)
	}
	for _, note := range n.list {
		fmt.Fprintf(w, "⚠%d %s\n", note.Number, note.Text)
	}
}

// grid is a table as text. A number and what is said of it stand in columns of
// their own, so that the numbers of a column stand below each other.
type grid struct {
	t           *Table
	head        int // width of the first column
	marks       [][][]string
	wide, after []int // of each column: of the numbers, of the marks behind them
	notes       notes // numbered in the order of reading
}

const groupIndent = "  "

func newGrid(t *Table) *grid {
	g := &grid{t: t, head: width(t.Head), wide: make([]int, len(t.Columns)), after: make([]int, len(t.Columns))}
	for i, c := range t.Columns {
		g.wide[i] = width(c.Name)
	}
	for _, group := range t.Groups {
		g.head = max(g.head, width(group.Name))
		var rows [][]string
		for _, row := range group.Rows {
			g.head = max(g.head, width(groupIndent+row.Head))
			var marks []string
			for i := range row.Cells {
				c := &row.Cells[i]
				mark := c.Arrow + g.doubts(c, row.Head, t.Columns[i].Name)
				marks = append(marks, mark)
				g.wide[i], g.after[i] = max(g.wide[i], width(c.Text)), max(g.after[i], width(mark))
			}
			rows = append(rows, marks)
		}
		g.marks = append(g.marks, rows)
	}
	return g
}

// doubts are the numbers of the cell's notes.
func (g *grid) doubts(c *Cell, row, column string) string {
	var own Cell
	for _, note := range c.Notes {
		own.Notes = append(own.Notes, g.notes.mark(note.Text))
	}
	if c.Tag != "" {
		own.Notes = append(own.Notes, g.notes.mark(fmt.Sprintf("%s in %s: %s; not comparable, and in no mean.", column, row, c.Tag)))
	}
	return own.Marks()
}

// fit parts the columns so that each part fits into the width.
func (g *grid) fit(limit int) [][]int {
	var parts [][]int
	var part []int
	total := g.head
	for i := range g.t.Columns {
		w := 2 + g.wide[i] + g.after[i]
		if limit > 0 && total+w > limit && len(part) > 0 {
			parts, part, total = append(parts, part), nil, g.head
		}
		part, total = append(part, i), total+w
	}
	return append(parts, part)
}

func (g *grid) write(w io.Writer, columns []int) {
	var heads []string
	for _, i := range columns {
		heads = append(heads, g.t.Columns[i].Name)
	}
	fmt.Fprintf(w, "\n%s\n", g.line(g.t.Head, columns, heads, make([]string, len(columns))))
	for k, group := range g.t.Groups {
		fmt.Fprintln(w, group.Name)
		for j, row := range group.Rows {
			var cells, marks []string
			for _, i := range columns {
				cells, marks = append(cells, row.Cells[i].Text), append(marks, g.marks[k][j][i])
			}
			fmt.Fprintln(w, g.line(groupIndent+row.Head, columns, cells, marks))
		}
	}
}

// line puts numbers to the right and texts to the left.
func (g *grid) line(head string, columns []int, cells, marks []string) string {
	var b strings.Builder
	b.WriteString(pad(head, g.head))
	for k, i := range columns {
		b.WriteString(groupIndent)
		if g.t.Right(i) {
			b.WriteString(strings.Repeat(" ", g.wide[i]-width(cells[k])) + cells[k] + pad(marks[k], g.after[i]))
		} else {
			b.WriteString(pad(cells[k]+marks[k], g.wide[i]+g.after[i]))
		}
	}
	return strings.TrimRight(b.String(), " ")
}
