package rollup

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/sqlite"
	"rumbench/internal/expect"
	"rumbench/internal/run/drive"
	"rumbench/internal/text/hint"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
	"rumbench/workload/workloadtest"
)

func newRun(t *testing.T, given map[string]any) workload.Run {
	t.Helper()
	r, err := workload.NewRun(Workload{}, "", given)
	expect.NoError(t, err)
	return r
}

func with(given map[string]any, more map[string]any) map[string]any {
	out := map[string]any{"rows": int64(1200), "stages": int64(2), "tables": int64(2), "clients": int64(4), "check": "each"}
	for _, m := range []map[string]any{given, more} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

var schemas = map[string]map[string]any{
	"sequential":  {},
	"global":      {"id_scope": "global"},
	"scattered":   {"schema": "scattered"},
	"aggregating": {"schema": "aggregating", "pairs": int64(30), "facts_per_pair": int64(5)},
	"alone":       {"schema": "aggregating", "pairs": int64(30), "rollup_columns": "wide", "transactions": false},
	"rollups":     {"order": "rollup_first", "rollup_columns": "wide"},
}

func open(t *testing.T, e engine.Engine, r workload.Run) engine.DB {
	t.Helper()
	return workloadtest.Open(t, e, r.Schema())
}

// runStep runs a step with concurrent clients, and calls before Finish.
func runStep(t *testing.T, db engine.DB, step workload.Step, seed uint64, previous *workload.Live, before func(db engine.DB)) (workload.Finding, error) {
	t.Helper()
	ctx := t.Context()
	if step.Creates {
		expect.NoError(t, db.CreateTables(ctx))
	}
	stage, err := step.Open(ctx, workload.Env{DB: db, Seed: seed, Results: true, Previous: previous})
	expect.NoError(t, err)
	clients, closeAll, err := workload.Seats(ctx, &step, stage, workload.Part{}, db.Session)
	expect.NoError(t, err)
	defer closeAll()
	res, err := drive.Run(ctx, drive.Config{Step: &step, Clients: clients, Interval: time.Second, Seed: seed})
	if err == nil {
		err = res.Ended
	}
	if err != nil {
		return workload.Finding{}, err
	}
	if before != nil {
		before(db)
	}
	return stage.Finish(ctx, res.Totals())
}

// load runs all steps.
func load(t *testing.T, e engine.Engine, r workload.Run, before func(db engine.DB)) (found []workload.Finding) {
	t.Helper()
	db := open(t, e, r)
	var previous *workload.Live
	for _, step := range r.Steps() {
		f, err := runStep(t, db, step, 7, previous, before)
		expect.NoError(t, err)
		found, previous = append(found, f), &f.Live
	}
	return found
}

// The sums agree when several clients insert at once, and what is held is what was
// expected of that many facts. Each table gets as many as with one client.
func TestConcurrentClients(t *testing.T) {
	for name, given := range schemas {
		alone := load(t, memory.Engine{}, newRun(t, with(given, map[string]any{"clients": int64(1)})), nil)
		for _, e := range []engine.Engine{memory.Engine{}, sqlite.Engine{}} {
			t.Run(name+" "+e.Info().Name, func(t *testing.T) {
				found := load(t, e, newRun(t, with(given, nil)), nil)
				for i, f := range found {
					expect.True(t, len(f.Broken) == 0 && f.ReadAll && len(f.Notes) == 1, "stage", i+1, f)
				}
				expect.True(t, found[1].Live == alone[1].Live, found[1].Live, alone[1].Live)
			})
		}
	}
}

// A fact that is missing, one too many in a sum, and a bucket too many are found.
func TestBrokenInvariants(t *testing.T) {
	for subject, c := range map[string]struct {
		op   model.Op
		args []int64
		want string
	}{
		"a sum":    {model.Op{Kind: model.Insert, Table: "sbtest1_r100", Columns: []string{"id", "k"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"k"}}, []int64{0, 1}, "the sums of sbtest1_r100 are"},
		"a bucket": {model.Op{Kind: model.Insert, Table: "sbtest2_r10", Columns: []string{"id", "k"}, Rows: 1}, []int64{5000, 0}, "sbtest2_r10 has "},
		"a fact":   {model.Op{Kind: model.Delete, Table: "sbtest1"}, []int64{3}, "the base tables hold 1199 facts, and 1200 were committed"},
	} {
		t.Run(subject, func(t *testing.T) {
			spoil := func(db engine.DB) { execute(t, db, c.op, c.args...) }
			found := load(t, memory.Engine{}, newRun(t, with(map[string]any{"stages": int64(1)}, nil)), spoil)
			if !slices.ContainsFunc(found[0].Broken, func(b string) bool { return strings.HasPrefix(b, c.want) }) {
				t.Errorf("broken: %q", found[0].Broken)
			}
		})
	}
}

func execute(t *testing.T, db engine.DB, op model.Op, numbers ...int64) {
	t.Helper()
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	defer s.Close()
	stmt, err := s.Prepare(t.Context(), &op)
	expect.NoError(t, err)
	var args []model.Value
	for _, n := range numbers {
		args = append(args, model.IntValue(n))
	}
	expect.NoError(t, stmt.Exec(t.Context(), args, &engine.Result{}))
}

// Steps continue in another process, with any seed. If a fact is missing among others, an error says so at once.
func TestContinued(t *testing.T) {
	for name, c := range map[string]struct {
		given string
		seed  uint64
		gap   bool
		fails bool
	}{
		"same seed":    {"aggregating", 7, false, false},
		"another seed": {"aggregating", 8, false, false},
		"a gap":        {"sequential", 7, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, memory.Engine{}, newRun(t, with(schemas[c.given], nil)))
			for i, seed := range []uint64{7, c.seed} {
				f, err := runStep(t, db, newRun(t, with(schemas[c.given], nil)).Steps()[i], seed, nil, nil)
				switch fails := i == 1 && c.fails; {
				case !fails && (err != nil || len(f.Broken) > 0):
					t.Errorf("step %d: %v, %v", i+1, err, f.Broken)
				case fails && (err == nil || !strings.Contains(err.Error(), "insert a new fact into sbtest") || !strings.Contains(hint.Of(err), "cut short")):
					t.Errorf("step %d: %v, %v", i+1, err, f.Broken)
				}
				if c.gap {
					execute(t, db, model.Op{Kind: model.Delete, Table: "sbtest1"}, 3)
				}
			}
		})
	}
}

