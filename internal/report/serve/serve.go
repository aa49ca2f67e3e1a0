// Package serve shows a folder of campaigns as pages: a list, reports, comparisons of any
// targets, the history, and what a running campaign does. It only reads: nothing that a
// reader asks for starts, stops, changes or deletes anything.
//
// Every page is written here and on request, from the files as they are: pages need no
// script, except that with one a running campaign renews itself without flicker.
package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"rumbench/internal/page"
	"rumbench/internal/report"
	"rumbench/internal/result"
)

// Config is what the pages are made of.
type Config struct {
	Dir  string // the folder
	Only string // a campaign in it, by its path, if no others are shown
	// Names, if set, returns the name under which a campaign is shown, by its path below the folder. The texts of errors,
	// which may have paths, are left out then.
	Names func(rel string) string
	// Marked is a file in the folder that the history depends on, too.
	Marked string
	// Report reads results, each DIR or DIR:TARGET, into one report.
	Report func(dirs ...string) (report.Input, error)
	// Rows writes the numbers of a campaign in a format of Formats.
	Rows    func(w io.Writer, dir, format string) error
	Formats []string
	// Where returns how far a running campaign is, and about how long it still takes; 0: unknown.
	Where func(dir string, c *result.Campaign, begun []*result.Trial) (at string, left time.Duration)
	// History returns what is to be said of the campaigns in the folder over time. link is
	// the address of a comparison of two of them, given by their paths below the folder.
	History func(dir string, link func(base, other string) string) ([]page.Block, error)
}

// Site serves a folder.
type Site struct {
	Config
	store  *store
	pages  cache
	lives  lives
	making sync.Mutex // one report or comparison at a time: each takes a core and memory
}

// New returns the site of a folder. Until the context ends it reads, in the background, what
// the list says of each campaign.
func New(ctx context.Context, c Config) *Site {
	s := &Site{Config: c, store: newStore(c)}
	s.lives.site = s
	go s.store.keepRead(ctx)
	return s
}

// The addresses of pages, below the root.
const (
	listPage    = "index.html"
	historyPage = "history.html"
	comparePage = "compare.html"
	campaigns   = "campaigns/" // PATH/report.html, PATH/live.html, PATH/rows.FORMAT
	reportName  = "report.html"
	liveName    = "live.html"
	rowsName    = "rows."
)

// ServeHTTP answers a request that has been let in, see Guard.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if at == "" {
		at = listPage
	}
	var body []byte
	var err error
	kind := "text/html; charset=utf-8"
	switch dir, name, ok := s.campaignAt(at); {
	case at == listPage:
		body, err = s.page(s.list(r.URL.Query(), false), nil)
	case at == historyPage:
		body, err = s.history()
	case at == comparePage:
		body, err = s.comparison(r.URL.Query(), at)
	case ok && name == reportName:
		body, err = s.report(dir)
	case ok && name == liveName:
		body, err = s.lives.page(dir)
	case ok && strings.HasPrefix(name, rowsName):
		body, kind, err = s.rows(dir, strings.TrimPrefix(name, rowsName))
	default:
		err = errNone
	}
	if err != nil {
		s.fail(w, at, err)
		return
	}
	w.Header().Set("Content-Type", kind)
	if !strings.HasPrefix(kind, "text/html") {
		w.Header().Set("Content-Disposition", "attachment")
	}
	_, _ = w.Write(body) // the reader may have gone
}

// campaignAt returns the campaign of an address, and the name of its page. Only campaigns
// that the store has found are known: no address leads elsewhere.
func (s *Site) campaignAt(at string) (c *entry, name string, ok bool) {
	remainder, below := strings.CutPrefix(at, campaigns)
	if !below {
		return nil, "", false
	}
	dir, name := path.Split(remainder)
	c = s.store.find(strings.TrimSuffix(dir, "/"))
	return c, name, c != nil
}

