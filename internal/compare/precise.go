package compare

import (
	"math"

	"rumbench/internal/result"
)

// Precise tells whether the throughput of every step is known so well that the
// 95 % interval of every target against the first is no wider than precision
// to either side, and which step is the least precise with how much. A step
// whose precision is not known yet is infinitely imprecise.
//
// The width is judged, never the verdict: to stop as soon as there is a
// difference would find differences where there are none.
func Precise(trials []*result.Trial, precision float64) (enough bool, worst float64, step string) {
	c := New(trials)
	for _, t := range c.Targets[min(1, len(c.Targets)):] {
		for _, s := range c.Steps {
			k, ok := s.Rate(s.Primary)
			if !ok {
				continue
			}
			e := s.effect(c.Targets[0], t, k)
			if w := e.halfWidth(); w > worst {
				worst, step = w, s.Name
			}
		}
	}
	return len(c.Targets) > 1 && worst <= precision, worst, step
}

// halfWidth is how far the ratio may be off to either side, as a share. What
// cannot be compared at all needs no precision.
func (e *Effect) halfWidth() float64 {
	switch {
	case e.Why != "":
		return 0
	case math.IsNaN(e.Low) || math.IsNaN(e.High) || min(len(e.Base.Rows), len(e.New.Rows)) < LeastTrials:
		return math.Inf(1)
	case e.Low <= 0:
		return math.Inf(1)
	}
	return math.Sqrt(e.High/e.Low) - 1
}
