package ratesearch_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/run/ratesearch"
)

// server is a model of one that is searched: a percentile of the response time,
// as a share of the limit, that grows as in a queue, with noise.
type server struct {
	r         *rand.Rand
	capacity  float64 // the rate at which it saturates
	idle      float64 // the percentile of an idle server
	noise     float64 // standard deviation of the percentile's logarithm
	stalls    float64 // share of probes that a stall of the server's own spoils
	disturbed float64 // share of probes that others spoil
	noticed   float64 // share of those of which that is known
	drift     float64 // of the capacity, per probe
}

// boundary is the rate at which the percentile is at the limit.
func (v *server) boundary() float64 { return v.capacity * (1 - v.idle) }

// probe returns whether the promise was kept at a rate.
func (v *server) probe(rate float64) (kept, disturbed bool) {
	v.capacity *= 1 + v.drift
	switch {
	case v.r.Float64() < v.stalls, rate >= v.capacity:
		return false, false
	case v.r.Float64() < v.disturbed:
		return false, v.r.Float64() < v.noticed
	}
	return v.idle/(1-rate/v.capacity)*math.Exp(v.noise*v.r.NormFloat64()) < 1, false
}

// simulate makes a search after a closed loop whose rate and percentile are
// noisy too. The truth is the boundary in the middle of the search.
func simulate(v server, precision float64, seed uint64) (a ratesearch.Answer, truth float64) {
	v.r = rand.New(rand.NewPCG(seed, 7))
	v.capacity *= math.Exp(v.r.Float64())
	before := v.boundary()
	s := ratesearch.New(ratesearch.Plan{Precision: precision, Closed: v.capacity * (1 + 0.05*v.r.NormFloat64()), Ease: math.Exp(v.r.NormFloat64()) / (8 * v.idle)})
	for rate, ok := s.Next(); ok; rate, ok = s.Next() {
		kept, disturbed := v.probe(rate)
		s.Add(rate, kept, disturbed)
	}
	return s.Answer(), math.Sqrt(before * v.boundary())
}

// The interval contains the answer in 95 of 100 searches, the answer is near it,
// and the number of probes is bounded, also where probes are noisy, some are
// spoiled, and the server slows down.
func TestSimulation(t *testing.T) {
	const n = 100
	for _, c := range []struct {
		name string
		server
		width, probes float64 // at most: the median interval, as a share, and the mean number of probes
	}{
		{"no noise", server{idle: 0.1}, 0.055, 17.5},
		{"noise 10 %", server{idle: 0.1, noise: 0.1}, 0.09, 19},
		{"noise 30 %", server{idle: 0.1, noise: 0.3}, 0.16, 20.5},
		{"flat, noise 10 %", server{idle: 0.4, noise: 0.1}, 0.25, 20.5},
		{"far below the closed loop", server{idle: 0.9, noise: 0.03}, 0.6, 20.5},
		{"stalls", server{idle: 0.1, noise: 0.1, stalls: 0.1}, 0.2, 20.5},
		{"disturbed", server{idle: 0.1, noise: 0.2, disturbed: 0.25, noticed: 0.8}, 0.3, 25},
		{"drift", server{idle: 0.1, noise: 0.2, drift: -0.003}, 0.2, 20.5},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.capacity = 1e4
			inside, probes, wide := 0, 0, 0
			for seed := range uint64(n) {
				a, truth := simulate(c.server, 0.05, seed)
				probes += a.Probes
				if a.Low <= truth && truth <= a.High {
					inside++
				}
				if a.High > a.Low*(1+c.width) {
					wide++
				}
				expect.Must(t, a.Probes <= ratesearch.Most,
					a.Probes, "probes, at most", ratesearch.Most, "were announced")
				expect.True(t, a.Kept >= truth/2 && a.Kept <= truth*1.5, "seed: of", seed, a, truth)
			}
			t.Logf("inside %.1f %%, probes %.1f, wide %d", 100*float64(inside)/n, float64(probes)/n, wide)
			lowest := 95
			if c.idle > 0.5 { // the answer is below half of the closed loop's rate, where nobody expects it
				lowest = 85
			}
			expect.True(t, inside >= n*lowest/100 && wide <= n/2 && float64(probes)/n <= c.probes,
				"inside the interval of, wider than, probes", inside, n, c.width, wide, float64(probes)/n)
		})
	}
}
