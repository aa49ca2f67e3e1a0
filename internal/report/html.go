package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed assets
var assets embed.FS

// writeHTML shows the page as HTML, with styles, scripts and rows inside.
func writeHTML(w io.Writer, p *Page) error {
	inside := &policy{rules: map[string]string{}}
	rows := newEmbedder()
	var from []int
	for i, c := range p.campaigns {
		if f := rows.add(c); i == 0 {
			from = f
		}
	}
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"script":  inside.script,
		"percent": inside.percent,
		"columns": inside.columns,

		"mark":  Marker,
		"style": styleOf,
		"sign":  func(index int) int { return index % len(markers) },
		"wide":  func(t Table) int { return len(t.Columns) + 1 },

		"rows":       rows.json,
		"judgements": func() (template.JS, error) { return p.campaigns[0].judgementsJSON(rows, from) },
		"number":     rows.numberOf,
		"class":      Cell.class,
		"oversteps":  overSteps,

		"apart":   func() string { return apart },
		"howread": func() string { return howRead },
		"linked":  linked,
	}).ParseFS(assets, "assets/*.html")
	if err != nil {
		return err
	}
	var body bytes.Buffer // first, as the head names what is in it
	if err := t.ExecuteTemplate(&body, "page.html", p); err != nil {
		return err
	}
	head, err := inside.head(p.Title)
	if err != nil {
		return err
	}
	if err := t.ExecuteTemplate(w, "head.html", head); err != nil {
		return err
	}
	_, err = body.WriteTo(w)
	return err
}

// numberOf is the number that a cell shows, by the positions of its rows: two
// where the trials do not agree on the number's unit or source.
func (e *embedder) numberOf(positions string) (string, error) {
	var out []string
	for _, f := range strings.Fields(positions) {
		at, err := strconv.Atoi(f)
		if err != nil || at >= len(e.number) {
			return "", fmt.Errorf("a cell is of row %q, which is not in the page", f)
		}
		out = appendNew(out, strconv.Itoa(e.number[at]))
	}
	return strings.Join(out, " "), nil
}

// class are the styles of a cell. Most are numbers, which have none.
func (c Cell) class() string {
	var out []string
	for _, is := range []struct {
		so   bool
		name string
	}{{!c.Number, "x"}, {c.Absent, "absent"}, {c.Tag != "", "hatch"}, {c.Differs, "differs"}} {
		if is.so {
			out = append(out, is.name)
		}
	}
	return strings.Join(slices.DeleteFunc(append(out, c.Verdict), func(s string) bool { return s == "" }), " ")
}

var address = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,;:)]`)

// linked makes links of the addresses in a text. The page itself loads none.
func linked(text string) template.HTML {
	var b strings.Builder
	end := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		url := template.HTMLEscapeString(text[at[0]:at[1]])
		fmt.Fprintf(&b, `%s<a href="%s" rel="noreferrer">%s</a>`, template.HTMLEscapeString(text[end:at[0]]), url, url)
		end = at[1]
	}
	b.WriteString(template.HTMLEscapeString(text[end:]))
	return template.HTML(b.String())
}
