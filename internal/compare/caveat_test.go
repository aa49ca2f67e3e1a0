package compare_test

import (
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
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
		_, _, err := c.Comparable(c.Targets[0], c.Targets[1])
		expect.True(t, err != nil && hint.Of(err) != "", across, err)
	}
	c.Across = compare.Across{Work: true, Durability: true}
	levels, caveats, err := c.Comparable(c.Targets[0], c.Targets[1])
	expect.True(t, err == nil && levels == "none and os" && len(caveats) == 1 &&
		strings.Contains(caveats[0], "rows 1000 and 2000"), levels, caveats, err)
}

func TestCaveats(t *testing.T) {
	all := append(series("a", "sequential", "rows_per_s", 1, 2, 3), series("b", "sequential", "rows_per_s", 1, 2, 3)...)
	all[5].Status, all[5].Reason = result.Failed, "it crashed"
	c := compare.New(all)
	got := c.Caveats(c.Judge(c.Targets[0], c.Targets[1]))
	expect.True(t, len(got) >= 2 && strings.HasPrefix(got[0], "the two did not run side by side") &&
		slices.Contains(got, "b, trial 3: failed: it crashed"), got)
}

// Two programs with an engine differ in the layout of their code, too, unless each target had several.
func TestOneBuild(t *testing.T) {
	for _, c := range []struct {
		a, b   []string // checksums of the programs, one for each trial
		hosted result.Hosting
		want   bool
	}{
		{[]string{"x", "x"}, []string{"y", "y"}, result.Embedded, true},
		{[]string{"x", "x"}, []string{"x", "x"}, result.Embedded, false},
		{[]string{"x", "z"}, []string{"y", "v"}, result.Embedded, false},
		{[]string{"x", "x"}, []string{"y", "y"}, result.Server, false},
	} {
		var all []*result.Trial
		for target, sums := range map[string][]string{"a": c.a, "b": c.b} {
			for i, trial := range series(target, "sequential", "rows_per_s", 1, 2) {
				trial.Hosting, trial.Build = c.hosted, &program.Build{SHA256: sums[i]}
				all = append(all, trial)
			}
		}
		m := compare.New(all)
		got := strings.Join(m.Caveats(m.Judge(m.Target("a"), m.Target("b"))), "; ")
		expect.Equal(t, strings.Contains(got, "one build each"), c.want, c.a, c.b, got)
	}
}
