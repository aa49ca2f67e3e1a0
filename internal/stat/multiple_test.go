package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// References by statsmodels.
func TestMultiple(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name          string
		p, holm, hoch []float64
	}{
		{"six", []float64{0.01, 0.04, 0.03, 0.005, 0.5, 0.03}, []float64{0.05, 0.12, 0.12, 0.03, 0.5, 0.12}, []float64{0.03, 0.048, 0.045, 0.03, 0.5, 0.045}},
		{"one not made", []float64{nan, 0.01, 0.04}, []float64{nan, 0.02, 0.04}, []float64{nan, 0.02, 0.04}},
		{"none made", []float64{nan, nan}, []float64{nan, nan}, []float64{nan, nan}},
		{"great", []float64{0.9, 0.8}, []float64{1, 1}, []float64{0.9, 0.9}},
		{"one", []float64{0.03}, []float64{0.03}, []float64{0.03}},
		{"none", nil, nil, nil},
	} {
		for k, got := range [][]float64{Holm(c.p), BenjaminiHochberg(c.p)} {
			want := [][]float64{c.holm, c.hoch}[k]
			expect.Must(t, len(got) == len(want), c.name, got, "want", want)
			for i := range got {
				expect.True(t, near(got[i], want[i]), c.name, got, want)
			}
		}
	}
}

func TestMultipleIsOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 30).Draw(t, "p")
		holm, hoch := Holm(p), BenjaminiHochberg(p)
		for i := range p {
			bonferroni := min(1, p[i]*float64(len(p)))
			expect.True(t, p[i] <= hoch[i]*(1+1e-12) && hoch[i] <= holm[i]*(1+1e-12) && holm[i] <= bonferroni*(1+1e-12),
				"p, Benjamini–Hochberg, Holm, Bonferroni", p[i], hoch[i], holm[i], bonferroni)
			for j := range p {
				expect.True(t, p[i] >= p[j] || holm[i] <= holm[j] && hoch[i] <= hoch[j], "order of and", p[i], p[j])
			}
		}
	})
}
