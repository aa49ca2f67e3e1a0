package quantity_test

import (
	"testing"

	"rumbench/internal/quantity"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{quantity.Times(12.34), "12.3×"}, {quantity.Share(0.0512), "5.12 %"}, {quantity.Share(1), "100 %"}, {quantity.Full(1234567.8), "1234567.8"},
		{quantity.RoughShare(0.0512), "5.1 %"}, {quantity.RoughShare(1), "100 %"}, {quantity.RoughShare(12), "1,200 %"},
		{quantity.Tick(61200), "61.2k"}, {quantity.Tick(60000), "60k"}, {quantity.Tick(8000), "8,000"}, {quantity.Tick(3e6), "3M"}, {quantity.Round(0.25), "0.25"},
		{quantity.Plural("insert row"), "rows"}, {quantity.Plural("query"), "queries"},
		{quantity.Joined(nil), ""}, {quantity.Joined([]string{"a"}), "a"}, {quantity.Joined([]string{"a", "b", "c"}), "a, b and c"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
