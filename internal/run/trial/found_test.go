package trial

import (
	"fmt"
	"math"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// A range test after most rows were deleted warns, and is not compared with one
// before: what it does not find costs less.
func TestDrained(t *testing.T) {
	src := `
name: drained
workload: sysbench
params:
  table_size: 1000
  events: 450
  clients: 2
  settle_floor: 0s
  tests: [point-query.full, range-covered-pk.full, range-covered-si.full, points-covered-pk.full, update-inlist.full, delete, point-query, range-covered-pk, range-covered-si, points-covered-pk, update-inlist]
targets: [{engine: bbolt, durability: none}]
`
	tr := run(t, planOf(t, src), result.Complete)
	c := compare.New([]*result.Trial{tr})
	for _, test := range []string{"point-query", "range-covered-pk", "range-covered-si", "points-covered-pk", "update-inlist"} {
		for name, drained := range map[string]bool{test + ".full": false, test: true} {
			st := step(t, tr, name)
			share := value(t, st, "clients", "query", "found_share")
			expect.True(t, math.Abs(share-map[bool]float64{false: 1, true: 0.1}[drained]) <= 0.06,
				"of the rows were found", name, share)
			w := row(t, st, "clients", "query", "ops_per_s").Warnings
			expect.True(t, has(metric.Texts(w), "rows were missing") == drained, name, w)
			refusals := fmt.Sprint(c.Step(name).Refusals(c.Targets[0]))
			expect.True(t, (refusals != "[]") == drained, "refusals", name, refusals)
		}
	}
}
