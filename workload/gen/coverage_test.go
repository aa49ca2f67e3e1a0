package gen_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"rumbench/workload/gen"
)

// fitted are the shares of ZippyDB's ranges as Cao et al. published them, and power the
// exponent within a range.
var fitted = [4]float64{14.18, -2.917, 0.0164, -0.08082}

const power = 0.3467

// The pages that must be cached to serve a share of the requests, by generator: 1 M keys
// of 50 to a page, 500 k requests. The numbers are those of spec/keyvalue.md, which were
// computed independently; for the true Zipfian it used the approximation of Gray et al.,
// which favours the first numbers, so that the exact one has a row of its own.
func TestPagesThatCover(t *testing.T) {
	t.Parallel()
	const keys, perPage, draws = 1_000_000, 50, 500_000
	key := gen.NewStream(1, "order")
	hot := func(ranges int64, power float64) gen.Distribution {
		return must[*gen.HotRanges](t)(gen.NewHotRanges(keys, ranges, fitted, power, key))
	}
	for _, c := range []struct {
		name         string
		distribution gen.Distribution
		pages        [3]float64 // for 50, 80 and 90 % of the requests
		top          float64    // share of the most frequent key; 0: of no interest
	}{
		{"uniform", gen.NewUniform(keys), [3]float64{8437, 14734, 17142}, 0},
		{"power law only", hot(1, power), [3]float64{6505, 13250, 16113}, 0.009},
		{"YCSB's scrambled Zipfian", gen.NewYCSBScrambled(keys, gen.YCSBTheta), [3]float64{4071, 12105, 15503}, 0.038},
		{"Gray's Zipfian, permuted", gen.NewScrambled(gen.NewYCSBZipf(keys, 0.99), keys, key), [3]float64{648, 7260, 11898}, 0.065},
		{"Zipfian, permuted", gen.NewScrambled(must[*gen.Zipf](t)(gen.NewZipf(keys, 0.99)), keys, key), [3]float64{715, 7430, 12015}, 0.065},
		{"hot ranges, uniform inside", hot(30, 0), [3]float64{411, 744, 3800}, 0},
		{"hot ranges, power law inside", hot(30, power), [3]float64{325, 692, 3264}, 0.023},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := gen.NewSource(gen.NewStream(1, c.name))
			byKey, byPage := make([]int, keys), make([]int, keys/perPage)
			for range draws {
				k := c.distribution.Draw(s)
				byKey[k]++
				byPage[k/perPage]++
			}
			slices.SortFunc(byPage, func(a, b int) int { return b - a })
			for i, share := range []float64{0.5, 0.8, 0.9} {
				covered, pages := 0, 0
				for float64(covered) < share*draws {
					covered += byPage[pages]
					pages++
				}
				near(t, fmt.Sprintf("pages for %v of the requests", share), float64(pages), c.pages[i], c.pages[i]*0.05)
			}
			if c.top > 0 {
				near(t, "share of the top key", float64(slices.Max(byKey))/draws, c.top, c.top/20)
			}
		})
	}
}

// chiSquare fails the test if draws do not have the probabilities p.
func chiSquare(t *testing.T, subject string, d gen.Distribution, p []float64) {
	t.Helper()
	s := gen.NewSource(gen.NewStream(1, t.Name(), subject))
	counts := make([]float64, len(p))
	for range manyDraws {
		counts[d.Draw(s)]++ // panics outside the numbers
	}
	chi, free := 0.0, -1.0
	for i, c := range counts {
		want := p[i] * manyDraws
		if p[i] == 0 {
			if c > 0 {
				t.Errorf("%s: number %d has weight 0 and %v draws", subject, i, c)
			}
			continue
		}
		chi += (c - want) * (c - want) / want
		free++
	}
	if limit := chiSquareLimit(max(free, 1)); chi > limit {
		t.Errorf("%s: chi-square %.1f is above %.1f", subject, chi, limit)
	}
}

func normalized(w []float64) []float64 {
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	out := make([]float64, len(w))
	for i, x := range w {
		out[i] = x / sum
	}
	return out
}

// fittedShares are the shares of ranges, the hottest first.
func fittedShares(ranges int) []float64 {
	out := make([]float64, ranges)
	for i := range out {
		x := float64(i + 1)
		out[i] = fitted[0]*math.Exp(fitted[1]*x) + fitted[2]*math.Exp(fitted[3]*x)
	}
	return normalized(out)
}

func TestAlias(t *testing.T) {
	t.Parallel()
	s := gen.NewSource(gen.NewStream(1, "weights"))
	many := make([]float64, 1000)
	for i := range many {
		many[i] = s.Unit() + 0.1
	}
	for name, weights := range map[string][]float64{
		"one": {3}, "with zeros": {0, 70, 0, 0, 29, 1, 0}, "alike": {2, 2, 2, 2, 2, 2, 2}, "far apart": {1e9, 1e6, 1e6, 2e7},
		"thousand": many, "ranges": fittedShares(30),
	} {
		a, shares := gen.NewAlias(weights), normalized(weights)
		chiSquare(t, name, a, shares)
		for i, share := range shares {
			if got := a.Share(i); math.Abs(got-share) > 1e-9 {
				t.Errorf("%s: number %d has the share %g, want %g", name, i, got, share)
			}
		}
	}
}

