package page

import (
	"cmp"
	"fmt"
	"io"
	"strings"
)

// Markdown writes a document as Markdown, for posts and issues: without
// drawings of curves and, unless all is wanted, without what is folded.
func Markdown(w io.Writer, d *Document, all bool) error {
	m := &markdown{all: all, remarks: remarksOf(d, all)}
	if d.Title != "" {
		m.printf("# %s\n\n", escape(d.Title))
	}
	m.blocks(d.Lead)
	for _, s := range d.Sections {
		if s.Folded && !all {
			continue
		}
		body := &markdown{all: all, remarks: m.remarks}
		if body.blocks(s.Blocks); body.Len() > 0 { // else it has drawings only
			m.printf("## %s\n\n%s", escape(s.Title), body)
		}
	}
	return written(w, strings.TrimRight(m.String(), "\n")+"\n")
}

// markdown is the text written so far; a blank line follows each block.
type markdown struct {
	strings.Builder
	all     bool // what is folded too
	remarks remarks
}

func (m *markdown) printf(format string, args ...any) { fmt.Fprintf(m, format, args...) }

func (m *markdown) blocks(list []Block) {
	for _, b := range list {
		m.block(b)
	}
}

func (m *markdown) block(b Block) {
	switch b := b.(type) {
	case Heading:
		m.printf("%s %s\n\n", strings.Repeat("#", b.Level), escape(b.Text))
	case Paragraph:
		if text := escape(b.text()); b.Strong {
			m.printf("> **%s**\n\n", text)
		} else if text != "" {
			m.printf("%s\n\n", text)
		}
	case Banner:
		m.printf("> ⚠ %s\n\n", escape(string(b)))
	case List:
		for _, i := range b.Items {
			name := ""
			if i.Name != "" {
				name = "**" + escape(i.Name) + "**: "
			}
			m.printf("- %s%s\n", name, escape(i.Text))
		}
		m.WriteByte('\n')
	case Facts:
		for _, f := range b.Facts {
			m.printf("- %s: %s\n", escape(f.Name), escape(strings.TrimSpace(f.Value+" "+warned(f.Warning))))
		}
		m.WriteByte('\n')
	case Tree:
		m.tree(b, 0)
		m.WriteByte('\n')
	case Terms:
		for _, t := range b {
			m.printf("- `%s` (%s): %s\n", t.Name, t.Aside, t.Text)
		}
		m.WriteByte('\n')
	case Code:
		m.fenced(b.Language, b.Text)
	case *Notes:
		list := m.remarks.list(b)
		for _, n := range list {
			m.printf("- ⚠%d %s\n", n.Number, escape(n.Text))
		}
		if len(list) > 0 {
			m.WriteByte('\n')
		}
	case Bars: // a table has their numbers
		if m.all {
			m.fenced("", b.Title+"\n"+b.text())
		}
	case Table:
		m.table(b)
	case Medium:
		m.blocks(b.Written)
	case Badge:
		m.printf("**%s %s**\n\n", b.Level.Sign(), escape(b.Line))
		for _, text := range b.More {
			m.printf("- %s\n", escape(text))
		}
		if len(b.More) > 0 {
			m.WriteByte('\n')
		}
	case Panels:
		for _, cell := range b.Cells {
			m.blocks(cell)
		}
	case Beside:
		m.blocks(b)
	case Folds:
		for _, f := range b {
			if m.all {
				m.printf("### %s\n\n", escape(f.Title))
				m.blocks(f.Blocks)
			}
		}
	case Grid:
		for _, t := range b.Tables {
			m.table(t)
		}
	}
}

func (m *markdown) table(t Table) {
	if t.Empty() {
		return
	}
	columns, groups := m.remarks.heads(&t)
	if t.Title != "" {
		m.printf("%s %s\n\n", strings.Repeat("#", max(3, t.Level)), escape(t.Title))
	}
	if t.Note != "" {
		m.printf("%s\n\n", escape(t.Note))
	}
	for i, g := range t.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		m.head(strings.TrimSpace(cmp.Or(g.Name, t.Head)+" "+marks(groups[i])), t.Columns, columns, g)
		for _, r := range g.Rows {
			m.printf("| %s |", escape(r.Head))
			for _, c := range r.Cells {
				m.printf(" %s |", escape(c.line()))
			}
			m.WriteByte('\n')
		}
		m.WriteByte('\n')
	}
}

// head writes the heads of a group's columns, with the marks of their notes.
func (m *markdown) head(head string, columns []Column, notes [][]Note, g Group) {
	m.printf("| %s |", escape(head))
	for i, c := range columns {
		sub := c.Sub
		if i < len(g.Subs) {
			sub = g.Subs[i]
		}
		m.printf(" %s |", escape(strings.TrimSpace(strings.TrimSpace(c.Name+" "+sub)+" "+marks(notes[i]))))
	}
	m.WriteString("\n|---|")
	for _, c := range g.Rows[0].Cells {
		if c.Number {
			m.WriteString("---:|")
		} else {
			m.WriteString("---|")
		}
	}
	m.WriteByte('\n')
}

// line returns the cell with its ratio and sign on one line. The notes of a number
// are marked at its head.
func (c Cell) line() string {
	s := c.Text
	if c.Ratio == "" {
		s += c.Sign
	}
	if !c.Number {
		s = strings.TrimSpace(s + " " + c.Marks())
	}
	if c.Differs {
		s = "≠ " + s
	}
	if c.Per != "" {
		s += " " + c.Per
	}
	if c.Ratio != "" {
		s += " (" + strings.TrimSpace(c.Ratio+" "+c.Sign) + ")"
	}
	if c.Tag != "" {
		s += ", " + c.Tag
	}
	return strings.TrimSpace(s)
}

func warned(text string) string {
	if text == "" {
		return ""
	}
	return "⚠ " + text
}

// text draws bars of characters.
func (b Bars) text() string {
	const longest = 40
	var out strings.Builder
	wide := 0
	for _, r := range b.Rows {
		wide = max(wide, width(r.Head))
	}
	for _, r := range b.Rows {
		bar := strings.Repeat("█", int(r.Length*longest/100+0.5))
		line := pad(r.Head, wide) + "  " + pad(bar, longest) + " " + r.Cell.line()
		out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return out.String()
}

// escape escapes a text for a line of Markdown. Underscores within words need
// no escape.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("\n", " ", `\`, `\\`, "|", `\|`, "<", `\<`, "*", `\*`, "`", "\\`", "[", `\[`, "]", `\]`, "&", `\&`)

// fenced writes a text verbatim between fences that it does not contain.
func (m *markdown) fenced(language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	m.printf("%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
