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
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// wide is the ratio of the greatest to the least value above which latencies
// and ratios are drawn on a logarithmic axis.
const wide = 3

// sweepCurve is a quantity over the axis of a sweep, panel by panel. All panels
// have the same scales.
type sweepCurve struct {
	title, axis string
	panels      [][]page.Line
	scale       page.Scale
	tick        func(float64) string // of the axis; nil: quantity.Tick
}

// sweepCurves returns the curves of a sweep: throughput and the tail of the latency.
func sweepCurves(w *sweep) []*sweepCurve {
	s := w.first()
	rate := curveOf(w, s.units(s.Primary)+"/s ("+s.Primary+") over "+w.Axis,
		func(s *step) (key, bool) { return s.Rate(s.Primary) })
	rate.scale = page.Scale{Format: quantity.Tick}
	p99 := curveOf(w, "p99 latency over "+w.Axis, func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") })
	if k, ok := s.Latency(s.Primary, "p99"); ok {
		p99.title = "p99 " + string(metric.FamilyOf(k.Metric)) + " time (" + k.Op + ") over " + w.Axis
	}
	p99.scale = page.Scale{Format: roundDuration, Spread: wide, Near: promised(w)}
	return []*sweepCurve{rate, p99}
}

// promised returns the p99 in µs that the search promised which made the sweep; 0 if none did.
func promised(w *sweep) float64 {
	if base := w.c.Step(w.Base); base != nil && compare.IsProbe(w.first().Step) {
		for _, a := range answersOf(w.c.stepOf(base)) {
			if limit := a.Limit(); strings.HasPrefix(a.Promise, "p99_") && limit > 0 {
				return limit * 1e3
			}
		}
	}
	return 0
}

// curveOf looks up a number at all levels.
func curveOf(w *sweep, title string, find func(*step) (key, bool)) *sweepCurve {
	c := &sweepCurve{title: title, axis: w.Axis}
	for _, p := range w.panels {
		c.panels = append(c.panels, view.Lines(w.c.Targets, indexOfTarget, p.levels, func(t *target, l levelStep) page.Point {
			k, ok := find(l.step)
			switch {
			case !ok:
				return page.Gap(l.value)
			case compare.IsProbe(l.step.Step):
				return w.probed(l, t, k)
			}
			return l.point(t, k, l.value)
		}))
	}
	return c
}

// drawn returns the plots of a panel, without those that are empty in all
// panels.
func drawn(panel int, curves ...*sweepCurve) (out []page.Plot) {
	for _, c := range curves {
		if list := page.Reach(c.panels...); len(list) > 0 {
			out = append(out, page.Plot{
				Title: c.title, Label: c.title, Height: 240, X: c.axisX(), Y: c.scale.Axis(list), Level: c.scale.Near,
				Lines: c.panels[panel],
			})
		}
	}
	return out
}

// axisX returns the axis of the levels of all panels: logarithmic if they grow
// by factors and not by equal steps.
func (c *sweepCurve) axisX() page.Axis {
	places := map[float64]bool{}
	for _, line := range slices.Concat(c.panels...) {
		for _, p := range line.Points {
			places[p.X] = true
		}
	}
	all := sortedKeys(places)
	first, last := all[0], all[len(all)-1]
	a := page.Axis{Caption: c.axis, Thin: true, From: first, To: last}
	even := len(all) > 2 && math.Abs((last-all[len(all)-2])-(all[1]-first)) < 0.01*(all[1]-first)
	if first > 0 && last/first >= 8 && !even {
		a.Log, a.From, a.To = true, math.Log10(first), math.Log10(last)
	}
	side := 0.05 * (a.To - a.From)
	if first == last {
		side = 0.5
	}
	a.From, a.To = a.From-side, a.To+side
	for _, v := range all {
		text := quantity.Tick(v)
		if c.tick != nil {
			text = c.tick(v)
		}
		a.Ticks = append(a.Ticks, page.Tick{At: v, Text: text})
	}
	return a
}

// familyBlocks compares the targets that differ in one knob with the first of
// them, level by level, for readers who have to choose the knob's value.
func familyBlocks(w *sweep, f compare.Family, first bool) []page.Block {
	base := f.Targets[0]
	out := []page.Block{page.Heading{Level: 3,
		Text: fmt.Sprintf("What %s does: relative to %s", f.Knob, knobName(f, base))}}
	texts := quantity.Texts(f.Targets[1:], func(t *target) string { return familySentence(w, f, t) })
	if texts = nonEmpty(texts...); len(texts) > 0 {
		out = append(out, view.Texts("about", texts...))
	}
	ratio := ratioCurve(w, f)
	var plots page.Plots
	var tables []page.Block
	for i, p := range w.panels {
		for _, plot := range drawn(i, ratio) {
			if plot.Title = fmt.Sprintf("throughput relative to %s, by %s", base.Name, w.Axis); p.name != "" {
				plot.Title = p.name + ": " + plot.Title
			}
			plots.Plots = append(plots.Plots, plot)
		}
		tables = append(tables, familyTable(w, f, p))
	}
	out = append(out, plots)
	if first {
		out = append(out, page.Paragraph{Class: "about", Spans: []page.Span{
			{Text: "A whisker is the 95 % interval of the ratio; without one the trials are too few for it. ", Screen: true},
			{Text: "The signs are the verdicts of the whole campaign, corrected for all of its numbers: where trials are few, " +
				"the mean over the levels is proven before any single level is."},
		}})
	}
	return append(out, tables...)
}

// knobName returns a target's name with its value of the knob.
func knobName(f compare.Family, t *target) string {
	return fmt.Sprintf("%s (%s)", t.Name, cmp.Or(f.Value(t), "not set"))
}

// familySentence describes the knob's effect on throughput.
func familySentence(w *sweep, f compare.Family, t *target) string {
	base := f.Targets[0]
	mean := w.c.MeanOver(base, t, w.Steps())
	if mean.Tests == 0 {
		return ""
	}
	text := verdict.MeanInWords(mean, knobName(f, t), base.Name)
	type effect struct {
		*compare.Effect
		step string
	}
	var effects []effect
	counts := map[compare.Verdict]int{}
	for _, l := range w.levels {
		k, _ := l.Rate(l.Primary)
		if e := l.effect(t, base, k); e != nil && !math.IsNaN(e.Ratio) && e.Verdict != "" {
			effects = append(effects, effect{e, l.Name})
			counts[e.Verdict]++
		}
	}
	if len(effects) == 0 {
		return text + "."
	}
	byRatio := func(a, b effect) int { return cmp.Compare(a.Ratio, b.Ratio) }
	if low, high := slices.MinFunc(effects, byRatio), slices.MaxFunc(effects, byRatio); low.step != high.step {
		text += fmt.Sprintf("; from %s in %s to %s in %s", quantity.Times(low.Ratio), low.step, quantity.Times(high.Ratio),
			high.step)
	}
	return text + "; " + quantity.Joined(verdict.Counts(counts)) + "."
}

// familyTable returns the matrix of a panel: values of the knob × levels.
func familyTable(w *sweep, f compare.Family, p panel) page.Table {
	base := f.Targets[0]
	t := page.Table{Title: p.name, Level: 4, Head: "target",
		Note: "Ratios to " + knobName(f, base) + " at the same level, with the numbers themselves " +
			"below; what is tried again and given up is per completed operation."}
	for _, l := range p.levels {
		t.Columns = append(t.Columns, page.Column{Name: quantity.Amount(l.value), Sub: w.Axis, Title: "step " + l.Name,
			Link: l.id})
	}
	t.Columns = append(t.Columns, page.Column{Name: "mean",
		Title: "Geometric mean over the levels, with its 95 % interval; only of throughput"})
	repeated := view.Filter(p.measured(sweepMeasures), func(m measure) bool { return m.each })
	for _, m := range append([]measure{{metric: metric.RowsPerS}, {name: "p99 latency", metric: metric.ServiceP99US},
		{metric: metric.CPUUS}}, repeated...) {
		c := m.column()
		g := page.Group{Name: c.Name, Link: c.Link, Title: c.Title}
		if m.each {
			g.Name += " per operation"
		}
		g.Rows = targetRows(f.Targets, p.levels, func(t *target, l levelStep) page.Cell {
			if m.each {
				return m.perOperation(l.step, t)
			}
			return ratioCell(l.step, t, base, m)
		})
		for i, t := range f.Targets {
			mean := page.Absent("only of throughput")
			if m.metric == metric.RowsPerS {
				mean = meanOverCell(w.c.MeanOver(base, t, p.Steps()), t == base)
			}
			g.Rows[i].Cells = append(g.Rows[i].Cells, mean)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

// ratioCell returns a ratio with its verdict. It refers to no rows, as it is
// not their median.
func ratioCell(s *step, t, base *target, m measure) page.Cell {
	k, ok := m.key(s)
	if !ok {
		return page.Absent("not measured here")
	}
	num := s.number(t, k)
	if num.Missing != "" {
		return page.Absent(num.Missing)
	}
	c := page.Cell{Text: quantity.Unknown, Number: true, Title: num.Hover(), Tag: tagOf(num, s.Refusals(t))}
	switch e := s.effect(t, base, k); {
	case t == base:
		c.Text, c.Ratio = twoDecimals(1), num.String()
	case e == nil:
	case math.IsNaN(e.Ratio):
		c.Title += "; no ratio: " + e.Why
	default:
		mark := verdict.MarkOf(e)
		c.Text, c.Class, c.Ratio = strings.TrimSpace(twoDecimals(e.Ratio)+" "+mark.Sign), mark.Class, num.String()
		c.Title += "; " + verdict.InWords(e, base.Name)
	}
	return c
}

func meanOverCell(m compare.Mean, isBase bool) page.Cell {
	switch {
	case isBase:
		return page.Cell{Text: twoDecimals(1), Number: true}
	case m.Tests == 0:
		return page.Absent(m.Why)
	}
	c := page.Cell{Text: twoDecimals(m.Ratio), Number: true, Title: fmt.Sprintf("of %d levels", m.Tests)}
	if m.Why == "" {
		c.Ratio = boundsText(m)
	} else {
		c.Title += "; no interval: " + m.Why
	}
	return c
}

// ratioCurve draws the throughputs ÷ the base's, with the 95 % intervals of the
// ratios.
func ratioCurve(w *sweep, f compare.Family) *sweepCurve {
	c := curveOf(w, "rate/s relative to "+f.Targets[0].Name+" over "+w.Axis,
		func(s *step) (key, bool) { return s.Rate(s.Primary) })
	c.scale = page.Scale{Near: 1, Spread: wide, Format: func(v float64) string { return fmt.Sprintf("%.3g×", v) }}
	for i, p := range w.panels {
		rates := c.panels[i]
		c.panels[i] = nil
		for _, t := range f.Targets[1:] {
			for k, l := range p.levels {
				point := page.Gap(l.value)
				point.Ring = rates[t.Index].Points[k].Ring
				rate, _ := l.Rate(l.Primary)
				if e := l.effect(t, f.Targets[0], rate); e != nil && quantity.Finite(e.Ratio) {
					if point.Y = e.Ratio; quantity.Finite(e.Low) && quantity.Finite(e.High) {
						point.Low, point.High = e.Low, e.High
					}
				}
				rates[t.Index].Points[k] = point
			}
			c.panels[i] = append(c.panels[i], rates[t.Index])
		}
	}
	return c
}

// sweepSection returns the results as a number, such as that of clients, increases.
func sweepSection(v *campaign, w *sweep) page.Section {
	n := page.NewNotes(w.id)
	title := w.Base + ", by " + quantity.Joined(w.axes())
	sec := page.Section{ID: w.id, Title: title, Nav: title, Class: "sweep",
		Blocks: []page.Block{page.Prose("about", aboutSweep(w)), legend(v.Targets, "small")}}
	var folds page.Folds
	curves := sweepCurves(w)
	for i, p := range w.panels {
		sec.Blocks = append(sec.Blocks, page.Plots{Title: p.name, Plots: drawn(i, curves...)})
	}
	for i, f := range w.c.Families() {
		sec.Blocks = append(sec.Blocks, familyBlocks(w, f, i == 0)...)
	}
	for _, p := range w.panels {
		short, whole := levelsTable(w, p, levelMeasures, n), levelsTable(w, p, sweepMeasures, n)
		if len(w.shown(p))*len(w.c.Targets) <= manyRows {
			sec.Blocks = append(sec.Blocks, short)
		}
		whole.Title += " in full"
		folds = append(folds, page.Fold{Title: whole.Title, Blocks: []page.Block{whole}})
	}
	markTwice(w, n)
	return withBlocks(sec, folds, n)
}

// markTwice notes the steps at the same levels as others.
func markTwice(w *sweep, n *page.Notes) {
	for _, s := range w.Twice {
		if compare.IsProbe(s) {
			n.Mark("A rate that was tried again is in the charts with the median of its probes; those that other programs " +
				"disturbed while they broke the promise do not count.")
			return
		}
		n.Mark(fmt.Sprintf("%s is at the same place as an earlier step: it is not in the charts here.", s.Name))
	}
}

// sweepSentences describes the sweep: each target's highest throughput, and the effect
// of the knob that differs between targets.
func sweepSentences(w *sweep) []page.Item {
	if w.allArrive() {
		if text := heldSentence(w); text != "" {
			return []page.Item{{Name: w.Base, Link: w.id, Text: text}}
		}
		return nil
	}
	var peaks []rank
	for _, t := range w.c.Targets {
		if at, n := w.best(t); at != nil {
			peaks = append(peaks, rank{t, n, at})
		}
	}
	if len(peaks) == 0 {
		return nil
	}
	sortRanks(peaks)
	peak := func(p rank, unit string) string {
		return fmt.Sprintf("%s%s (%s)", p.rate, unit, axesText(w.varied(p.at)))
	}
	first := peaks[0]
	text := first.target.Name + " did at most " + peak(first, " "+first.at.units(first.at.Primary)+"/s")
	if len(peaks) > 1 {
		text += "; " + quantity.Joined(quantity.Texts(peaks[1:], func(p rank) string {
			return p.target.Name + " " + peak(p, "")
		}))
	}
	out := []page.Item{{Name: w.Base, Link: w.id, Text: text + failedWords(peaks) + "." + inDoubt(peaks)}}
	if kept := w.kept(); kept != "" {
		out = append(out, page.Item{Text: verdict.Sentence(kept)})
	}
	for _, f := range w.c.Families() {
		for _, t := range f.Targets[1:] {
			if m := w.c.MeanOver(f.Targets[0], t, w.Steps()); m.Tests > 0 && m.Why == "" {
				text := verdict.MeanInWords(m, knobName(f, t), f.Targets[0].Name)
				out = append(out, page.Item{Text: f.Knob + ": " + text + " of " + w.Base + "."})
			}
		}
	}
	return out
}

func aboutSweep(w *sweep) string {
	return fmt.Sprintf("%d steps that do the same and differ in %s only.", len(w.Steps()), quantity.Joined(w.axes())) +
		" A point is the median of the trials, its whisker goes from the least to the greatest of " +
		"them. A ring: the number is not comparable there; the table gives the reason."
}

// levelMeasures are the columns of a sweep's table that are always shown.
var levelMeasures = measuresOf(metric.RowsPerS, metric.ServiceP50US, metric.ServiceP99US, metric.CPUUS, metric.WriteKB)

// sweepMeasures are the columns of a sweep's whole table.
var sweepMeasures = append(measuresOf(metric.RowsPerS, metric.ServiceP50US, metric.ServiceP95US, metric.ServiceP99US,
	metric.CPUUS, metric.ServerCPUUS, metric.ClientCPUUS, metric.ContextSwitches, metric.Errors),
	measure{metric: metric.Retries, each: true}, measure{metric: metric.GivenUpOps, each: true},
	measure{metric: metric.WastedStatements, each: true})

// measured returns the measures that any level of the panel has.
func (p panel) measured(measures []measure) []measure {
	return measuresIn(measures, stepsOf(p.levels)...)
}

// levelsTable returns numbers of a panel, level by level.
func levelsTable(w *sweep, p panel, measures []measure, n *page.Notes) page.Table {
	t := page.Table{Title: "Numbers", Head: "target"}
	if p.name != "" {
		t.Title = p.name + ": numbers"
	}
	shown := p.measured(measures)
	t.Columns = columnsOf(shown)
	for i, l := range w.shown(p) {
		g := page.Group{Name: w.Axis + " " + quantity.Amount(l.value), Link: l.id, Title: "step " + l.Name}
		if i > 0 && w.shown(p)[i-1].value == l.value {
			g.Name += ", again"
		}
		if compare.Uncounted(l.step.Step) {
			g.Name += ": does not count"
		}
		g.Subs = quantity.Texts(shown, func(m measure) string { return m.unit(l.step) })
		g.Rows = targetRows(w.c.Targets, shown, func(t *target, m measure) page.Cell { return m.cell(l.step, t, n) })
		t.Groups = append(t.Groups, g)
	}
	return t
}

// shown returns the levels of a panel, including the steps that repeat a level if
// there is only one panel, as they name no other.
func (w *sweep) shown(p panel) (out []levelStep) {
	for _, l := range p.levels {
		out = append(out, l)
		for _, o := range w.again {
			if len(w.panels) == 1 && o.value == l.value {
				out = append(out, o)
			}
		}
	}
	return out
}

// manyRows is the number of rows of a table that are shown at first.
const manyRows = 32

// heldSentence reports the arrival rate up to which each target kept up; "" if
// other axes vary too, or a search chose the rates.
func heldSentence(w *sweep) string {
	if w.Axis != rateAxis || len(w.panels) != 1 || compare.IsProbe(w.first().Step) {
		return ""
	}
	levels := w.panels[0].levels
	var parts []string
	for _, t := range w.c.Targets {
		held := 0
		for held < len(levels) && len(levels[held].Refusals(t)) == 0 && len(levels[held].Runs[t]) > 0 {
			held++
		}
		rate := func(i int) string { return quantity.Amount(levels[i].value) + "/s" }
		switch held {
		case 0:
			parts = append(parts, t.Name+" none, not even "+rate(0))
		case len(levels):
			parts = append(parts, t.Name+" all, up to "+rate(held-1))
		default:
			parts = append(parts, t.Name+" up to "+rate(held-1)+", not "+rate(held))
		}
	}
	return "Of the rates of arrival " + strings.Join(parts, "; ") + " were held."
}
