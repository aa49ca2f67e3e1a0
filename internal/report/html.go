package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"rumbench/internal/result"
)

//go:embed assets
var assets embed.FS

// writeHTML shows the page as HTML, with styles, scripts and rows inside.
func writeHTML(w io.Writer, p *Page) error {
	t, err := template.New("page.html").Funcs(template.FuncMap{
		"asset": func(name string) (string, error) { b, err := assets.ReadFile("assets/" + name); return string(b), err },
		"css":   func(s string) template.CSS { return template.CSS(s) },
		"js":    func(s string) template.JS { return template.JS(s) },
		"rows":  rowsJSON,
		"mark":  func(index int) string { return Marker(index) },
		"style": func(index int) int { return index % len(markers) },
		"wide":  func(t Table) int { return len(t.Columns) + 1 },

		"apart":   func() string { return apart },
		"howread": func() string { return howRead },
		"linked":  linked,
	}).ParseFS(assets, "assets/*.html")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// rowsJSON is the array of all rows, one per line. The encoder escapes what
// could end the script element.
func rowsJSON(rows []result.Row) (template.JS, error) {
	var b bytes.Buffer
	if err := result.WriteRows(&b, rows); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	return template.JS("[\n" + strings.Join(lines, ",\n") + "\n]"), nil
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
