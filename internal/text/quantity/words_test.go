package quantity_test

import (
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/quantity"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{quantity.Times(12.34), "12.3×"}, {quantity.Share(0.0512), "5.12 %"}, {quantity.Share(1), "100 %"}, {quantity.Full(1234567.8), "1234567.8"},
		{quantity.RoughShare(0.0512), "5.1 %"}, {quantity.RoughShare(1), "100 %"}, {quantity.RoughShare(12), "1,200 %"}, {quantity.RoughShare(-1.25), "-125 %"},
		{quantity.Tick(61200), "61.2k"}, {quantity.Tick(60000), "60k"}, {quantity.Tick(8000), "8,000"}, {quantity.Tick(3e6), "3M"}, {quantity.Round(0.25), "0.25"},
		{quantity.Plural("insert row"), "rows"}, {quantity.Plural("query"), "queries"},
		{quantity.Joined(nil), ""}, {quantity.Joined([]string{"a"}), "a"}, {quantity.Joined([]string{"a", "b", "c"}), "a, b and c"},
	} {
		expect.Equal(t, c.got, c.want)
	}
}

func TestFour(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 5: "5", 123456789: "123,456,789", 1234.5: "1,234", 0.000123456: "0.0001235", 12.3456: "12.35", -3.5: "-3.5", 999.96: "1000", -1234567: "-1,234,567"} {
		expect.Equal(t, quantity.Four(v), want, v)
	}
}
