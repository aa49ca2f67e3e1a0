package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
)

// Student's sleep data, as R prints them, and Darwin's maize of Fisher's "Design
// of experiments".
var (
	sleepA = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleepB = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	sleep  = []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}
	darwin = []float64{49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}
)

func TestPairedT(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name string
		d    []float64
		p    float64
		want Interval
	}{
		{"sleep", sleep, 0.002832890197384, Interval{1.58, 0.7001142367230174, 2.4598857632769824, 0.95}},
		{"Darwin", darwin, 0.049702944021801, Interval{20.933333333333334, 0.031193318392979563, 41.83547334827369, 0.95}},
		{"three", []float64{1, 2, 3}, 0.07417990022744854, Interval{2, -0.48413771175033, 4.48413771175033, 0.95}},
		{"none", nil, nan, Interval{nan, nan, nan, 0.95}},
		{"one", []float64{3}, nan, Interval{3, -inf, inf, 1}},
		{"zeros", []float64{0, 0, 0}, 1, Interval{0, 0, 0, 0.95}},
		{"no noise", []float64{0.1, 0.1, 0.1}, 0, Interval{0.1, 0.1, 0.1, 0.95}},
		{"huge", []float64{1e200, 2e200, 3e200}, 0.07417990022744854, Interval{2e200, -0.48413771175033e200, 4.48413771175033e200, 0.95}},
		{"tiny", []float64{1e-200, 2e-200, 3e-200}, 0.07417990022744854, Interval{2e-200, -0.48413771175033e-200, 4.48413771175033e-200, 0.95}},
	} {
		if p, i := PairedT(c.d, 0.95); !near(p, c.p) || !nearInterval(i, c.want) {
			t.Errorf("%s: p %v, %v; want %v, %v", c.name, p, i, c.p, c.want)
		}
	}
}

// References by scipy's ttest_ind; the first is in R's help too.
func TestWelch(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name       string
		a, b       []float64
		confidence float64
		p          float64
		want       Interval
	}{
		{"sleep", sleepA, sleepB, 0.95, 0.0793941401873583, Interval{1.58, -0.20548323071171137, 3.3654832307117104, 0.95}},
		{"unlike", []float64{10.1, 10.4, 9.8}, []float64{11, 12.5, 10.9, 13.7, 10.2, 11.1}, 0.99, 0.03808979867375989, Interval{1.466666666666665, -0.5876209959057883, 3.5209543292391183, 0.99}},
		{"one without noise", []float64{1, 1}, []float64{2, 4}, 0.95, 0.295167235300867, Interval{2, -10.7062047361747, 14.7062047361747, 0.95}},
		{"no noise", []float64{1, 1}, []float64{2, 2, 2}, 0.95, 0, Interval{1, 1, 1, 0.95}},
		{"the same", []float64{1, 1}, []float64{1, 1}, 0.95, 1, Interval{0, 0, 0, 0.95}},
		{"one value", []float64{1}, []float64{2, 3}, 0.95, nan, Interval{1.5, -inf, inf, 1}},
		{"no value", nil, []float64{2, 3}, 0.95, nan, Interval{nan, nan, nan, 0.95}},
	} {
		if p, i := Welch(c.a, c.b, c.confidence); !near(p, c.p) || !nearInterval(i, c.want) {
			t.Errorf("%s: p %v, %v; want %v, %v", c.name, p, i, c.p, c.want)
		}
	}
}

func TestTTestsFollowTheValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := eighths(t, "a", 2, 9), eighths(t, "b", 2, 9)
		p, i := Welch(a, b, 0.95)
		if back, j := Welch(b, a, 0.95); !near(p, back) || !nearInterval(i, Interval{-j.Value, -j.High, -j.Low, 0.95}) {
			t.Fatalf("exchanged: %v %v, %v %v", p, i, back, j)
		}
		scale := func(v float64) float64 { return 4 * v }
		if q, j := Welch(mapped(a, scale), mapped(b, scale), 0.95); q != p || j != (Interval{4 * i.Value, 4 * i.Low, 4 * i.High, 0.95}) {
			t.Fatalf("scaled: %v %v, %v %v", p, i, q, j)
		}
		_, i = PairedT(a, 0.95)
		_, j := PairedT(mapped(a, func(v float64) float64 { return v + 3 }), 0.95)
		expect.Must(t, math.Abs(j.Value-i.Value-3) <= 1e-9 && math.Abs(j.Low-i.Low-3) <= 1e-9 && math.Abs(j.High-i.High-3) <= 1e-9, i, j)
		_, wide := PairedT(a, 0.99)
		expect.True(t, wide.Low <= i.Low && i.Low <= i.Value && i.Value <= i.High && i.High <= wide.High,
			"bounds: in", i, wide)
	})
}

func TestTCoverage(t *testing.T) {
	for _, n := range []int{3, 10} {
		paired := coverage(4000, func(r *rand.Rand) bool {
			_, i := PairedT(normals(r, n), 0.95)
			return i.Low <= 0 && 0 <= i.High
		})
		welch := coverage(4000, func(r *rand.Rand) bool {
			wide := mapped(normals(r, n), func(v float64) float64 { return 3*v + 1 })
			_, i := Welch(normals(r, n+2), wide, 0.95)
			return i.Low <= 1 && 1 <= i.High
		})
		for _, got := range []float64{paired, welch} {
			expect.True(t, got >= 0.925 && got <= 0.98, "values: and", n, paired, welch)
		}
	}
}
