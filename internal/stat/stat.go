// Package stat holds statistics on plain numbers. It is pure and does not know what
// the numbers mean: verdicts, and the tests they rest on, belong to internal/compare.
//
// Values are finite. An estimate from too few of them is NaN, or an infinite bound,
// never a guess. Functions do not modify their arguments and are deterministic.
package stat

import (
	"math"
	"slices"
)

// Values returns a value for each element of a list.
func Values[T any](list []T, value func(T) float64) []float64 {
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = value(x)
	}
	return out
}

// Mean returns the arithmetic mean; NaN for no values.
func Mean(x []float64) float64 {
	mean, _ := moments(x)
	return mean
}

// Median returns the middle value, or the mean of the two in the middle; NaN for
// no values.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	s := slices.Clone(x)
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return s[n/2-1]/2 + s[n/2]/2 // halved first: the sum of huge values overflows
}

// Reached returns the rate that p percent of the intervals reached or exceeded:
// the one at rank p/100·n, rounded, in descending order. So 99 gives the slow
// tail. This is the rule of the insert benchmark's published tables. ok is false
// for fewer than ten intervals.
func Reached(rates []float64, p float64) (rate float64, ok bool) {
	n := len(rates)
	if n < 10 {
		return math.NaN(), false
	}
	s := slices.Clone(rates)
	slices.Sort(s)
	slices.Reverse(s)
	rank := int(math.Round(p / 100 * float64(n)))
	return s[min(max(rank, 1), n)-1], true
}

// StallShare is the share of the median rate below which an interval is stalled.
const StallShare = 0.10

// Run is a run of consecutive intervals.
type Run struct {
	From, To int // half open: the interval at To is excluded
}

// Stalls returns the runs of intervals that completed nothing, or less than
// StallShare of the median.
func Stalls(rates []float64) []Run {
	limit := StallShare * Median(rates)
	return Runs(len(rates), func(i int) bool { return rates[i] <= 0 || rates[i] < limit })
}

// Runs returns the runs of picked intervals among n. picked is called once for
// each, in order.
func Runs(n int, picked func(i int) bool) (out []Run) {
	for i := range n {
		if !picked(i) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].To == i {
			out[n-1].To = i + 1
		} else {
			out = append(out, Run{i, i + 1})
		}
	}
	return out
}
