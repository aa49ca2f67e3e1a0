package page

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
)

// TextStyle is how a document is rendered as text.
type TextStyle struct {
	Width int    // 0 is unlimited; columns that do not fit are left out with a remark
	More  string // where the omitted parts can be found
	Wrap  bool   // columns that do not fit are put below the others instead
	// Steady is for tables that follow each other: without blank lines between
	// them, and columns that are wide enough for most numbers.
	Steady bool
}

// The least widths of columns, of the first and the others, that keep most
// numbers in place.
const steadyName, steadyNumber = 12, 7

// maxNotes limits the notes of a text: more would scroll it off the screen.
const maxNotes = 12

// Text writes blocks as text, for a terminal. Tables with the same columns are
// aligned and share one heading.
func Text(w io.Writer, list []Block, style TextStyle) error {
	t := &text{style: style, grids: map[string]*grid{}}
	for _, b := range list {
		if table, ok := b.(Table); ok && !table.Empty() {
			t.measure(&table)
		}
	}
	for _, b := range list {
		t.block(b)
	}
	return writePage(w, t.String())
}

type text struct {
	strings.Builder
	style TextStyle
	grids map[string]*grid
	ended bool // by a table or a tree, which a blank line follows
}

// grid is the column layout of tables. A number and its suffix may be in separate
// columns, so that numbers are aligned.
type grid struct {
	widths []int  // of the first column, and of the others
	after  []int  // of suffixes of numbers
	words  []bool // it contains words, which are left-aligned
	gap    int
	shown  int // columns that fit, including the first
	headed bool
	tables int // still to come
}

func (t *text) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// separate begins a block of lines: with a blank line if it follows a table or a tree.
func (t *text) separate() {
	if t.ended {
		t.WriteByte('\n')
	}
	t.ended = false
}

func (t *text) block(b Block) {
	switch b := b.(type) {
	case Table:
		if !b.Empty() {
			t.rows(&b)
		}
		return
	case *Notes:
		if len(b.List) == 0 {
			return
		}
		t.separate()
		for i, n := range b.List {
			if i == maxNotes && len(b.List) > maxNotes+1 {
				t.printf("⚠ and %d more; %s.\n", len(b.List)-i, t.style.More)
				return
			}
			t.printf("⚠%d %s\n", n.Number, n.Text)
		}
	case Heading:
		t.separate()
		t.printf("%s\n", escape.Clip(b.Text, t.style.Width))
	case Paragraph:
		t.separate()
		t.printf("%s\n", b.text())
	case Banner:
		t.separate()
		t.printf("⚠ %s\n", string(b))
	case Tree:
		t.tree(b, 0)
		t.ended = true
	case List:
		t.separate()
		for _, i := range b.Items {
			if i.Name != "" {
				i.Text = i.Name + ": " + i.Text
			}
			t.printf("%s\n", i.Text)
			for _, line := range i.More {
				t.wrapped("  ", line, t.style.Width)
			}
		}
	}
}

