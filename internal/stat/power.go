package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Detectable returns the smallest true shift that a two-sided t test at alpha finds
// with this power (0.9, say). sd is the standard deviation of n differences, known
// with df degrees of freedom; the result is in its unit. It is NaN for fewer than two
// differences, or if alpha or power does not lie between 0 and 1.
func Detectable(sd float64, n int, df, alpha, power float64) float64 {
	if n < 2 || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return math.NaN()
	}
	limit := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha/2)
	low, high := 0.0, 1.0
	for powerOf(high, df, limit) < power {
		low, high = high, 2*high
	}
	high = Border(func(shift float64) bool { return powerOf(shift, df, limit) >= power }, high, low)
	return high * sd / math.Sqrt(float64(n))
}

// Border returns the point between two where a condition that holds at the first ceases to hold, by bisection.
func Border(holds func(float64) bool, at, end float64) float64 {
	if holds(end) {
		return end
	}
	for range 60 {
		if middle := (at + end) / 2; holds(middle) {
			at = middle
		} else {
			end = middle
		}
	}
	return at
}

// powerOf returns the probability that |t| exceeds the limit when the true mean
// is shift standard errors away from zero.
func powerOf(shift, df, limit float64) float64 {
	if shift < 36 {
		t := distuv.NoncentralT{Nu: df, Mu: shift}
		return 1 - t.CDF(limit) + t.CDF(-limit)
	}
	// gonum's series underflows here. That far out only the noise of the standard
	// deviation matters, and three points are enough for that of the mean
	// (Gauss–Hermite): |t| > limit when χ² < df·((shift+z)/limit)².
	below := func(z float64) float64 {
		u := (shift + z) / limit
		return distuv.ChiSquared{K: df}.CDF(df * u * u)
	}
	return (below(-math.Sqrt(3)) + 4*below(0) + below(math.Sqrt(3))) / 6
}

// Detectable returns the smallest true shift that [Decide] finds at alpha with this
// power among n values of each sample: by the better of its t tests. It is NaN if the
// noise is unknown.
func (s Noise) Detectable(n int, alpha, power float64) float64 {
	paired := !math.IsNaN(s.Pairs)
	if s.PairsAlone {
		return s.inPairs(n, alpha, power)
	}
	alpha /= price[tests(n, n, paired)]
	// Welch's test has between n−1 and 2(n−1) degrees of freedom, depending on how
	// unlike the two samples' noise happens to look.
	apart := Detectable(s.Apart, n, 1.5*float64(n-1), alpha, power)
	if !paired {
		return apart
	}
	return min(apart, s.inPairs(n, alpha, power))
}

// inPairs returns the smallest true shift that the test of pairs finds.
func (s Noise) inPairs(n int, alpha, power float64) float64 {
	pairs := Detectable(s.Pairs, n, float64(n-1), alpha, power)
	if n == rankPairs { // all of them must have the same direction, or the rank test disagrees
		pairs = max(pairs, s.Pairs*distuv.UnitNormal.Quantile(math.Pow(power, 1/float64(n))))
	}
	return pairs
}

// Trials returns the least number of values of each sample, at least three, with which
// Decide finds a true shift of effect at alpha with this power. It is 0 if no number up
// to limit is enough, or the noise is unknown.
func (s Noise) Trials(effect, alpha, power float64, limit int) int {
	enough := func(n int) bool { return s.Detectable(n, alpha, power) <= math.Abs(effect) }
	const first = rankPairs + 1 // with this many or more, further values always find more
	for n := 3; n < min(first, limit+1); n++ {
		if enough(n) {
			return n
		}
	}
	n := first + sort.Search(max(0, limit-first+1), func(k int) bool { return enough(first + k) })
	if n > limit {
		return 0
	}
	return n
}
