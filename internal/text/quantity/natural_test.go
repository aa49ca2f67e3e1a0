package quantity_test

import (
	"slices"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/text/quantity"
)

func TestNatural(t *testing.T) {
	want := []string{"", "9.6/bin", "15", "15/bin", "a2", "a010", "a10b", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, quantity.Natural)
	expect.List(t, got, want)
}
