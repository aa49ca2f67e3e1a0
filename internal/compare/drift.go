package compare

import (
	"math"
	"slices"

	"rumbench/internal/result"
	"rumbench/internal/stat"
)

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
	k, known := first.Rate(first.Primary)
	other, knownLast := last.Rate(last.Primary)
	if !known || !knownLast {
		return 0, false
	}
	a, b := first.number(t, k), last.number(t, other)
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
