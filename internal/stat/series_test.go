package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
)

// autoregressive is a series of which each value takes over rho of the one
// before; its values have a variance of 1.
func autoregressive(r *rand.Rand, rho float64, n int) []float64 {
	x := make([]float64, n)
	v := r.NormFloat64()
	for i := range x {
		v = rho*v + math.Sqrt(1-rho*rho)*r.NormFloat64()
		x[i] = v
	}
	return x
}

// trueVariance is that of the mean of such a series.
func trueVariance(rho float64, n int) (sum float64) {
	for lag := 1 - n; lag < n; lag++ {
		apart := math.Abs(float64(lag))
		sum += (1 - apart/float64(n)) * math.Pow(rho, apart)
	}
	return sum / float64(n)
}

func TestAutocorrelatedSE(t *testing.T) {
	alternating := make([]float64, 100)
	drifting := make([]float64, 100)
	for i := range 100 {
		alternating[i], drifting[i] = float64(i%2), float64(i)
	}
	for _, c := range []struct {
		name          string
		x             []float64
		se, effective float64
	}{
		{"none", nil, math.NaN(), 0},
		{"one", []float64{3}, math.NaN(), 1},
		{"constant", []float64{3, 3, 3}, 0, 3},
		{"alternating", alternating, math.Sqrt(0.25*100/99) / 10, 100},
		{"drifting", drifting, math.Sqrt(100 * 101 / 12.), 1},
		{"huge", []float64{-1e300, 1e300, -1e300, 1e300}, math.Sqrt(4./3) * 1e300 / 2, 4},
	} {
		if se, n := AutocorrelatedSE(c.x); !near(se, c.se) || !near(n, c.effective) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, se, n, c.se, c.effective)
		}
	}
}

func TestAutocorrelatedSEIsTheTruth(t *testing.T) {
	for _, rho := range []float64{0, 0.5, 0.8, 0.95} {
		for _, n := range []int{60, 200, 1000, 10000} {
			if float64(n) < 10*(1+rho)/(1-rho) {
				continue // too short, as documented
			}
			samples, mean := max(40, 60000/n), 0.0
			for seed := range samples {
				se, _ := AutocorrelatedSE(autoregressive(rand.New(rand.NewPCG(uint64(seed), 3)), rho, n))
				mean += se * se / float64(samples)
			}
			ratio := mean / trueVariance(rho, n)
			expect.True(t, ratio >= 0.85 && ratio <= 1.45, "rho, values: of the true variance", rho, n, ratio)
		}
	}
}
