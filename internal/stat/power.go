package stat

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Detectable returns the smallest true mean difference that a two-sided paired t
// test at alpha with n pairs finds with this power (0.8, say). sd is the standard
// deviation of the differences, and the result is in its unit. It is NaN for fewer
// than two pairs, or if alpha or power does not lie between 0 and 1.
func Detectable(sd float64, n int, alpha, power float64) float64 {
	if n < 2 || !(alpha > 0 && alpha < 1) || !(power > 0 && power < 1) {
		return math.NaN()
	}
	df := float64(n - 1)
	limit := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha/2)
	low, high := 0.0, 1.0
	for powerOf(high, df, limit) < power {
		low, high = high, 2*high
	}
	for range 60 {
		mid := (low + high) / 2
		if powerOf(mid, df, limit) < power {
			low = mid
		} else {
			high = mid
		}
	}
	return high * sd / math.Sqrt(float64(n))
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

// TrialsNeeded returns the least number of pairs, at least three, with which a
// two-sided paired t test at alpha finds a true mean difference of effect with
// this power. sd is the standard deviation of the differences, in the unit of
// effect. It is 0 if no number is enough: the effect is zero, or sd unknown.
func TrialsNeeded(sd, effect, alpha, power float64) int {
	const most = 1 << 30
	n := 3 + sort.Search(most, func(k int) bool { return Detectable(sd, k+3, alpha, power) <= math.Abs(effect) })
	if n >= most || effect == 0 {
		return 0
	}
	return n
}
