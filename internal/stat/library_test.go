package stat_test

import (
	"math"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/stat"
)

// benchmathP is the p of golang.org/x/perf/benchmath, whose tests are those of
// github.com/aclements/go-moremath.
func benchmathP(assume benchmath.Assumption, a, b []float64) float64 {
	sample := func(x []float64) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds)
	}
	return assume.Compare(sample(a), sample(b)).P
}

// Without ties the rank sum test is the library's, up to the number of values
// beyond which ours is the normal approximation.
func TestMannWhitneyIsTheLibrarysWithoutTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfNDistinct(rapid.Float64Range(-1e6, 1e6), 2, 50, rapid.ID).Draw(t, "x")
		n := rapid.IntRange(1, len(x)-1).Draw(t, "n")
		got, want := stat.MannWhitney(x[:n], x[n:]), benchmathP(benchmath.AssumeNothing, x[:n], x[n:])
		expect.True(t, math.Abs(got-want) <= 1e-9, "the library says", got, want)
	})
}

// With ties the library's depends on the order of the samples, and ours does not.
func TestMannWhitneyIsNotTheLibrarysWithTies(t *testing.T) {
	a, b := []float64{1, 1, 2}, []float64{2, 2, 2, 3, 1}
	ours, exchanged := stat.MannWhitney(a, b), stat.MannWhitney(b, a)
	expect.True(t, math.Abs(ours-exchanged) <= 1e-12, "ours: and", ours, exchanged)
	down := func(x []float64) []float64 { // the same samples, seen from the other end
		out := slices.Clone(x)
		for i := range out {
			out[i] = -out[i]
		}
		return out
	}
	p, q := benchmathP(benchmath.AssumeNothing, a, b), benchmathP(benchmath.AssumeNothing, down(a), down(b))
	expect.True(t, math.Abs(p-q) >= 0.01, "the library's is symmetric now, and: use it", p, q)
}

func TestWelchIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := rapid.SliceOfN(rapid.Float64Range(1, 1000), 2, 30)
		a, b := draw.Draw(t, "a"), draw.Draw(t, "b")
		if stat.Deviation(a) < 1e-6 || stat.Deviation(b) < 1e-6 {
			t.Skip("without noise the library refuses, and ours says 0 or 1")
		}
		if got, _ := stat.Welch(a, b, 0.95); math.Abs(got-benchmathP(benchmath.AssumeNormal, a, b)) > 1e-6 {
			t.Fatalf("%v, the library says %v", got, benchmathP(benchmath.AssumeNormal, a, b))
		}
	})
}
