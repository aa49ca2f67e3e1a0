package account_test

import (
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// inserts returns a step of one client that inserts at the rates of its intervals of a second.
func inserts(rates []float64, o *account.Observed) *account.Step {
	st := &workload.Step{Primary: "insert", WritesPer: "insert", Groups: []workload.Group{
		{Name: "g", Clients: 1, Ops: []workload.OpKind{{Name: "insert", Unit: "row"}}},
	}}
	totals := hist.NewTotals(hist.Shape{Kinds: 1})
	group := hist.Group{Totals: totals, End: time.Duration(len(rates)) * time.Second}
	for i, r := range rates {
		totals.Kinds[0].Ops += int64(r)
		totals.Kinds[0].Rows += int64(r)
		group.Rates = append(group.Rates, hist.Rate{From: float64(i), To: float64(i + 1), Units: r, Ops: r})
	}
	totals.Kinds[0].Service.Record(1000)
	s := newStep(st, []hist.Group{group}, o)
	s.Operations()
	return s
}

func level(first, last float64, n int) (out []float64) {
	for i := range n {
		out = append(out, first+(last-first)*float64(i)/float64(n-1)+float64(i*7919%13))
	}
	return out
}

// A rate that falls over the window is marked, with its latencies; a steady one is not.
func TestNotSteady(t *testing.T) {
	for shape, rates := range map[string][]float64{
		"":          level(1000, 1000, 60),
		"degrading": append(level(1000, 1000, 30), level(500, 500, 30)...),
		"improving": append(level(500, 500, 30), level(1000, 1000, 30)...),
	} {
		s := inserts(rates, &account.Observed{})
		for _, name := range []string{metric.OpsPerS, metric.RowsPerS, metric.ServiceP99US} {
			r := row(t, s, "g", "insert", name)
			expect.Equal(t, metric.Has(r.Warnings, remark.NotSteady), (shape != ""), shape, name, r.Warnings)
			for _, w := range r.Warnings {
				expect.True(t, w.Code != remark.NotSteady || w.Values["shape"] == shape, shape, w.Text)
			}
		}
	}
}

// A step that writes is marked if it sees fewer than three of what recurs, and names it.
func TestShortCycle(t *testing.T) {
	counts := func(taken, checkpoints, vacuums float64) *account.Observed {
		var o account.Observed
		for name, v := range map[string]float64{
			engine.LogBytes: taken, engine.Checkpoints: checkpoints, engine.Vacuums: vacuums,
		} {
			o.InWindow = append(o.InWindow, observe.Change{Name: name, Kind: engine.Counter, Value: v})
		}
		return &o
	}
	for _, c := range []struct {
		o    *account.Observed
		seen string
	}{
		{counts(1<<30, 3, 3), ""}, {counts(1<<30, 2, 0), "2 checkpoints"}, {counts(1<<30, 0, 0), "no checkpoint"},
		{counts(1<<30, 5, 1), "1 vacuum"}, {counts(1<<10, 0, 0), ""}, {&account.Observed{}, ""},
	} {
		s := inserts(level(1000, 1000, 60), c.o)
		got := ""
		for _, w := range row(t, s, "g", "insert", metric.ServiceP99US).Warnings {
			if w.Code == remark.ShortCycle {
				got = w.Values["seen"].(string)
			}
		}
		expect.True(t, got == c.seen && metric.Has(s.Warnings, remark.ShortCycle) == (c.seen != "") && !strings.Contains(got, "%"), got, c.seen)
	}
}
