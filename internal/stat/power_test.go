package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
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
		got := Detectable(c.sd, c.n, c.alpha, c.power)
		if !(math.Abs(got-c.want) <= 1e-5*c.want) && !near(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestTrialsNeeded(t *testing.T) {
	for _, c := range []struct {
		name       string
		sd, effect float64
		want       int
	}{
		{"as great as the noise", 1, 1, 10}, {"half the noise", 1, 0.5, 34}, {"ten times the noise", 1, 10, 3},
		{"to the other side", 1, -0.5, 34}, {"no noise", 0, 0.01, 3}, {"tiny", 1, 0.001, 7848863},
		{"no effect", 1, 0, 0}, {"out of reach", 1, 1e-9, 0}, {"unknown", math.NaN(), 1, 0},
	} {
		if got := TrialsNeeded(c.sd, c.effect, 0.05, 0.8); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func TestPowerIsItsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sd := rapid.Float64Range(0.001, 10).Draw(t, "sd")
		effect := sd * rapid.Float64Range(0.1, 5).Draw(t, "effect")
		alpha := rapid.SampledFrom([]float64{0.05, 0.01, 0.05 / 30}).Draw(t, "alpha")
		power := rapid.SampledFrom([]float64{0.5, 0.8, 0.95}).Draw(t, "power")
		n := TrialsNeeded(sd, effect, alpha, power)
		if n < 3 || Detectable(sd, n, alpha, power) > effect || n > 3 && Detectable(sd, n-1, alpha, power) <= effect {
			t.Fatalf("%d trials", n)
		}
	})
}

func TestPowerIsReached(t *testing.T) {
	for _, n := range []int{3, 5, 12} {
		effect := Detectable(1, n, 0.05, 0.8)
		found := coverage(4000, func(r *rand.Rand) bool {
			p, _ := PairedT(mapped(normals(r, n), func(v float64) float64 { return v + effect }), 0.95)
			return p < 0.05
		})
		if math.Abs(found-0.8) > 0.025 {
			t.Errorf("%d pairs: %.3f", n, found)
		}
	}
}
