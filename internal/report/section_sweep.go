package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// sweepSection returns the results as a number, such as that of clients, increases.
func sweepSection(v *composer, w *sweep) page.Section {
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

// sweep is a sweep with its id on the page.
type sweep struct {
	compare.Sweep
	c      *campaign
	id     string
	panels []panel
	levels []levelStep // of all panels
	again  []levelStep // steps at the places of others
	stands *step       // see representative
}

type panel struct {
	compare.Panel
	name   string
	levels []levelStep
}

// levelStep is a step and its value on the axis.
type levelStep struct {
	value float64
	*step
}

// newSweeps finds the sweeps of a campaign.
func newSweeps(c *campaign) (out []*sweep) {
	for i, found := range c.Sweeps() {
		w := &sweep{Sweep: found, c: c, id: fmt.Sprintf("w%d-%s", i+1, slug(found.Base))}
		for _, p := range found.Panels {
			own := panel{Panel: p, name: axesText(p.At)}
			for _, l := range p.Levels {
				own.levels = append(own.levels, levelStep{l.Value, c.stepOf(l.Step)})
			}
			w.panels, w.levels = append(w.panels, own), append(w.levels, own.levels...)
		}
		for _, s := range found.Twice {
			for _, a := range s.Axes {
				if a.Name == found.Axis {
					w.again = append(w.again, levelStep{a.Value, c.stepOf(s)})
				}
			}
		}
		out = append(out, w)
	}
	return out
}

func axesText(axes []result.Axis) string {
	text := func(a result.Axis) string { return a.Name + " " + quantity.Amount(a.Value) }
	return strings.Join(quantity.Texts(axes, text), ", ")
}

// first returns the first step, for the properties that all steps share.
func (w *sweep) first() *step { return w.levels[0].step }

// best returns the step in which a target had the greatest throughput that
// counts, with that throughput. Steps with an arrival rate count only if there
// are no others.
func (w *sweep) best(t *target) (best *step, value number) {
	all := w.allArrive()
	for _, l := range w.levels {
		if arriving(l.step) && !all {
			continue
		}
		k, ok := l.Rate(l.Primary)
		if n := l.number(t, k); ok && n.Missing == "" && len(l.Refusals(t)) == 0 && (best == nil || n.Value > value.Value) {
			best, value = l.step, n
		}
	}
	return best, value
}

// allArrive reports whether all steps have arrival rates: throughput is then not the
// targets' capacity.
func (w *sweep) allArrive() bool {
	return !slices.ContainsFunc(w.levels, func(l levelStep) bool { return !arriving(l.step) })
}

// end returns the last step, if it is the only one that the workload judges: the sweep
// is about its result. nil: it is about the greatest throughput.
func (w *sweep) end() *step {
	judged := view.Filter(w.levels, func(l levelStep) bool { return len(l.Judged) > 0 })
	if last := w.levels[len(w.levels)-1].step; len(w.panels) == 1 && len(judged) == 1 && judged[0].step == last {
		return last
	}
	return nil
}

// kept compares the throughput of each target at the end with its own at the
// beginning; "" if the sweep is not about its end.
func (w *sweep) kept() string {
	end, start := w.end(), w.first()
	k, ok := start.Rate(start.Primary)
	if end == nil || !ok {
		return ""
	}
	shares := map[*target]float64{}
	targets := slices.DeleteFunc(slices.Clone(w.c.Targets), func(t *target) bool {
		r, ok := end.number(t, k).Over(start.Number(t, k))
		shares[t] = r
		return !ok || len(end.Refusals(t))+len(start.Refusals(t)) > 0
	})
	if len(targets) == 0 {
		return ""
	}
	slices.SortStableFunc(targets, func(a, b *target) int { return cmp.Compare(shares[b], shares[a]) })
	parts := quantity.Texts(targets, func(t *target) string { return t.Name + " " + quantity.Times(shares[t]) })
	return fmt.Sprintf("%s/s at %s ÷ its own at %s: %s", start.units(start.Primary), axesText(w.varied(end)),
		axesText(w.varied(start)), quantity.Joined(parts))
}

// representative returns the step that represents the sweep: its end, or the step in
// which the base was fastest.
func (w *sweep) representative() *step {
	if end := w.end(); end != nil {
		return end
	}
	for i := 0; i < len(w.c.Targets) && w.stands == nil; i++ {
		w.stands, _ = w.best(w.c.Targets[i])
	}
	w.stands = cmp.Or(w.stands, w.first())
	return w.stands
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

// varied returns the axes of a step along which the sweep varies.
func (w *sweep) varied(s *step) []result.Axis {
	return view.Filter(s.Axes, func(a result.Axis) bool {
		return a.Name == w.Axis || slices.ContainsFunc(w.Panels[0].At, func(o result.Axis) bool { return o.Name == a.Name })
	})
}

// axes returns the names of the axes along which the sweep varies.
func (w *sweep) axes() []string {
	return quantity.Texts(w.varied(w.first()), func(a result.Axis) string { return a.Name })
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
func (p panel) measured(all []measure) []measure { return measuredIn(all, stepsOf(p.levels)...) }

func stepsOf(levels []levelStep) (out []*step) {
	for _, l := range levels {
		out = append(out, l.step)
	}
	return out
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
		for _, m := range shown {
			g.Subs = append(g.Subs, m.unit(l.step))
		}
		g.Rows = targetRows(w.c.Targets, len(shown), func(t *target, i int) page.Cell { return shown[i].cell(l.step, t, n) })
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
