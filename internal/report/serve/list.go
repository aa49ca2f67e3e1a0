package serve

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/page"
	"rumbench/internal/report/trend"
	"rumbench/internal/text/quantity"
)

// rowsOfPage is how many campaigns a page of the list has.
const rowsOfPage = 100

// line is a campaign as the list shows it, in text.
type line struct {
	*entry
	running                                bool
	plan, targets, machine, answer, status string
	trust                                  page.Level
	trusted                                string
}

func newLine(e *entry) line {
	l := line{entry: e, status: "not read yet", running: e.isRunning()}
	if e.about == nil {
		l.plan, l.status, l.answer = e.rel, "broken", e.problem
		return l
	}
	l.plan, l.targets = e.about.Name, strings.Join(targetsOf(e.about), ", ")
	switch b := e.brief; {
	case l.running:
		l.status = "running"
	case b == nil:
	case b.problem != "":
		l.status, l.answer = "broken", b.problem
	default:
		l.targets, l.machine = trend.Targets(b.line.Targets), b.Machine
		l.trust, l.trusted = b.Trust.Level, b.Trust.Line
		l.status, l.answer = string(b.line.Status), cmp.Or(b.Answer, trend.Main(&b.line))
	}
	return l
}

func (l *line) text() string {
	return strings.ToLower(strings.Join([]string{l.rel, l.plan, l.targets, l.machine, l.answer, l.status, string(l.trust),
		l.day()}, " "))
}

func (l *line) day() string {
	if l.about == nil || l.about.Started.IsZero() {
		return quantity.Unknown
	}
	return l.about.Started.UTC().Format("2006-01-02 15:04")
}

// orders are the orders of the list, the first one by default.
var orders = []struct {
	name, text string
	compare    func(a, b *line) int
}{
	{"", "newest first", func(a, b *line) int { return cmp.Compare(b.started(), a.started()) }},
	{"oldest", "oldest first", func(a, b *line) int { return cmp.Compare(a.started(), b.started()) }},
	{"plan", "by plan", func(a, b *line) int { return cmp.Compare(a.plan, b.plan) }},
	{"targets", "by targets", func(a, b *line) int { return cmp.Compare(a.targets, b.targets) }},
	{"machine", "by machine", func(a, b *line) int { return cmp.Compare(a.machine, b.machine) }},
	{"trust", "by trust", func(a, b *line) int { return cmp.Compare(a.trust, b.trust) }},
	{"status", "by status", func(a, b *line) int { return cmp.Compare(a.status, b.status) }},
}

// list returns the list of campaigns that match a query, or of all on one page.
func (s *Site) list(q url.Values, all bool) *page.Document {
	entries := s.store.entries()
	var lines []*line
	words := strings.Fields(strings.ToLower(q.Get("q")))
	for _, e := range entries {
		l := newLine(e)
		text := l.text()
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			lines = append(lines, &l)
		}
	}
	for _, o := range orders {
		if o.name == q.Get("sort") {
			slices.SortStableFunc(lines, o.compare)
		}
	}
	d := &page.Document{Title: "Campaigns", Links: s.links(listPage)}
	if !all {
		d.Lead = append(d.Lead, searchForm(q))
	}
	about := quantity.Count(len(lines), "campaign")
	if len(lines) < len(entries) {
		about = fmt.Sprintf("%d of %s", len(lines), quantity.Count(len(entries), "campaign"))
	}
	if n := unread(entries); n > 0 && !all {
		about += fmt.Sprintf("; %d are still being read", n)
		d.Every = renewed
	}
	d.Lead = append(d.Lead, page.Prose("about", about+"."))
	blocks := []page.Block{linesTable(lines, true)}
	if !all {
		position, _ := strconv.Atoi(q.Get("page")) // from 0
		position = max(0, min(position, (len(lines)-1)/rowsOfPage))
		shown := lines[min(position*rowsOfPage, len(lines)):min((position+1)*rowsOfPage, len(lines))]
		blocks = []page.Block{page.Form{To: comparePage, Button: "Compare the chosen ones",
			Blocks: []page.Block{linesTable(shown, false)}}, pageLinks(q, len(lines), position)}
	}
	d.Sections = []page.Section{{ID: "list", Title: "All results", Blocks: blocks}}
	return d
}

func searchForm(q url.Values) page.Form {
	sorts := page.Field{Name: "sort", Label: "order", Value: q.Get("sort")}
	for _, o := range orders {
		sorts.Choices = append(sorts.Choices, page.FieldChoice{Value: o.name, Text: o.text})
	}
	return page.Form{Button: "Show", Fields: []page.Field{
		{Name: "q", Label: "words in plan, targets, machine, answer, status", Value: q.Get("q")}, sorts}}
}

func pageLinks(q url.Values, lines, position int) page.Links {
	var out page.Links
	for n := 0; n*rowsOfPage < lines && lines > rowsOfPage; n++ {
		own := url.Values{"page": {strconv.Itoa(n)}}
		for _, name := range []string{"q", "sort"} {
			if v := q.Get(name); v != "" {
				own.Set(name, v)
			}
		}
		l := page.Link{Text: strconv.Itoa(n + 1)}
		if n != position {
			l.To = "?" + own.Encode()
		}
		out = append(out, l)
	}
	return out
}

// linesTable returns the table of campaigns, with boxes to choose some for a comparison
// unless they stand still.
func linesTable(lines []*line, still bool) page.Table {
	t := page.Table{Head: "campaign"}
	if !still {
		t.Columns = []page.Column{{Name: "compare", Sub: "base, new", Title: "choose a base, and what to compare with it"}}
	}
	t.Columns = append(t.Columns,
		page.Columns("started (UTC)", "answer", "trust", "targets", "plan", "machine", "status")...)
	for _, l := range lines {
		row := page.Row{Head: l.rel, Series: -1}
		if l.about != nil && (l.brief == nil || l.brief.problem == "") {
			row.Link = addressOf(l.rel, reportName)
		}
		if !still {
			row.Cells = append(row.Cells, boxes(l))
		}
		trust := page.Words(string(l.trust))
		if l.trust != "" {
			trust.Text, trust.Title = l.trust.Sign()+" "+string(l.trust), l.trusted
		}
		status := page.Words(l.status)
		if l.running && !still {
			status.Text, status.Link = "running: look on", addressOf(l.rel, liveName)
		}
		answer, day := page.Words(l.answer), page.Words(l.day())
		answer.Class, day.Class, trust.Class, status.Class = "long", "short", "short", "short"
		row.Cells = append(row.Cells, day, answer, trust, page.Words(l.targets), page.Words(l.plan), page.Words(l.machine),
			status)
		t.Add(row)
	}
	return t
}

// boxes returns the cell in which a campaign is chosen for a comparison: as the base, or as
// another.
func boxes(l *line) page.Cell {
	c := page.Words("")
	if l.about != nil {
		c.Boxes = []page.Box{{Name: "base", Value: l.rel, Label: "compare with " + l.rel, One: true},
			{Name: "new", Value: l.rel, Label: "compare " + l.rel}}
	}
	return c
}
