package compare

import (
	"math"

	"rumbench/internal/result"
)

// Precise reports whether the numbers that the campaign's question asks about are known so well
// that the 95 % interval of every target against the first is no wider than precision to either
// side. It also returns the width of the least precise number, and its name and step. A number of
// yet unknown precision is infinitely imprecise; one that cannot be compared is left out, and if
// none can be compared it is never enough.
//
// The width is judged, never the verdict: stopping as soon as there is a difference would find
// differences where there are none.
func Precise(trials []*result.Trial, precision float64) (enough bool, worst float64, number string) {
	c := New(trials)
	judged := 0
	for _, t := range c.Targets[min(1, len(c.Targets)):] {
		for _, s := range c.Steps {
			for _, k := range s.asked() {
				e := s.effect(c.Targets[0], t, k)
				if e.Why != "" {
					continue // more trials would not make it comparable
				}
				judged++
				if w := e.halfWidth(); w > worst {
					worst, number = w, k.Metric+" of "+s.Name
				}
			}
		}
	}
	return judged > 0 && worst <= precision, worst, number
}

// halfWidth returns the largest error of the ratio to either side, as a share.
func (e *Effect) halfWidth() float64 {
	switch {
	case e.still():
		return 0
	case math.IsNaN(e.Low) || math.IsNaN(e.High) || e.trials() < LeastTrials:
		return math.Inf(1)
	case e.Low <= 0:
		return math.Inf(1)
	}
	return math.Sqrt(e.High/e.Low) - 1
}
