package compare_test

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// Targets that differ are refused with a hint, or the difference is shown above
// the numbers.
func TestComparable(t *testing.T) {
	all := append(series("a", "sequential", "rows_per_s", 1, 2, 3), series("b", "sequential", "rows_per_s", 1, 2, 3)...)
	for i, trial := range all {
		trial.Params = map[string]any{"rows": 1000.0 * float64(1+i/3)}
		trial.Durability = []string{"none", "os"}[i/3]
	}
	c := compare.New(all)
	for _, across := range []compare.Across{{}, {Work: true}, {Durability: true}} {
		c.Across = across
		if _, _, err := c.Comparable(c.Targets[0], c.Targets[1]); err == nil || hint.Of(err) == "" {
			t.Errorf("%+v: %v", across, err)
		}
	}
	c.Across = compare.Across{Work: true, Durability: true}
	levels, caveats, err := c.Comparable(c.Targets[0], c.Targets[1])
	if err != nil || levels != "none and os" || len(caveats) != 1 || !strings.Contains(caveats[0], "rows 1000 and 2000") {
		t.Errorf("%q, %q, %v", levels, caveats, err)
	}
}

func TestCaveats(t *testing.T) {
	all := append(series("a", "sequential", "rows_per_s", 1, 2, 3), series("b", "sequential", "rows_per_s", 1, 2, 3)...)
	all[5].Status, all[5].Reason = result.Failed, "it crashed"
	c := compare.New(all)
	got := c.Caveats(c.Judge(c.Targets[0], c.Targets[1]))
	if len(got) < 2 || !strings.HasPrefix(got[0], "the two did not run side by side") || !slices.Contains(got, "b, trial 3: failed: it crashed") {
		t.Errorf("%q", got)
	}
}
