package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func TestHodgesLehmann(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		a, b []float64
		want Interval
	}{
		// R: wilcox.test(x, y, conf.int = TRUE) gives 0.305 and −0.15 to 0.76.
		{"permeability", permeabilityY, permeabilityX, Interval{0.305, -0.15, 0.76, 1 - 2*119./3003}},
		{"three and three", []float64{1, 2, 3}, []float64{4, 5, 7}, Interval{3, -inf, inf, 1}},
		{"four and four", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, Interval{4, 1, 7, 1 - 2./70}},
		{"constant", []float64{2, 2, 2, 2}, []float64{3, 3, 3, 3}, Interval{1, 1, 1, 1 - 2./70}},
		{"one and one", []float64{2}, []float64{5}, Interval{3, -inf, inf, 1}},
		{"none", nil, []float64{5}, Interval{nan, nan, nan, 0.95}},
	} {
		got := HodgesLehmann(c.a, c.b, 0.95)
		if c.name == "permeability" { // its confidence is checked by inversion below
			got.Confidence, c.want.Confidence = 0, 0
		}
		expect.True(t, nearInterval(got, c.want), c.name, got, c.want)
	}
}

func TestHodgesLehmannPaired(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		d    []float64
		want Interval
	}{
		// Hollander and Wolfe, example 3.3 and comment: −0.46, and −0.786 to −0.010 at 0.961.
		{"depression", depression, Interval{-0.46, -0.786, -0.010, 1 - 2*10./512}},
		{"five", []float64{1, 2, 3, 4, 5}, Interval{3, -inf, inf, 1}},
		{"six", []float64{1, 2, 3, 4, 5, 6}, Interval{3.5, 1, 6, 1 - 2./64}},
		{"one", []float64{4}, Interval{4, -inf, inf, 1}},
		{"none", nil, Interval{nan, nan, nan, 0.95}},
		{"huge", []float64{1e308, 1.5e308}, Interval{1.25e308, -inf, inf, 1}},
	} {
		got := HodgesLehmannPaired(c.d, 0.95)
		expect.True(t, nearInterval(got, c.want), c.name, got, c.want)
	}
}

// The estimates and bounds are found among all differences without listing them.
func TestGridIsTheList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := eighths(t, "a", 1, 30), eighths(t, "b", 1, 30)
		var differences, means []float64
		for i, x := range a {
			for _, y := range b {
				differences = append(differences, y-x)
			}
			for _, y := range a[i:] {
				means = append(means, (x+y)/2)
			}
		}
		for _, c := range []struct {
			got Interval
			all []float64
		}{{HodgesLehmann(a, b, 0.9), differences}, {HodgesLehmannPaired(a, 0.9), means}} {
			slices.Sort(c.all)
			i := c.got
			expect.True(t, i.Value == Median(c.all) && i.Low <= i.Value && i.High >= i.Value, i, c.all)
			for _, bound := range []float64{i.Low, i.High} {
				_, found := slices.BinarySearch(c.all, bound)
				expect.True(t, found || math.IsInf(bound, 0), "bound is not in", bound, c.all)
			}
		}
	})
}

// A bound is where the test of the shifted values begins to reject.
func TestBoundsInvertTheTests(t *testing.T) {
	const step = 1e-6
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		for _, n := range []int{5, 8, 12, 40, 60} {
			a, b := normals(r, n), normals(r, n)
			shifted := func(d float64) float64 {
				return MannWhitney(a, mapped(b, func(v float64) float64 { return v - d }))
			}
			i := HodgesLehmann(a, b, 0.95)
			centred := func(c float64) float64 {
				return Wilcoxon(mapped(a, func(v float64) float64 { return v - c }))
			}
			j := HodgesLehmannPaired(a, 0.95)
			if n == 5 { // too few for bounds of the paired one
				j, centred = i, shifted
			}
			for _, c := range []struct{ inside, outside float64 }{
				{shifted(i.Low + step), shifted(i.Low - step)}, {shifted(i.High - step), shifted(i.High + step)},
				{centred(j.Low + step), centred(j.Low - step)}, {centred(j.High - step), centred(j.High + step)},
			} {
				expect.Must(t, c.inside > 0.0499 && c.outside < 0.0501,
					"seed", seed, "n", n, "p is", c.inside, "within a bound", c.outside, "beyond")
			}
		}
	}
}

func TestShiftsFollowTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := eighths(t, "a", 1, 40), eighths(t, "b", 1, 40)
		i, j := HodgesLehmann(a, b, 0.95), HodgesLehmann(b, a, 0.95)
		expect.True(t, nearInterval(i, Interval{-j.Value, -j.High, -j.Low, j.Confidence}), "exchanged", i, j)
		j = HodgesLehmann(a, mapped(b, func(v float64) float64 { return v + 2 }), 0.95)
		expect.True(t, nearInterval(j, Interval{i.Value + 2, i.Low + 2, i.High + 2, i.Confidence}), "shifted", i, j)
		i, j = HodgesLehmannPaired(a, 0.95), HodgesLehmannPaired(mapped(a, func(v float64) float64 { return 1 - 2*v }), 0.95)
		expect.True(t, nearInterval(j, Interval{1 - 2*i.Value, 1 - 2*i.High, 1 - 2*i.Low, i.Confidence}),
			"turned over", i, j)
		expect.True(t, i.Confidence >= 0.95 && i.Confidence <= 1, "confidence", i.Confidence)
	})
}

func TestShiftCoverage(t *testing.T) {
	heavy := func(r *rand.Rand, n int) []float64 {
		return mapped(normals(r, n), func(v float64) float64 { return v / math.Abs(r.NormFloat64()) })
	}
	for _, n := range []int{6, 12, 60} {
		two := coverage(1500, func(r *rand.Rand) bool {
			i := HodgesLehmann(heavy(r, n), heavy(r, n), 0.95)
			return i.Low <= 0 && 0 <= i.High
		})
		paired := coverage(1500, func(r *rand.Rand) bool {
			i := HodgesLehmannPaired(heavy(r, n), 0.95)
			return i.Low <= 0 && 0 <= i.High
		})
		for _, got := range []float64{two, paired} {
			expect.True(t, got >= 0.93 && got <= 0.99, "values: and", n, two, paired)
		}
	}
}
