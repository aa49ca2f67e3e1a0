package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"
	"sync"

	"rumbench/internal/page/picture"
	"rumbench/internal/text/escape"
)

//go:embed assets
var assets embed.FS

// HTML writes a document as one file that loads nothing else: styles, scripts
// and data are in it. The same document gives the same bytes.
func HTML(w io.Writer, d *Document) error {
	t, err := parsed()
	if err == nil {
		t, err = t.Clone()
	}
	if err != nil {
		return err
	}
	inside, remarks := &policy{rules: map[string]string{}}, remarksOf(d, true)
	t.Funcs(functions(t, inside, remarks))
	var body bytes.Buffer // first, because the head lists its contents
	if err := t.ExecuteTemplate(&body, "page.html", d); err != nil {
		return err
	}
	head, err := inside.head(d)
	if err != nil {
		return err
	}
	var whole strings.Builder
	if err := t.ExecuteTemplate(&whole, "head.html", head); err != nil {
		return err
	}
	body.WriteTo(&whole)
	return writePage(w, whole.String())
}

// parsed returns the templates, parsed once. They are cloned for each page, whose functions
// differ.
var parsed = sync.OnceValues(func() (*template.Template, error) {
	t := template.New("page.html")
	return t.Funcs(functions(t, nil, nil)).ParseFS(assets, "assets/*.html")
})

// functions returns the functions that templates call for a page.
func functions(t *template.Template, inside *policy, remarks remarks) template.FuncMap {
	return template.FuncMap{
		"script":  inside.script,
		"asset":   inside.asset,
		"percent": inside.percent,
		"columns": inside.columns,

		"mark":  picture.Marker,
		"style": picture.Class,
		"sign":  picture.Sign,
		"wide":  func(t Table) int { return len(t.Columns) + 1 },
		"class": Cell.class,
		"data":  places,
		"json":  script,

		"drawn":  func(d Drawing) template.HTML { return template.HTML(d.Picture.SVG(d.Wide)) },
		"svg":    func(p Plot) template.HTML { return template.HTML(p.Picture().SVG(false)) },
		"linked": linked,
		"show":   func(b Block) (template.HTML, error) { return show(t, b) },

		"heads":   remarks.heads,
		"remarks": remarks.list,
	}
}

// writePage writes a text without control characters.
func writePage(w io.Writer, text string) error {
	if _, err := io.WriteString(escape.NewWriter(w), text); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

func show(t *template.Template, b Block) (template.HTML, error) {
	var out strings.Builder
	err := t.ExecuteTemplate(&out, b.kind(), b)
	return template.HTML(out.String()), err
}

// script returns data as JSON for a script. The encoder escapes characters that
// could end the element.
func script(v any) (template.JS, error) {
	if b, ok := v.(json.RawMessage); ok {
		return template.JS(b), nil // a second encoding would remove its line breaks
	}
	b, err := json.Marshal(v)
	return template.JS(b), err
}

// places formats the indexes of a number's parts in the page's data.
func places(list []int) string { return strings.Trim(fmt.Sprint(list), "[]") }

var address = regexp.MustCompile(`https?://[^\s<>"]*[^\s<>".,;:)]`)

// linked turns the addresses in a text into links. The page itself loads none
// of them.
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
