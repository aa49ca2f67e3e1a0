package report

import (
	"math"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/published"
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
		for _, f := range published.Beside(c.Campaign, &p) {
			e.Tables = append(e.Tables, c.publishedTable(f, n))
		}
		out = append(out, e)
	}
	return out
}

// publishedTable shows the published figures of a step, and under each
// configuration what its counterpart did here.
func (c *campaign) publishedTable(f published.Figures, n *notes) Table {
	g := RowGroup{Name: "step " + f.Step, Title: "What the source measured corresponds to this step"}
	if f.Step == "" {
		g.Name, g.Title = "no step of this run", "The plan names no step that these figures correspond to"
	}
	t := Table{Head: "configuration"}
	for i, m := range f.Metrics {
		col := metricColumn(key{Metric: m})
		if m == "rows_per_s" {
			col.Name = "rate" // of what is in its unit
		}
		t.Columns, g.Subs = append(t.Columns, col), append(g.Subs, publishedUnit(m, f.Pers[i]))
	}
	for _, r := range f.Rows {
		theirs, ours := TableRow{Head: r.Name, Target: -1, Elsewhere: true}, TableRow{Head: "here: " + r.Like, Target: -1}
		if r.Target != nil {
			ours.Target = r.Target.Index
		}
		for i, m := range f.Metrics {
			theirs.Cells = append(theirs.Cells, publishedCell(&r.Cells[i], m, g.Subs[i], f.Rows[0].Name))
			ours.Cells = append(ours.Cells, c.besideCell(f.Step, &r, &r.Cells[i], g.Subs[i], n))
		}
		if g.Rows = append(g.Rows, theirs); r.Like != "" {
			g.Rows = append(g.Rows, ours)
		}
	}
	t.Groups = []RowGroup{g}
	return t
}

// publishedUnit says what a published number is of or per.
func publishedUnit(name, per string) string {
	switch {
	case per == "":
		return ""
	case name == "rows_per_s":
		return plural(per) + "/s"
	}
	return "per " + per
}

func publishedCell(f *published.Figure, name, unit, first string) Cell {
	if !f.Published {
		return absentCell("not published")
	}
	num := numberOf(name, f.Value, metric.ByName(name).Unit)
	if metric.IsCost(name) {
		num.Per = f.Per
	}
	c := Cell{Text: asPublished(num), Title: "published: " + num.hover(), Number: true}
	if u := publishedUnit(name, f.Per); u != unit {
		c.Per = u
	}
	if !math.IsNaN(f.Ratio) {
		c.Ratio = publishedRatio(f.Ratio, f.Digits)
		c.Title += "; " + c.Ratio + " " + first
	}
	return c
}

// besideCell is the number measured here that corresponds to a published one.
func (c *campaign) besideCell(name string, r *published.FiguresRow, f *published.Figure, unit string, n *notes) Cell {
	if f.Why != "" {
		return absentCell(f.Why)
	}
	s := c.stepNamed(name)
	cell := s.cell(r.Target, r.Base, f.Key, n)
	cell.Verdict, cell.Arrow = "", "" // the base is another than everywhere else
	if u := s.unitOf(f.Key); u != unit && !cell.Absent {
		cell.Per = u
	}
	return cell
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

// publishedRatio writes a ratio with as many digits as mean something.
func publishedRatio(r float64, significant int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(r, 'g', significant, 64), 64)
	if err != nil || significant == 3 || math.Abs(r) >= 99.95 {
		return times(r)
	}
	return digits(rounded) + "×"
}
