package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// twoModes reports that trials fall into two groups by the main number of a step, and what differs
// between these.
func (s *step) twoModes() []string {
	k, ok := compare.Goal(s.Step)
	if !ok {
		return nil
	}
	var found []*compare.Modes
	for _, t := range s.c.Targets {
		if m := s.c.Modes(s.Step, k, t); m != nil {
			found = append(found, m)
		}
	}
	if m := s.c.Modes(s.Step, k, s.c.Targets...); len(found) == 0 && m != nil {
		found = append(found, m)
	}
	return quantity.Texts(found, func(m *compare.Modes) string {
		differ := "nothing that was recorded differs between them"
		if len(m.Differ) > 0 {
			differ = "between them differs " + quantity.Joined(quantity.Texts(m.Differ, compare.Difference.String))
		}
		return fmt.Sprintf("In %s the trials fall into two groups, %s apart: %s below, and %s above; %s.", s.Name,
			quantity.Times(m.Ratio), trialNames(m.Low), trialNames(m.High), differ)
	})
}

// trialNames names trials: “pebble.1, pebble.3”.
func trialNames(trials []*result.Trial) string {
	return strings.Join(quantity.Texts(trials, func(t *result.Trial) string {
		return fmt.Sprintf("%s.%d", t.Target, t.Trial)
	}), ", ")
}

// drifts reports which targets are faster or slower at what runs first in a sweep.
func drifts(c *campaign) (out []string) {
	for _, w := range c.sweeps {
		if compare.IsProbe(w.first().Step) {
			continue // whose order follows from the search
		}
		for _, p := range w.panels {
			for _, t := range c.Targets {
				if ratio, ok := p.Drift(t); ok {
					out = append(out, fmt.Sprintf("%s drifted in %s: levels that run first are %s as fast as those that run "+
						"last. Every second trial has them in the reverse order.", t.Name, w.Base, quantity.Times(ratio)))
				}
			}
		}
	}
	return out
}

// unequalMachine reports that the machine was not equally fast before all trials, and names the slowest.
func unequalMachine(c *campaign) (out []string) {
	for _, load := range compare.CanaryLoads() {
		byMachine, times := map[string][]*result.Trial{}, map[*result.Trial]float64{}
		for _, trial := range trialsOf(c) {
			if v, ok := load.Time(trial); ok {
				byMachine[trial.Machine], times[trial] = append(byMachine[trial.Machine], trial), v
			}
		}
		byTime := func(a, b *result.Trial) int { return cmp.Compare(times[a], times[b]) }
		for _, name := range sortedKeys(byMachine) {
			fastest, slowest := slices.MinFunc(byMachine[name], byTime), slices.MaxFunc(byMachine[name], byTime)
			low, high := times[fastest], times[slowest]
			if high <= load.One*low {
				continue
			}
			out = append(out, fmt.Sprintf("%s was not equally fast: %s took %s as long just before %s as before %s.%s",
				cmp.Or(name, "The machine"), load.Name, quantity.Times(high/low), trialNames([]*result.Trial{slowest}),
				trialNames([]*result.Trial{fastest}), outlier(c, load, slowest)))
		}
	}
	return out
}

// outlier reports that a trial before which the machine was slower than before all others of its target
// is the slowest of these in the first step that is compared, too.
func outlier(c *campaign, load compare.CanaryLoad, slow *result.Trial) string {
	s := c.leading()[0]
	k, ok := compare.Capacity(s.Step)
	if !ok {
		return ""
	}
	var own, times float64
	var others, paces []float64
	for _, t := range c.Targets {
		n := s.number(t, k)
		for i, row := range n.Rows {
			v, _ := load.Time(n.Trials[i])
			switch {
			case n.Trials[i] == slow:
				own, times = row.Value, v
			case t.Name == slow.Target && n.Trials[i].Machine == slow.Machine:
				others, paces = append(others, row.Value), append(paces, v)
			}
		}
	}
	if len(others) < 2 || own == 0 || times < load.One*slices.Max(paces) || own*load.One > slices.Min(others) {
		return ""
	}
	return fmt.Sprintf(" It also has the lowest rate of its target in %s: %s the median of the others.", s.Name,
		quantity.Times(own/stat.Median(others)))
}
