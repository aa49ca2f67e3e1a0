package account_test

import (
	"math"
	"testing"

	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
)

func TestPerOperation(t *testing.T) {
	row := func(v float64, n int64) *metric.Row { return &metric.Row{Value: v, N: n} }
	for name, c := range map[string]struct {
		count, done, errors *metric.Row
		want                float64
		known               bool
	}{
		"counted":          {row(50, 0), row(9, 100), nil, 0.5, true},
		"nothing failed":   {nil, row(9, 100), row(0, 0), 1, true},
		"not recorded":     {nil, row(9, 100), row(3, 0), 1, false},
		"nothing was done": {row(50, 0), row(0, 0), row(0, 0), 0, false},
		"rate unknown":     {row(50, 0), nil, nil, 0, false},
	} {
		if got, known := account.PerOperation(c.count, c.done, c.errors, 1); known != c.known || known && got != c.want {
			t.Errorf("%s: %v, %v", name, got, known)
		}
	}
}

func TestQuotients(t *testing.T) {
	expect.Equal(t, account.PerSecond(30, 4), 7.5)
	expect.Equal(t, account.PerUnit(30, 4), 7.5)
	for _, got := range []float64{account.PerSecond(30, 0), account.PerUnit(30, 0)} {
		expect.True(t, math.IsNaN(got), "of nothing", got)
	}
	var b account.Builder
	b.Rate("ops_per_s", 30, 0)
	b.Rate("ops_per_s", 30, 4, account.Of("g", "a"))
	expect.True(t, len(b.Rows) == 1 && b.Rows[0].Value == 7.5 && b.Rows[0].N == 30 && b.Rows[0].Op == "a", b.Rows)
}

func TestUnitsDone(t *testing.T) {
	rate, count := metric.Row{Op: "a", Metric: "rows_per_s", Value: 8}, metric.Row{Op: "a", Metric: "rows", Value: 31}
	for name, c := range map[string]struct {
		rows []metric.Row
		op   string
		want float64
	}{
		"counted":           {[]metric.Row{rate, count}, "a", 31},
		"a rate only":       {[]metric.Row{rate}, "a", 32},
		"another operation": {[]metric.Row{rate, count}, "b", 0},
		"no operation":      {[]metric.Row{rate, count}, "", 0},
	} {
		expect.Equal(t, account.UnitsDone(c.rows, c.op, 4), c.want, name)
	}
}

func TestFailuresIn(t *testing.T) {
	rows := []metric.Row{
		{Group: "g", Op: "a", Metric: "ops_per_s", N: 90}, {Group: "g", Op: "a", Metric: "attempts", Value: 100},
		{Group: "g", Op: "b", Metric: "ops_per_s", N: 100}, {Group: "g", Op: "all", Metric: "ops_per_s", N: 190},
		{Group: "g", Op: "a", Metric: "errors_timeout", Value: 3}, {Group: "g", Op: "a", Metric: "errors_deadlock", Value: 5},
		{Group: "g", Op: "b", Metric: "errors_timeout", Value: 4}, {Group: "g", Op: "all", Metric: "errors_timeout", Value: 7},
		{Group: "g", Op: "a", Metric: "given_up", Value: 2},
	}
	f := account.FailuresIn(rows, func(r *metric.Row) bool { return r.Op != "all" })
	expect.True(t, f.Attempts == 200 && f.Failed == 12 && f.GivenUp == 2 && f.Share() == 0.06, f)
	expect.True(t, len(f.Classes) == 2 && f.Classes[0].Metric == "errors_timeout" && f.Classes[0].Value == 7, f.Classes)
	expect.Equal(t, (account.Failures{}).Share(), 0)
}
