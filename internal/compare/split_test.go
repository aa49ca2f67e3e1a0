package compare_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// The CPU time of server and client together compares any two engines. That of
// the server alone compares two of a kind only: of an embedded engine it holds
// the clients.
func TestCPUIsSplitOnlyWithinAKind(t *testing.T) {
	for _, c := range []struct {
		name          string
		base, hosting result.Hosting
		alike         bool
	}{
		{"two embedded engines", result.Embedded, result.Embedded, true},
		{"two servers", result.Server, result.Server, true},
		{"an embedded engine and a server", result.Embedded, result.Server, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trials []*result.Trial
			for i, v := range []float64{100, 101, 99} {
				a := made("a", i+1, "interleaved", numbers{"cpu_us": v, "server_cpu_us": v}, "s")
				b := made("b", i+1, "interleaved", numbers{"cpu_us": 2 * v, "server_cpu_us": v / 2}, "s")
				a.Hosting, b.Hosting = c.base, c.hosting
				trials = append(trials, a, b)
			}
			camp := compare.New(trials)
			s := camp.Steps[0]
			if k, ok := s.Own("cpu_us"); !ok || k.Metric != "cpu_us" || !slices.Contains(s.Headline(), k) {
				t.Fatalf("the CPU time to compare is %v", k)
			}
			j := camp.Judge(camp.Targets[0], camp.Targets[1])
			if e := j.Effect(s, compare.Key{Group: "", Op: "", Metric: "cpu_us", Per: "insert row"}); e.Verdict != compare.Worse || math.Abs(e.Ratio-2) > 1e-9 {
				t.Errorf("together: %q (%s), ratio %v", e.Verdict, e.Why, e.Ratio)
			}
			e := j.Effect(s, compare.Key{Group: "", Op: "", Metric: "server_cpu_us", Per: "insert row"})
			expect.True(t, (e.Verdict == compare.Better) == c.alike && math.IsNaN(e.Ratio) != c.alike && strings.Contains(e.Why, "compare cpu_us") != c.alike, e.Verdict, e.Why, e.Ratio)
			cell := camp.Relative(compare.RelativeOptions{Metric: "server_cpu_us"}).Groups[0].Rows[0].Cells[1]
			expect.True(t, math.IsNaN(cell.Ratio) != c.alike &&
				strings.Contains(cell.Why, "compare cpu_us") != c.alike, "in a table of ratios", cell.Ratio, cell.Why)
		})
	}
}

// Space is compared where the same is counted of both: all that the rows take, or
// the same part of it.
func TestSpaceOfOneDefinition(t *testing.T) {
	const reported = "the engine's own counters, exact"
	for _, c := range []struct {
		name, base, other string
		alike             bool
	}{
		{"two servers", metric.SpaceBeyondEmpty, metric.SpaceBeyondEmpty, true},
		{"an embedded engine and a server", metric.SpaceOfDirectory, metric.SpaceBeyondEmpty, true},
		{"two servers of unknown empty size", metric.SpaceAndLogs, metric.SpaceAndLogs, true},
		{"a server of unknown empty size", metric.SpaceAndLogs, metric.SpaceBeyondEmpty, false},
		{"a server of unknown empty size and an embedded engine", metric.SpaceAndLogs, metric.SpaceOfDirectory, false},
		{"a server that was attached to", metric.SpaceBeyondEmpty, reported, false},
		{"not recorded", "", metric.SpaceBeyondEmpty, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trials []*result.Trial
			for i, v := range []float64{1, 1.01, 0.99} {
				a := made("a", i+1, "interleaved", numbers{"space_amplification": 2 * v}, "s")
				b := made("b", i+1, "interleaved", numbers{"space_amplification": v}, "s")
				a.Steps[0].Rows[0].Source, b.Steps[0].Rows[0].Source = c.base, c.other
				trials = append(trials, a, b)
			}
			e := judged(t, trials...).Items[0].Effect
			expect.True(t, (e.Verdict == compare.Better) == c.alike && math.IsNaN(e.Ratio) != c.alike &&
				strings.Contains(e.Why, "measured differently") != c.alike, e.Verdict, e.Why, e.Ratio)
		})
	}
}

// A lower bound is never the better of two numbers, nor the same as another.
func TestLowerBounds(t *testing.T) {
	little, much := []float64{2, 2.01, 1.99}, []float64{4, 4.01, 3.99}
	for _, c := range []struct {
		name                string
		a, b                []float64
		boundBase, boundNew bool
		want                compare.Verdict
	}{
		{"neither", much, little, false, false, compare.Better},
		{"the new one looks better", much, little, false, true, compare.Unclear},
		{"the base looks better", little, much, true, false, compare.Unclear},
		{"both", much, little, true, true, compare.Unclear},
		{"the greater one", much, little, true, false, compare.Better},
		{"worse, and maybe more so", little, much, false, true, compare.Worse},
		{"as great", much, much, true, false, compare.Unclear},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := series("a", "interleaved", "write_kb", c.a...), series("b", "interleaved", "write_kb", c.b...)
			a[0].Steps[0].Rows[0].AtLeast, b[0].Steps[0].Rows[0].AtLeast = c.boundBase, c.boundNew
			e := judged(t, append(a, b...)...).Items[0].Effect
			if e.Verdict != c.want || (c.want == compare.Unclear) != strings.Contains(e.Why, "lower bound") || c.want == compare.Unclear && e.Notable() != "" {
				t.Errorf("%q (%s), notable %q; want %s", e.Verdict, e.Why, e.Notable(), c.want)
			}
		})
	}
}
