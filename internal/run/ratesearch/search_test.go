package ratesearch_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/run/ratesearch"
)

// made makes a search of a server that keeps the promise up to a rate.
func made(t expect.Reporter, p ratesearch.Plan, capacity float64) ratesearch.Answer {
	s := ratesearch.New(p)
	for rate, ok := s.Next(); ok; rate, ok = s.Next() {
		expect.Must(t, rate >= p.From && (p.To <= 0 || rate <= p.To), rate, "was tried, of", p.From, "to", p.To)
		s.Add(rate, rate <= capacity, false)
	}
	return s.Answer()
}

// Where no probe is noisy, the interval contains the capacity and is small,
// if the closed loop was any guide.
func TestSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		closed := math.Exp(rapid.Float64Range(0, 14).Draw(t, "ln closed"))
		p := ratesearch.Plan{Precision: rapid.SampledFrom([]float64{0.05, 0.2, 1}).Draw(t, "precision"), Closed: closed, Ease: rapid.SampledFrom([]float64{0.1, 1.5, 20}).Draw(t, "ease")}
		capacity := closed * rapid.Float64Range(0.1, 1.1).Draw(t, "share")
		if rapid.Bool().Draw(t, "from") {
			p.From = closed * rapid.Float64Range(0.01, 0.4).Draw(t, "least")
		}
		if rapid.Bool().Draw(t, "to") {
			p.To = closed * rapid.Float64Range(0.5, 2).Draw(t, "greatest")
		}
		a := made(t, p, capacity)
		expect.True(t, a.Probes <= ratesearch.Most && a.Disturbed <= 0, a)
		switch {
		case p.From > capacity:
			expect.True(t, a.Kept == 0 && a.Broke == p.From && a.Low == 0, "of: nothing keeps the promise", a, capacity)
		case p.To > 0 && p.To <= capacity:
			expect.True(t, a.Kept == p.To && math.IsInf(a.High, 1), "of: all rates keep the promise", a, capacity)
		case a.Low == 0 && capacity < p.From*1.1, math.IsInf(a.High, 1) && capacity > p.To*0.9: // near its bound it may not know
		case a.Low > a.Kept || a.Kept > capacity || capacity >= a.Broke || a.Broke > a.High:
			t.Fatalf("%+v of %v", a, capacity)
		case !a.Precise && a.Probes < 20 || capacity > 0.4*closed && a.High/a.Low > 1.5*(1+2*p.Precision):
			t.Fatalf("%+v of %v: it could be more precise", a, capacity)
		}
	})
}

// One spoiled probe, also the first one, does not send the search down for good:
// here the closed loop does 33,218/s, and the server nearly as much within the
// promise.
func TestOneProbeDecidesNothing(t *testing.T) {
	for bad := range 12 {
		s := ratesearch.New(ratesearch.Plan{Precision: 0.05, Closed: 33218, Ease: 10 / 4.5})
		n := 0
		for rate, ok := s.Next(); ok; rate, ok = s.Next() {
			s.Add(rate, rate < 30000 && n != bad, false)
			n++
		}
		a := s.Answer()
		expect.True(t, a.Kept >= 27000 && a.Kept <= 30000 && a.Low <= 30000 && a.High >= 30000, "probe spoiled", bad, a)
	}
}

// Disturbed probes that broke the promise do not count, unless all are disturbed.
func TestDisturbed(t *testing.T) {
	s := ratesearch.New(ratesearch.Plan{Precision: 0.05, Closed: 1000, Ease: 3})
	for range 4 {
		rate, _ := s.Next()
		expect.True(t, !s.Add(rate, false, true), "counts", rate)
	}
	rate, _ := s.Next()
	expect.True(t, s.Add(rate, true, true), "a promise that was kept in spite of others does not count")
	if rate, _ = s.Next(); !s.Add(rate, false, true) {
		t.Error("the search would never end")
	}
	a := s.Answer()
	expect.True(t, a.Probes == 6 && a.Disturbed == 4, a)
}

// Bounds far from the closed loop's rate are tried, whatever the answer is.
func TestFarBounds(t *testing.T) {
	for _, c := range []struct {
		plan                  ratesearch.Plan
		capacity, kept, broke float64
	}{
		{ratesearch.Plan{Precision: 0.05, Closed: 100_000, Ease: 20, To: 1000}, 50_000, 1000, 0},
		{ratesearch.Plan{Precision: 0.05, Closed: 100_000, Ease: 0.1, To: 1000}, 50_000, 1000, 0},
		{ratesearch.Plan{Precision: 0.05, Closed: 1000, Ease: 1, From: 50_000, To: 90_000}, 2000, 0, 50_000},
	} {
		a := made(t, c.plan, c.capacity)
		expect.True(t, a.Probes != 0 && a.Kept == c.kept && a.Broke == c.broke, "with capacity", c.plan, c.capacity, a)
	}
	for lowest, want := range map[float64]float64{3: 10, 30: 30} { // a hundredth, unless a probe would have too few operations
		expect.Near(t, ratesearch.New(ratesearch.Plan{Precision: 0.05, Closed: 1000, Ease: 1, Lowest: lowest}).From, want, 0.5)
	}
	p := ratesearch.Plan{Precision: 0.05, Closed: 100_000, Ease: 20, To: 1000}
	if a := made(t, p, 700); a.Kept < 600 || a.Kept > 700 {
		t.Errorf("an answer just below the bound: %+v", a)
	}
}
