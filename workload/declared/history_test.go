package declared

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/workload"
)

// concurrent runs the steps up to one, with a goroutine for each client; in the last one,
// each client does so many operations. It returns the last one's totals.
func concurrent(t *testing.T, r workload.Run, db engine.DB, last string, ops int) (sum workload.Total) {
	t.Helper()
	ctx := context.Background()
	var previous *workload.Live
	steps := r.Steps()
	for i := range steps {
		s := &steps[i]
		if s.Settle != nil || s.Name != last && s.Groups[0].Work == 0 {
			continue // it does not load
		}
		if s.Creates {
			expect.NoError(t, db.CreateTables(ctx))
		}
		stage, err := s.Open(ctx, workload.Env{DB: db, Seed: 1, Results: true, Previous: previous})
		expect.NoError(t, err)
		clients, closeAll, err := workload.Seats(ctx, s, stage, workload.Part{}, db.Session)
		expect.NoError(t, err)
		var mu sync.Mutex
		var all sync.WaitGroup
		totals := workload.Totals{make([]workload.Total, len(s.Groups[0].Ops))}
		for _, c := range clients[0] {
			work := int(s.Groups[0].Work)
			if s.Name == last {
				work = ops
			}
			all.Go(func() {
				for range work {
					var out workload.Outcome
					if err := c.(workload.Readier).Ready(ctx); err != nil {
						t.Error(err)
						return
					}
					for err := c.Do(ctx, &out); err != nil; err = c.Do(ctx, &out) {
						if !engine.ClassOf(err).Yields() {
							t.Error(err)
							return
						}
						out = workload.Outcome{}
					}
					mu.Lock()
					totals[0][out.Kind].Ops++
					totals[0][out.Kind].Add(&out.Work)
					mu.Unlock()
				}
			})
		}
		all.Wait()
		found, err := stage.Finish(ctx, totals)
		expect.Must(t, err == nil && len(found.Broken) == 0, s.Name, err, found.Broken)
		closeAll()
		previous = &found.Live
		if s.Name == last {
			for _, k := range totals[0] {
				sum.Ops += k.Ops
				sum.Add(&k.Work)
			}
			return sum
		}
	}
	t.Fatalf("there is no step %s", last)
	return sum
}

// YCSB's D asks for no record that is not acknowledged: all gets find theirs, while
// other clients insert.
func TestLatestExists(t *testing.T) {
	t.Parallel()
	content, _ := File("ycsb")
	for _, records := range []int64{1, 3, 1000} {
		r := newRun(t, readTest(t, "ycsb.yaml", content), "", map[string]any{"records": records, "clients": int64(8), "load_clients": int64(1), "fields": int64(1), "field_length": int64(8)})
		sum := concurrent(t, r, openMemory(t, r), "D", 2000)
		expect.True(t, sum.Expected == sum.Found && sum.Expected >= 15_000 && sum.Reads == sum.Expected && sum.Writes >= 500, records, sum.Found, sum.Expected, sum.Reads, sum.Writes)
	}
}

// What is put is read back: gets and puts are drawn apart, so that hot keys get both. In
// mixgraph of db_bench, where one draw is the key and the operation, none is.
func TestPutsAreReadBack(t *testing.T) {
	t.Parallel()
	for file, rows := range map[string]string{"zippydb": "rows", "up2x": "rows", "udb": "objects"} {
		c := clientOf(t, file, "requests", map[string]any{rows: int64(10_000)})
		type key struct {
			table *tableDef
			row   int64
		}
		put := map[key]bool{}
		gets, back := 0, 0
		read := map[key]bool{}
		var out workload.Outcome
		for range 50_000 {
			expect.NoError(t, c.Ready(t.Context()))
			s := c.ops[c.kind].statements[0]
			k := key{s.table, slices.Concat(s.rows, []int64{-1})[0]}
			switch s.kind {
			case sInsert, sUpdate:
				put[k] = true
			case sGet:
				if gets++; put[k] {
					back++
					read[k] = true
				}
			}
			out = workload.Outcome{}
			expect.NoError(t, c.Do(t.Context(), &out))
		}
		expect.True(t, back >= gets/5 && len(read) >= 200, file, gets, back, len(put), len(read))
	}
}

const sessions = `
name: sessions
tables:
  sessions:
    columns:
      token: {value: {decimal: {of: {fnv: row}, digits: 20}}}
      made: {value: {clock: 1}}
      ends: {value: made + 1800}
    indexes: {by_end: [ends]}
operations:
  open: [{insert: sessions}]
  end:
    - {scan: sessions, index: by_end, limit: 1, read: {token: oldest}}
    - {delete: sessions, key: {token: oldest}}
steps:
  - {load: sessions, rows: 100}
  - {run: work, groups: {all: {clients: 4, operations: 400, sequence: [open, end, end]}}}
`

// Rows that are deleted by a key of which the number is not known are counted, and an
// operation that ends early, as no row is left, is told from one that does its work.
func TestDeletedByKey(t *testing.T) {
	t.Parallel()
	r := newRun(t, readTest(t, "sessions.yaml", []byte(sessions)), "", nil).(*run)
	sum := concurrent(t, r, openMemory(t, r), "work", 300)
	expect.True(t, sum.Ops == 1200 && sum.Expected == 800 && sum.Found < 600 && sum.Found >= 300,
		sum.Ops, "operations found", sum.Found, "of", sum.Expected, "rows")
	tableDef := r.tables[0]
	expect.True(t, !tableDef.unknown && tableDef.gone.Load() != 0 && tableDef.live() == 100+400-tableDef.gone.Load(),
		"of", tableDef.rows(), "rows", tableDef.gone.Load(), "were deleted, and", tableDef.live(), "are left")
}

// A number that a column cannot hold ends the run.
func TestNumbersThatDoNotFit(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"{type: int32, value: row * 1000000000}", "{value: 1 / (row - 5)}", "{type: int32, value: {normal: [0, 1e12]}}"} {
		file := strings.Replace(sessions, "made: {value: {clock: 1}}", "made: {value: {clock: 1}}\n      n: "+column, 1)
		r := newRun(t, readTest(t, "sessions.yaml", []byte(file)), "", nil).(*run)
		expect.Error(t, (Tryout{r}).Do(t.Context(), openMemory(t, r), func(Tried) {}), "column n", column)
	}
}

// New rows whose keys may exist already are not counted as rows that exist.
func TestNewRowsThatConflict(t *testing.T) {
	t.Parallel()
	for _, conflict := range []string{"ignore", "replace", "{add: [n]}"} {
		r := newRun(t, readTest(t, "w.yaml", []byte(`
name: w
tables: {t: {columns: {id: {value: {uniform: [0, 50]}}, n: {value: 1}}}}
operations: {put: [{insert: t, conflict: `+conflict+`}]}
steps: [{load: t, rows: 0}, {run: work, groups: {all: {clients: 2, operations: 400, do: put}}}]
`)), "", nil)
		concurrent(t, r, openMemory(t, r), "work", 200) // it fails where the count is wrong
		expect.Equal(t, r.(*run).tables[0].live(), 51, conflict, "rows are live")
	}
}
