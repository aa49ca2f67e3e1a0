package report

import (
	_ "embed" // for the assets
	"fmt"
	"io"
	"slices"
	"strings"

	"rumbench/internal/page"
	"rumbench/internal/page/picture"
)

//go:embed assets/report.css
var reportStyle string

//go:embed assets/report.js
var reportScript string

// sections are the sections of a report: the results, then their explanations, and
// folded the reference parts. A function may return none, or several.
var sections = []func(*campaign) []page.Section{
	findings, whyDifferent, numbers, overLevels, results, relativeTables, overTheSteps, publishedFigures, promises,
	preparations, serverMachines, clientMachines, clientAlone, settings, plans, host, glossary, appendix,
}

// opening returns the document without its sections: the first screen.
func opening(v *campaign) (*page.Document, error) {
	if len(v.Targets) == 0 {
		return nil, fmt.Errorf("report %s: no trials", v.in.Title)
	}
	d := &page.Document{Title: v.in.Title, Lead: firstScreen(v)}
	if d.Title == "" {
		d.Title = v.Targets[0].Trials[0].Campaign
	}
	return d, nil
}

// document returns the report as a document.
func document(v *campaign) (*page.Document, error) {
	d, err := opening(v)
	if err != nil {
		return nil, err
	}
	for _, section := range sections {
		d.Sections = append(d.Sections, section(v)...)
	}
	return d, nil
}

// HTML writes the report as one HTML file that loads nothing else. The same
// input gives the same bytes.
func HTML(w io.Writer, in Input) error { return Page(w, in, nil) }

// Page writes the report as HTML does, below other blocks.
func Page(w io.Writer, in Input, above []page.Block) error {
	v := in.campaign()
	v.tracks = readSeries(v)
	rows := newEmbedder()
	rows.add(v)
	if v.client != nil {
		rows.add(v.client)
	}
	d, err := document(v)
	if err != nil {
		return err
	}
	if d.Data, err = pageData(v, rows); err != nil {
		return err
	}
	d.Style, d.Scripts, d.Links = reportStyle, []string{reportScript}, in.Links
	d.Lead = slices.Concat(above, d.Lead)
	return page.HTML(w, d)
}

// Markdown writes the report as Markdown, without the charts over time and the
// embedded rows: the folded parts of the page are left out unless all is set.
func Markdown(w io.Writer, in Input, all bool) error {
	d, err := document(in.campaign())
	if err != nil {
		return err
	}
	return page.Markdown(w, d, all)
}

// Card returns the first screen as one picture, for posts.
func Card(in Input) (*picture.Picture, error) {
	v := in.campaign()
	v.tracks = readSeries(v)
	d, err := opening(v)
	if err != nil {
		return nil, err
	}
	return page.Card(d.Title, d.Lead), nil
}

// Summary writes the first screen as Markdown, in about 30 lines: of the badge only
// the part visible before it is opened.
func Summary(w io.Writer, in Input) error {
	d, err := opening(in.campaign())
	if err != nil {
		return err
	}
	for i, b := range d.Lead {
		if badge, ok := b.(page.Badge); ok {
			badge.More = nil
			d.Lead[i] = badge
		}
	}
	return page.Markdown(w, d, false)
}

// Text writes the summary that a run prints at its end: per step the targets
// with throughput, quality of service and cost. Columns that do not fit into
// the width are left out with a remark; a width of 0 is unlimited.
func Text(w io.Writer, in Input, width int) error {
	return page.Text(w, summary(in.campaign()), page.TextStyle{Width: width, More: "the report has them"})
}

// Brief is a report in two lines, for a list of campaigns.
type Brief struct {
	Trust   page.Badge
	Answer  string // "" without one
	Machine string // of the servers
}

// BriefOf returns the brief of a report.
func BriefOf(in Input) (b Brief, err error) {
	c := in.campaign()
	if len(c.Targets) == 0 {
		return b, fmt.Errorf("report %s: no trials", in.Title)
	}
	s, _ := c.story()
	b.Trust, b.Answer, b.Machine = trust(c), s.Lead, machine(c)
	if b.Answer == "" {
		b.Answer = strings.Join(s.Sentences(), " ")
	}
	return b, nil
}
