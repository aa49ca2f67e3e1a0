package stat

import (
	"math"
	"slices"
)

// leastModes is the least number of values in which two groups can be distinguished.
const leastModes = 8

// gapLimits are the gaps, in ranges of the wider group, that at most 1 % of samples of a size have by
// chance, whether they are normal, uniform, exponential or heavy-tailed: simulated. Larger
// samples need a gap that is seen.
var gapLimits = map[int]float64{8: 3.1, 9: 2.2, 10: 1.9, 11: 1.9}

const seenGap = 1.5

// Modes returns the value at which the greater of two groups begins, if the values fall into two groups of
// at least a quarter of them each, which are farther apart than either is wide; NaN if they do not.
func Modes(x []float64) float64 {
	n := len(x)
	if n < leastModes {
		return math.NaN()
	}
	x = slices.Sorted(slices.Values(x))
	limit := seenGap
	if l, ok := gapLimits[n]; ok {
		limit = l
	}
	at, best := math.NaN(), 0.0
	for k := (n + 3) / 4; k <= n-(n+3)/4; k++ {
		gap, wider := x[k]-x[k-1], max(x[k-1]-x[0], x[n-1]-x[k])
		if gap > limit*wider && gap > best {
			at, best = x[k], gap
		}
	}
	return at
}
