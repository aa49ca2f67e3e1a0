package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// panels returns the three panels of each of some steps: throughput, latency, cost.
// One step is shown at a time.
func panels(v *campaign, steps []*step) []page.Block {
	choice := page.Choice{ID: "panels", Name: "Step"}
	for i, s := range steps {
		o := page.Option{Name: s.Name}
		if w := v.sweepOf(s); w != nil {
			o.Name = w.Base
		}
		if s.Doc != "" && len(v.Targets) > 1 {
			o.Blocks = append(o.Blocks, page.Prose("about", s.Name+": "+s.Doc))
		}
		o.Blocks = append(o.Blocks, panelsOf(v, s, fmt.Sprintf("cost%d", i)))
		choice.Options = append(choice.Options, o)
	}
	if len(v.Targets) == 1 || len(steps) == 1 {
		return choice.Options[0].Blocks
	}
	return []page.Block{choice}
}

// panelsOf returns the panels of a step. If a rate was promised latency comes first;
// for a search it is the latency over the rate, and for a sweep both are curves.
func panelsOf(c *campaign, s *step, id string) page.Panels {
	costs := costPanel(c, c.standing(s), id)
	if w := c.searchOf(s); w != nil {
		return page.Panels{Cells: cells(searchCurve(w, s), drawingOf(c.highestRates(s)), costs)}
	}
	if w := c.sweepOf(s); w != nil && len(w.panels) > 0 {
		var out []page.Block
		index := max(0, slices.IndexFunc(w.panels, func(p panel) bool {
			return slices.Contains(stepsOf(p.levels), w.representative())
		}))
		for _, p := range drawn(index, sweepCurves(w)...) {
			p.Title = strings.TrimSuffix(p.Title+", "+w.panels[index].name, ", ")
			out = append(out, panelDrawing(p))
		}
		return page.Panels{Cells: cells(append(out, costs)...)}
	}
	rate, latency := drawingOf(c.rates(s)), drawingOf(c.latencies(s))
	if compare.PrimaryRated(s.Step) {
		return page.Panels{Cells: cells(latency, rate, costs)}
	}
	return page.Panels{Cells: cells(rate, latency, costs)}
}

// cells returns a cell for each non-empty block.
func cells(blocks ...page.Block) (out [][]page.Block) {
	for _, b := range blocks {
		if b != nil {
			out = append(out, []page.Block{b})
		}
	}
	return out
}

// panelDrawing returns a curve as a panel.
func panelDrawing(p page.Plot) page.Block {
	p.Height = 190
	return page.Drawing{Caption: p.Title, Picture: p.Picture()}
}

func drawingOf(r *page.Ranking) page.Block {
	if r == nil {
		return nil
	}
	return page.Drawing{Caption: r.Title, Picture: r.Picture()}
}

func (c *campaign) rates(s *step) *page.Ranking {
	r := c.ranked(s, func(s *step) (key, bool) { return s.Rate(s.Primary) })
	if r != nil {
		subject := s.units(s.Primary) + "/s"
		if s.units(s.Primary) != quantity.Plural(s.Primary) {
			subject += " (" + s.Primary + ")"
		}
		r.Title = c.titled(s, subject, "Rows or queries a second")
	}
	return r
}

func (c *campaign) highestRates(s *step) *page.Ranking {
	r := c.ranked(s, func(s *step) (key, bool) { return s.Own(metric.HighestRate) })
	if r == nil {
		return nil
	}
	for _, a := range answersOf(s) {
		r.Title = "Highest rate/s with " + a.Words()
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.Series != a.target.Index {
				continue
			}
			if a.Kept == 0 {
				row.Value, row.Absent = "none kept it", true
			}
			if low, high := a.Interval(); !math.IsInf(high, 1) && a.trials == 1 {
				row.Low, row.High = low, high
			}
		}
	}
	return r
}

