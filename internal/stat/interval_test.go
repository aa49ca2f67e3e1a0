package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

var inf = math.Inf(1)

// near allows for the last digits of a reference that was printed.
func near(a, b float64) bool {
	return a == b || math.Abs(a-b) <= 1e-8*max(math.Abs(a), math.Abs(b)) || math.IsNaN(a) && math.IsNaN(b)
}

func nearInterval(a, b Interval) bool {
	return near(a.Value, b.Value) && near(a.Low, b.Low) && near(a.High, b.High) && near(a.Confidence, b.Confidence)
}

// eighths draws values of which sums, and products with powers of two, are exact,
// with ties among them.
func eighths(t *rapid.T, label string, low, high int) []float64 {
	whole := rapid.SliceOfN(rapid.IntRange(-400, 400), low, high).Draw(t, label)
	out := make([]float64, len(whole))
	for i, v := range whole {
		out[i] = float64(v) / 8
	}
	return out
}

func mapped(x []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = f(v)
	}
	return out
}

// coverage is the share of seeded samples whose interval holds the truth. Of thousands of
// samples make test draws a fifth, and make test-long all.
func coverage(samples int, holds func(r *rand.Rand) bool) float64 {
	if samples >= 1000 && !need.IsLong() {
		samples /= 5
	}
	n := 0
	for i := range samples {
		if holds(rand.New(rand.NewPCG(uint64(i), 11))) {
			n++
		}
	}
	return float64(n) / float64(samples)
}

func normals(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = r.NormFloat64()
	}
	return x
}

func TestMedianInterval(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		x    []float64
		want Interval
	}{
		{"none", nil, Interval{nan, nan, nan, 0.95}},
		{"one", []float64{7}, Interval{7, -inf, inf, 1}},
		{"six", []float64{5, -10, 2, 3, 6, 4}, Interval{3.5, -10, 6, 1 - 2./64}},
		{"five", []float64{1, 2, 3, 4, 5}, Interval{3, -inf, 5, 1 - 1./32}},
		{"constant", []float64{2, 2, 2, 2, 2, 2}, Interval{2, 2, 2, 1 - 2./64}},
		{"huge", []float64{1e308, 1.5e308, 1.7e308, 1e308, 1.5e308, 1.7e308}, Interval{1.5e308, 1e308, 1.7e308, 1 - 2./64}},
	} {
		before := slices.Clone(c.x)
		got := MedianInterval(c.x, 0.95)
		expect.True(t, nearInterval(got, c.want), c.name, got, c.want)
		expect.List(t, before, c.x, c.name)
	}
}

func TestMedianIntervalCoverage(t *testing.T) {
	for _, n := range []int{6, 11, 40} {
		got := coverage(4000, func(r *rand.Rand) bool {
			i := MedianInterval(mapped(normals(r, n), math.Exp), 0.95)
			return i.Low <= 1 && 1 <= i.High
		})
		expect.True(t, got >= 0.94 && got <= 0.99, "values", n, got)
	}
}

func TestEquivalent(t *testing.T) {
	for _, c := range []struct {
		i    Interval
		want bool
	}{
		{Interval{Value: 1, Low: 0.98, High: 1.02}, true},
		{Interval{Value: 1, Low: 0.95, High: 1.02}, false}, // the limits are excluded
		{Interval{Value: 1, Low: 0.98, High: 1.05}, false},
		{Interval{Value: 1, Low: 0.98, High: 1.2}, false},
		{unbounded(1), false},
		{unknown(0.9), false},
	} {
		expect.Equal(t, Equivalent(c.i, 0.95, 1.05), c.want, c.i)
	}
}
