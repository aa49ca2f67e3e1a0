package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// twoModes reports that trials fall into two groups by the main number of a step, and what differs
// between these.
func twoModes(s *step) (out []metric.Warning) {
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
	for _, m := range found {
		differ := "nothing that was recorded differs between them"
		if len(m.Differ) > 0 {
			differ = "between them differs " + quantity.Joined(quantity.Texts(m.Differ, compare.Difference.String))
		}
		out = append(out, metric.Warn(remark.TwoModes, metric.Values{"step": s.Name, "ratio": quantity.Times(m.Ratio),
			"low": trialNames(m.Low), "high": trialNames(m.High), "differ": differ}))
	}
	return out
}

// trialNames names trials: “pebble.1, pebble.3”.
func trialNames(trials []*result.Trial) string {
	return strings.Join(quantity.Texts(trials, func(t *result.Trial) string {
		return fmt.Sprintf("%s.%d", t.Target, t.Trial)
	}), ", ")
}

// drifts reports which targets are faster or slower at what runs first in a sweep.
func drifts(c *campaign) (out []metric.Warning) {
	for _, w := range c.sweeps {
		if compare.IsProbe(w.first().Step) {
			continue // whose order follows from the search
		}
		for _, p := range w.panels {
			for _, t := range c.Targets {
				if ratio, ok := p.Drift(t); ok {
					out = append(out, metric.Warn(remark.Drifts,
						metric.Values{"target": t.Name, "step": w.Base, "ratio": quantity.Times(ratio)}))
				}
			}
		}
	}
	return out
}

// unevenMachine reports that the machine was not equally fast before all trials, and names the slowest.
func unevenMachine(c *campaign) (out []metric.Warning) {
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
			values := metric.Values{"machine": cmp.Or(name, "The machine"), "load": load.Name,
				"ratio": quantity.Times(high / low), "slowest": trialNames([]*result.Trial{slowest}),
				"fastest": trialNames([]*result.Trial{fastest})}
			if share := outlier(c, load, slowest); share > 0 {
				values["step"], values["share"] = c.leading()[0].Name, quantity.Times(share)
			}
			out = append(out, metric.Warn(remark.MachineUneven, values))
		}
	}
	return out
}

// outlier returns the rate of a trial in the first step that is compared as a share of the median of the others of its
// target, if it is the slowest of these and the machine was slower before it than before all of them; 0 if not.
func outlier(c *campaign, load compare.CanaryLoad, slow *result.Trial) float64 {
	s := c.leading()[0]
	k, ok := compare.Capacity(s.Step)
	if !ok {
		return 0
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
		return 0
	}
	return own / stat.Median(others)
}
