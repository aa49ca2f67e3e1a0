package ibench

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/internal/expect"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

// beyond follows from the number of distinct values.
func TestBeyond(t *testing.T) {
	const rows = 1_000_000
	r := mustRun(t, "", nil)
	queries := map[string]*rangeQuery{}
	for _, q := range r.rangeQueries() {
		queries[q.name] = &q
	}
	for _, c := range []struct {
		query string
		start int64
		want  int64
	}{
		{"market", 0, rows}, {"market", 5000, rows / 2}, {"market", 9999, rows / 10_000},
		{"register", 0, rows / 1000 * 999}, {"register", 998, rows / 1000}, {"register", 999, 0}, // after the last one
		{"pdc", 0, rows}, {"pdc", 499, rows / 500},
	} {
		expect.Equal(t, queries[c.query].beyond(model.IntValue(c.start), rows), c.want,
			c.query, "from", c.start, "entries")
	}
}

// work runs one client of a group for a number of operations and sums what they
// found.
func work(t *testing.T, db engine.DB, step *workload.Step, group int, operations int64) (sum workload.Total) {
	t.Helper()
	stage, err := step.Open(t.Context(), workload.Env{DB: db, Seed: 1, Results: true})
	expect.NoError(t, err)
	c := workloadtest.Alone(t, db, stage, group)
	for range operations {
		out := workloadtest.Once(t, c)
		sum.Ops++
		sum.Expected += out.Expected
		sum.Found += out.Found
	}
	return sum
}

// Queries find the expected rows: all after a load, and few when hardly any are
// left.
func TestQueriesFind(t *testing.T) {
	ctx := context.Background()
	const rows = 20_000
	r := mustRun(t, "", map[string]any{"rows": int64(rows), "products": int64(1000)})
	db := workloadtest.Open(t, memory.Engine{}, r.Schema())
	expect.NoError(t, db.CreateTables(ctx))
	steps := map[string]*workload.Step{}
	for i := range r.steps {
		steps[r.steps[i].Name] = &r.steps[i]
	}
	work(t, db, steps["l.i0"], 0, steps["l.i0"].Groups[0].Work)
	work(t, db, steps["l.x"], 0, 2)
	const queries = 2000
	last := len(steps["qr100"].Groups) - 1
	check := func(step string, low, high float64) {
		t.Helper()
		sum := work(t, db, steps[step], last, queries)
		share := float64(sum.Found) / float64(sum.Expected)
		expect.True(t, share >= low && share <= high && sum.Expected >= 9*queries,
			step, sum.Found, "of", sum.Expected, "rows were found", share, "want", low, "to", high)
	}
	check("qr100", 0.999, 1)
	check("qp100", 1, 1)

	session, err := db.Session(ctx)
	expect.NoError(t, err)
	defer session.Close()
	remove, err := session.Prepare(ctx, &model.Op{Kind: model.DeleteLowest, Table: tableName(0), Rows: rows + int(r.p.Int("load_batch")) - 10})
	expect.NoError(t, err)
	expect.NoError(t, remove.Exec(ctx, []model.Value{model.IntValue(0)}, &engine.Result{}))
	check("qr100", 0.3, 0.7)
}
