package stat

import (
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// Hollander and Wolfe's permeability and depression data, as in R's help.
var (
	permeabilityX = []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	permeabilityY = []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	depression    = []float64{-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01}
)

func TestMannWhitney(t *testing.T) {
	var x, y []float64
	for i := range 45 {
		if i < 40 {
			x = append(x, float64(i*i%61))
		}
		y = append(y, float64(i*i%59+6))
	}
	for _, c := range []struct {
		name string
		a, b []float64
		want float64
	}{
		{"permeability", permeabilityX, permeabilityY, 0.2544122544122544},
		{"many, with ties", x, y, 0.6660626785196988}, // scipy, asymptotic
		{"three and three", []float64{1, 2, 3}, []float64{4, 5, 6}, 0.1},
		{"four and four", []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2. / 70},
		{"all the same", []float64{1, 1}, []float64{1, 1, 1}, 1},
		{"one and one", []float64{1}, []float64{2}, 1},
		{"none", nil, []float64{2}, math.NaN()},
		{"huge", []float64{1e308, 1.1e308}, []float64{-1e308, -1.1e308}, 1. / 3},
	} {
		got := MannWhitney(c.a, c.b)
		expect.True(t, near(got, c.want), c.name, got, c.want)
	}
}

// Every way to deal the values out is counted, with U by its definition.
func TestMannWhitneyIsExact(t *testing.T) {
	u := func(x []float64, own int) (u float64) {
		for i := range x {
			for j := range x {
				if own>>i&1 == 1 && own>>j&1 == 0 {
					switch {
					case x[i] > x[j]:
						u++
					case x[i] == x[j]:
						u += 0.5
					}
				}
			}
		}
		return u
	}
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 5).Draw(t, "m")
		levels := rapid.IntRange(0, 20).Draw(t, "levels") // few of them make ties
		draw := rapid.IntRange(0, levels)
		x := make([]float64, n+m)
		for i := range x {
			x[i] = float64(draw.Draw(t, "x"))
		}
		centre := float64(n*m) / 2
		away := math.Abs(u(x, 1<<n-1) - centre)
		all, far := 0, 0
		for own := range 1 << (n + m) {
			if bits.OnesCount(uint(own)) == n {
				all++
				if math.Abs(u(x, own)-centre) >= away {
					far++
				}
			}
		}
		got, want := MannWhitney(x[:n], x[n:]), float64(far)/float64(all)
		expect.True(t, near(got, want), got, want)
	})
}

func TestWilcoxon(t *testing.T) {
	var many []float64
	for i := range 70 {
		many = append(many, float64(i*i%71-30))
	}
	for _, c := range []struct {
		name string
		d    []float64
		want float64
	}{
		{"depression", depression, 0.0390625},
		{"many, with ties and zeros", many, 0.466143375574692}, // scipy, zero_method pratt
		{"three", []float64{1, 2, 3}, 0.25},
		{"five", []float64{1, 2, 3, 4, 5}, 0.0625},
		{"six", []float64{-1, -2, -3, -4, -5, -6}, 0.03125},
		{"six alike", []float64{2, 2, 2, 2, 2, 2}, 0.03125},
		{"zeros", []float64{0, 0}, 1},
		{"one", []float64{5}, 1},
		{"none", nil, math.NaN()},
		{"many zeros", make([]float64, 100), 1},
	} {
		got := Wilcoxon(c.d)
		expect.True(t, near(got, c.want), c.name, got, c.want)
	}
}

// Every choice of signs is counted, with ranks by their definition.
func TestWilcoxonIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		d := make([]float64, n)
		for i := range d {
			d[i] = float64(rapid.IntRange(-6, 6).Draw(t, "d"))
		}
		ranks := make([]float64, n)
		for i, v := range d {
			for _, w := range d {
				switch {
				case v == 0:
				case math.Abs(w) < math.Abs(v):
					ranks[i]++
				case math.Abs(w) == math.Abs(v):
					ranks[i] += 0.5
				}
			}
			if v != 0 {
				ranks[i] += 0.5
			}
		}
		sum := func(positive func(i int) bool) (s float64) {
			for i, r := range ranks {
				if positive(i) {
					s += r
				} else {
					s -= r
				}
			}
			return math.Abs(s)
		}
		away, far := sum(func(i int) bool { return d[i] > 0 }), 0
		for signs := range 1 << n {
			if sum(func(i int) bool { return signs>>i&1 == 1 }) >= away {
				far++
			}
		}
		got, want := Wilcoxon(d), float64(far)/float64(int(1)<<n)
		expect.True(t, near(got, want), got, want)
	})
}

// Just below and above the limit of the exact distributions one more value changes little.
func TestRankTestsMeetTheirApproximation(t *testing.T) {
	d := make([]float64, 0, exactLimit+1)
	for i := range exactLimit + 1 {
		d = append(d, float64((i*37)%101)-38.5)
	}
	if a, b := Wilcoxon(d[:exactLimit]), Wilcoxon(d); math.Abs(a-b) > 0.3*a {
		t.Errorf("Wilcoxon: %v and %v", a, b)
	}
	half := exactLimit / 2
	if a, b := MannWhitney(d[:half], d[half:exactLimit]), MannWhitney(d[:half], d[half:]); math.Abs(a-b) > 0.3*a {
		t.Errorf("MannWhitney: %v and %v", a, b)
	}
}

func TestRankTestsFollowTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := eighths(t, "a", 1, 40), eighths(t, "b", 1, 40)
		p := MannWhitney(a, b)
		if q := MannWhitney(b, a); !near(p, q) {
			t.Fatalf("exchanged: %v, %v", p, q)
		}
		bent := func(v float64) float64 { return math.Exp(v / 10) }
		if q := MannWhitney(mapped(a, bent), mapped(b, bent)); !near(p, q) {
			t.Fatalf("of exponentials: %v, %v", p, q)
		}
		w := Wilcoxon(a)
		if v := Wilcoxon(mapped(a, func(v float64) float64 { return -2 * v })); !near(v, w) {
			t.Fatalf("negated: %v, %v", w, v)
		}
		for _, v := range []float64{p, w} {
			expect.True(t, v > 0 && v <= 1+1e-12, "p is", v)
		}
	})
}