// Facts of schema aggregating are functions of their number. Each pair gets one in each
// round after its first, new pairs come at an even rate, and the roll-ups have as many
// rows as expected, whatever the number of facts.
func TestPairs(t *testing.T) {
	for _, c := range []struct{ pairs, each, end int64 }{{1, 2, 500}, {40, 7, 3000}, {3, 20, 3000}, {30, 1e12, 1000}} {
		r := newRun(t, with(map[string]any{"schema": "aggregating", "pairs": c.pairs, "facts_per_pair": c.each}, nil)).(*run)
		m := r.newFacts(1)
		var f fact
		var keys [][3]int64
		last := map[[2]int64]int64{} // the last id of each pair
		rows := map[int64]map[[3]int64]bool{2: {}, 3: {}, 10: {}, 100: {}}
		for n := range c.end {
			for size, byKey := range rows {
				if got, exact := r.bucketsOf(n, size); got != int64(len(byKey)) || !exact {
					t.Fatalf("%+v: %d facts have %d buckets of %d, not %d", c, n, len(byKey), size, got)
				}
			}
			m.set(&f, 1, n)
			pair := [2]int64{f.hid, f.mid}
			if id, known := last[pair]; known && f.id != id+1 {
				t.Fatalf("%+v: fact %d of round %d follows one of round %d", c, n, f.id, id)
			}
			last[pair] = f.id
			keys = append(keys, [3]int64{f.hid, f.mid, f.id})
			for size, byKey := range rows {
				byKey[[3]int64{f.hid, f.mid, f.id / size}] = true
			}
		}
		if want := c.pairs + c.end/c.each; int64(len(last)) != want {
			t.Errorf("%+v: %d pairs, want %d", c, len(last), want)
		}
		for n, key := range slices.Backward(keys) {
			if m.set(&f, 1, int64(n)); key != [3]int64{f.hid, f.mid, f.id} {
				t.Fatalf("%+v: fact %d is not always the same", c, n)
			}
		}
	}
}

// k has the published distribution: 27.9 % zeros, a mean of about 1218, 80 % below 2000.
func TestDistributionOfK(t *testing.T) {
	r := newRun(t, nil).(*run)
	s := gen.NewSource(gen.NewStream(1, "k"))
	const draws = 200_000
	var zeros, low, sum float64
	for range draws {
		k := r.k.Draw(s)
		sum += float64(k)
		if k == 0 {
			zeros++
		}
		if k < 2000 {
			low++
		}
		expect.Must(t, k >= 0 && k <= greatestK, k)
	}
	for _, c := range []struct{ got, want, within float64 }{{zeros / draws, 0.279, 0.005}, {low / draws, 0.8, 0.005}, {sum / draws, 1218, 20}} {
		expect.True(t, c.got >= c.want-c.within && c.got <= c.want+c.within, c.got, "want", c.want)
	}
}

func TestRefused(t *testing.T) {
	for _, given := range []map[string]any{
		{"rows": int64(10)}, {"schema": "aggregating", "id_scope": "global"},
	} {
		expect.Refused(workload.NewRun(Workload{}, "", given))(t, "", given, "is accepted")
	}
}

// Do allocates nothing.
func TestNoAllocations(t *testing.T) {
	r := newRun(t, with(nil, nil))
	db := null{open(t, memory.Engine{}, r)}
	step := r.Steps()[0]
	stage, err := step.Open(t.Context(), workload.Env{DB: db, Seed: 1})
	expect.NoError(t, err)
	c := workloadtest.Alone(t, db, stage, 0)
	ctx, out := context.Background(), workload.Outcome{}
	expect.NoError(t, c.(workload.Readier).Ready(ctx))
	if n := testing.AllocsPerRun(100, func() { _ = c.Do(ctx, &out) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// null is a database whose sessions do nothing.
type null struct{ engine.DB }

func (null) CreateIndexes(context.Context, string, ...string) error { return nil }
func (n null) Session(context.Context) (engine.Session, error)      { return nullSession{}, nil }

type nullSession struct{}

func (nullSession) Prepare(context.Context, *model.Op) (engine.Stmt, error) {
	return nullSession{}, nil
}
func (nullSession) Exec(context.Context, []model.Value, *engine.Result) error { return nil }
func (nullSession) Close() error                                              { return nil }
