package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// levels is a series on planted levels, with noise of one.
func levels(noise []float64, start []int, level []float64) []float64 {
	x := slices.Clone(noise)
	for k, f := range start {
		for i := f; i < len(x); i++ {
			x[i] += level[k]
			if k > 0 {
				x[i] -= level[k-1]
			}
		}
	}
	return x
}

func TestChangesAreFound(t *testing.T) {
	outliers := func(r *rand.Rand, n int) []float64 {
		x := normals(r, n)
		for i := range x {
			if r.IntN(10) == 0 {
				x[i] += 40 * r.NormFloat64()
			}
		}
		return x
	}
	dependent := func(r *rand.Rand, n int) []float64 { return autoregressive(r, 0.5, n) }
	for _, c := range []struct {
		name  string
		noise func(*rand.Rand, int) []float64
		n     int
		start []int
		level []float64
	}{
		{"a step", normals, 60, []int{30}, []float64{4}},
		{"a step down, late", normals, 100, []int{80}, []float64{-4}},
		{"a dip", normals, 100, []int{40, 60}, []float64{-5, 0}},
		{"a staircase", normals, 150, []int{50, 100}, []float64{5, 10}},
		{"among outliers", outliers, 120, []int{60}, []float64{5}},
		{"among dependent values", dependent, 200, []int{100}, []float64{5}},
		{"in a long series", normals, 5000, []int{2000}, []float64{4}},
		{"huge", func(r *rand.Rand, n int) []float64 {
			return mapped(levels(normals(r, n), []int{20}, []float64{10}), func(v float64) float64 { return v * 1e306 })
		}, 40, []int{20}, []float64{0}},
	} {
		right := coverage(40, func(r *rand.Rand) bool {
			got := points(levels(c.noise(r, c.n), c.start, c.level), 0.05)
			for _, f := range c.start {
				if !slices.ContainsFunc(got, func(g int) bool { return max(g-f, f-g) <= 2 }) {
					return false
				}
			}
			return slices.IsSorted(got) && len(got) <= len(c.start)+1
		})
		expect.True(t, right >= 0.85, "found in", c.name, right)
	}
}

func TestChangesOfNoise(t *testing.T) {
	for _, c := range []struct {
		name  string
		rho   float64
		n     int
		limit float64 // at 0.05, with room for 200 samples
	}{
		{"independent", 0, 20, 0.09}, {"independent", 0, 60, 0.09}, {"independent", 0, 300, 0.09}, {"independent", 0, 3000, 0.09},
		{"correlated", 0.5, 60, 0.20}, {"correlated", 0.5, 300, 0.18}, {"correlated", 0.8, 60, 0.32}, {"correlated", 0.8, 600, 0.20},
	} {
		found := 1 - coverage(200, func(r *rand.Rand) bool { return len(points(autoregressive(r, c.rho, c.n), 0.05)) == 0 })
		expect.True(t, found <= c.limit, "at, values: found in", c.name, c.rho, c.n, found)
	}
	found := 1 - coverage(100, func(r *rand.Rand) bool {
		cauchy := mapped(normals(r, 100), func(v float64) float64 { return v / r.NormFloat64() })
		return len(points(cauchy, 0.05)) == 0
	})
	expect.True(t, found <= 0.12, "outliers: found in", found)
}

func TestChangesOfFewOrEqualValues(t *testing.T) {
	for _, x := range [][]float64{nil, {1}, {1, 2}, {1, 1, 1, 9, 9, 9}, make([]float64, 100), make([]float64, 5000)} {
		if got := points(x, 0.05); len(got) != 0 {
			t.Errorf("%d values: %v", len(x), got)
		}
	}
	exact := slices.Concat(make([]float64, 10), slices.Repeat([]float64{1}, 10))
	expect.List(t, points(exact, 0.05), []int{10}, "without noise")
	if got := points(exact, 0); len(got) != 0 {
		t.Errorf("at an alpha of 0: %v", got)
	}
}

// Only ranks count, and levels have at least five values.
func TestChangesFollowTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		n := rapid.IntRange(10, 400).Draw(t, "n")
		at := rapid.IntRange(0, n-1).Draw(t, "at")
		x := levels(normals(r, n), []int{at}, []float64{6})
		got := points(x, 0.05)
		expect.List(t, got, points(x, 0.05), "and")
		// Powers of two keep all differences, and so the running medians, exact.
		expect.List(t, got, points(mapped(x, func(v float64) float64 { return -8 * v }), 0.05))
		last := 0
		for _, g := range append(got, n) {
			expect.True(t, g-last >= 5, "a level of values in of", g-last, got, n)
			last = g
		}
	})
}

func TestSeededWindows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, lowest := rapid.IntRange(10, 300).Draw(t, "n"), rapid.IntRange(10, 60).Draw(t, "least")
		windows := Seeded(n, lowest)
		expect.Equal(t, windows[0], (Run{0, n}))
		for _, w := range windows[1:] {
			expect.True(t, w.From >= 0 && w.To <= n && float64(w.To-w.From) >= float64(lowest),
				"of, at least", w, n, lowest)
		}
		size := float64(n * 2)
		expect.True(t, len(windows) <= int(4*size*math.Log2(size)), "windows", len(windows))
	})
}

func points(x []float64, alpha float64) []int {
	points, _ := changes(x, alpha)
	return points
}
