package published

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRatioOf(t *testing.T) {
	for _, c := range []struct {
		ratio float64
		want  Colour
	}{
		{1, None}, {1.05, None}, {0.95, None},
		{1.0549, None}, {1.0551, Blue}, {0.9449, Yellow}, {0.9451, None},
		{1.055, Blue},   // a tie, and 106 is even
		{0.945, Yellow}, // a tie, and 94 is even
		{1.06, Blue}, {0.94, Yellow},
		{math.NaN(), None}, {math.Inf(1), None}, {0, Yellow},
	} {
		if got := RatioOf(c.ratio, 1); got != c.want {
			t.Errorf("%g: %q, want %q", c.ratio, got, c.want)
		}
	}
	if got := RatioOf(5, 0); got != None {
		t.Errorf("of nothing: %q", got)
	}
	if got := RatioOf(836, 800); got != None { // 104.5 exactly: the even one is 104
		t.Errorf("836 of 800: %q", got)
	}
	if got := RatioOf(764, 800); got != None { // 95.5 exactly: the even one is 96
		t.Errorf("764 of 800: %q", got)
	}
}

func rates(values ...float64) []Rate {
	out := make([]Rate, len(values))
	for i, v := range values {
		out[i] = Rate{Value: v}
	}
	return out
}

func TestRates(t *testing.T) {
	missed := func(r []Rate, which ...int) []Rate {
		for _, i := range which {
			r[i].Missed = true
		}
		return r
	}
	for _, c := range []struct {
		name   string
		column []Rate
		want   []Colour
	}{
		{"quarters", rates(100, 125, 126, 174, 175, 200), []Colour{Red, Red, None, None, Green, Green}},
		{"two", rates(100, 200), []Colour{Red, Green}},
		{"two, near each other", rates(81, 100), []Colour{None, Green}},
		{"one", rates(100), []Colour{Green}},
		{"the quarter is rounded down", rates(100, 101, 107), []Colour{None, None, Green}},
		{"least just below 80 %", rates(799, 900, 1000), []Colour{Red, None, Green}},
		{"least at 80 %", rates(800, 900, 1000), []Colour{None, None, Green}},
		{"missed in the middle", missed(rates(100, 150, 200), 1), []Colour{Red, Grey, Green}},
		{"missed and slow stays red", missed(rates(100, 150, 200), 0), []Colour{Red, None, Green}},
		{"missed is no maximum", missed(rates(100, 150, 1000), 2), []Colour{Red, Green, Grey}},
		{"missed sets the minimum", missed(rates(10, 190, 200), 0), []Colour{Red, Green, Green}},
		{"all missed", missed(rates(100, 200), 0, 1), []Colour{Grey, Grey}},
		{"unknown", rates(math.NaN(), 100, 200), []Colour{None, Red, Green}},
		{"all unknown", rates(math.NaN()), []Colour{None}},
		{"rounded before the test", rates(100.4, 125.4, 200.4), []Colour{Red, Red, Green}},
		{"nothing is red even then", rates(0, 0), []Colour{Red, Red}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Rates(c.column); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// On a published page of April 2023 all queries were grey, although 1976 of
// 2000, 9885 of 10,000 and 19,769 of 20,000 inserts were done: it did not know
// that, and took unknown for missed.
func TestUnknownIsNotMissed(t *testing.T) {
	for _, c := range []struct{ value, promised float64 }{{1976, 2000}, {9885, 10000}, {19769, 20000}, {math.NaN(), 2000}, {1976, math.NaN()}} {
		if got := Promise(c.value, c.promised); got != None {
			t.Errorf("%g of %g: %q", c.value, c.promised, got)
		}
	}
	if got := Rates([]Rate{{Value: 100}, {Value: 200}}); slices.Contains(got, Grey) {
		t.Errorf("%q, though nothing is known of promises", got)
	}
}

func TestPromise(t *testing.T) {
	for _, c := range []struct {
		value, promised float64
		want            Colour
	}{
		{1900, 2000, None}, {1899, 2000, Red}, {1899.6, 2000, None}, {1899.4, 2000, Red},
		{95, 100, None}, {94, 100, Red}, {0, 100, Red}, {3, 3, None},
		{9, 10, Red}, // 9.5, and 10 is even
	} {
		if got := Promise(c.value, c.promised); got != c.want {
			t.Errorf("%g of %g: %q, want %q", c.value, c.promised, got, c.want)
		}
	}
}

// Every colour that means something has a sign of its own.
func TestSigns(t *testing.T) {
	seen := map[string]Colour{}
	for _, c := range []Colour{Red, Green, Grey, Yellow, Blue} {
		if other, ok := seen[c.Sign()]; ok || c.Sign() == "" {
			t.Errorf("%q has the sign %q as %q", c, c.Sign(), other)
		}
		seen[c.Sign()] = c
	}
	if None.Sign() != "" {
		t.Error("no colour, but a sign")
	}
}

// The order of rows has no say in their colours.
func TestColoursFollowTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		column := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Rate {
			return Rate{rapid.Float64Range(0, 1000).Draw(t, "v"), rapid.Bool().Draw(t, "missed")}
		}), 1, 8).Draw(t, "column")
		colours := Rates(column)
		order := rapid.Permutation(indices(len(column))).Draw(t, "order")
		mixed := make([]Rate, len(column))
		for to, from := range order {
			mixed[to] = column[from]
		}
		for to, c := range Rates(mixed) {
			if c != colours[order[to]] {
				t.Fatalf("row %d was %q, now %q", order[to], colours[order[to]], c)
			}
		}
	})
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}
