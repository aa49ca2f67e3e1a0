package explain_test

import (
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/workload"
)

// One that reads nothing has a place on the axis, and what an engine puts off until it comes
// to rest counts as written.
func TestRUM(t *testing.T) {
	trial := func(target string, read, settled float64) *result.Trial {
		row := func(step, name, per string, value float64) metric.Row {
			return metric.Row{Target: target, Trial: 1, Step: step, Metric: name, Per: per, Value: value, N: 1000, Unit: metric.ByName(name).Unit}
		}
		return &result.Trial{Target: target, Trial: 1, Workload: "w", Status: result.Complete, Durability: "os", Steps: []result.Step{
			{Name: "write", Status: result.Complete, Seconds: 1, Primary: "insert", WritesPer: "insert", Access: workload.WriteAccess,
				Rows: []metric.Row{row("write", "write_amplification", "", 4), row("write", "space_amplification", "", 2)}},
			{Name: "settle", Status: result.Complete, Seconds: 1,
				Rows: []metric.Row{row("settle", "unsettled_write_kb", "insert row", 2), row("settle", "settled_write_kb", "insert row", settled)}},
			{Name: "read", Status: result.Complete, Seconds: 1, Primary: "query", WritesPer: "query", Access: workload.PointAccess,
				Rows: []metric.Row{row("read", "read_kb", "query", read)}},
		}}
	}
	r := explain.RUMOf(compare.New([]*result.Trial{trial("a", 8, 2), trial("b", 0, 6)}))
	expect.Must(t, r != nil, "nothing is known")
	for i, want := range [][3]float64{{8, 4, 2}, {0.01, 12, 2}} {
		for axis, v := range want {
			expect.Near(t, r.Targets[i].Costs[axis], v, 1e-9, r.Targets[i].Target.Name, axis)
		}
	}
	expect.True(t, !r.Targets[0].Beaten && !r.Targets[1].Beaten, "each is best at one")
}
