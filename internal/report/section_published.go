package report

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/plan"
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
func publishedFigures(v *campaign) []page.Section {
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
		var steps []string
		rows := map[string][]plan.PublishedRow{}
		for _, r := range p.Rows {
			steps, rows[r.Step] = compare.AppendNew(steps, r.Step), append(rows[r.Step], r)
		}
		for _, step := range steps {
			sec.Blocks = append(sec.Blocks, publishedTable(v, rows[step], n))
		}
	}
	sec.Blocks = append(sec.Blocks, n)
	return []page.Section{sec}
}

// publishedTable shows the published figures of a step, and under each
// configuration those of its measured counterpart.
func publishedTable(c *campaign, rows []plan.PublishedRow, n *page.Notes) page.Table {
	t, first := page.Table{Head: "configuration"}, &rows[0]
	g := page.Group{Name: "step " + first.Step, Title: "What the source measured corresponds to this step"}
	if first.Step == "" {
		g.Name, g.Title = "no step of this run", "The plan names no step that these figures correspond to"
	}
	var metrics []string
	for _, m := range metric.All() {
		found, unit := false, ""
		for _, r := range rows {
			if _, has := r.Figures[m.Name]; has {
				found, unit = true, cmp.Or(unit, publishedUnit(m.Name, r.Per))
			}
		}
		if !found {
			continue
		}
		col := metricColumn(key{Metric: m.Name})
		if m.Name == metric.RowsPerS {
			col.Name = "rate" // its unit shows what it counts
		}
		metrics, t.Columns, g.Subs = append(metrics, m.Name), append(t.Columns, col), append(g.Subs, unit)
	}
	for i := range rows {
		r := &rows[i]
		theirs, ours := page.Row{Head: r.Name, Series: -1, Class: "elsewhere"},
			page.Row{Head: "here: " + r.Like, Series: -1, Class: "here"}
		if target := c.Target(r.Like); target != nil {
			ours.Series = target.Index
		}
		for k, name := range metrics {
			theirs.Cells = append(theirs.Cells, publishedCell(r, first, name, g.Subs[k]))
			if r.Like != "" {
				ours.Cells = append(ours.Cells, counterpartCell(c, r, first, name, g.Subs[k], n))
			}
		}
		if g.Rows = append(g.Rows, theirs); r.Like != "" {
			g.Rows = append(g.Rows, ours)
		}
	}
	t.Groups = []page.Group{g}
	return t
}

// publishedUnit returns the unit or denominator of a published number; "" if it has none, or the source gives none.
func publishedUnit(name, per string) string {
	switch {
	case per == "" || !hasPer(name):
		return ""
	case name == metric.RowsPerS:
		return quantity.Plural(per) + "/s"
	}
	return "per " + per
}

// publishedCell returns a published number, with its ratio to that of the first row.
func publishedCell(r, first *plan.PublishedRow, name, unit string) page.Cell {
	value, found := r.Figures[name]
	if !found {
		return page.Absent("not published")
	}
	num := verdict.Of(name, value, metric.ByName(name).Unit)
	if metric.IsCost(name) {
		num.Per = r.Per
	}
	c := page.Cell{Text: asPublished(num), Title: "published: " + num.Hover(), Number: true}
	if u := publishedUnit(name, r.Per); u != unit {
		c.Per = u
	}
	base, ok := first.Figures[name]
	if ok && r != first && base != 0 && sameUnit(name, r.Per, first.Per) && !math.IsInf(value/base, 0) {
		c.Ratio = publishedRatio(value/base, min(significant(value), significant(base), 3))
		c.Title += "; " + c.Ratio + " " + first.Name
	}
	return c
}

// counterpartCell returns the measured number that corresponds to a published one. It is compared with the
// counterpart of the first row, or not if that has none.
func counterpartCell(c *campaign, r, first *plan.PublishedRow, name, unit string, n *page.Notes) page.Cell {
	t, found := c.Target(r.Like), c.Step(r.Step)
	switch {
	case t == nil:
		return page.Absent("no trial of " + r.Like + " has been begun")
	case r.Step == "":
		return page.Absent("the plan names no step that these figures correspond to")
	case found == nil:
		return page.Absent("no trial came to step " + r.Step)
	}
	k, ok := counterpart(found, name, r.Per)
	if !ok {
		return page.Absent("not measured here")
	}
	s := c.stepOf(found)
	cell := s.cell(t, cmp.Or(c.Target(first.Like), t), k, n)
	cell.Class, cell.Sign = "", "" // the base differs from the base of all other tables
	if u := s.unitOf(k); u != unit && !cell.Absent {
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

// publishedRatio formats a ratio with its significant digits: 0.06 is about 3 times 0.02, not 3.00 times.
func publishedRatio(r float64, significant int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(r, 'g', significant, 64), 64)
	if err != nil || significant == 3 || math.Abs(r) >= 99.95 {
		return quantity.Times(r)
	}
	return digits(rounded) + "×"
}

// hasPer reports whether a metric is per unit, or a rate of units.
func hasPer(name string) bool { return name == metric.RowsPerS || metric.IsCost(name) }

// sameUnit reports whether numbers with two denominators have the same unit, as
// rates of inserted and of indexed rows do. A missing denominator fits any.
func sameUnit(name, per, other string) bool {
	if !metric.IsCost(name) {
		per, other = per[strings.LastIndex(per, " ")+1:], other[strings.LastIndex(other, " ")+1:]
	}
	return !hasPer(name) || per == other || per == "" || other == ""
}

// counterpart returns the key of the step's number that is closest to a
// published one: with the same denominator, or else of the primary operation.
func counterpart(s *compare.Step, name, per string) (key, bool) {
	about := func(op string) func(key) bool { return func(k key) bool { return k.About(op) } }
	first, second := s.Primary, s.WritesPer
	if m := metric.ByName(name); m != nil && m.Per == metric.PerWritten {
		first, second = second, first
	}
	for _, fits := range []func(key) bool{
		func(k key) bool { return per != "" && k.Per == per },
		about(first),
		func(k key) bool { return s.Primary != "" && k.Group == s.Primary },
		func(k key) bool { return k.Group == "" && k.Op == "" && k.Per == "" },
		func(k key) bool { return metric.IsCost(name) && about(second)(k) },
	} {
		if k, ok := s.Find(name, fits); ok {
			return k, true
		}
	}
	return key{}, false
}

// significant counts the digits of a number as written; zeros before the point
// count.
func significant(v float64) int {
	written := strconv.FormatFloat(v, 'f', -1, 64)
	return max(1, len(strings.TrimLeft(strings.Replace(written, ".", "", 1), "0")))
}
