package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/published"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// apart is a warning to read before any published figure, and howRead explains how
// to read the tables.
const (
	apart   = "Not measured here: other hardware, other versions, other sizes. Compare directions and ratios, not numbers."
	howRead = "Below a published configuration, “here” marks the target of this report that corresponds to it. " +
		"Ratios: of a published figure to that of the first row; of a figure measured here to that of the target " +
		"under the first row."
)

// publishedFigures puts figures from elsewhere next to those of this campaign.
func publishedFigures(v *composer) []page.Section {
	if len(v.in.Published) == 0 {
		return nil
	}
	n := page.NewNotes("published")
	sec := page.Section{ID: "published", Title: "Published", Nav: "Published", Blocks: []page.Block{
		page.Paragraph{Class: "apart", Spans: []page.Span{{Text: apart}}, Strong: true}, page.Prose("about", howRead),
	}}
	for _, p := range v.in.Published {
		about := page.Facts{Class: "about", Facts: []page.Fact{{Name: "hardware", Value: p.Hardware}}}
		if p.Note != "" {
			about.Facts = append(about.Facts, page.Fact{Name: "note", Value: p.Note})
		}
		sec.Blocks = append(sec.Blocks, page.Heading{Level: 3, Text: p.Source}, about)
		for _, f := range published.Beside(v.Campaign, &p) {
			sec.Blocks = append(sec.Blocks, publishedTable(v.campaign, f, n))
		}
	}
	sec.Blocks = append(sec.Blocks, n)
	return []page.Section{sec}
}

// publishedTable shows the published figures of a step, and under each
// configuration those of its measured counterpart.
func publishedTable(c *campaign, f published.Figures, n *page.Notes) page.Table {
	t := figureTable(f)
	g := &t.Groups[0]
	for i, r := range f.Rows {
		theirs, ours := figureRows(c, &f, i, g.Subs, n)
		if g.Rows = append(g.Rows, theirs); r.Like != "" {
			g.Rows = append(g.Rows, ours)
		}
	}
	return t
}

// figureTable returns a table of published figures without its rows.
func figureTable(f published.Figures) page.Table {
	g := page.Group{Name: "step " + f.Step, Title: "What the source measured corresponds to this step"}
	if f.Step == "" {
		g.Name, g.Title = "no step of this run", "The plan names no step that these figures correspond to"
	}
	t := page.Table{Head: "configuration"}
	for i, m := range f.Metrics {
		col := metricColumn(key{Metric: m})
		if m == metric.RowsPerS {
			col.Name = "rate" // its unit shows what it counts
		}
		t.Columns, g.Subs = append(t.Columns, col), append(g.Subs, publishedUnit(m, f.Pers[i]))
	}
	t.Groups = []page.Group{g}
	return t
}

// figureRows returns a published configuration and its measured counterpart, which
// has no cells if there is none.
func figureRows(c *campaign, f *published.Figures, i int, units []string, n *page.Notes) (theirs, ours page.Row) {
	r := &f.Rows[i]
	theirs, ours = page.Row{Head: r.Name, Series: -1, Class: "elsewhere"},
		page.Row{Head: "here: " + r.Like, Series: -1, Class: "here"}
	if r.Target != nil {
		ours.Series = r.Target.Index
	}
	for k, m := range f.Metrics {
		theirs.Cells = append(theirs.Cells, publishedCell(&r.Cells[k], m, units[k], f.Rows[0].Name))
		if r.Like != "" {
			ours.Cells = append(ours.Cells, besideCell(c, f.Step, r, &r.Cells[k], units[k], n))
		}
	}
	return theirs, ours
}

// publishedUnit returns the unit or denominator of a published number.
func publishedUnit(name, per string) string {
	switch {
	case per == "":
		return ""
	case name == metric.RowsPerS:
		return quantity.Plural(per) + "/s"
	}
	return "per " + per
}

func publishedCell(f *published.Figure, name, unit, first string) page.Cell {
	if !f.Published {
		return page.Absent("not published")
	}
	num := verdict.Of(name, f.Value, metric.ByName(name).Unit)
	if metric.IsCost(name) {
		num.Per = f.Per
	}
	c := page.Cell{Text: asPublished(num), Title: "published: " + num.Hover(), Number: true}
	if u := publishedUnit(name, f.Per); u != unit {
		c.Per = u
	}
	if !math.IsNaN(f.Ratio) {
		c.Ratio = publishedRatio(f.Ratio, f.Digits)
		c.Title += "; " + c.Ratio + " " + first
	}
	return c
}

// besideCell returns the measured number that corresponds to a published one.
func besideCell(c *campaign, name string, r *published.FiguresRow, f *published.Figure, unit string,
	n *page.Notes) page.Cell {
	if f.Why != "" {
		return page.Absent(f.Why)
	}
	s := c.steps[slices.IndexFunc(c.steps, func(s *step) bool { return s.Name == name })]
	cell := s.cell(r.Target, r.Base, f.Key, n)
	cell.Class, cell.Sign = "", "" // the base differs from the base of all other tables
	if u := s.unitOf(f.Key); u != unit && !cell.Absent {
		cell.Per = u
	}
	return cell
}

// asPublished formats a number with the digits of the source, unless its unit
// is shown scaled.
func asPublished(n number) string {
	switch {
	case metric.IsLatency(n.Metric) || n.Unit == "bool":
		return n.String()
	case n.Unit == "B":
		return quantity.BytesAs(n.Value, quantity.Amount)
	}
	return digits(n.Value)
}

// digits formats a number in full, with separated thousands.
func digits(v float64) string {
	_, fraction, ok := strings.Cut(quantity.Full(v), ".")
	if !ok {
		return quantity.Whole(v)
	}
	return quantity.Whole(math.Trunc(v)) + "." + fraction
}

// publishedRatio formats a ratio with its significant digits.
func publishedRatio(r float64, significant int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(r, 'g', significant, 64), 64)
	if err != nil || significant == 3 || math.Abs(r) >= 99.95 {
		return quantity.Times(r)
	}
	return digits(rounded) + "×"
}
