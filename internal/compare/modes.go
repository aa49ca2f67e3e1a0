package compare

import (
	"math"
	"slices"

	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Modes are two groups into which trials fall by a number.
type Modes struct {
	Low, High []*result.Trial
	Ratio     float64 // of the groups' medians
	Differ    []Difference
}

// Modes returns the two groups into which the trials of targets fall by a number of a step, each trial
// relative to its target's median; nil if there is one group, or too few trials to tell.
func (c *Campaign) Modes(s *Step, k Key, targets ...*Target) *Modes {
	var trials []*result.Trial
	var logs []float64
	for _, t := range targets {
		n := s.number(t, k)
		for i, r := range n.Rows {
			if r.Value > 0 && n.Value > 0 {
				trials, logs = append(trials, n.Trials[i]), append(logs, math.Log(r.Value/n.Value))
			}
		}
	}
	at := stat.Modes(logs)
	if math.IsNaN(at) {
		return nil
	}
	var m Modes
	var low, high []float64
	for i, v := range logs {
		if v < at {
			m.Low, low = append(m.Low, trials[i]), append(low, v)
		} else {
			m.High, high = append(m.High, trials[i]), append(high, v)
		}
	}
	if m.Ratio = math.Exp(stat.Median(high) - stat.Median(low)); m.Ratio <= 1+neutral {
		return nil
	}
	m.Differ = factsApart(m.Low, m.High)
	return &m
}

// factsApart returns the recorded facts that all trials of one group share, and all of the other have
// otherwise.
func factsApart(a, b []*result.Trial) (out []Difference) {
	one := func(trials []*result.Trial, value func(*result.Trial) string) (string, bool) {
		first := value(trials[0])
		return first, !slices.ContainsFunc(trials, func(t *result.Trial) bool { return value(t) != first })
	}
	add := func(name string, value func(*result.Trial) string) {
		mine, alike := one(a, value)
		if other, alikeToo := one(b, value); alike && alikeToo && mine != other {
			out = append(out, Difference{What: name, Base: mine, New: other})
		}
	}
	add("processors", func(t *result.Trial) string { return t.CPUs })
	add("load", (*result.Trial).LoadText)
	add(result.ProgramFact, (*result.Trial).Program)
	for _, facts := range []func(*result.Trial) observe.Facts{
		func(t *result.Trial) observe.Facts { return t.Versions }, func(t *result.Trial) observe.Facts { return t.Host },
	} {
		for _, f := range facts(a[0]) {
			add(f.Name, func(t *result.Trial) string { return facts(t).Value(f.Name) })
		}
	}
	for _, set := range a[0].Settings {
		add(set.Name, func(t *result.Trial) string { return t.Setting(set.Name) })
	}
	return append(out, canariesApart(a, b)...)
}

// canariesApart returns the loads that took longer before all trials of one group than before all of the
// other.
func canariesApart(a, b []*result.Trial) (out []Difference) {
	for _, l := range CanaryLoads() {
		x, y := l.times(a), l.times(b)
		apart := min(len(x), len(y)) > 0 && (slices.Max(x) < slices.Min(y) || slices.Max(y) < slices.Min(x))
		if !apart {
			continue
		}
		if mine, other := stat.Median(x), stat.Median(y); Beyond(other/mine, l.Level) {
			out = append(out, Difference{What: "time of " + l.Name + " just before the trial",
				Base: quantity.Digits(mine) + " ns", New: quantity.Digits(other) + " ns"})
		}
	}
	return out
}
