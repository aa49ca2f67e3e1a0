package stat

import (
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// PairedT runs Student's two-sided t test of whether the mean of the differences d
// is zero, and returns p and the interval of that mean.
//
// Without differences, p and the interval are NaN. With one, p is NaN and the
// interval is unbounded, because the noise is unknown. If all are the same, the
// interval is a point, and p is 1 if that point is zero, else 0.
func PairedT(d []float64, confidence float64) (p float64, i Interval) {
	mean, sd := moments(d)
	return tTest(mean, sd/math.Sqrt(float64(len(d))), float64(len(d)-1), confidence)
}

// Welch runs Welch's two-sided t test of whether a and b have the same mean,
// without assuming equal variances, and returns p and the interval of
// mean(b) − mean(a). If a sample has fewer than two values, p is NaN. Samples
// without noise are treated as by PairedT.
//
// The degrees of freedom are Satterthwaite's: Welch, "The generalization of
// 'Student's' problem when several different population variances are
// involved", Biometrika 34 (1947).
func Welch(a, b []float64, confidence float64) (p float64, i Interval) {
	ma, sa := moments(a)
	mb, sb := moments(b)
	ea, eb := sa/math.Sqrt(float64(len(a))), sb/math.Sqrt(float64(len(b)))
	se := math.Hypot(ea, eb)
	if se == 0 {
		return tTest(mb-ma, 0, float64(min(len(a), len(b))-1), confidence)
	}
	va, vb := (ea/se)*(ea/se), (eb/se)*(eb/se)
	df := 1 / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	return tTest(mb-ma, se, df, confidence)
}

// upperTail returns the probability of an estimate at least this great under the
// null hypothesis.
func upperTail(estimate, se, df float64) float64 {
	switch {
	case math.IsNaN(se) || math.IsNaN(estimate):
		return math.NaN()
	case se == 0 && estimate > 0:
		return 0
	case se == 0:
		return 1
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Survival(estimate / se)
}

// tTest compares an estimate with zero and returns p and its interval. A NaN
// standard error is unknown.
func tTest(estimate, se, df, confidence float64) (p float64, i Interval) {
	switch {
	case math.IsNaN(estimate):
		return math.NaN(), unknown(confidence)
	case math.IsNaN(se):
		return math.NaN(), unbounded(estimate)
	}
	half := 0.0
	if se > 0 {
		half = se * distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1-(1-confidence)/2)
	}
	p = min(1, 2*upperTail(math.Abs(estimate), se, df)) // both tails are 1 if there is neither noise nor difference
	return p, Interval{Value: estimate, Low: estimate - half, High: estimate + half, Confidence: confidence}
}

// Deviation returns the standard deviation of a sample (with n − 1), NaN for fewer
// than two values, and exactly 0 if all are the same.
func Deviation(x []float64) float64 {
	_, sd := moments(x)
	return sd
}

// moments returns the mean and the standard deviation (with n − 1) of x, NaN if
// there are too few values. If all values are the same, the mean is exactly that
// value and the deviation 0, without the rounding of a sum.
func moments(x []float64) (mean, sd float64) {
	switch {
	case len(x) == 0:
		return math.NaN(), math.NaN()
	case len(x) == 1:
		return x[0], math.NaN()
	}
	low, greatest := slices.Min(x), slices.Max(x)
	if low == greatest {
		return low, 0
	}
	// Squares of huge values overflow; scaling by a power of two is exact.
	_, exponent := math.Frexp(max(-low, greatest))
	scaled := Values(x, func(v float64) float64 { return math.Ldexp(v, -exponent) })
	mean, sd = gonum.MeanStdDev(scaled, nil)
	return math.Ldexp(mean, exponent), math.Ldexp(sd, exponent)
}
