package stat

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
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
