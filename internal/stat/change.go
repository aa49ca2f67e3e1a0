package stat

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	leastPhase   = 5   // values on a level: fewer are outliers
	leastBlocks  = 6   // blocks to shuffle: fewer have too few orders for a significance test
	longest      = 256 // values that are searched; longer series are summarised in batches
	independent  = 1.2 // correlation time below which values count as independent
	fewestOrders = 200 // permutations that a change is compared with
	mostOrders   = 10000
)

// changes finds the positions, ascending, at which a new level of x begins. A
// level has at least five values; the same values give the same positions. For
// values that only scatter around one level, even with outliers, the probability
// of a false change is about alpha or less. Autocorrelation raises it: to two or
// three times alpha at a correlation of 0.5, and in series of up to a few hundred
// values to five times at 0.8, where the values do wander from level to level.
//
// The series is cut in two where the mean ranks on both sides differ most, over
// intervals of many lengths and positions (seeded binary segmentation: Kovács and
// others, Biometrika 110, 2023), if the difference exceeds that of all but alpha
// of random permutations of the same values; the parts are cut again. Ranks limit
// the weight of an outlier. Autocorrelated values are permuted in whole blocks
// (Kirch, "Block permutation principles for the change analysis of dependent
// data", Journal of Statistical Planning and Inference 137, 2007), three times as
// long as the correlation time of the residuals from a running median, which
// follows changes of level.
//
// A slow drift is found as several changes in the same direction. A series of
// more than 256 values is searched by the medians of its batches, and the changes
// found are then placed among the single values: a level of fewer than five
// batches is missed. So are short levels, below about a tenth of the series,
// where they look like the wandering of dependent values.
//
// able is false if there are too few independent values to find any change.
func changes(x []float64, alpha float64) (points []int, able bool) {
	size := max(1, (len(x)+longest-1)/longest)
	values := batchesOf(x, size, Median)
	s := search{alpha: alpha, block: 1}
	if time, _ := correlationTime(afterMedian(values)); time > independent {
		s.block = int(math.Ceil(3 * time))
	}
	s.lowest = max(leastPhase, s.block)
	for _, p := range s.cut(values, 0) {
		points = append(points, p*size)
	}
	place(x, points, leastPhase*size)
	return points, s.able(len(values))
}

// afterMedian returns the ranks of the residuals of x from a running median over
// a quarter of it.
func afterMedian(x []float64) []float64 {
	half := max(leastPhase, len(x)/8)
	remaining := make([]float64, len(x))
	for i, v := range x {
		remaining[i] = v - Median(x[max(0, i-half):min(len(x), i+half+1)])
	}
	out := make([]float64, len(x))
	for i, r := range midranks(remaining) {
		out[i] = float64(r)
	}
	return out
}

// search holds the parameters of the search, the same for all parts of a series.
type search struct {
	alpha  float64
	block  int // length of the blocks that are permuted
	lowest int // values of a phase
}

func (s search) able(n int) bool { return n >= 2*s.lowest && n/s.block >= leastBlocks }

// cut finds the changes within a part of the series that begins at offset.
func (s search) cut(x []float64, offset int) []int {
	if !s.able(len(x)) {
		return nil
	}
	ranks := midranks(x)
	windows := Seeded(len(x), 2*s.lowest)
	position, score := s.best(ranks, windows)
	if position == 0 || !s.surprising(ranks, windows, score, uint64(offset)) {
		return nil
	}
	return slices.Concat(s.cut(x[:position], offset), []int{offset + position}, s.cut(x[position:], offset+position))
}

// best returns the position in one of the windows where the mean ranks before and
// after it differ most, in units of the scatter of independent values.
func (s search) best(ranks []int, windows []Run) (position int, score float64) {
	sums := make([]float64, len(ranks)+1)
	for i, r := range ranks {
		sums[i+1] = sums[i] + float64(r-len(ranks)-1)
	}
	for _, w := range windows {
		n, base := float64(w.To-w.From), sums[w.From]
		mean := (sums[w.To] - base) / n
		for i := w.From + s.lowest; i <= w.To-s.lowest; i++ {
			k := float64(i - w.From)
			away := sums[i] - base - mean*k
			if u := away * away * n / (k * (n - k)); u > score*(1+1e-9) {
				position, score = i, u
			}
		}
	}
	return position, score
}

// surprising reports whether at most alpha of random permutations score as high.
func (s search) surprising(ranks []int, windows []Run, score float64, seed uint64) bool {
	orders := int(min(max(fewestOrders, math.Ceil(4/s.alpha)), mostOrders)) - 1
	allowed := int(s.alpha*float64(orders+1)) - 1 // the observed order is one of them
	r := rand.New(rand.NewPCG(seed, uint64(len(ranks))))
	shuffled := make([]int, 0, len(ranks))
	for range orders {
		shuffled = shuffled[:0]
		// The first block has a random length, so that block borders vary.
		first := r.IntN(s.block)
		blocks := (len(ranks) - first + 2*s.block - 1) / s.block
		for _, b := range r.Perm(blocks) {
			end := first + b*s.block
			shuffled = append(shuffled, ranks[max(0, end-s.block):min(end, len(ranks))]...)
		}
		if _, u := s.best(shuffled, windows); u >= score*(1-1e-9) {
			if allowed--; allowed < 0 {
				return false
			}
		}
	}
	return allowed >= 0
}

// Seeded returns overlapping windows of n values and fewer, down to lowest.
// They depend on n and lowest only.
func Seeded(n, lowest int) []Run {
	out := []Run{{0, n}}
	for length := float64(n) / math.Sqrt2; length >= float64(lowest); length /= math.Sqrt2 {
		count := 2*math.Ceil(float64(n)/length) - 1
		for i := range int(count) {
			start := float64(i) * (float64(n) - length) / (count - 1)
			out = append(out, Run{int(start), min(n, int(math.Ceil(start+length)))})
		}
	}
	return out
}

// place moves each change to the position where the values around it are
// nearest to the medians of their sides, leaving at least minimum values on
// each. Ranks alone would draw it towards the middle.
func place(x []float64, points []int, minimum int) {
	start := 0
	for i, p := range points {
		end := len(x)
		if i+1 < len(points) {
			end = points[i+1]
		}
		previous, after := Median(x[start:p]), Median(x[p:end])
		excess, lowest := 0.0, math.Inf(1) // of the distances, with the change at k
		for k := start; k <= end-minimum && previous != after; k++ {
			if k >= start+minimum && excess < lowest {
				points[i], lowest = k, excess
			}
			excess += math.Abs(x[k]-previous) - math.Abs(x[k]-after)
		}
		start = points[i]
	}
}
