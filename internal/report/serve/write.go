package serve

import (
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"rumbench/internal/page"
)

// Write writes the pages of a folder, and calls note for each campaign that is left out. It
// returns the number of files. Campaigns that run are as they are now; without a server,
// targets of different campaigns are compared only where they changed.
func Write(c Config, write func(name string, body []byte) error, note func(text string)) (n int, err error) {
	s := &Site{Config: c, store: newStore(c)}
	for _, e := range s.store.entries() {
		if e.about == nil {
			note("left out: " + relativeTo(c.Dir, e.dir) + ": " + e.problem)
			if c.Names != nil {
				e.problem = ""
			}
			continue
		}
		b := s.store.briefOf(e)
		if b.problem != "" {
			note("left out: " + relativeTo(c.Dir, e.dir) + ": " + b.problem)
			if c.Names != nil {
				b.problem = "it cannot be read"
			}
		}
		s.store.set(e, b)
	}
	put := func(name string, body []byte, failed error) {
		if err == nil && failed == nil {
			failed = write(name, body)
			n++
		}
		if err == nil {
			err = failed
		}
	}
	for _, e := range s.store.entries() {
		if e.brief == nil || e.brief.problem != "" {
			continue
		}
		dir := path.Join(campaigns, e.rel) + "/"
		body, failed := s.report(e)
		put(dir+reportName, body, failed)
		for _, f := range c.Formats {
			body, _, failed := s.rows(e, f)
			put(dir+rowsName+f, body, failed)
		}
	}
	body, failed := s.page(s.list(nil, true), nil)
	put(listPage, body, failed)
	compared := map[string]url.Values{}
	body, failed = s.historyWith(func(a, b string) string {
		name := path.Join("changes", strings.ReplaceAll(a+"--"+b, "/", "-")+".html")
		compared[name] = url.Values{baseValue: {a}, newValue: {b}}
		return (&url.URL{Path: filepath.ToSlash(name)}).EscapedPath()
	})
	put(historyPage, body, failed)
	for name, q := range compared {
		body, failed := s.comparisonFor(q, name)
		if failed != nil {
			d := &page.Document{Title: "Not compared", Lead: []page.Block{page.Banner(s.said(failed))}}
			body, failed = s.page(d, s.links(name))
		}
		put(name, body, failed)
	}
	return n, err
}