// binned reports the bin of each draw.
type binned struct {
	distribution gen.Distribution
	bin          func(int64) int64
}

func (b binned) Draw(s *gen.Source) int64 { return b.bin(b.distribution.Draw(s)) }

// Each range has its published share, at its place in the shuffled order, and within a
// range all keys are alike, or the top key has the share of the power law.
func TestHotRanges(t *testing.T) {
	t.Parallel()
	const n, ranges = 300_000, 30
	const size = n / ranges
	key := gen.NewStream(7, "shuffle")
	order := gen.NewPermutation(ranges, key)
	p := make([]float64, ranges)
	for x, share := range fittedShares(ranges) {
		p[order.At(int64(x))] = share
	}
	near(t, "share of the hottest range", slices.Max(p), 0.791, 0.001)
	near(t, "share of the coldest range", slices.Min(p), 0.0015, 0.0001)
	even := make([]float64, 100)
	for i := range even {
		even[i] = 0.01
	}
	for _, inside := range []float64{0, power} {
		h := must[*gen.HotRanges](t)(gen.NewHotRanges(n, ranges, fitted, inside, key))
		chiSquare(t, fmt.Sprint("ranges, power ", inside), binned{h, func(k int64) int64 { return k / size }}, p)
		if inside == 0 {
			chiSquare(t, "keys of a range", binned{h, func(k int64) int64 { return k % size / (size / 100) }}, even)
		}
	}
	// P(rank 1) of a range is its a', rescaled: (0.802 · size)^-b'.
	one := must[*gen.HotRanges](t)(gen.NewHotRanges(size, 1, fitted, power, key))
	s := gen.NewSource(gen.NewStream(1, "one"))
	counts := make([]float64, size)
	for range manyDraws {
		counts[one.Draw(s)]++
	}
	near(t, "share of the top key of a range", slices.Max(counts)/manyDraws, math.Pow(0.802*size, -power), 0.002)
	// The numbers need not be a multiple of the ranges, nor even as many.
	for _, c := range [][2]int64{{7, 3}, {3, 30}, {1, 1}, {1, 5}, {1001, 30}} {
		h := must[*gen.HotRanges](t)(gen.NewHotRanges(c[0], c[1], fitted, power, key))
		for range 10_000 {
			if k := h.Draw(s); k < 0 || k >= c[0] {
				t.Fatalf("%d is drawn of %d numbers in %d ranges", k, c[0], c[1])
			}
		}
	}
}

// Sizes have the quantiles of the generalized Pareto distributions that were fitted to
// ZippyDB's values and scans.
func TestParetoSizes(t *testing.T) {
	t.Parallel()
	draw := func(d gen.ParetoSizes) []int64 {
		s := gen.NewSource(gen.NewStream(1, "sizes"))
		out := make([]int64, manyDraws)
		for i := range out {
			out[i] = d.Draw(s)
		}
		slices.Sort(out)
		return out
	}
	values := gen.ParetoSizes{K: 0.2615, Sigma: 25.45, Min: 1, Max: 1 << 40}
	drawn := draw(values)
	for _, c := range []struct{ share, published float64 }{{0.5, 19}, {0.9, 80}, {0.99, 227}, {0.999, 495}} {
		exact := values.Sigma * (math.Pow(1-c.share, -values.K) - 1) / values.K
		near(t, fmt.Sprintf("published p%v of the values", c.share), exact, c.published, 0.02*c.published)
		// Sizes are whole: rounded up.
		near(t, fmt.Sprintf("drawn p%v of the values", c.share), float64(drawn[int(c.share*manyDraws)]), math.Ceil(exact), max(0.02*exact, 0.5))
	}
	near(t, "mean of the values", values.Mean(), values.Sigma/(1-values.K)+0.5, 0.3) // rounding up adds half a byte
	sum := 0.0
	for _, x := range drawn {
		sum += float64(x)
	}
	near(t, "mean of the draws", sum/manyDraws, values.Mean(), 0.3)
	clamped := draw(gen.ParetoSizes{K: 0.2615, Sigma: 25.45, Min: 10, Max: 1024})
	if clamped[0] != 10 || clamped[manyDraws-1] != 1024 {
		t.Errorf("sizes of 10 to 1024 are %d to %d", clamped[0], clamped[manyDraws-1])
	}

	scans := draw(gen.ParetoSizes{K: 2.517, Sigma: 14.236, Min: 1, Max: 1 << 40})
	near(t, "median of the scans", float64(scans[manyDraws/2]), 27, 0.5)
	above, _ := slices.BinarySearch(scans, 10_001)
	near(t, "share of the scans above 10,000", 1-float64(above)/manyDraws, 0.051, 0.001)
	capped := gen.ParetoSizes{K: 2.517, Sigma: 14.236, Min: 1, Max: 10_000}
	near(t, "mean of the scans up to 10,000", capped.Mean(), 844, 8)
}
