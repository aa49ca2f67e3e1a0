package stat

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// HodgesLehmann is the shift from a to b: the median of all differences b − a.
// Its bounds are those shifts that the Mann–Whitney test would not reject. With
// too few values for the confidence they are infinite: at 0.95 it takes four on
// each side. NaN if a sample is empty.
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
			i := 0 // a[i:] are near enough to y
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
		least := len(a) * (len(a) + 1) / 2 // the least sum of so many ranks
		return g.interval(subsetSums(firstRanks(n), len(a))[least:], confidence)
	}
	return g.wideInterval(float64(g.size)*float64(n+1)/12, confidence)
}

// HodgesLehmannPaired is the centre of the differences d: the median of the
// means of all pairs of them, each with itself too. Its bounds are those centres
// that Wilcoxon's signed rank test would not reject. With too few differences
// for the confidence they are infinite: at 0.95 it takes six. NaN for none.
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
			to := n // d[:to] are low enough for x
			for i, x := range d {
				for to > i && x/2+d[to-1]/2 > v {
					to--
				}
				count += max(0, to-i)
			}
			return count
		},
	}
	if n <= exactLimit {
		return g.interval(signSums(firstRanks(n)), confidence)
	}
	return g.wideInterval(float64(g.size)*float64(2*n+1)/12, confidence)
}

// firstRanks are the ranks of n different values, not doubled.
func firstRanks(n int) []int {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return ranks
}

// grid stands for all differences, or all means, of pairs. There may be millions
// of them, so they are never listed: one is found by how many are not above it.
type grid struct {
	size int
	upTo func(v float64) int
}

// at is the value of rank k, from 1. It searches among the floating-point
// numbers, whose bits are ordered as they are, if negative ones are turned over.
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

// interval takes the bounds from the exact distribution of the test's statistic.
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

// wideInterval takes the bounds from the normal approximation, with a continuity
// correction.
func (g grid) wideInterval(variance, confidence float64) Interval {
	mean, sd := float64(g.size)/2, math.Sqrt(variance)
	z := distuv.UnitNormal.Quantile((1 - confidence) / 2)
	outside := int(max(0, math.Floor(mean+z*sd+0.5)))
	return g.bounded(outside, 1-2*distuv.UnitNormal.CDF((float64(outside)-0.5-mean)/sd))
}

// bounded is the median of the grid with the bounds that leave so many values
// less one outside on each side.
func (g grid) bounded(outside int, confidence float64) Interval {
	out := unbounded(g.at((g.size+1)/2)/2 + g.at(g.size/2+1)/2)
	if outside > 0 {
		out.Low, out.High, out.Confidence = g.at(outside), g.at(g.size+1-outside), confidence
	}
	return out
}
