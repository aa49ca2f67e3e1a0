package trial

import (
	"fmt"
	"math"
	"testing"

	"rumbench/internal/compare"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/registry"
	"rumbench/internal/result"
	"rumbench/workload"
)

// What operations find and have to find is in rows of every kind that looks for
// rows. A shortfall above 1 % is a warning at rates and times, one above 10 %
// makes the step incomparable.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		name            string
		finds           workload.Finds
		expected, found int64 // of each operation
		share           float64
		warns, refused  bool
	}{
		{"all", workload.FindsExactly, 100, 100, 1, false, false},
		{"1 in 100 is missing", workload.FindsExactly, 100, 99, 0.99, false, false},
		{"2 in 100 are missing", workload.FindsExactly, 100, 98, 0.98, true, false},
		{"1 in 10 is missing", workload.FindsExactly, 100, 90, 0.9, true, false},
		{"11 in 100 are missing", workload.FindsExactly, 100, 89, 0.89, true, true},
		{"nothing is there", workload.FindsExactly, 10, 0, 0, true, true},
		{"more on average", workload.FindsOnAverage, 10, 12, 1.2, false, false},
		{"hardly anything on average", workload.FindsOnAverage, 100, 10, 0.1, true, true},
		{"not known", workload.FindsOnAverage, 0, 12, -1, false, false},
		{"nothing is looked for", workload.FindsNothing, 0, 0, -1, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := workload.Group{Clients: 1, Ops: []workload.OpKind{{Name: "transaction", Unit: "transaction", Finds: c.finds}}}
			s := script(t, g, func(out *workload.Outcome, _, _ int) error {
				out.Expected, out.Found = c.expected, c.found
				return nil
			})
			st := step(t, run(t, s, result.Complete), "s")
			find := func(metric string) *metric.Row { return st.Find(metric, "transaction", "") }
			if r := find("rows_found"); (r != nil) != (c.finds != workload.FindsNothing) || r != nil && (r.Value != float64(c.found) || r.Source != "client" || r.Per != "transaction") {
				t.Errorf("found: %+v", r)
			}
			if r := find("rows_expected"); (r != nil) != (c.expected > 0) || r != nil && r.Value != float64(c.expected) {
				t.Errorf("expected: %+v", r)
			}
			if r := find("found_share"); (r != nil) != (c.share >= 0) || r != nil && math.Abs(r.Value-c.share) > 1e-9 {
				t.Errorf("share: %+v", r)
			}
			for _, name := range []string{"rows_per_s", "ops_per_s", "queries_per_s", "service_p50_us"} {
				if w := row(t, st, "t", "transaction", name).Warnings; has(metric.Texts(w), "rows were missing") != c.warns {
					t.Errorf("%s: %q", name, w)
				}
			}
			if refused := metric.Has(st.Warnings, metric.TooFewRows); refused != c.refused || refused != has(metric.Texts(st.Warnings), "cannot be compared") {
				t.Errorf("warnings %q", st.Warnings)
			}
		})
	}
}

// Chance is no shortfall: of 400 rows that are expected on average, 350 are
// within what happens; of 40,000 they are not.
func TestShortfallOfChance(t *testing.T) {
	for _, c := range []struct {
		finds           workload.Finds
		expected, found int64
		short           bool
	}{
		{workload.FindsOnAverage, 400, 350, false},
		{workload.FindsExactly, 400, 350, true},
		{workload.FindsOnAverage, 40_000, 35_000, true},
		{workload.FindsOnAverage, 40_000, 39_000, false},
		{workload.FindsOnAverage, 4_000_000, 3_900_000, true},
		{workload.FindsOnAverage, 4_000_000, 4_100_000, false},
	} {
		if got := shortfall(c.finds, &hist.Counts{Expected: c.expected, Found: c.found}); got > shortAllowed != c.short {
			t.Errorf("%d of %d: %v", c.found, c.expected, got)
		}
	}
}

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
	p, err := plan.Load("test.yaml", []byte(src), nil, registry.Catalog{})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := registry.Catalog{}.Engine("bbolt")
	tr := run(t, Spec{Dir: t.TempDir(), Plan: p, Target: p.Targets[0], Trial: 1, Engine: e, Version: "test"}, result.Complete)
	c := compare.New([]*result.Trial{tr})
	for _, test := range []string{"point-query", "range-covered-pk", "range-covered-si", "points-covered-pk", "update-inlist"} {
		for name, drained := range map[string]bool{test + ".full": false, test: true} {
			st := step(t, tr, name)
			share := value(t, st, "clients", "query", "found_share")
			if math.Abs(share-map[bool]float64{false: 1, true: 0.1}[drained]) > 0.06 {
				t.Errorf("%s: %v of the rows were found", name, share)
			}
			if w := row(t, st, "clients", "query", "ops_per_s").Warnings; has(metric.Texts(w), "rows were missing") != drained {
				t.Errorf("%s: %q", name, w)
			}
			if doubts := fmt.Sprint(c.Step(name).Doubts(c.Targets[0])); (doubts != "[]") != drained {
				t.Errorf("%s: doubts %s", name, doubts)
			}
		}
	}
}
