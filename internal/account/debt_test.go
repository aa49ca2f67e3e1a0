package account_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// A rate under which put-off work grows is marked, one that pays it off or adds little is not.
func TestOnCredit(t *testing.T) {
	const mib = 1 << 20
	for _, c := range []struct {
		debt    *[2]float64
		written float64
		credit  float64
		marked  bool
	}{
		{&[2]float64{0, 30 * mib}, 100 * mib, 0.3, true}, {&[2]float64{50 * mib, 55 * mib}, 100 * mib, 0.05, false},
		{&[2]float64{50 * mib, 0}, 100 * mib, 0, false}, {&[2]float64{0, 1000}, 10_000, 0, false},
		{nil, 100 * mib, -1, false},
	} {
		o := &account.Observed{Debt: c.debt}
		written := observe.Change{Name: engine.BytesWritten, Kind: engine.Counter, Unit: "bytes", Value: c.written}
		o.InWindow, o.WithSync = []observe.Change{written}, []observe.Change{written}
		s := inserts(level(1000, 1000, 60), o)
		expect.True(t, metric.Has(row(t, s, "g", "insert", metric.RowsPerS).Warnings, remark.OnCredit) == c.marked,
			c, s.Warnings)
		switch grown := metric.Find(s.Rows, metric.DebtGrowthShare, "", ""); {
		case grown == nil:
			expect.True(t, c.credit < 0, "no growth", c)
		case grown.Value != c.credit:
			t.Errorf("%+v: growth %v", c, grown.Value)
		}
	}
}

// The debt of an engine is that of its compactions; what is bounded is none.
func TestDebtOf(t *testing.T) {
	gauge := func(name string, v float64) observe.Change {
		return observe.Change{Name: name, Kind: engine.Gauge, Unit: "bytes", Value: v}
	}
	bounded := []observe.Change{gauge(engine.CheckpointAge, 3), gauge(engine.DirtyBytes, 2)}
	if _, ok := account.DebtOf(bounded); ok {
		t.Error("what is bounded is a debt")
	}
	if got, ok := account.DebtOf(append(bounded, gauge(engine.CompactionDebt, 1))); !ok || got != 1 {
		t.Errorf("%v, %v", got, ok)
	}
}
