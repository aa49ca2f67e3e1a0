package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

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

func stepsOf(levels []levelStep) (out []*step) {
	for _, l := range levels {
		out = append(out, l.step)
	}
	return out
}

// rateAxis is the axis of steps that differ in arrival rate.
const rateAxis = "rate"

// arriving reports whether a step is one of several arrival rates.
func arriving(s *step) bool {
	return slices.ContainsFunc(s.Axes, func(a result.Axis) bool { return a.Name == rateAxis })
}

// probed returns the median of a number over a target's probes of a rate that count in the search.
func (w *sweep) probed(l levelStep, t *target, k key) page.Point {
	var values []float64
	for _, probe := range append([]levelStep{l}, w.again...) {
		if probe.value != l.value {
			continue
		}
		for _, r := range probe.Used(t) {
			if row := r.Row(k); row != nil && !r.Step.Uncounted && quantity.Finite(row.Value) {
				values = append(values, row.Value)
			}
		}
	}
	if len(values) == 0 {
		point := l.point(t, k, l.value)
		point.Ring = true
		return point
	}
	return page.Point{X: l.value, Y: stat.Median(values), Low: slices.Min(values), High: slices.Max(values)}
}

// point returns a target's number in a step as a point at a place on the axis.
func (s *step) point(t *target, k key, x float64) page.Point {
	n := s.number(t, k)
	if n.Missing != "" || !quantity.Finite(n.Value) {
		return page.Gap(x)
	}
	doubtful := len(s.Refusals(t)) > 0 || n.Disturbed() || n.MaxOf > 0
	return page.Point{X: x, Y: n.Value, Low: n.Low, High: n.High, Ring: doubtful}
}

func indexOfTarget(t *target) int { return t.Index }