// fail answers with an error, which may name what is in the folder but no path above it.
func (s *Site) fail(w http.ResponseWriter, at string, err error) {
	status, text := http.StatusInternalServerError, s.said(err)
	if errors.Is(err, errNone) {
		status, text = http.StatusNotFound, "There is no such page. The campaign may have been moved."
	}
	body, err := s.page(&page.Document{Title: http.StatusText(status), Lead: []page.Block{page.Banner(text)}}, s.links(at))
	if err != nil {
		body = []byte(text)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// said returns an error without the path of the folder.
func (s *Site) said(err error) string {
	if s.Names != nil {
		return "It cannot be read."
	}
	return strings.ReplaceAll(err.Error(), s.Dir+"/", "")
}

// page renders a plain page of the site.
func (s *Site) page(d *page.Document, links []page.Link) ([]byte, error) {
	var b bytes.Buffer
	d.Plain = true
	if d.Links == nil {
		d.Links = links
	}
	err := page.HTML(&b, d)
	return b.Bytes(), err
}

// links returns the links of a page to the others.
func (s *Site) links(at string) []page.Link {
	up := strings.Repeat("../", strings.Count(at, "/"))
	link := func(text, name string) page.Link {
		if at == name {
			return page.Link{Text: text}
		}
		return page.Link{Text: text, To: up + name}
	}
	return []page.Link{link("campaigns", listPage), link("history", historyPage)}
}

// addressOf returns the address of a campaign's page, from the root.
func addressOf(rel, name string) string {
	return (&url.URL{Path: path.Join(campaigns, rel, name)}).EscapedPath()
}

// LiveAddress returns the address, from the root, of the page about a campaign that runs, given
// by its path below the folder.
func LiveAddress(rel string) string { return addressOf(rel, liveName) }

// report returns the report of a campaign.
func (s *Site) report(c *entry) ([]byte, error) {
	at := path.Join(campaigns, c.rel, reportName)
	return s.cached(at, c.stampNow, func() ([]byte, error) {
		in, err := s.Report(c.dir)
		if err != nil {
			return nil, err
		}
		in.Links = s.links(at)
		if c.isRunning() {
			in.Links = append(in.Links, page.Link{Text: "live", To: liveName})
		}
		for _, f := range s.Formats {
			in.Links = append(in.Links, page.Link{Text: "rows as " + f, To: rowsName + f})
		}
		return html(in)
	})
}

// html renders a report below other blocks.
func html(in report.Input, above ...page.Block) ([]byte, error) {
	var b bytes.Buffer
	err := report.Page(&b, in, above)
	return b.Bytes(), err
}

// kinds are the types of files, by their formats.
var kinds = map[string]string{"csv": "text/csv; charset=utf-8", "json": "application/x-ndjson",
	"parquet": "application/vnd.apache.parquet"}

// rows returns the numbers of a campaign as a file.
func (s *Site) rows(c *entry, format string) (body []byte, kind string, err error) {
	if kind = kinds[format]; kind == "" {
		return nil, "", errNone
	}
	body, err = s.cached(c.rel+"/"+rowsName+format, c.stampNow, func() ([]byte, error) {
		var b bytes.Buffer
		err := s.Rows(&b, c.dir, format)
		return b.Bytes(), err
	})
	return body, kind, err
}

// history returns the page about all campaigns over time.
func (s *Site) history() ([]byte, error) {
	stamp := func() string { return s.store.stamp() + stampOf(filepath.Join(s.Dir, s.Marked)) }
	return s.cached(historyPage, stamp, func() ([]byte, error) {
		return s.historyWith(func(base, other string) string {
			return comparePage + "?" + url.Values{baseValue: {base}, newValue: {other}}.Encode()
		})
	})
}

// historyWith returns that page with links of a kind to the comparisons of two campaigns.
func (s *Site) historyWith(link func(base, other string) string) ([]byte, error) {
	blocks, err := s.History(s.Dir, link)
	if err != nil {
		return nil, err
	}
	d := &page.Document{Title: "History", Sections: []page.Section{{ID: "changes", Title: "What changed", Blocks: blocks}}}
	return s.page(d, s.links(historyPage))
}

// cached returns a page that was made of files with the same stamp, or makes it. Those who wait
// for one page share it.
func (s *Site) cached(at string, stamp func() string, render func() ([]byte, error)) ([]byte, error) {
	if body := s.pages.get(at, stamp()); body != nil {
		return body, nil
	}
	s.making.Lock()
	defer s.making.Unlock()
	now := stamp()
	if body := s.pages.get(at, now); body != nil { // made in the meantime
		return body, nil
	}
	body, err := render()
	if err == nil {
		s.pages.put(at, now, body)
	}
	return body, err
}

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
		body, failed := s.comparison(q, name)
		if failed != nil {
			d := &page.Document{Title: "Not compared", Lead: []page.Block{page.Banner(s.said(failed))}}
			body, failed = s.page(d, s.links(name))
		}
		put(name, body, failed)
	}
	return n, err
}

// mostCached limits the memory of pages that are kept, in bytes.
const mostCached = 64 << 20

// cache keeps pages with the stamp of what they were made of, the last used ones.
type cache struct {
	mu    sync.Mutex
	kept  []cachedPage // the last used last
	bytes int
}

type cachedPage struct {
	at, stamp string
	body      []byte
}

func (c *cache) get(at, stamp string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(at)
	if i < 0 || c.kept[i].stamp != stamp {
		return nil
	}
	p := c.kept[i]
	c.kept = append(slices.Delete(c.kept, i, i+1), p)
	return p.body
}

func (c *cache) put(at, stamp string, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.index(at); i >= 0 {
		c.remove(i)
	}
	c.kept, c.bytes = append(c.kept, cachedPage{at, stamp, body}), c.bytes+len(body)
	for c.bytes > mostCached && len(c.kept) > 1 {
		c.remove(0)
	}
}

func (c *cache) index(at string) int {
	return slices.IndexFunc(c.kept, func(p cachedPage) bool { return p.at == at })
}

func (c *cache) remove(i int) {
	c.bytes -= len(c.kept[i].body)
	c.kept = slices.Delete(c.kept, i, i+1)
}
