package gen_test

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/workload/gen"
)

// chiSquareLimit returns the value that chi-square with k degrees of freedom
// exceeds with probability 1e-6 (Wilson and Hilferty's approximation).
func chiSquareLimit(k float64) float64 {
	const z = 4.75342
	a := 2 / (9 * k)
	return k * math.Pow(1-a+z*math.Sqrt(a), 3)
}

func TestUniform(t *testing.T) {
	t.Parallel()
	const draws = 1_000_000
	for _, n := range []int64{2, 500, 1000, 10_000} {
		counts := make([]float64, n)
		s := gen.NewStream(42, "test")
		for i := range uint64(draws) {
			counts[s.Uniform(i, n)]++ // panics outside 0…n-1
		}
		var chi float64
		want := draws / float64(n)
		for _, c := range counts {
			chi += (c - want) * (c - want) / want
		}
		if limit := chiSquareLimit(float64(n - 1)); chi > limit {
			t.Errorf("n=%d: chi-square %.0f above %.0f", n, chi, limit)
		}
	}
}

// A draw depends on seed, path and position, and on nothing else.
func TestStream(t *testing.T) {
	a := gen.NewStream(1, "l.i0", "insert")
	if a.At(7) != gen.NewStream(1, "l.i0", "insert").At(7) {
		t.Error("the same stream gives other draws")
	}
	others := []gen.Stream{gen.NewStream(2, "l.i0", "insert"), gen.NewStream(1, "l.i1", "insert"), gen.NewStream(1, "l.i0insert"),
		gen.NewStream(1, "l.i", "0insert"), gen.NewStream(1, "l.i0"), a.Sub(0), a.Sub(1)}
	seen := map[uint64]bool{a.At(0): true}
	for _, o := range others {
		if seen[o.At(0)] {
			t.Errorf("two streams begin alike")
		}
		seen[o.At(0)] = true
	}
}

func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low := rapid.Int64Range(0, 50).Draw(t, "min")
		greatest := low + rapid.Int64Range(0, 50).Draw(t, "more")
		share := rapid.Float64Range(0, 1).Draw(t, "share")
		x := gen.NewText(gen.NewStream(rapid.Uint64().Draw(t, "seed")), low, greatest, share)
		for i := range uint64(50) {
			s := x.Append(nil, i)
			n := int64(len(s))
			if n < low || n > greatest {
				t.Fatalf("length %d outside %d…%d", n, low, greatest)
			}
			constant := n - int64(float64(n)*0.75*share)
			if !bytes.Equal(s[:constant], bytes.Repeat([]byte("a"), int(constant))) {
				t.Fatalf("%q: the first %d characters are not constant", s, constant)
			}
		}
	})
}

// Lengths are uniform, and pieces come from the whole pool.
func TestTextSpread(t *testing.T) {
	t.Parallel()
	x := gen.NewText(gen.NewStream(3), 10, 20, 0.5)
	counts := map[int]int{}
	distinct := map[string]bool{}
	const n = 110_000
	for i := range uint64(n) {
		s := x.Append(nil, i)
		counts[len(s)]++
		distinct[string(s)] = true
	}
	for l := 10; l <= 20; l++ {
		if c := counts[l]; math.Abs(float64(c)-n/11) > 6*math.Sqrt(n/11) {
			t.Errorf("%d texts have length %d, want about %d", c, l, n/11)
		}
	}
	if len(distinct) < n*9/10 {
		t.Errorf("only %d distinct texts of %d", len(distinct), n)
	}
}
