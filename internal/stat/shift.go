package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// HodgesLehmann returns the shift from a to b: the median of all differences
// b − a. Its bounds are the extreme shifts that the Mann–Whitney test would not
// reject, infinite with too few values: 0.95 needs four in each sample. It is NaN
// if a sample is empty.
//
// Hodges and Lehmann, "Estimates of location based on rank tests", Annals of
// Mathematical Statistics 34 (1963). The bounds are Moses', in Hollander, Wolfe
// and Chicken, "Nonparametric statistical methods", section 4.3.
func HodgesLehmann(a, b []float64, confidence float64) Interval {
	if len(a) == 0 || len(b) == 0 {
		return unknown(confidence)
	}
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	g := grid{
		size: len(a) * len(b),
		upTo: func(v float64) (n int) {
			i := 0 // a[i:] are close enough to y
			for _, y := range b {
				for i < len(a) && y-a[i] > v {
					i++
				}
				n += len(a) - i
			}
			return n
		},
	}
	n := len(a) + len(b)
	if n <= exactLimit {
		lowest := len(a) * (len(a) + 1) / 2 // the smallest sum of len(a) ranks
		return g.interval(subsetSums(firstRanks(n), len(a))[lowest:], confidence)
	}
	return g.wideInterval(float64(g.size)*float64(n+1)/12, confidence)
}

// HodgesLehmannPaired returns the centre of the differences d: the median of the
// means of all pairs of them, each with itself too. Its bounds are the extreme
// centres that Wilcoxon's signed rank test would not reject, infinite with too few
// differences: 0.95 needs six. It is NaN for none.
//
// Hodges and Lehmann as above. The bounds are Tukey's, ibidem, section 3.3.
func HodgesLehmannPaired(d []float64, confidence float64) Interval {
	if len(d) == 0 {
		return unknown(confidence)
	}
	d = slices.Sorted(slices.Values(d))
	n := len(d)
	g := grid{
		size: n * (n + 1) / 2,
		upTo: func(v float64) (count int) {
			end := n // d[:end] are low enough for x
			for i, x := range d {
				for end > i && x/2+d[end-1]/2 > v {
					end--
				}
				count += max(0, end-i)
			}
			return count
		},
	}
	if n <= exactLimit {
		return g.interval(signSums(firstRanks(n)), confidence)
	}
	return g.wideInterval(float64(g.size)*float64(2*n+1)/12, confidence)
}

// firstRanks returns the ranks of n different values, not doubled.
func firstRanks(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return ranks
}

// grid represents the differences, or the means, of all pairs. There may be
// millions, so they are not listed: a value is found by how many do not exceed it.
type grid struct {
	size int
	upTo func(v float64) int
}

// at returns the value of rank k, from 1. It is a binary search over
// floating-point numbers: their bits sort like their values once those of
// negative ones are inverted.
func (g grid) at(k int) float64 {
	value := func(key uint64) float64 {
		if key < 1<<63 {
			return math.Float64frombits(^key)
		}
		return math.Float64frombits(key ^ 1<<63)
	}
	low, high := ^math.Float64bits(math.Inf(-1)), math.Float64bits(math.Inf(1))^1<<63
	for low < high {
		mid := low + (high-low)/2
		if g.upTo(value(mid)) >= k {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return value(low) + 0 // −0 becomes 0
}

// interval returns bounds from the exact distribution of the test statistic.
func (g grid) interval(counts []float64, confidence float64) Interval {
	total := 0.0
	for _, c := range counts {
		total += c
	}
	outside, tail := 0, 0.0
	for sum := counts[0]; sum/total <= (1-confidence)/2; sum += counts[outside] {
		outside, tail = outside+1, sum/total
	}
	return g.bounded(outside, 1-2*tail)
}

// wideInterval returns bounds from the normal approximation, with a continuity
// correction.
func (g grid) wideInterval(variance, confidence float64) Interval {
	mean, sd := float64(g.size)/2, math.Sqrt(variance)
	z := distuv.UnitNormal.Quantile((1 - confidence) / 2)
	outside := int(max(0, math.Floor(mean+z*sd+0.5)))
	return g.bounded(outside, 1-2*distuv.UnitNormal.CDF((float64(outside)-0.5-mean)/sd))
}

// bounded returns the median of the grid, with bounds that leave outside − 1
// values beyond each.
func (g grid) bounded(outside int, confidence float64) Interval {
	out := unbounded(g.at((g.size+1)/2)/2 + g.at(g.size/2+1)/2)
	if outside > 0 {
		out.Low, out.High, out.Confidence = g.at(outside), g.at(g.size+1-outside), confidence
	}
	return out
}
