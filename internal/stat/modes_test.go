package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"rumbench/internal/expect"
)

// One group is rarely taken for two, whatever the distribution, and two that are apart are found.
func TestModes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const runs = 3000
	for name, draw := range map[string]func() float64{
		"normal": r.NormFloat64, "uniform": r.Float64, "exponential": r.ExpFloat64,
		"heavy tails": func() float64 { return r.NormFloat64() / math.Abs(r.NormFloat64()+0.3) },
	} {
		for _, n := range []int{8, 9, 10, 12, 20} {
			found := 0
			for range runs {
				x := make([]float64, n)
				for i := range x {
					x[i] = draw()
				}
				if !math.IsNaN(Modes(x)) {
					found++
				}
			}
			expect.True(t, found <= runs*2/100, "of samples of values, have two modes", found, runs, n, name)
		}
	}
	x := []float64{1.31, 1, 1.01, 1.3, 0.99, 1.02, 1.33, 1.3}
	expect.Equal(t, Modes(x), 1.3, "begins at", x)
	got := Modes(x[:7])
	expect.True(t, math.IsNaN(got), "seven values", got)
}
