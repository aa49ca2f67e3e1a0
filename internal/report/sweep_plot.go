package report

import (
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/stat"
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
		var lines []page.Line
		for _, t := range w.c.Targets {
			line := page.Line{Series: t.Index, Each: true}
			for _, l := range p.levels {
				point := page.Gap(l.value)
				if k, ok := find(l.step); ok && compare.IsProbe(l.step.Step) {
					point = w.probed(l, t, k)
				} else if ok {
					point = l.point(t, k, l.value)
				}
				line.Points = append(line.Points, point)
			}
			lines = append(lines, line)
		}
		c.panels = append(c.panels, lines)
	}
	return c
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
	var all []float64
	for _, panel := range c.panels {
		for _, line := range panel {
			for _, p := range line.Points {
				all = append(all, p.X)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	first, last := all[0], all[len(all)-1]
	a := page.Axis{Caption: c.axis, Thin: true, From: first, To: last}
	even := len(all) > 2 && math.Abs((all[len(all)-1]-all[len(all)-2])-(all[1]-all[0])) < 0.01*(all[1]-all[0])
	if first > 0 && last/first >= 8 && !even {
		a.Log, a.From, a.To = true, math.Log10(first), math.Log10(last)
	}
	side := 0.05 * (a.To - a.From)
	if first == last {
		side = 0.5
	}
	a.From, a.To = a.From-side, a.To+side
	tick := quantity.Tick
	if c.tick != nil {
		tick = c.tick
	}
	for _, v := range all {
		a.Ticks = append(a.Ticks, page.Tick{At: v, Text: tick(v)})
	}
	return a
}