// latencies ranks the p99, between the p50 and the p99.9.
func (c *campaign) latencies(s *step) *page.Ranking {
	find := func(q metric.Quantile) func(*step) (key, bool) {
		return func(s *step) (key, bool) { return compare.PrimaryLatency(s.Step, q) }
	}
	r := c.ranked(s, find("p99"))
	if r == nil {
		return nil
	}
	k, _ := compare.PrimaryLatency(s.Step, "p99")
	subject := fmt.Sprintf("p50 · p99 · p99.9 of the %s time", metric.FamilyOf(k.Metric))
	r.Title = c.titled(s, subject, subject)
	r.Dots = true
	few := false
	for _, e := range c.entries(s) {
		i := slices.IndexFunc(r.Rows, func(row page.Ranked) bool { return row.Name == e.name && !row.Absent })
		if i < 0 {
			continue
		}
		row := &r.Rows[i]
		low, high := e.number(find("p50")), e.number(find("p999"))
		row.Less, row.Far = low.Value, high.Value
		row.Value = starred(low) + " · " + starred(e.number(find("p99"))) + " · " + starred(high)
		few = few || strings.HasSuffix(row.Value, "*")
	}
	r.About = "Log axis: ○ p50, ● p99, ○ p99.9. " + r.About
	if few {
		r.About += " *: the maximum, as samples were too few."
	}
	return r
}

// starred marks a percentile of too few samples, which is their maximum.
func starred(n number) string {
	if n.Few() != "" {
		return n.String() + "*"
	}
	return n.String()
}

// costPanel returns the costs of a step's operations, one shown at a time.
func costPanel(c *campaign, s *step, id string) page.Block {
	choice := page.Choice{ID: id, Name: "Cost", Below: true}
	for _, cost := range []struct{ name, metric string }{
		{"CPU", metric.CPUUS}, {"KB written", metric.WriteKB}, {"KB read", metric.ReadKB},
		{"Space", metric.SpaceAmplification}, {"Memory", metric.ServerMemoryBytes},
	} {
		s := s
		if last := c.LastWith(cost.metric); last != nil && cost.metric == metric.SpaceAmplification && len(c.Targets) > 1 {
			s = c.stepOf(last) // at the end: data not written yet take no space
		}
		find := func(s *step) (key, bool) { return s.spent(cost.metric) }
		r := c.ranked(s, find)
		if r == nil {
			continue
		}
		k, _ := find(s)
		label := metric.Label(k.Metric)
		r.Title = c.titled(s, label, label)
		if k.Per != "" && k.Per != "step" {
			r.Title = c.titled(s, label+" per "+k.Per, label+" per row or query")
		}
		choice.Options = append(choice.Options, page.Option{Name: cost.name, Blocks: []page.Block{drawingOf(r)}})
	}
	if len(choice.Options) == 0 {
		return nil
	}
	return choice
}

// spent returns the key of a cost: that of the reads and writes of the engines' own
// processes if other programs used the device.
func (s *step) spent(name string) (key, bool) {
	k, ok := s.Own(name)
	if !ok || name != metric.WriteKB && name != metric.ReadKB {
		return k, ok
	}
	if own, ok := compare.Undisturbed(s.Step, k, s.c.Targets...); ok {
		return own, true
	}
	return k, true
}

// searchCurve returns the latency over the rate, with the promise.
func searchCurve(w *sweep, s *step) page.Block {
	plots := drawn(0, sweepCurves(w)...)
	if len(plots) == 0 {
		return nil
	}
	p := plots[len(plots)-1]
	if found := answersOf(s); len(found) > 0 && quantity.Finite(found[0].Limit()) {
		a := found[0]
		p.Level = a.Limit() * 1e3
		p.Y = page.Scale{Format: roundDuration, Spread: wide}.Axis(append(page.Reach(p.Lines), p.Level))
		p.Title = "p99 response time over rate; dashed: " + quantity.Micros(p.Level)
	}
	return panelDrawing(p)
}

// entry is the subject of a row of a ranking: a target in a step.
type entry struct {
	name string
	s    *step
	t    *target
}

// entries returns the rows of a panel: the targets in a step; of a single target, its
// steps.
func (c *campaign) entries(s *step) (out []entry) {
	if len(c.Targets) > 1 {
		for _, t := range c.Targets {
			out = append(out, entry{t.Name, s, t})
		}
		return out
	}
	for _, s := range c.steps {
		if s.Primary != "" && !s.Warmup && s.represents() {
			out = append(out, entry{s.Name, s, c.Targets[0]})
		}
	}
	return out
}

func (e entry) number(find func(*step) (key, bool)) number {
	k, ok := find(e.s)
	if !ok {
		return number{Number: compare.Number{Missing: "not measured", Value: math.NaN()}}
	}
	n := e.s.number(e.t, k)
	if n.Missing != "" {
		n.Value = math.NaN()
	}
	return n
}

