package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/stat"
)

// Throughputs that follow the law give its parameters back.
func TestFitUSLExact(t *testing.T) {
	for _, want := range []stat.USL{
		{Gain: 1000, Contention: 0.03, Coherency: 0.0002},
		{Gain: 12.5, Contention: 0.2, Coherency: 0},
		{Gain: 7e5, Contention: 0, Coherency: 1e-6},
		{Gain: 800, Contention: 0, Coherency: 0},
		{Gain: 300, Contention: 1, Coherency: 0}, // no more than one at a time
	} {
		var n, x []float64
		for level := 1.0; level <= 1024; level *= 2 {
			n, x = append(n, level), append(x, want.At(level))
		}
		got, ok := stat.FitUSL(n, x)
		if !ok {
			t.Errorf("%+v: no fit", want)
			continue
		}
		near := func(subject string, a, b float64) {
			if math.Abs(a-b) > 1e-6*max(math.Abs(b), 1e-4) {
				t.Errorf("%+v: %s is %g", want, subject, a)
			}
		}
		near("gain", got.Gain, want.Gain)
		near("contention", got.Contention, want.Contention)
		near("coherency", got.Coherency, want.Coherency)
		if got.Residual > 1e-6 {
			t.Errorf("%+v: residual %g", want, got.Residual)
		}
	}
}

// Throughputs with noise of 3 % give parameters near to the true ones.
func TestFitUSLNoisy(t *testing.T) {
	want := stat.USL{Gain: 1000, Contention: 0.05, Coherency: 0.001}
	rng := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 200 {
		var n, x []float64
		for _, level := range []float64{1, 2, 4, 8, 16, 32, 64, 128} {
			n, x = append(n, level), append(x, want.At(level)*math.Exp(0.03*rng.NormFloat64()))
		}
		got, ok := stat.FitUSL(n, x)
		if !ok {
			t.Fatal("no fit")
		}
		worst = max(worst, math.Abs(got.Gain/want.Gain-1), math.Abs(got.Peak()/want.Peak()-1))
		if got.Residual > 0.08 || got.R2 < 0.9 {
			t.Errorf("residual %g, R2 %g of noise of 3 %%", got.Residual, got.R2)
		}
	}
	if worst > 0.25 {
		t.Errorf("gain or peak is off by %.0f %%", 100*worst)
	}
}

func TestFitUSLRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		n, x []float64
	}{
		{"three levels", []float64{1, 2, 4}, []float64{1, 2, 3}},
		{"three different levels", []float64{1, 2, 4, 4, 4}, []float64{1, 2, 3, 3, 3}},
		{"nothing done at one", []float64{1, 2, 4, 8}, []float64{1, 2, 0, 3}},
		{"less than one", []float64{0, 2, 4, 8}, []float64{1, 2, 3, 3}},
		{"not known", []float64{1, 2, 4, 8}, []float64{1, 2, math.NaN(), 3}},
	} {
		if u, ok := stat.FitUSL(c.n, c.x); ok {
			t.Errorf("%s: %+v", c.name, u)
		}
	}
}

func TestUSLPeak(t *testing.T) {
	for _, c := range []struct {
		u    stat.USL
		want float64
	}{
		{stat.USL{Gain: 1, Contention: 0.19, Coherency: 0.0001}, 90},
		{stat.USL{Gain: 1, Contention: 0.5}, math.Inf(1)},
		{stat.USL{Gain: 1, Contention: 0.1, Coherency: 5}, 1},
		{stat.USL{Gain: 1, Contention: 1.2, Coherency: 0.1}, 1},
	} {
		if got := c.u.Peak(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("peak of %+v is %g, want %g", c.u, got, c.want)
		}
	}
}

// Whatever the throughputs, no parameter is below 0, and none is no number.
func TestFitUSLAny(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var n, x []float64
		for _, level := range []float64{1, 2, 3, 8, 40, 1024} {
			n, x = append(n, level), append(x, rapid.Float64Range(1e-3, 1e9).Draw(r, "throughput"))
		}
		u, ok := stat.FitUSL(n, x)
		if !ok {
			r.Fatalf("no fit of %v", x)
		}
		if !(u.Gain > 0) || !(u.Contention >= 0) || !(u.Coherency >= 0) || math.IsNaN(u.Residual) || math.IsNaN(u.Peak()) {
			r.Fatalf("%v gives %+v", x, u)
		}
	})
}
