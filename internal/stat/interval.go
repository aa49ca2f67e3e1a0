package stat

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate with the bounds of its confidence interval.
//
// A bound is infinite if there are too few values for it. If there are too few
// for an estimate, all fields but Confidence are NaN.
type Interval struct {
	Value, Low, High float64
	Confidence       float64 // actual, such as 0.95; at least the one asked for
}

// unknown returns the interval of no values.
func unknown(confidence float64) Interval {
	return Interval{Value: math.NaN(), Low: math.NaN(), High: math.NaN(), Confidence: confidence}
}

// unbounded returns the interval of an estimate from too few values for any bound.
func unbounded(value float64) Interval {
	return Interval{Value: value, Low: math.Inf(-1), High: math.Inf(1), Confidence: 1}
}

// MedianInterval returns the median of x. Its bounds are two of the values, chosen
// by the binomial distribution of how many of them lie below the true median,
// so nothing is assumed about their distribution except that they are
// independent. At 0.95, two finite bounds need six values. Of two equally good
// intervals the lower one is taken, as in benchstat.
func MedianInterval(x []float64, confidence float64) Interval {
	if len(x) == 0 {
		return unknown(confidence)
	}
	s := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds), confidence)
	return Interval{Value: Median(x), Low: s.Lo, High: s.Hi, Confidence: s.Confidence}
}

// Equivalent reports whether the whole interval lies between low and high, both
// excluded. An interval with an unknown or infinite bound never does.
func Equivalent(i Interval, low, high float64) bool { return i.Low > low && i.High < high }

// PairedBootstrap returns the interval of an estimate from n pairs: the pairs are
// resampled with replacement, and estimate is called with the indices that were
// drawn. Value is the estimate from the original pairs. The same seed gives the
// same interval. A few thousand resamples are needed.
//
// The bounds are bias-corrected and accelerated (BCa), and widened by the ratio
// of Student's t to the normal quantile, because the spread of few pairs is
// itself an estimate that is too small on average.
//
// A bootstrap interval cannot reach beyond the pairs, and misses when all of them
// lie on one side of the true value, which happens with probability 2^(1−n). If
// that alone exceeds 1 − confidence, up to five pairs at 0.95, the bounds are
// infinite. Resamples whose estimate is NaN (a division by zero, say) are left
// out; if they are more than 1 %, the bounds are infinite too. With no pairs the
// interval is NaN, and estimate is not called.
//
// Efron, "Better bootstrap confidence intervals", Journal of the American
// Statistical Association 82 (1987); the widening is from Hesterberg, "What
// teachers should know about the bootstrap", American Statistician 69 (2015).
func PairedBootstrap(n int, resamples int, seed uint64, confidence float64,
	estimate func(pick []int) float64) Interval {
	if n <= 0 {
		return unknown(confidence)
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	value := estimate(all)
	if math.IsNaN(value) {
		return unknown(confidence)
	}
	if math.Ldexp(1, 1-n) > 1-confidence {
		return unbounded(value)
	}
	drawn := resample(n, resamples, seed, estimate)
	if len(drawn) == 0 || resamples-len(drawn) > resamples/100 {
		return unbounded(value)
	}
	f := float64(n)
	spread := -math.Sqrt(f/(f-1)) * distuv.StudentsT{Sigma: 1, Nu: f - 1}.Quantile((1-confidence)/2)
	bias := distuv.UnitNormal.Quantile(shareBelow(drawn, value))
	skew := acceleration(n, estimate)
	level := func(z float64) float64 { return distuv.UnitNormal.CDF(bias + (bias+z)/max(0.01, 1-skew*(bias+z))) }
	// The corrections can carry a bound past the value of a skewed estimate.
	return Interval{
		Value:      value,
		Low:        min(value, drawn[rankOf(level(-spread), len(drawn))]),
		High:       max(value, drawn[len(drawn)-1-rankOf(1-level(spread), len(drawn))]),
		Confidence: confidence,
	}
}

// resample returns the estimates from resamples of n pairs, ascending, without NaN.
func resample(n, resamples int, seed uint64, estimate func([]int) float64) []float64 {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := make([]int, n)
	var out []float64
	for range resamples {
		for i := range pick {
			pick[i] = r.IntN(n)
		}
		if v := estimate(pick); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	slices.Sort(out)
	return out
}

// rankOf returns the index below which the given share of n sorted values lies.
func rankOf(share float64, n int) int { return min(max(int(share*float64(n+1))-1, 0), n-1) }

// shareBelow returns the share of the sorted values below v, counting half of
// those equal to it. It is never 0 or 1, whose normal quantiles are infinite.
func shareBelow(sorted []float64, v float64) float64 {
	start, _ := slices.BinarySearch(sorted, v)
	end := start
	for end < len(sorted) && sorted[end] == v {
		end++
	}
	return (float64(start+end)/2 + 0.5) / float64(len(sorted)+1)
}

// acceleration returns how fast the spread of the estimate changes with its
// value, from the jackknife estimates.
func acceleration(n int, estimate func([]int) float64) float64 {
	var without []float64
	pick := make([]int, 0, n)
	for left := range n {
		pick = pick[:0]
		for i := range n {
			if i != left {
				pick = append(pick, i)
			}
		}
		without = append(without, estimate(pick))
	}
	mean, sd := moments(without)
	if !(sd > 0) || math.IsInf(sd, 0) {
		return 0
	}
	squares, cubes := 0.0, 0.0
	for _, v := range without {
		u := (mean - v) / sd
		squares += u * u
		cubes += u * u * u
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}
