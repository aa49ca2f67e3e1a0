package history

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/compare"
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
		if position, _ := split(x[start:end]); position > 0 {
			points[i] = start + position
		}
	}
	return points
}

// steps adds to the positions of proven changes those of clear steps near them, which tests of ranks cannot prove
// as one side has fewer than leastLevel points: one size for two changes would be wrong for both. Of one point
// between two levels, which may be an outlier, explained reports whether something else changed there.
func steps(x []float64, points []int, explained func(position int) bool) []int {
	ranked := slices.Clone(points)
	for i := 0; i < len(points); i++ { // ranks alone draw a position towards the middle
		start, _ := part(x, points, i)
		_, end := part(x, points, i+1)
		near := func(at int) bool { return max(at-points[i], points[i]-at) <= 2*leastLevel }
		if p, q := pairOf(x, start, end, near, explained); p > 0 {
			points = slices.Replace(points, i, i+1, p, q)
			i++
		} else if at := clearest(x, start, end, func(at int) bool { return at-start > 1 && end-at > 1 && near(at) }); at > 0 {
			points[i] = at
		}
	}
	for i := 0; i <= len(points); {
		start, end := part(x, points, i)
		at := clearest(x, start, end, func(at int) bool {
			return start > 0 && at-start < leastLevel || end < len(x) && end-at < leastLevel
		})
		if at > 0 && (at-start > 1 && end-at > 1 || explained(at)) {
			points = slices.Insert(points, i, at) // both sides are searched again
		} else {
			i++
		}
	}
	return withoutCompromises(x, points, ranked)
}

// withoutCompromises drops the positions that ranks had found between two changes, and that are none beside these.
func withoutCompromises(x []float64, points, ranked []int) []int {
	found := func(i int) bool { return i >= 0 && i < len(points) && !slices.Contains(ranked, points[i]) }
	for i := 0; i < len(points); i++ {
		start, _ := part(x, points, i)
		_, end := part(x, points, i+1)
		a, b := x[start:points[i]], x[points[i]:end]
		_, distinct := step(a, b)
		if !found(i) && (found(i-1) || found(i+1)) && !distinct && stat.MannWhitney(a, b) > compare.Alpha {
			points = slices.Delete(points, i, i+1)
			i--
		}
	}
	return points
}

// part returns the ends of level i.
func part(x []float64, points []int, i int) (start, end int) {
	bounds := slices.Concat([]int{0}, points, []int{len(x)})
	return bounds[i], bounds[i+1]
}

// clearest returns the position in a part at which two levels are nearest to its values; 0 if they are not clear.
func clearest(x []float64, start, end int, may func(position int) bool) (best int) {
	nearest := math.Inf(1)
	for at := start + 1; at < end; at++ {
		if !may(at) {
			continue
		}
		if remainder := distance(x[start:at]) + distance(x[at:end]); remainder < nearest {
			best, nearest = at, remainder
		}
	}
	if best > 0 {
		if _, distinct := step(x[start:best], x[best:end]); distinct {
			return best
		}
	}
	return 0
}

// pairOf returns the best positions of two steps with a short level between them; 0 if they are not clear.
func pairOf(x []float64, start, end int, near, explained func(position int) bool) (p, q int) {
	nearest := math.Inf(1)
	for i := start + 2; i < end; i++ {
		if !near(i) {
			continue
		}
		for j := i + 1; j < min(i+leastLevel, end-1); j++ {
			remainder := distance(x[start:i]) + distance(x[i:j]) + distance(x[j:end])
			if remainder >= nearest {
				continue
			}
			_, first := step(x[start:i], x[i:j])
			_, second := step(x[i:j], x[j:end])
			_, outer := step(x[start:i], x[j:end])
			monotone := (x[i]-x[i-1])*(x[j]-x[i]) > 0 // and no run that is odd
			if first && second && outer && (j-i > 1 || explained(i) && (monotone || explained(j))) {
				p, q, nearest = i, j, remainder
			}
		}
	}
	return p, q
}

// distance returns the sum of the distances of values from their median.
func distance(values []float64) (sum float64) {
	level := stat.Median(values)
	for _, v := range values {
		sum += math.Abs(v - level)
	}
	return sum
}

// step returns how far the levels of b and a are apart, as a share of a's, and whether that is clear: no value
// of one is among those of the other, and they differ by a notable share and by more than they vary.
func step(a, b []float64) (far float64, distinct bool) {
	const notable, deviations = 0.1, 3
	old, level := stat.Median(a), stat.Median(b)
	if old == 0 {
		return 0, false
	}
	far = math.Abs(level/old - 1)
	noise := deviations * math.Max(variation(a, old), variation(b, level))
	meet := slices.Min(a) <= slices.Max(b) && slices.Min(b) <= slices.Max(a)
	return far, !meet && far > math.Max(notable, noise)
}

// variation returns the standard deviation of values as a share of a level; 0 if it is unknown.
func variation(values []float64, level float64) float64 {
	if len(values) < 2 || level == 0 {
		return 0
	}
	return stat.Deviation(values) / math.Abs(level)
}

// cut finds the positions in a part that begins at offset.
func cut(x []float64, offset int, alpha float64) []int {
	position, p := change(x)
	if p > alpha {
		return nil
	}
	return slices.Concat(cut(x[:position], offset, alpha), []int{offset + position}, cut(x[position:],
		offset+position, alpha))
}

// change finds the clearest change of level and its p: the p of the Mann–Whitney
// test there, times the number of positions examined (Bonferroni). It is an
// upper bound, as these tests resemble each other. It is 1 if x has too few
// points.
func change(x []float64) (position int, p float64) {
	var best stat.Run
	clearest := 0.0
	for _, w := range stretches(len(x)) {
		if k, z := split(x[w.From:w.To]); z > clearest {
			best, position, clearest = w, w.From+k, z
		}
	}
	if clearest == 0 {
		return 0, 1
	}
	return position, min(1, float64(places(len(x)))*stat.MannWhitney(x[best.From:position], x[position:best.To]))
}

// split returns the position where the values before and after differ most, in
// units of their difference by chance; 0 if there is none. Differences are counted
// in pairs, so that an outlier weighs no more than any value.
func split(x []float64) (position int, z float64) {
	for k, s := range differences(x) {
		if s > z {
			position, z = k, s
		}
	}
	return position, z
}

// differences returns how much the values before and after each position differ, in units
// of their difference by chance; 0 at positions too near to an end.
func differences(x []float64) []float64 {
	n := len(x)
	out := make([]float64, n)
	extra := 0 // pairs across position k whose later value is greater, less those whose later value is smaller
	for k := range n {
		if k >= leastLevel && n-k >= leastLevel {
			// The variance is that of Kendall's and Mann and Whitney's counts.
			out[k] = math.Abs(float64(extra)) / math.Sqrt(float64(k*(n-k)*(n+1))/3)
		}
		for i := range n {
			if i < k {
				extra -= cmp.Compare(x[k], x[i])
			} else {
				extra += cmp.Compare(x[i], x[k])
			}
		}
	}
	return out
}

// around returns the first and the last position at which the level of x may have changed
// instead of index: those in a row whose squared difference is within chi-squared's 95 % of
// the one there, as confidence sets by likelihood take it (Worsley 1986); approximate.
func around(x []float64, index int) (first, last int) {
	const chiSquared = 3.84
	d := differences(x)
	near := func(k int) bool { return d[k] > 0 && d[index]*d[index]-d[k]*d[k] <= chiSquared }
	for first = index; first > 0 && near(first-1); first-- {
	}
	for last = index; last+1 < len(x) && near(last+1); last++ {
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
