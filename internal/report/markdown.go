package report

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown shows the page as Markdown, for posts and issues.
func writeMarkdown(w io.Writer, p *Page) {
	fmt.Fprintf(w, "# %s\n\n", escape(p.Title))
	for _, b := range p.Banners {
		fmt.Fprintf(w, "> ⚠ %s\n>\n", escape(b))
	}
	for _, s := range p.Verdict {
		name := ""
		if s.Step != "" {
			name = "**" + escape(s.Step) + "**: "
		}
		fmt.Fprintf(w, "- %s%s\n", name, escape(s.Text))
	}
	fmt.Fprintf(w, "\n%s\n\n", escape(p.Caution))
	for _, f := range p.Facts {
		warning := ""
		if f.Warning != "" {
			warning = " ⚠ " + escape(f.Warning)
		}
		fmt.Fprintf(w, "- %s: %s%s\n", escape(f.Name), escape(f.Value), warning)
	}
	fmt.Fprintf(w, "\n## Scorecard\n\nAgainst %s, the base: %s “–” is not known.\n\n", escape(p.Base), howMarked)
	for _, t := range p.Layers {
		markdownTable(w, t, "###")
	}
	markdownNotes(w, p.LayerNote)
	fmt.Fprintf(w, "## Relative table\n\n")
	markdownRelative(w, p.Relative)
	for _, s := range p.Sweeps {
		markdownSweep(w, s)
	}
	for _, s := range p.Sections {
		markdownSection(w, s)
	}
	markdownPublished(w, p)
	for _, t := range []Table{p.Space, p.SLA, p.Client, p.Settings, p.Plans, p.Host} {
		markdownTable(w, t, "##")
	}
	markdownNotes(w, p.Notes)
	markdownEnd(w, p)
}

func markdownSection(w io.Writer, s Section) {
	fmt.Fprintf(w, "## %s\n\n", escape(s.Name))
	if s.Doc != "" {
		fmt.Fprintf(w, "%s\n\n", escape(s.Doc))
	}
	for _, line := range s.Status {
		fmt.Fprintf(w, "> ⚠ %s\n>\n", escape(line))
	}
	markdownTable(w, s.Groups, "###")
	for _, b := range s.Bars {
		fenced(w, "", b.Title+"\n"+textBars(b))
		fmt.Fprintln(w)
	}
	if s.Waits != nil {
		for _, words := range s.Waits.Words {
			fmt.Fprintf(w, "- %s\n", escape(words))
		}
		fmt.Fprintln(w)
	}
	for _, t := range s.Tables {
		if !t.Folded {
			markdownTable(w, t, "###")
		}
	}
	markdownNotes(w, s.Notes)
}

// markdownSweep shows the tables of a sweep.
func markdownSweep(w io.Writer, s Sweep) {
	fmt.Fprintf(w, "## %s, over its axes\n\n%s\n\n", escape(s.Name), escape(s.About))
	for _, p := range s.Panels {
		markdownTable(w, p.Table, "###")
	}
	markdownTable(w, s.Law, "###")
	for _, f := range s.Families {
		fmt.Fprintf(w, "### %s\n\n", escape(f.Title))
		for _, line := range f.Summary {
			fmt.Fprintf(w, "- %s\n", escape(line))
		}
		fmt.Fprintln(w)
		for _, t := range f.Tables {
			markdownTable(w, t, "####")
		}
	}
	markdownNotes(w, s.Notes)
}

// markdownPublished shows the figures from elsewhere as a section of its own.
func markdownPublished(w io.Writer, p *Page) {
	if len(p.Published) == 0 {
		return
	}
	fmt.Fprintf(w, "## Published\n\n> **%s**\n\n%s\n\n", apart, howRead)
	for _, e := range p.Published {
		fmt.Fprintf(w, "### %s\n\n- hardware: %s\n", escape(e.Source), escape(e.Hardware))
		if e.Note != "" {
			fmt.Fprintf(w, "- note: %s\n", escape(e.Note))
		}
		fmt.Fprintln(w)
		for _, t := range e.Tables {
			markdownTable(w, t, "####")
		}
	}
	markdownNotes(w, p.PubNotes)
}

