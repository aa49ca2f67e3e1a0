package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Sweep are the steps of one base: they do the same and differ in numbers only.
type Sweep struct {
	Base   string
	Axis   string  // the one with the most values, along which each panel goes
	Panels []Panel // in the order of the other axes' values
	// Twice are steps at the same levels as a different step; they are in no panel.
	Twice []*Step
}

// Panel are the steps of a sweep that agree in all axes but the sweep's own.
type Panel struct {
	At     []result.Axis // values on the sweep's other axes, without axes that do not vary
	Levels []Level       // by value
}

// Level is a step and its value on the axis.
type Level struct {
	Value float64
	Step  *Step
}

// Sweeps returns the bases with steps at two or more levels of an axis, in the
// order of their first steps.
func (c *Campaign) Sweeps() []Sweep {
	var bases []string
	steps := map[string][]*Step{}
	for _, s := range c.Steps {
		if s.Base != "" && !s.Warmup {
			bases = AppendNew(bases, s.Base)
			steps[s.Base] = append(steps[s.Base], s)
		}
	}
	var out []Sweep
	for _, base := range bases {
		if s := sweepOf(base, steps[base]); s.Axis != "" {
			out = append(out, s)
		}
	}
	return out
}

// sweepOf puts the steps of a base into panels. Without an axis that varies
// there are none.
func sweepOf(base string, steps []*Step) Sweep {
	sweep := Sweep{Base: base}
	values := map[string][]float64{}
	var varied []string
	for _, s := range steps {
		for _, a := range s.Axes {
			if !slices.Contains(values[a.Name], a.Value) {
				values[a.Name] = append(values[a.Name], a.Value)
			}
			if len(values[a.Name]) > 1 {
				varied = AppendNew(varied, a.Name)
			}
		}
	}
	for _, name := range varied {
		if len(values[name]) > len(values[sweep.Axis]) {
			sweep.Axis = name
		}
	}
	if sweep.Axis == "" {
		return sweep
	}
	for _, s := range steps {
		sweep.place(s, varied)
	}
	slices.SortStableFunc(sweep.Panels, func(a, b Panel) int {
		return slices.CompareFunc(a.At, b.At, func(x, y result.Axis) int {
			return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.Value, y.Value))
		})
	})
	return sweep
}

// place puts a step into its panel.
func (w *Sweep) place(s *Step, varied []string) {
	var at []result.Axis
	own := slices.IndexFunc(s.Axes, func(a result.Axis) bool { return a.Name == w.Axis })
	if own < 0 {
		return // it lacks the axis: it is in no panel
	}
	for _, name := range varied {
		for _, a := range s.Axes {
			if a.Name == name && name != w.Axis {
				at = append(at, a)
			}
		}
	}
	i := slices.IndexFunc(w.Panels, func(p Panel) bool { return slices.Equal(p.At, at) })
	if i < 0 {
		i = len(w.Panels)
		w.Panels = append(w.Panels, Panel{At: at})
	}
	p := &w.Panels[i]
	k, found := slices.BinarySearchFunc(p.Levels, s.Axes[own].Value,
		func(l Level, v float64) int { return cmp.Compare(l.Value, v) })
	if found {
		if level := &p.Levels[k]; Uncounted(level.Step) && !Uncounted(s) {
			level.Step, s = s, level.Step
		}
		w.Twice = append(w.Twice, s)
		return
	}
	p.Levels = slices.Insert(p.Levels, k, Level{s.Axes[own].Value, s})
}

// Steps returns the steps of all panels.
func (w *Sweep) Steps() (out []*Step) {
	for _, p := range w.Panels {
		out = append(out, p.Steps()...)
	}
	return out
}

// Steps returns the steps of the panel's levels.
func (p *Panel) Steps() (out []*Step) {
	for _, l := range p.Levels {
		out = append(out, l.Step)
	}
	return out
}

// MeanOver returns the geometric mean of a target's throughputs ÷ the base's over
// some steps.
func (c *Campaign) MeanOver(base, t *Target, steps []*Step) Mean {
	r := &Relative{Targets: []*Target{base, t}, Unlike: [][]string{nil, Unlike(base, t)}}
	var g RelativeGroup
	for _, s := range steps {
		g.add(r, s, make([]*Judgement, 2), RelativeOptions{})
	}
	return r.mean(g.Rows, 1)
}