func (p Paragraph) text() string {
	var b strings.Builder
	for _, s := range p.Spans {
		if !s.Screen {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// gridOf returns the column layout that a table shares with similar tables.
func (t *text) gridOf(table *Table) *grid {
	var b strings.Builder
	b.WriteString(table.Title + "\x00" + table.Head + "\x00")
	for _, c := range table.Columns {
		b.WriteString(c.Name + "\x00")
	}
	g := t.grids[b.String()]
	if g == nil {
		n := len(table.Columns) + 1
		g = &grid{widths: make([]int, n), after: make([]int, n), words: make([]bool, n)}
		if t.style.Steady {
			g.widths = append([]int{steadyName}, slices.Repeat([]int{steadyNumber}, n-1)...)
		}
		t.grids[b.String()] = g
	}
	return g
}

func (t *text) measure(table *Table) {
	g := t.gridOf(table)
	g.tables++
	wider := func(i int, s, after string) {
		g.widths[i], g.after[i] = max(g.widths[i], width(s)), max(g.after[i], width(after))
	}
	wider(0, table.Head, "")
	for i, c := range table.Columns {
		wider(i+1, c.Name, "")
	}
	for _, group := range table.Groups {
		if table.Signed {
			wider(0, group.Name, "")
		}
		for _, r := range group.Rows {
			wider(0, table.indent(&group)+r.Head, "")
			for i, c := range r.Cells {
				s, after := table.words(c)
				wider(i+1, s, after)
				g.words[i+1] = g.words[i+1] || !c.Number
			}
		}
	}
	limit := t.style.Width
	if t.style.Wrap {
		limit = 0
	}
	g.fit(limit)
}

func (table *Table) indent(g *Group) string {
	if table.Title != "" || g.Name != "" {
		return "  "
	}
	return ""
}

// fit sets the gap between columns and how many of them fit.
func (g *grid) fit(limit int) {
	if g.gap, g.shown = 2, len(g.widths); limit <= 0 {
		return
	}
	for g.gap = 2; g.gap >= 1; g.gap-- {
		total := 0
		for g.shown = 0; g.shown < len(g.widths); g.shown++ {
			if total += g.widths[g.shown] + g.after[g.shown] + g.gap; total-g.gap > limit {
				break
			}
		}
		if g.shown == len(g.widths) {
			return
		}
	}
	g.gap, g.shown = 1, max(2, g.shown)
}

// parts returns the columns to be shown below each other.
func (g *grid) parts(style TextStyle) (out [][]int) {
	var part []int
	total := g.widths[0]
	for i := 1; i < len(g.widths); i++ {
		w := g.gap + g.widths[i] + g.after[i]
		if style.Wrap && style.Width > 0 && total+w > style.Width && len(part) > 0 {
			out, part, total = append(out, part), nil, g.widths[0]
		}
		if i < g.shown {
			part, total = append(part, i), total+w
		}
	}
	return append(out, part)
}

// rows writes a table. Groups without a heading are separated.
func (t *text) rows(table *Table) {
	g := t.gridOf(table)
	t.ended = true
	if g.tables--; table.Title != "" {
		t.printf("\n%s\n", escape.Clip(table.Title, t.style.Width))
	}
	for _, part := range g.parts(t.style) {
		t.part(table, g, part)
	}
	if g.tables == 0 && g.shown < len(g.widths) {
		t.printf("%s did not fit into %d characters", quantity.Count(len(g.widths)-g.shown, "column"), t.style.Width)
		if t.style.More != "" {
			t.printf("; %s", t.style.More)
		}
		t.printf(".\n")
	}
}

func (t *text) part(table *Table, g *grid, columns []int) {
	if !g.headed || t.style.Wrap {
		if table.Title == "" && t.Len() > 0 && !t.style.Steady {
			t.WriteByte('\n')
		}
		var heads []Cell
		for _, c := range table.Columns {
			heads = append(heads, Cell{Text: c.Name})
		}
		t.line(table, g, columns, table.Head, heads)
		g.headed = true
	}
	for _, group := range table.Groups {
		if !table.Signed && !t.style.Steady && g.blank(table, &group) {
			continue
		}
		switch name := escape.Clip(group.Name, t.style.Width); {
		case name == "":
		case table.Title != "":
			t.printf("  %s\n", name)
		case table.Signed:
			t.printf("%s\n", name)
		default:
			t.printf("\n%s\n", name)
		}
		for _, r := range group.Rows {
			t.line(table, g, columns, table.indent(&group)+r.Head, r.Cells)
		}
		for _, line := range group.Foot {
			t.printf("  %s\n", line)
		}
	}
}

func (g *grid) blank(table *Table, group *Group) bool {
	for _, r := range group.Rows {
		for _, c := range r.Cells[:g.shown-1] {
			if s, _ := table.words(c); s != quantity.Unknown {
				return false
			}
		}
	}
	return len(group.Rows) > 0
}

func (t *text) line(table *Table, g *grid, columns []int, head string, cells []Cell) {
	var b strings.Builder
	b.WriteString(pad(head, g.widths[0]))
	for _, i := range columns {
		b.WriteString(strings.Repeat(" ", g.gap))
		s, after := table.words(cells[i-1])
		if g.words[i] {
			b.WriteString(pad(s+after, g.widths[i]+g.after[i]))
		} else {
			b.WriteString(strings.Repeat(" ", g.widths[i]-width(s)) + s + pad(after, g.after[i]))
		}
	}
	t.printf("%s\n", strings.TrimRight(b.String(), " "))
}

// words returns the text of a cell and its suffix.
func (table *Table) words(c Cell) (s, after string) {
	if table.Signed {
		return c.Text, c.Sign + c.Marks()
	}
	ratio := c.Ratio + c.Sign
	if c.Tag != "" {
		ratio = "⚠"
	}
	s = c.Text
	for _, p := range []string{c.Marks(), ratio, c.Per} {
		if p != "" {
			s += " " + p
		}
	}
	return strings.TrimSpace(s), ""
}

func width(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, end int) string { return s + strings.Repeat(" ", max(0, end-width(s))) }

// Tree is a line of text with lines below it, for a terminal only.
type Tree struct {
	Text     string
	Verbatim bool // never wrapped: a command to copy
	Items    []Tree
}

// Add appends a line below the tree's own, and returns it. Only the line
// returned last may get lines below it.
func (t *Tree) Add(format string, args ...any) *Tree {
	t.Items = append(t.Items, Tree{Text: fmt.Sprintf(format, args...)})
	return &t.Items[len(t.Items)-1]
}

func (Tree) kind() string { return "tree" }

// tree writes a tree, with a blank line before the outer lines that have lines
// below them.
func (t *text) tree(n Tree, depth int) {
	if len(n.Items) > 0 && depth < 2 && t.Len() > 0 {
		t.WriteByte('\n')
	}
	limit := t.style.Width
	if n.Verbatim {
		limit = 0
	}
	t.wrapped(strings.Repeat("  ", depth), n.Text, limit)
	for _, item := range n.Items {
		t.tree(item, depth+1)
	}
}

// wrapped writes a text behind an indentation, broken between words into lines
// that fit the limit. A longer word stays whole; a limit of 0 is none.
func (t *text) wrapped(indent, text string, limit int) {
	line := indent
	for i, word := range strings.Split(text, " ") {
		switch {
		case i == 0:
			line += word
		case limit > 0 && width(line)+1+width(word) > limit:
			t.printf("%s\n", strings.TrimRight(line, " "))
			line = indent + "  " + word
		default:
			line += " " + word
		}
	}
	t.printf("%s\n", line)
}
