package stat

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p-values of a family of tests for the family-wise error rate:
// the probability of even one false positive is at most the level that adjusted
// values are compared with, however the tests depend on each other. The adjusted
// values are in the order of p. A NaN is a test that was not made: it stays NaN
// and is not counted.
//
// Holm, "A simple sequentially rejective multiple test procedure",
// Scandinavian Journal of Statistics 6 (1979).
func Holm(p []float64) []float64 {
	out, order := family(p)
	worst := 0.0
	for rank, i := range order {
		worst = max(worst, min(1, float64(len(order)-rank)*p[i]))
		out[i] = worst
	}
	return out
}

// BenjaminiHochberg adjusts the p-values of a family of tests for the false
// discovery rate: the expected share of false positives among the findings is at
// most the level that adjusted values are compared with. It finds more than Holm
// and guarantees less. Order and NaN are treated as by Holm.
//
// Benjamini and Hochberg, "Controlling the false discovery rate", Journal of
// the Royal Statistical Society B 57 (1995).
func BenjaminiHochberg(p []float64) []float64 {
	out, order := family(p)
	best := 1.0
	for rank, i := range slices.Backward(order) {
		best = min(best, float64(len(order))/float64(rank+1)*p[i])
		out[i] = best
	}
	return out
}

// family returns a slice for the adjusted values, NaN so far, and the indices of
// the tests that were made, by ascending p.
func family(p []float64) (out []float64, order []int) {
	out = make([]float64, len(p))
	for i, v := range p {
		out[i] = math.NaN()
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return out, order
}
