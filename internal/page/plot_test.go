package page

import (
	"math"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/quantity"
)

func TestTicks(t *testing.T) {
	text := func(list []float64, format func(float64) string) string {
		var out []string
		for _, v := range list {
			out = append(out, format(v))
		}
		return strings.Join(out, " ")
	}
	var bytes string
	binary := Scale{Binary: true, Format: func(v float64) string { return quantity.BytesAs(v, quantity.Round) }}
	for _, tick := range binary.Axis([]float64{51 << 20}).Ticks {
		bytes = strings.TrimSpace(bytes + " " + tick.Text)
	}
	for _, c := range []struct{ got, want string }{
		{text(ticks(0, 0.4), quantity.Tick), "0 0.1 0.2 0.3 0.4"},
		{text(ticks(0, 61200), quantity.Tick), "0 20k 40k 60k"},
		{text(ticks(0, 3.1e6), quantity.Tick), "0 1M 2M 3M"},
		{text(ticks(0, 8000), quantity.Tick), "0 2,000 4,000 6,000 8,000"},
		{text(ticks(0, 5e-324), quantity.Tick), "0"},
		{text(ticks(0, math.Inf(1)), quantity.Tick), "0"},
		{text(logTicks(0.9, 40), quantity.Tick), "1 2 5 10 20"},
		{text(logTicks(0.02, 900), quantity.Tick), "0.1 1 10 100"},
		{text(logTicks(3, 3), quantity.Tick), "2 5"},
		{bytes, "0 B 10 MiB 20 MiB 30 MiB 40 MiB 50 MiB"},
	} {
		expect.Equal(t, c.got, c.want)
	}
}

// An axis begins at 0, near a value, or is logarithmic.
func TestScale(t *testing.T) {
	lines := func(values ...float64) []float64 {
		l := Line{}
		for i, v := range values {
			l.Points = append(l.Points, Point{X: float64(i), Y: v, Low: math.NaN(), High: math.NaN()})
		}
		return Reach([]Line{l})
	}
	nan := math.NaN()
	for name, c := range map[string]struct {
		scale      Scale
		list       []float64
		start, end float64
		log        bool
	}{
		"linear":        {Scale{}, lines(1, nan, 50), 0, 54, false},
		"nothing":       {Scale{}, lines(nan, 0), 0, 1.08, false},
		"near together": {Scale{Spread: 3}, lines(10, 20), 0, 21.6, false},
		"apart":         {Scale{Spread: 3}, lines(0, 10, 100), 1 - room, 2 + room, true},
		"a ratio":       {Scale{Spread: 3, Near: 1}, lines(1.5, 2), 0.92, 2.08, false},
		"ratios of 0":   {Scale{Spread: 3, Near: 1}, lines(0, 10), 0, 10.8, false},
		"always":        {Scale{Spread: 1}, lines(3, 3), math.Log10(2), math.Log10(5), true},
	} {
		c.scale.Format = quantity.Tick
		if a := c.scale.Axis(c.list); a.Log != c.log || math.Abs(a.From-c.start) > 1e-9 || math.Abs(a.To-c.end) > 1e-9 || len(a.Ticks) < 2 {
			t.Errorf("%s: %+v", name, a)
		}
	}
	expect.List(t, lines(1, nan, 0), []float64{1, 0})
}

// Of a thinned line with a gap, means are of what is known, and peaks are kept.
func TestThinned(t *testing.T) {
	l := Values{1, 3, math.NaN(), 5, math.NaN(), math.NaN(), 7}
	for _, c := range []struct {
		peaks bool
		want  string
	}{{false, "[2,5,null,7]"}, {true, "[3,5,null,7]"}} {
		got, _ := l.thinned(2, c.peaks).MarshalJSON()
		expect.True(t, string(got) == c.want, got, c.want)
	}
}
