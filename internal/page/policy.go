package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"rumbench/internal/page/picture"
)

// policy is a page's content security policy: it allows the scripts and styles
// that were put into the page, by their hashes, and nothing else. Scripts and
// styles injected by a name or a message have no effect. Images may be data of
// the page itself: a picture becomes a PNG that way. A file that a script
// saves, under a blob's address, is no image and needs no permission.
type policy struct {
	scripts []string          // their hashes
	rules   map[string]string // the rules of the page's generated classes
}

// unread are comments and indentation of a script, which readers of the page need not load.
var unread = regexp.MustCompile(`(?m)^\s*//.*\n|^[\t ]+`)

// script returns a script for the page, without its unread parts, and allows it.
func (p *policy) script(text string) template.JS {
	text = unread.ReplaceAllString(text, "")
	p.scripts = append(p.scripts, hashOf(text))
	return template.JS(text)
}

// asset returns a script that every page has, and allows it.
func (p *policy) asset(name string) (template.JS, error) {
	b, err := assets.ReadFile("assets/" + name)
	return p.script(string(b)), err
}

// percent returns a class that gives an element a width or a position: attributes
// with styles are not allowed.
func (p *policy) percent(property string, v float64) string {
	hundredths := int(math.Round(v * 100))
	return p.class(fmt.Sprintf("%s-%d", property, hundredths),
		fmt.Sprintf("%s:%d.%02d%%", property, hundredths/100, hundredths%100))
}

// columns returns a class that sets the number of a table's columns.
func (p *policy) columns(n int) string {
	return p.class(fmt.Sprintf("columns-%d", n), fmt.Sprintf("--columns:%d", n))
}

func (p *policy) class(name, rule string) string {
	p.rules["."+name] = rule
	return name
}

// head is the part of a page before its body.
type head struct {
	Title  string
	Every  int // see Document
	Policy template.HTMLAttr
	Style  template.CSS
}

// head returns the head of a document whose body has been made.
func (p *policy) head(d *Document) (head, error) {
	var style strings.Builder
	style.WriteString(picture.Palette() + picture.Rules())
	for _, name := range []string{"uplot/uPlot.min.css", "page.css"} {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return head{}, err
		}
		style.WriteString(string(b) + "\n")
	}
	style.WriteString(d.Style + "\n")
	for _, selector := range slices.Sorted(maps.Keys(p.rules)) {
		fmt.Fprintf(&style, "%s{%s}\n", selector, p.rules[selector])
	}
	allowed := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'",
		hashOf(style.String()), cmp.Or(strings.Join(p.scripts, " "), "'none'"))
	h := head{Title: d.Title, Every: d.Every, Style: template.CSS(style.String())}
	if d.Every > 0 {
		allowed += "; connect-src 'self'"
	}
	h.Policy = template.HTMLAttr(`content="` + allowed + `"`)
	return h, nil
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