// titled returns the title of a panel: of a step's targets, or of all steps.
func (c *campaign) titled(s *step, subject, name string) string {
	if len(c.Targets) == 1 {
		return name
	}
	return s.Name + ": " + subject
}

// mostRanked is the number of rows in a panel; tables have all.
const mostRanked = 8

// ranked ranks the rows of a panel by a number, the best first; nil if none has it.
// Rows that are not compared come last.
func (c *campaign) ranked(s *step, find func(*step) (key, bool)) *page.Ranking {
	r, found, trials := &page.Ranking{}, false, 0
	var m *metric.Metric
	for _, e := range c.entries(s) {
		k, ok := find(e.s)
		if !ok && len(c.Targets) == 1 {
			continue
		}
		n := e.number(find)
		row := page.Ranked{Name: e.name, Series: e.t.Index, Value: quantity.Unknown, Absent: n.Missing != ""}
		row.At, row.Low, row.High, row.Less, row.Far = n.Value, n.Low, n.High, math.NaN(), math.NaN()
		if !row.Absent {
			found, m, trials = true, metric.ByName(k.Metric), max(trials, len(n.Rows))
			row.Value = n.String()
			if n.AtLeast() {
				row.Value = "≥ " + row.Value
			}
			if len(c.Targets) == 1 && k.Metric == metric.RowsPerS {
				row.Value += " " + e.s.units(k.Op)
			}
			c.compared(&row, e, k)
		}
		r.Rows = append(r.Rows, row)
	}
	if !found {
		return nil
	}
	if len(c.Targets) > 1 {
		sortRanked(r.Rows, verdict.BestFirst(m.Name))
	}
	if n := len(r.Rows) - mostRanked; n > 0 {
		base := slices.IndexFunc(r.Rows, func(row page.Ranked) bool { return row.Series == 0 })
		if len(c.Targets) > 1 && base >= mostRanked {
			r.Rows[mostRanked-1] = r.Rows[base]
		}
		r.About, r.Rows = fmt.Sprintf("%d more below. ", n), r.Rows[:mostRanked]
	}
	if m != nil && m.Better == metric.Higher {
		r.About += "More is better. "
	} else {
		r.About += "Less is better. "
	}
	if slices.ContainsFunc(r.Rows, func(row page.Ranked) bool { return row.High > row.Low }) {
		r.About += fmt.Sprintf("Whiskers: lowest and highest of %d trials.", trials)
	}
	return r
}

// compared adds to a row its difference from the base.
func (c *campaign) compared(row *page.Ranked, e entry, k key) {
	base := c.Targets[0]
	refusals := e.s.Refusals(e.t)
	switch {
	case len(refusals) > 0:
		row.Beside, row.Hollow = refusals[0], true
	case e.t == base && len(c.Targets) > 1:
		row.Beside = "base"
	case e.t == base:
	case e.s.number(e.t, k).Disturbed():
		row.Beside, row.Hollow = "disturbed", true
	case e.s.Unlike(base, e.t) != "":
		row.Beside, row.Hollow = "not compared", true
	case len(e.s.Refusals(base)) > 0: // no base to compare with
	default:
		row.Beside, row.Class = besideBase(e, base, k)
	}
}

// besideBase returns the ratio of a number to the base's with its sign.
func besideBase(e entry, base *target, k key) (text, class string) {
	effect := e.s.c.headlines(base, e.t).Effect(e.s.Step, k)
	ratio := verdict.Ratio(effect, e.s.Number(e.t, k), e.s.Number(base, k))
	switch {
	case math.IsNaN(ratio) || effect != nil && effect.Verdict == "" && effect.Why != "":
		return "", ""
	case effect == nil:
		return quantity.Times(ratio), ""
	}
	m := verdict.MarkOf(effect)
	return quantity.Times(ratio) + " " + m.Sign, m.Class
}

// sortRanked sorts rows by their values, the best first, and those without a value or
// a comparison last.
func sortRanked(rows []page.Ranked, order func(a, b float64) int) {
	class := func(r page.Ranked) int {
		switch {
		case r.Absent:
			return 2
		case r.Hollow:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(rows, func(a, b page.Ranked) int {
		return cmp.Or(cmp.Compare(class(a), class(b)), order(a.At, b.At))
	})
}
