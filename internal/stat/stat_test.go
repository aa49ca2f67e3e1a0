package stat_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/stat"
)

// A hand-made series: 100 intervals with rates 1…100 in any order.
func TestReached(t *testing.T) {
	var rates []float64
	for i := range 100 {
		rates = append(rates, float64((i*37)%100+1))
	}
	for _, c := range []struct{ p, want float64 }{{50, 51}, {75, 26}, {90, 11}, {95, 6}, {99, 2}} {
		if got, ok := stat.Reached(rates, c.p); !ok || got != c.want {
			t.Errorf("p%v is %v, want %v", c.p, got, c.want)
		}
	}
	if _, ok := stat.Reached(rates[:9], 50); ok {
		t.Error("nine intervals are too few")
	}
}

func TestReachedIsReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rates := rapid.SliceOfN(rapid.Float64Range(0, 1e6), 10, 300).Draw(t, "rates")
		p := rapid.Float64Range(1, 100).Draw(t, "p")
		got, _ := stat.Reached(rates, p)
		n := 0
		for _, r := range rates {
			if r >= got {
				n++
			}
		}
		expect.True(t, float64(n) >= math.Round(p/100*float64(len(rates))),
			"is reached by of intervals only", got, n, len(rates))
	})
}

func TestMedian(t *testing.T) {
	expect.Equal(t, stat.Median([]float64{3, 1, 2}), 2)
	expect.Equal(t, stat.Median([]float64{4, 1, 2, 3}), 2.5)
	expect.True(t, math.IsNaN(stat.Median(nil)), "a median of nothing")
}

func TestStalls(t *testing.T) {
	for _, c := range []struct {
		name  string
		rates []float64
		want  []stat.Run
	}{
		{"none", []float64{100, 90, 110, 10, 100}, nil},
		{"three seconds", []float64{100, 100, 0, 0, 0, 100, 100}, []stat.Run{{2, 5}}},
		{"under ten percent", []float64{100, 9.9, 100, 100, 9, 100}, []stat.Run{{1, 2}, {4, 5}}},
		{"at the ends", []float64{0, 100, 100, 100, 0}, []stat.Run{{0, 1}, {4, 5}}},
		{"always", []float64{0, 0}, []stat.Run{{0, 2}}},
		{"nothing", nil, nil},
	} {
		expect.List(t, stat.Stalls(c.rates), c.want, c.name)
	}
}
