package report

import (
	"fmt"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/observe"
	"rumbench/internal/result"
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

// The ratios of two canaries from which the machine was not equally fast: reads from memory vary by what
// other guests of the host do.
const muchSlower, muchFarther = 1.1, 1.3

// unequalMachine reports that the machine was not equally fast before all trials, and names the slowest.
func unequalMachine(c *campaign) (out []string) {
	for _, load := range []struct {
		name  string
		much  float64
		value func(*observe.Canary) float64
	}{
		{"computing", muchSlower, func(n *observe.Canary) float64 { return n.Compute }},
		{"reading memory", muchFarther, func(n *observe.Canary) float64 { return n.Memory }},
	} {
		var slowest, fastest *result.Trial
		for _, t := range c.Targets {
			for _, trial := range t.Trials {
				switch {
				case trial.Canary == nil || load.value(trial.Canary) == 0:
				case slowest == nil:
					slowest, fastest = trial, trial
				case load.value(trial.Canary) > load.value(slowest.Canary):
					slowest = trial
				case load.value(trial.Canary) < load.value(fastest.Canary):
					fastest = trial
				}
			}
		}
		if slowest == nil {
			continue
		}
		if r := load.value(slowest.Canary) / load.value(fastest.Canary); r > load.much {
			out = append(out, fmt.Sprintf("The machine was not equally fast: %s took %s as long just before %s as before %s.",
				load.name, quantity.Times(r), trialNames([]*result.Trial{slowest}), trialNames([]*result.Trial{fastest})))
		}
	}
	return out
}
