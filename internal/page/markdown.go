package page

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes a document as Markdown, for posts and issues: without
// drawings of curves and folded parts.
func Markdown(w io.Writer, d *Document) error {
	m := &markdown{}
	if d.Title != "" {
		m.printf("# %s\n\n", escape(d.Title))
	}
	m.blocks(d.Lead)
	for _, s := range d.Sections {
		m.printf("## %s\n\n", escape(s.Title))
		m.blocks(s.Blocks)
	}
	return written(w, strings.TrimRight(m.String(), "\n")+"\n")
}

// markdown is the text written so far; a blank line follows each block.
type markdown struct{ strings.Builder }

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
		for _, n := range b.List {
			m.printf("- ⚠%d %s\n", n.Number, escape(n.Text))
		}
		if len(b.List) > 0 {
			m.WriteByte('\n')
		}
	case Bars:
		m.fenced("", b.Title+"\n"+b.text())
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
	case Tabs:
		m.tables(b)
	case Grid:
		m.tables(b.Tables)
	}
}

func (m *markdown) tables(list []Table) {
	for _, t := range list {
		m.table(t)
	}
}

func (m *markdown) table(t Table) {
	if t.Empty() || t.Long {
		return
	}
	if t.Title != "" {
		m.printf("%s %s\n\n", strings.Repeat("#", max(3, t.Level)), escape(t.Title))
	}
	if t.Note != "" {
		m.printf("%s\n\n", escape(t.Note))
	}
	for _, g := range t.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		head := t.Head
		if g.Name != "" {
			head = g.Name
		}
		m.head(head, t.Columns, g)
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

func (m *markdown) head(head string, columns []Column, g Group) {
	m.printf("| %s |", escape(head))
	for i, c := range columns {
		sub := c.Sub
		if i < len(g.Subs) {
			sub = g.Subs[i]
		}
		m.printf(" %s |", escape(strings.TrimSpace(c.Name+" "+sub)))
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

// line returns the cell with its ratio, sign and notes on one line.
func (c Cell) line() string {
	s := c.Text
	if c.Ratio == "" {
		s += c.Sign
	}
	if marks := c.Marks(); marks != "" && !c.Number {
		s += " " + marks
	} else {
		s += marks
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
	return strings.TrimSpace(s + " " + warned(c.Tag))
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
		line := pad(r.Head, wide) + "  " + pad(bar, longest) + " " + r.Cell.Text + " " + warned(r.Cell.Tag)
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
