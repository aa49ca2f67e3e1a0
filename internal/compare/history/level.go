package history

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/stat"
)

// The change points of internal/stat are for the intervals of one run, which
// resemble their neighbours and are many. Runs are few and take place on
// different days; they are taken as independent, so ten of them are enough.

// leastLevel is the minimum number of points of a level: fewer are outliers.
const leastLevel = 5

// levels returns the positions, ascending, at which a new level of x begins: where
// the two sides differ at alpha, over stretches of many lengths and places; both
// sides of a position are searched again.
func levels(x []float64, alpha float64) []int {
	points := cut(x, 0, alpha)
	for i := range points { // move to the position where the change is clearest between its neighbours
		start, end := 0, len(x)
		if i > 0 {
			start = points[i-1]
		}
		if i+1 < len(points) {
			end = points[i+1]
		}
		if at, _ := split(x[start:end]); at > 0 {
			points[i] = start + at
		}
	}
	return points
}

// cut finds the positions in a part that begins at offset.
func cut(x []float64, offset int, alpha float64) []int {
	at, p := change(x)
	if p > alpha {
		return nil
	}
	return slices.Concat(cut(x[:at], offset, alpha), []int{offset + at}, cut(x[at:], offset+at, alpha))
}

// change finds the clearest change of level and its p: the p of the Mann–Whitney
// test there, times the number of positions examined (Bonferroni). It is an
// upper bound, as these tests resemble each other. It is 1 if x has too few
// points.
func change(x []float64) (at int, p float64) {
	var best stat.Run
	clearest := 0.0
	for _, w := range stretches(len(x)) {
		if k, z := split(x[w.From:w.To]); z > clearest {
			best, at, clearest = w, w.From+k, z
		}
	}
	if clearest == 0 {
		return 0, 1
	}
	return at, min(1, float64(places(len(x)))*stat.MannWhitney(x[best.From:at], x[at:best.To]))
}

// split returns the position where the values before and after differ most, in
// units of their difference by chance; 0 if there is none. Differences are counted
// in pairs, so that an outlier weighs no more than any value.
func split(x []float64) (at int, z float64) {
	for k, s := range differences(x) {
		if s > z {
			at, z = k, s
		}
	}
	return at, z
}

// differences returns how much the values before and after each position differ, in units
// of their difference by chance; 0 at positions too near to an end.
func differences(x []float64) []float64 {
	n := len(x)
	out := make([]float64, n)
	more := 0 // pairs across position k whose later value is greater, less those whose later value is smaller
	for k := range n {
		if k >= leastLevel && n-k >= leastLevel {
			// The variance is that of Kendall's and Mann and Whitney's counts.
			out[k] = math.Abs(float64(more)) / math.Sqrt(float64(k*(n-k)*(n+1))/3)
		}
		for i := range n {
			if i < k {
				more -= cmp.Compare(x[k], x[i])
			} else {
				more += cmp.Compare(x[i], x[k])
			}
		}
	}
	return out
}

// around returns the first and the last position at which the level of x may have changed
// instead of at: those in a row whose squared difference is within chi-squared's 95 % of
// the one there, as confidence sets by likelihood take it (Worsley 1986); approximate.
func around(x []float64, at int) (first, last int) {
	const chiSquared = 3.84
	d := differences(x)
	near := func(k int) bool { return d[k] > 0 && d[at]*d[at]-d[k]*d[k] <= chiSquared }
	for first = at; first > 0 && near(first-1); first-- {
	}
	for last = at; last+1 < len(x) && near(last+1); last++ {
	}
	return first, last
}

// stretches returns all n points, and shorter and shorter overlapping stretches of
// them, to find a level that came and went.
func stretches(n int) []stat.Run {
	if n < 2*leastLevel {
		return nil
	}
	return stat.Seeded(n, 2*leastLevel)
}

// places returns the number of positions that change examines in n points.
func places(n int) (sum int) {
	for _, w := range stretches(n) {
		sum += w.To - w.From - 2*leastLevel + 1
	}
	return sum
}

// leastP returns the least p that change can give n points that all differ: that of
// two levels in the middle that do not touch each other. Of all ways to deal n
// values out to two halves, two are like that. If some points are equal, p may be
// half of that.
func leastP(n int) float64 {
	ways := 1.0
	for i := range n / 2 {
		ways *= float64(n-i) / float64(i+1)
	}
	return min(1, float64(places(n))*2/ways)
}
