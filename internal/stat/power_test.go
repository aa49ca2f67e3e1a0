package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

func TestDetectable(t *testing.T) {
	for _, c := range []struct {
		name         string
		sd           float64
		n            int
		alpha, power float64
		want         float64
	}{
		// By statsmodels' TTestPower; the last two by integration over χ² in scipy,
		// where gonum's noncentral t alone is far off.
		{"three", 1, 3, 0.05, 0.8, 3.2640435528196},
		{"five", 2, 5, 0.05, 0.8, 2 * 1.6819970833233},
		{"ten", 1, 10, 0.05, 0.9, 1.1545650520269},
		{"thirty", 1, 30, 0.01, 0.8, 0.6622069388851},
		{"two hundred", 1, 200, 0.05, 0.95, 0.2561392391599},
		{"three of a family", 1, 3, 0.05 / 30, 0.8, 17.939402336664},
		{"two at 0.01", 1, 2, 0.01, 0.8, 57.692461700771},
		{"two of a family", 1, 2, 0.05 / 30, 0.8, 346.14093073890},
		{"no noise", 0, 3, 0.05, 0.8, 0},
		{"one", 1, 1, 0.05, 0.8, math.NaN()},
		{"certainty", 1, 5, 0.05, 1, math.NaN()},
		{"no error", 1, 5, 0, 0.8, math.NaN()},
		{"unknown", math.NaN(), 5, 0.05, 0.8, math.NaN()},
		{"millions", 1, 1 << 28, 0.05, 0.8, 2.8015820 / (1 << 14)},
	} {
		got := Detectable(c.sd, c.n, float64(c.n-1), c.alpha, c.power)
		expect.True(t, math.Abs(got-c.want) <= 1e-5*c.want || near(got, c.want), c.name, got, c.want)
	}
}

func TestTrials(t *testing.T) {
	const limit = 100
	noise := Noise{Pairs: 1, Apart: 1}
	for _, c := range []struct {
		name   string
		noise  Noise
		effect float64
		want   int
	}{
		{"as great as the noise", noise, 1, 11}, {"to the other side", noise, -1, 11},
		{"ten times the noise", noise, 10, 3}, {"no noise", Noise{}, 0.01, 3},
		{"pairs that have little in common", Noise{Pairs: 1.2, Apart: 1}, 1, 11},
		{"pairs that have much in common", Noise{Pairs: 0.1, Apart: 1}, 0.2, 5},
		{"only pairs are tested, at no price", Noise{Pairs: 1, Apart: 0.1, PairsAlone: true}, 1, 10},
		{"no pairs", Noise{Pairs: math.NaN(), Apart: 1}, 1, 10},
		{"tiny", noise, 0.001, 0}, {"no effect", noise, 0, 0}, {"unknown", Noise{Pairs: math.NaN(), Apart: math.NaN()}, 1, 0},
	} {
		expect.Equal(t, c.noise.Trials(c.effect, 0.05, 0.8, limit), c.want, c.name)
	}
}

func TestPowerIsItsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(0.001, 10).Draw(t, "sd")
		noise := Noise{Pairs: sd, Apart: sd * rapid.Float64Range(0.5, 3).Draw(t, "apart")}
		effect := sd * rapid.Float64Range(0.1, 5).Draw(t, "effect")
		alpha := rapid.SampledFrom([]float64{0.05, 0.01, 0.05 / 30}).Draw(t, "alpha")
		power := rapid.SampledFrom([]float64{0.5, 0.8, 0.95}).Draw(t, "power")
		n := noise.Trials(effect, alpha, power, 1<<20)
		expect.Must(t, n >= 3 && noise.Detectable(n, alpha, power) <= effect && (n <= 3 || n == 7 || noise.Detectable(n-1, alpha, power) > effect), n)
	})
}

func TestPowerIsReached(t *testing.T) {
	for _, n := range []int{3, 5, 12} {
		effect := Detectable(1, n, float64(n-1), 0.05, 0.8)
		found := coverage(4000, func(r *rand.Rand) bool {
			p, _ := PairedT(mapped(normals(r, n), func(v float64) float64 { return v + effect }), 0.95)
			return p < 0.05
		})
		expect.True(t, math.Abs(found-0.8) <= 0.025, "pairs", n, found)
	}
}
