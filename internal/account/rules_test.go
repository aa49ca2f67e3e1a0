package account_test

import (
	"testing"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// A kind of operation with rules has its 90th percentile beside them, and its rate
// per minute beside what waits allow; one without has none of these.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		slow   int64 // of 100 operations, above the limit
		missed bool
	}{{9, false}, {11, true}} {
		rules := &workload.Rules{P90: 5 * time.Second, MostPerMinute: 1000}
		st := &workload.Step{Primary: "order", Groups: []workload.Group{
			{Name: "g", Clients: 1, Ops: []workload.OpKind{{Name: "order", Unit: "t", Rules: rules}, {Name: "other", Unit: "t"}}},
		}}
		totals := hist.NewTotals(hist.Shape{Kinds: 2})
		for k := range totals.Kinds {
			totals.Kinds[k].Ops = 100
			for i := range int64(100) {
				d := time.Second
				if i < c.slow {
					d = 6 * time.Second
				}
				totals.Kinds[k].Service.Record(int64(d))
			}
		}
		s := newStep(st, []hist.Group{{Totals: totals}}, &account.Observed{})
		s.Operations()
		p := row(t, s, "g", "order", "ruled_p90_us")
		expect.True(t, (p.Value > 5e6) == c.missed && p.N == 100, p)
		if met := row(t, s, "g", "order", "rule_met"); (met.Value == 0) != c.missed || metric.Has(s.Warnings, remark.RuleMissed) != c.missed {
			t.Errorf("%d slow: met %v, %q", c.slow, met.Value, s.Warnings)
		}
		rate := row(t, s, "g", "order", "ops_per_min").Value
		want := account.PerSecond(100, s.Seconds) * 60
		expect.True(t, rate == want && row(t, s, "g", "order", "efficiency").Value == want/1000, "a minute", rate, want)
		expect.True(t, metric.Find(s.Rows, "ruled_p90_us", "other", "") == nil,
			"an operation without rules is judged by them")
	}
}
