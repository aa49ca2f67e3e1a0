package stat

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// exactLimit is the greatest number of values for which the rank tests use the
// exact distribution. Beyond it the error of the normal approximation is
// negligible.
const exactLimit = 50

// MannWhitney returns the two-sided p of the Mann–Whitney (Wilcoxon rank sum) test of
// whether a and b come from the same distribution. Up to 50 values in all it is exact,
// also with ties: the share of all ways to split the values into two samples of these
// sizes whose rank sum is at least as far from its mean. Beyond, it is the normal
// approximation with the actual variance of the ranks and a continuity correction. It
// is NaN if a sample is empty, 1 if all values are the same, and symmetric in a and b.
//
// Without ties it equals benchmath's test; with ties benchmath's depends on the
// order of the samples, see docs/decisions/0009-verdicts.md.
func MannWhitney(a, b []float64) float64 {
	if len(a) == 0 || len(b) == 0 {
		return math.NaN()
	}
	ranks := midranks(slices.Concat(a, b))
	total, own, squares := 0, 0, 0.0
	for i, r := range ranks {
		total += r
		if i < len(a) {
			own += r
		}
	}
	n := float64(len(ranks))
	mean := float64(total) / n
	for _, r := range ranks {
		squares += (float64(r) - mean) * (float64(r) - mean)
	}
	away := math.Abs(float64(own) - mean*float64(len(a)))
	if len(ranks) > exactLimit {
		variance := float64(len(a)) * float64(len(b)) / (n * (n - 1)) * squares
		return normalP(away, variance)
	}
	return share(subsetSums(ranks, len(a)), mean*float64(len(a)), away)
}

// Wilcoxon returns the two-sided p of Wilcoxon's signed rank test of whether the
// differences d lie symmetrically around zero. Up to 50 differences it is exact,
// also with ties: the share of all assignments of signs whose sum of signed ranks
// is at least as far from zero. Beyond, it is the normal approximation with a
// continuity correction. Zeros are ranked with the others and then left out
// (Pratt's method), so that many of them count against a difference. It is NaN
// for no differences and 1 if all are zero.
//
// Pratt, "Remarks on zeros and ties in the Wilcoxon signed rank procedures",
// Journal of the American Statistical Association 54 (1959).
func Wilcoxon(d []float64) float64 {
	if len(d) == 0 {
		return math.NaN()
	}
	size := Values(d, math.Abs)
	var ranks []int
	positive, total, squares := 0, 0, 0.0
	for i, r := range midranks(size) {
		if d[i] == 0 {
			continue
		}
		ranks = append(ranks, r)
		total += r
		squares += float64(r) * float64(r)
		if d[i] > 0 {
			positive += r
		}
	}
	mean := float64(total) / 2
	away := math.Abs(float64(positive) - mean)
	if len(ranks) > exactLimit {
		return normalP(away, squares/4)
	}
	return share(signSums(ranks), mean, away)
}

// midranks returns the ranks of x, doubled so that the mean rank of an even number
// of equal values is an integer too.
func midranks(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	ranks := make([]int, len(x))
	for start := 0; start < len(x); {
		end := start + 1
		for end < len(x) && x[order[end]] == x[order[start]] {
			end++
		}
		for _, i := range order[start:end] {
			ranks[i] = start + 1 + end
		}
		start = end
	}
	return ranks
}

// subsetSums counts the subsets of size n of ranks by their sum.
func subsetSums(ranks []int, n int) []float64 {
	sum := 0
	for _, r := range ranks {
		sum += r
	}
	counts := make([][]float64, n+1) // by size
	for k := range counts {
		counts[k] = make([]float64, sum+1)
	}
	counts[0][0] = 1
	reached := 0
	for i, r := range ranks {
		for k := min(i+1, n); k > 0; k-- {
			for s, c := range counts[k-1][:reached+1] {
				counts[k][s+r] += c
			}
		}
		reached += r
	}
	return counts[n]
}

// signSums counts the subsets of ranks, of any size, by their sum.
func signSums(ranks []int) []float64 {
	counts := []float64{1}
	for _, r := range ranks {
		next := make([]float64, len(counts)+r)
		copy(next, counts)
		for s, c := range counts {
			next[s+r] += c
		}
		counts = next
	}
	return counts
}

// share returns the share of the counts at least this far away from the mean.
func share(counts []float64, mean, away float64) float64 {
	const rounding = 1e-6 // sums are multiples of 1/100 or coarser
	all, far := 0.0, 0.0
	for s, c := range counts {
		all += c
		if math.Abs(float64(s)-mean) >= away-rounding {
			far += c
		}
	}
	return far / all
}

// normalP returns the two-sided p of a sum of doubled ranks at this distance from
// its mean. Such sums are about 2 apart, hence a continuity correction of 1.
func normalP(away, variance float64) float64 {
	if variance == 0 {
		return 1
	}
	return min(1, 2*distuv.UnitNormal.Survival(max(0, away-1)/math.Sqrt(variance)))
}
