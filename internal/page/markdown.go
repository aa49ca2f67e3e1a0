package page

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
)

// Markdown writes a document as Markdown, for posts and issues: without drawings
// of curves and, unless all is set, without folded parts.
func Markdown(w io.Writer, d *Document, all bool) error {
	remarks, t := remarksOf(d, all), template.New("page.md")
	show := func(b Block) (string, error) {
		var out strings.Builder
		if t.Lookup(b.kind()) == nil { // a drawing
			return "", nil
		}
		err := t.ExecuteTemplate(&out, b.kind(), b)
		return out.String(), err
	}
	t.Funcs(template.FuncMap{
		"all":  func() bool { return all },
		"show": show,
		"blocks": func(list []Block) (out string, err error) {
			for _, b := range list {
				text, failed := show(b)
				out, err = out+text, cmp.Or(err, failed)
			}
			return out, err
		},

		"escape": escaper.Replace,
		"fenced": fenced,
		"hashes": func(level int) string { return strings.Repeat("#", level) },
		"words": func(list ...string) string {
			return strings.Join(slices.DeleteFunc(list, func(s string) bool { return s == "" }), " ")
		},

		"plain": Paragraph.text,
		"drawn": Bars.text,
		"line":  Cell.line,
		"sub":   subOf,

		"heads":   remarks.heads,
		"marks":   marks,
		"remarks": remarks.list,
	})
	if _, err := t.ParseFS(assets, "assets/page.md"); err != nil {
		return err
	}
	var text strings.Builder
	if err := t.Execute(&text, d); err != nil {
		return err
	}
	return writePage(w, strings.TrimRight(text.String(), "\n")+"\n")
}

// subOf returns the text below the head of a column in a group of rows.
func subOf(c Column, g Group, column int) string {
	if column < len(g.Subs) {
		return g.Subs[column]
	}
	return c.Sub
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
	return b.Title + "\n" + out.String()
}

// escaper escapes a text for a line of Markdown. Underscores within words need
// no escape.
var escaper = strings.NewReplacer("\n", " ", `\`, `\\`, "|", `\|`, "<", `\<`, "*", `\*`, "`", "\\`", "[", `\[`, "]",
	`\]`, "&", `\&`)

// fenced returns a text verbatim between fences that it does not contain.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}