// textBars draws bars of characters.
func textBars(b Bars) string {
	const longest = 40
	var out strings.Builder
	wide := 0
	for _, r := range b.Rows {
		wide = max(wide, width(r.Head))
	}
	for _, r := range b.Rows {
		bar := strings.Repeat("█", int(r.Length*longest/100+0.5))
		tag := ""
		if r.Cell.Tag != "" {
			tag = " ⚠ " + r.Cell.Tag
		}
		fmt.Fprintf(&out, "%s  %s %s%s\n", pad(r.Head, wide), pad(bar, longest), r.Cell.Text, tag)
	}
	return out.String()
}

func markdownTable(w io.Writer, t Table, heading string) {
	if t.Empty() {
		return
	}
	if t.Title != "" {
		fmt.Fprintf(w, "%s %s\n\n", heading, escape(t.Title))
	}
	if t.Note != "" {
		fmt.Fprintf(w, "%s\n\n", escape(t.Note))
	}
	for _, g := range t.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		head := t.Head
		if g.Name != "" {
			head = g.Name
		}
		markdownHead(w, head, t.Columns, g)
		for _, r := range g.Rows {
			fmt.Fprintf(w, "| %s |", escape(r.Head))
			for _, c := range r.Cells {
				fmt.Fprintf(w, " %s |", escape(c.line()))
			}
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w)
	}
}

func markdownHead(w io.Writer, head string, columns []Column, g RowGroup) {
	fmt.Fprintf(w, "| %s |", escape(head))
	for i, c := range columns {
		sub := c.Sub
		if i < len(g.Subs) {
			sub = g.Subs[i]
		}
		fmt.Fprintf(w, " %s |", escape(strings.TrimSpace(c.Name+" "+sub)))
	}
	fmt.Fprint(w, "\n|---|")
	for _, c := range g.Rows[0].Cells {
		if c.Number {
			fmt.Fprint(w, "---:|")
		} else {
			fmt.Fprint(w, "---|")
		}
	}
	fmt.Fprintln(w)
}

// line is the cell with all that belongs to it, on one line.
func (c Cell) line() string {
	s := c.Text + c.Marks()
	if c.Differs {
		s = "≠ " + s
	}
	if c.Per != "" {
		s += " " + c.Per
	}
	if c.Ratio != "" {
		s += " (" + strings.TrimSpace(c.Ratio+" "+c.Arrow) + ")"
	}
	if c.Tag != "" {
		s += " ⚠ " + c.Tag
	}
	return s
}

func markdownNotes(w io.Writer, list []Note) {
	for _, n := range list {
		fmt.Fprintf(w, "- ⚠%d %s\n", n.Number, escape(n.Text))
	}
	if len(list) > 0 {
		fmt.Fprintln(w)
	}
}

func markdownEnd(w io.Writer, p *Page) {
	fmt.Fprint(w, "## Glossary\n\n")
	for _, m := range p.Glossary {
		fmt.Fprintf(w, "- `%s` (%s): %s\n", m.Name, m.Unit, m.Meaning())
	}
	fmt.Fprint(w, "\n## Appendix\n")
	if len(p.Commands) > 0 {
		fmt.Fprintln(w)
		fenced(w, "", strings.Join(p.Commands, "\n"))
	}
	if p.Plan != "" {
		fmt.Fprintln(w)
		fenced(w, "yaml", p.Plan)
	}
}

// escape makes a text mean itself within a line of Markdown. Underscores within
// words do already.
func escape(s string) string { return escaper.Replace(s) }

var escaper = strings.NewReplacer("\n", " ", `\`, `\\`, "|", `\|`, "<", `\<`, "*", `\*`, "`", "\\`", "[", `\[`, "]", `\]`, "&", `\&`)

// fenced shows a text as it is, between fences that it does not have itself.
func fenced(w io.Writer, language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(w, "%s%s\n%s\n%s\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
