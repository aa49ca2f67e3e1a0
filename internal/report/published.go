package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/plan"
)

// apart is what a reader must know before any published figure, and howRead how
// the tables are meant.
const (
	apart   = "Not measured here: other hardware, other versions, other sizes. Compare directions and ratios, not numbers."
	howRead = "Under a published configuration stands, with “here”, the target of this report that corresponds to it. Ratios: of a published figure to that of the first row; of a figure measured here to that of the target under the first row."
)

// Published is a set of figures from elsewhere, ready to be shown: a table for
// each step that they correspond to.
type Published struct {
	Source, Hardware, Note string
	Tables                 []Table
}

// published puts figures from elsewhere beside those of this campaign.
func (c *campaign) published(in []plan.Published, n *notes) []Published {
	var out []Published
	for _, p := range in {
		e := Published{Source: p.Source, Hardware: p.Hardware, Note: p.Note}
		var steps []string
		for _, r := range p.Rows {
			steps = appendNew(steps, r.Step)
		}
		for _, step := range steps {
			rows := slices.DeleteFunc(slices.Clone(p.Rows), func(r plan.PublishedRow) bool { return r.Step != step })
			e.Tables = append(e.Tables, c.publishedTable(step, rows, n))
		}
		out = append(out, e)
	}
	return out
}

// publishedTable shows the published figures of a step, and under each
// configuration what its counterpart did here.
func (c *campaign) publishedTable(step string, rows []plan.PublishedRow, n *notes) Table {
	g := RowGroup{Name: "step " + step, Title: "What the source measured corresponds to this step"}
	if step == "" {
		g.Name, g.Title = "no step of this run", "The plan names no step that these figures correspond to"
	}
	t := Table{Head: "configuration"}
	metrics := publishedMetrics(rows)
	for _, m := range metrics {
		col := metricColumn(key{Metric: m})
		if m == "rows_per_s" {
			col.Name = "rate" // its unit tells of what
		}
		t.Columns = append(t.Columns, col)
		g.Subs = append(g.Subs, commonUnit(rows, m))
	}
	for i := range rows {
		r := &rows[i]
		theirs, ours := TableRow{Head: r.Name, Target: -1, Elsewhere: true}, TableRow{Head: "here: " + r.Like, Target: -1}
		if t := c.targetNamed(r.Like); t != nil {
			ours.Target = t.Index
		}
		for i, m := range metrics {
			theirs.Cells = append(theirs.Cells, publishedCell(r, &rows[0], m, g.Subs[i]))
			ours.Cells = append(ours.Cells, c.besideCell(r, &rows[0], m, g.Subs[i], n))
		}
		if g.Rows = append(g.Rows, theirs); r.Like != "" {
			g.Rows = append(g.Rows, ours)
		}
	}
	t.Groups = []RowGroup{g}
	return t
}

// publishedMetrics are the metrics that any row has, in the order of the glossary.
func publishedMetrics(rows []plan.PublishedRow) []string {
	var out []string
	for _, m := range metric.All() {
		if slices.ContainsFunc(rows, func(r plan.PublishedRow) bool { _, ok := r.Figures[m.Name]; return ok }) {
			out = append(out, m.Name)
		}
	}
	return out
}

// publishedUnit says what a published number is of or per.
func publishedUnit(name, per string) string {
	switch {
	case per == "":
	case name == "rows_per_s":
		return plural(per) + "/s"
	case metric.IsCost(name):
		return "per " + per
	}
	return ""
}

// commonUnit is the unit of the first row that says one.
func commonUnit(rows []plan.PublishedRow, metric string) string {
	for _, r := range rows {
		if _, ok := r.Figures[metric]; ok && publishedUnit(metric, r.Per) != "" {
			return publishedUnit(metric, r.Per)
		}
	}
	return ""
}

func publishedCell(r, first *plan.PublishedRow, name, unit string) Cell {
	v, ok := r.Figures[name]
	if !ok {
		return absentCell("not published")
	}
	num := numberOf(name, v, metric.ByName(name).Unit)
	if metric.IsCost(name) {
		num.Per = r.Per
	}
	c := Cell{Text: asPublished(num), Title: "published: " + num.hover(), Number: true}
	u, of := publishedUnit(name, r.Per), publishedUnit(name, first.Per)
	if u != unit && u != "" {
		c.Per = u
	}
	sameUnit := u == of || u == "" || of == ""
	if b, ok := first.Figures[name]; ok && r != first && b != 0 && sameUnit && !math.IsInf(v/b, 0) {
		c.Ratio = publishedRatio(v, b)
		c.Title += "; " + c.Ratio + " " + first.Name
	}
	return c
}

// besideCell is the number measured here that corresponds to a published one.
func (c *campaign) besideCell(r, first *plan.PublishedRow, metric, unit string, n *notes) Cell {
	t, s := c.targetNamed(r.Like), c.stepNamed(r.Step)
	switch {
	case t == nil:
		return absentCell("no trial of " + r.Like + " has been begun")
	case r.Step == "":
		return absentCell("the plan names no step that these figures correspond to")
	case s == nil:
		return absentCell("no trial came to step " + r.Step)
	}
	k, ok := s.counterpart(metric, r.Per)
	if !ok {
		return absentCell("not measured here")
	}
	base := c.targetNamed(first.Like)
	if base == nil {
		base = t // compared with nothing
	}
	cell := s.cell(t, base, k, n)
	cell.Verdict, cell.Arrow = "", "" // the base is another than everywhere else
	if u := s.unitOf(k); u != unit && !cell.Absent {
		cell.Per = u
	}
	return cell
}

// counterpart is the key of the step's own number that comes nearest to a
// published one: with the same denominator, else about what the step is about.
func (s *step) counterpart(name, per string) (key, bool) {
	about := func(op string) func(key) bool {
		return func(k key) bool {
			return op != "" && (k.Op == op || k.Per == op || strings.HasPrefix(k.Per, op+" "))
		}
	}
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

func (c *campaign) targetNamed(name string) *target {
	for _, t := range c.Targets {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (c *campaign) stepNamed(name string) *step {
	for _, s := range c.steps {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// asPublished writes a number with the digits that the source gave it, where it
// is not in a unit that is shown in a greater one.
func asPublished(n number) string {
	switch {
	case isLatency(n.Metric) || n.Unit == "bool":
		return n.String()
	case n.Unit == "B":
		return sizeIn(n.Value, amount)
	}
	return digits(n.Value)
}

// digits writes a number in full, its thousands apart.
func digits(v float64) string {
	whole, fraction, ok := strings.Cut(full(v), ".")
	if !ok {
		return grouped(v)
	}
	w, err := strconv.ParseFloat(whole, 64)
	if err != nil {
		return full(v)
	}
	return grouped(w) + "." + fraction
}

// publishedRatio is a ÷ b with no more digits than the shorter of the two has,
// and at most three: 0.06 is about 3 times 0.02, not 3.00 times.
func publishedRatio(a, b float64) string {
	r := a / b
	n := min(significant(a), significant(b), 3)
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(r, 'g', n, 64), 64)
	if err != nil || n == 3 || math.Abs(r) >= 99.95 {
		return times(r)
	}
	return digits(rounded) + "×"
}

// significant counts the digits that a number is written with; zeros before the
// point count.
func significant(v float64) int {
	return max(1, len(strings.TrimLeft(strings.Replace(full(v), ".", "", 1), "0")))
}
