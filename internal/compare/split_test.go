package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rumbench/internal/result"
)

// The CPU time of server and client together compares any two engines. That of
// the server alone compares two of a kind only: of an embedded engine it holds
// the clients.
func TestCPUIsSplitOnlyWithinAKind(t *testing.T) {
	for _, c := range []struct {
		name     string
		base, of result.Hosting
		alike    bool
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
				a.Hosting, b.Hosting = c.base, c.of
				trials = append(trials, a, b)
			}
			camp := New(trials)
			s := camp.Steps[0]
			if k, ok := s.CPU(); !ok || k.Metric != "cpu_us" || !slices.Contains(s.Headline(), k) {
				t.Fatalf("the CPU time to compare is %v", k)
			}
			j := camp.Judge(camp.Targets[0], camp.Targets[1], DefaultRule())
			if e := j.Effect(s, Key{"", "", "cpu_us", "insert row"}); e.Verdict != Worse || math.Abs(e.Ratio-2) > 1e-9 {
				t.Errorf("together: %q (%s), ratio %v", e.Verdict, e.Why, e.Ratio)
			}
			e := j.Effect(s, Key{"", "", "server_cpu_us", "insert row"})
			if (e.Verdict == Better) != c.alike || math.IsNaN(e.Ratio) == c.alike || strings.Contains(e.Why, "compare cpu_us") == c.alike {
				t.Errorf("the server's: %q (%s), ratio %v", e.Verdict, e.Why, e.Ratio)
			}
			cell := camp.Relative(RelativeOptions{Metric: "server_cpu_us"}).Groups[0].Rows[0].Cells[1]
			if math.IsNaN(cell.Ratio) == c.alike || strings.Contains(cell.Why, "compare cpu_us") == c.alike {
				t.Errorf("in a table of ratios: %v (%s)", cell.Ratio, cell.Why)
			}
		})
	}
}
