package account_test

import (
	"testing"

	"rumbench/internal/account"
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

func TestFailuresIn(t *testing.T) {
	rows := []metric.Row{
		{Group: "g", Op: "a", Metric: "ops_per_s", N: 90}, {Group: "g", Op: "a", Metric: "attempts", Value: 100},
		{Group: "g", Op: "b", Metric: "ops_per_s", N: 100}, {Group: "g", Op: "all", Metric: "ops_per_s", N: 190},
		{Group: "g", Op: "a", Metric: "errors_timeout", Value: 3}, {Group: "g", Op: "a", Metric: "errors_deadlock", Value: 5},
		{Group: "g", Op: "b", Metric: "errors_timeout", Value: 4}, {Group: "g", Op: "all", Metric: "errors_timeout", Value: 7},
		{Group: "g", Op: "a", Metric: "given_up", Value: 2},
	}
	f := account.FailuresIn(rows, func(r *metric.Row) bool { return r.Op != "all" })
	if f.Attempts != 200 || f.Failed != 12 || f.GivenUp != 2 || f.Share() != 0.06 {
		t.Errorf("%+v", f)
	}
	if len(f.Classes) != 2 || f.Classes[0].Metric != "errors_timeout" || f.Classes[0].Value != 7 {
		t.Errorf("%+v", f.Classes)
	}
	if none := (account.Failures{}).Share(); none != 0 {
		t.Error(none)
	}
}
