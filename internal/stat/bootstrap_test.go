package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
)

// meanOf is the estimate that the t interval is of.
func meanOf(x []float64) func([]int) float64 {
	return func(pick []int) (mean float64) {
		for _, i := range pick {
			mean += x[i] / float64(len(pick))
		}
		return mean
	}
}

func TestPairedBootstrap(t *testing.T) {
	nan := math.NaN()
	never := func([]int) float64 { t.Error("no pairs, but asked"); return 0 }
	if got := PairedBootstrap(0, 1000, 1, 0.95, never); !nearInterval(got, unknown(0.95)) {
		t.Errorf("none: %v", got)
	}
	five := []float64{1, 2, 3, 4, 5}
	if got := PairedBootstrap(5, 1000, 1, 0.95, meanOf(five)); !nearInterval(got, unbounded(3)) {
		t.Errorf("five: %v", got)
	}
	if got := PairedBootstrap(5, 1000, 1, 0.90, meanOf(five)); math.IsInf(got.Low, 0) || math.IsInf(got.High, 0) {
		t.Errorf("five at 0.90: %v", got)
	}
	expect.Equal(t, PairedBootstrap(8, 1000, 1, 0.95, func([]int) float64 { return 2 }), (Interval{2, 2, 2, 0.95}),
		"constant")
	if got := PairedBootstrap(8, 1000, 1, 0.95, func([]int) float64 { return nan }); !nearInterval(got, unknown(0.95)) {
		t.Errorf("unknown: %v", got)
	}
	calls := 0
	often := func([]int) float64 {
		if calls++; calls%10 == 0 {
			return nan
		}
		return float64(calls)
	}
	if got := PairedBootstrap(8, 1000, 1, 0.95, often); !nearInterval(got, unbounded(1)) {
		t.Errorf("often unknown: %v", got)
	}
	huge := mapped(darwin, func(v float64) float64 { return v * 1e300 })
	a, b := PairedBootstrap(15, 2000, 1, 0.95, meanOf(darwin)), PairedBootstrap(15, 2000, 1, 0.95, meanOf(huge))
	if math.Abs(b.Low/1e300-a.Low) > 0.2 || math.Abs(b.High/1e300-a.High) > 0.2 { // equal means are rounded apart
		t.Errorf("huge: %v, %v", a, b)
	}
}

// Of a mean without much skew it is about Student's interval.
func TestPairedBootstrapIsNearT(t *testing.T) {
	x := normals(rand.New(rand.NewPCG(4, 4)), 25)
	_, want := PairedT(x, 0.95)
	got := PairedBootstrap(25, 20000, 1, 0.95, meanOf(x))
	for _, d := range []float64{got.Value - want.Value, got.Low - want.Low, got.High - want.High} {
		if math.Abs(d) > 0.05*(want.High-want.Low) {
			t.Errorf("%v, Student's is %v", got, want)
			break
		}
	}
}

// Of a skewed sample it reaches farther to the side of the long tail.
func TestPairedBootstrapIsSkewed(t *testing.T) {
	x := mapped(normals(rand.New(rand.NewPCG(2, 2)), 30), func(v float64) float64 { return math.Exp(1.5 * v) })
	i := PairedBootstrap(30, 5000, 1, 0.95, meanOf(x))
	plain := resample(30, 5000, 1, meanOf(x))
	up, down := i.High-i.Value, i.Value-i.Low
	expect.True(t, up >= 1.3*down, "up, down", i, up, down)
	low, high := plain[125], plain[4875]
	expect.True(t, i.Low+i.High >= 1.02*(low+high), "is no higher than to", i, low, high)
}

func TestPairedBootstrapIsDeterministic(t *testing.T) {
	a := PairedBootstrap(15, 500, 7, 0.95, meanOf(darwin))
	expect.Equal(t, a, PairedBootstrap(15, 500, 7, 0.95, meanOf(darwin)))
	b := PairedBootstrap(15, 500, 8, 0.95, meanOf(darwin))
	expect.True(t, a != b, "the seed does not matter")
}

// A ratio of sums is what it is for: no test of Student's gives its interval.
func TestPairedBootstrapCoverage(t *testing.T) {
	for _, n := range []int{6, 10, 30} {
		got := coverage(3000, func(r *rand.Rand) bool {
			base, other := make([]float64, n), make([]float64, n)
			for k := range n {
				machine := math.Exp(0.2 * r.NormFloat64()) // pairs share the machine's state
				base[k] = 100 * machine * math.Exp(0.05*r.NormFloat64())
				other[k] = 90 * machine * math.Exp(0.05*r.NormFloat64())
			}
			i := PairedBootstrap(n, 600, 1, 0.95, func(pick []int) float64 {
				a, b := 0.0, 0.0
				for _, k := range pick {
					a, b = a+base[k], b+other[k]
				}
				return b / a
			})
			return i.Low <= 0.9 && 0.9 <= i.High
		})
		expect.True(t, got >= 0.93 && got <= 0.97, "pairs", n, got)
	}
}
