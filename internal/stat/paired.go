package stat

import (
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// PairedT is Student's t test of whether the mean of the differences d is zero
// (two-sided), and the interval of that mean.
//
// No differences: p and the interval are NaN. One: p is NaN and the interval
// has no bounds, because one difference says nothing about its noise. All the
// same: no noise was seen, so the interval is a point, and p is 1 if that point
// is zero and 0 if it is not.
func PairedT(d []float64, confidence float64) (p float64, i Interval) {
	mean, sd := moments(d)
	return tTest(mean, sd/math.Sqrt(float64(len(d))), float64(len(d)-1), confidence)
}

// Welch is Welch's t test of whether a and b have the same mean (two-sided),
// without assuming that they have the same variance, and the interval of
// mean(b) − mean(a). With a sample of fewer than two values p is NaN. Samples
// without any noise are treated as PairedT treats them.
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

// upperTail is the probability that chance alone makes an estimate with this
// standard error as great as it is or greater.
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

// tTest compares an estimate with zero and gives its interval. A standard error
// of NaN is one that is not known.
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
	p = min(1, 2*upperTail(math.Abs(estimate), se, df)) // twice 1 where there is neither noise nor difference
	return p, Interval{Value: estimate, Low: estimate - half, High: estimate + half, Confidence: confidence}
}

// Deviation is the standard deviation of a sample (with n − 1), NaN for fewer
// than two values, and exactly 0 where all are the same.
func Deviation(x []float64) float64 {
	_, sd := moments(x)
	return sd
}

// moments are the mean and the standard deviation (with n − 1) of x, NaN where
// there are too few values. Values that are all the same have exactly their own
// mean and no deviation, without the rounding of a sum.
func moments(x []float64) (mean, sd float64) {
	switch {
	case len(x) == 0:
		return math.NaN(), math.NaN()
	case len(x) == 1:
		return x[0], math.NaN()
	}
	least, greatest := slices.Min(x), slices.Max(x)
	if least == greatest {
		return least, 0
	}
	// A power of two changes no digit, and squares of huge values overflow.
	_, exponent := math.Frexp(max(-least, greatest))
	scaled := make([]float64, len(x))
	for i, v := range x {
		scaled[i] = math.Ldexp(v, -exponent)
	}
	mean, sd = gonum.MeanStdDev(scaled, nil)
	return math.Ldexp(mean, exponent), math.Ldexp(sd, exponent)
}