// Family is targets that differ in one knob, or in one parameter that the plan sets
// for each, and in no other known fact: the differences of their numbers are its
// effect.
type Family struct {
	Knob    string    // or params.NAME
	Targets []*Target // the others are compared with the first
}

// Value returns the family's knob of one of its targets; "" if it is not set.
func (f *Family) Value(t *Target) string { return knobOf(t.Trials[0], f.Knob) }

func knobOf(t *result.Trial, knob string) string {
	if name, is := strings.CutPrefix(knob, paramKnob); is {
		return strings.Trim(paramText(t.Params[name]), `"`)
	}
	return t.Knobs[knob]
}

// isolation is the knob that comes first.
const isolation = "isolation"

// Families returns the families of all knobs: of isolation first, then by the
// knobs' names.
func (c *Campaign) Families() []Family {
	knobs := map[string]string{}
	for _, t := range c.Targets {
		maps.Copy(knobs, t.Trials[0].Knobs)
		for _, name := range t.Trials[0].OwnParams {
			knobs[paramKnob+name] = ""
		}
	}
	names := sortedNames(knobs, nil)
	if i := slices.Index(names, isolation); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, isolation)
	}
	var out []Family
	for _, knob := range names {
		var keys []string
		members := map[string][]*Target{}
		for _, t := range c.Targets {
			k := likeBut(knob, t.Trials[0], names)
			keys = AppendNew(keys, k)
			members[k] = append(members[k], t)
		}
		for _, k := range keys {
			value := func(t *Target) string { return knobOf(t.Trials[0], knob) }
			first := value(members[k][0])
			if slices.ContainsFunc(members[k], func(t *Target) bool { return value(t) != first }) {
				out = append(out, Family{knob, members[k]})
			}
		}
	}
	return out
}

// likeBut returns all known facts of a target except a knob, as a text.
func likeBut(knob string, t *result.Trial, knobs []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %v", t.Engine, t.Workload, t.Versions)
	for _, name := range sortedNames(t.Params, nil) {
		if paramKnob+name != knob {
			fmt.Fprintf(&b, "\n%s=%s", name, paramText(t.Params[name]))
		}
	}
	for _, name := range knobs {
		if name != knob {
			fmt.Fprintf(&b, "\n%s: %q", name, knobOf(t, name))
		}
	}
	return b.String()
}

// driftAlpha is the significance of a drift: a report has many sweeps.
const driftAlpha = 0.01

// Drift returns how much faster a target is at what runs first in the panel of a sweep than at what
// runs last, as a ratio; ok is false unless that is significant. The levels of a sweep ascend in one
// block of trials and descend in the next, so that the first and the last level are measured at
// both ends.
func (p *Panel) Drift(t *Target) (ratio float64, ok bool) {
	if len(p.Levels) < 2 {
		return 0, false
	}
	first, last := p.Levels[0].Step, p.Levels[len(p.Levels)-1].Step
	k, found := first.Rate(first.Primary)
	otherKey, knownLast := last.Rate(last.Primary)
	if !found || !knownLast {
		return 0, false
	}
	a, b := first.number(t, k), last.number(t, otherKey)
	var up, down []float64 // the first level by the last, in logarithms
	for i, trial := range a.Trials {
		j := slices.Index(b.Trials, trial)
		if j < 0 || a.Rows[i].Value <= 0 || b.Rows[j].Value <= 0 {
			continue
		}
		apart := math.Log(a.Rows[i].Value / b.Rows[j].Value)
		if position(trial, a.steps[i]) < position(trial, b.steps[j]) {
			up = append(up, apart)
		} else {
			down = append(down, apart)
		}
	}
	if min(len(up), len(down)) < LeastTrials {
		return 0, false
	}
	d := stat.Decide(up, down, stat.Apart, 1-driftAlpha)
	return math.Exp((stat.Mean(up) - stat.Mean(down)) / 2), d.P < driftAlpha && d.Agreed
}

// position returns a step's position in its trial.
func position(t *result.Trial, s *result.Step) int {
	return slices.IndexFunc(t.Steps, func(o result.Step) bool { return o.Name == s.Name })
}
