package rollup

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/memory"
	"rumbench/engine/sqlite"
	"rumbench/internal/drive"
	"rumbench/internal/gen"
	"rumbench/model"
	"rumbench/workload"
)

func newRun(t *testing.T, given map[string]any) workload.Run {
	t.Helper()
	r, err := workload.NewRun(Workload{}, "", given)
	if err != nil {
		t.Fatal(err)
	}
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
	"aggregating": {"schema": "aggregating", "pairs": int64(30)},
	"alone":       {"schema": "aggregating", "pairs": int64(30), "transactions": false},
	"rollups":     {"order": "rollup_first", "rollup_columns": "wide"},
}

// load runs all steps with concurrent clients, and calls before each Finish.
func load(t *testing.T, e engine.Engine, r workload.Run, before func(db engine.DB)) (found []workload.Finding) {
	t.Helper()
	ctx := t.Context()
	c := engine.Config{Durability: model.DurabilityNone, Schema: r.Schema(), Dir: enginetest.TempDir(t)}
	db, err := e.Open(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var previous *workload.Live
	for _, step := range r.Steps() {
		if step.Creates {
			if err := db.CreateTables(ctx); err != nil {
				t.Fatal(err)
			}
		}
		stage, err := step.Open(ctx, workload.Env{DB: db, Seed: 7, Results: true, Previous: previous})
		if err != nil {
			t.Fatal(err)
		}
		clients, closeAll, err := workload.Seats(ctx, &step, stage, db.Session)
		if err != nil {
			t.Fatal(err)
		}
		res, err := drive.Run(ctx, drive.Config{Step: &step, Clients: clients, Interval: time.Second, Seed: 7})
		closeAll()
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			before(db)
		}
		f, err := stage.Finish(ctx, res.Totals())
		if err != nil {
			t.Fatal(err)
		}
		found, previous = append(found, f), &f.Live
	}
	return found
}

// The sums agree when several clients insert at once, and what is held is what was
// expected of that many facts.
func TestConcurrentClients(t *testing.T) {
	for name, given := range schemas {
		for _, e := range []engine.Engine{memory.Engine{}, sqlite.Engine{}} {
			t.Run(name+" "+e.Info().Name, func(t *testing.T) {
				found := load(t, e, newRun(t, with(given, nil)), nil)
				for i, f := range found {
					if len(f.Broken) > 0 || !f.ReadAll || len(f.Notes) != 1 {
						t.Errorf("stage %d: %+v", i+1, f)
					}
				}
				if name == "aggregating" { // 2 tables of 600 facts on average: 20 rounds of 30 pairs
					if got := found[1].Live.Rows; got < 1200+2*30*(2+1+1) || got > 1200+2*30*(3+1+1) {
						t.Errorf("%d rows", got)
					}
				}
			})
		}
	}
}

// A fact that is missing, one too many in a sum, and a bucket too many are found.
func TestBrokenInvariants(t *testing.T) {
	for what, c := range map[string]struct {
		op   model.Op
		args []int64
		want string
	}{
		"a sum":    {model.Op{Kind: model.Insert, Table: "sbtest1_r100", Columns: []string{"id", "k"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"k"}}, []int64{0, 1}, "the sums of sbtest1_r100 are"},
		"a bucket": {model.Op{Kind: model.Insert, Table: "sbtest2_r10", Columns: []string{"id", "k"}, Rows: 1}, []int64{5000, 0}, "sbtest2_r10 has "},
		"a fact":   {model.Op{Kind: model.Delete, Table: "sbtest1"}, []int64{3}, "the base tables hold 1199 facts, and 1200 were committed"},
	} {
		t.Run(what, func(t *testing.T) {
			spoil := func(db engine.DB) {
				s, err := db.Session(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				stmt, err := s.Prepare(t.Context(), &c.op)
				if err != nil {
					t.Fatal(err)
				}
				var args []model.Value
				for _, n := range c.args {
					args = append(args, model.IntValue(n))
				}
				if err := stmt.Exec(t.Context(), args, &engine.Result{}); err != nil {
					t.Fatal(err)
				}
			}
			found := load(t, memory.Engine{}, newRun(t, with(map[string]any{"stages": int64(1)}, nil)), spoil)
			if !slices.ContainsFunc(found[0].Broken, func(b string) bool { return strings.HasPrefix(b, c.want) }) {
				t.Errorf("broken: %q", found[0].Broken)
			}
		})
	}
}

// Facts of a table are numbered without gaps, whichever client inserts them: a bucket
// of 10 gets 10. Pairs of the aggregating schema get a fact in each round.
func TestFacts(t *testing.T) {
	r := newRun(t, with(map[string]any{"schema": "aggregating", "pairs": int64(40)}, nil)).(*run)
	m := r.newFacts(1)
	var f fact
	seen := map[string]int{}
	for n := range int64(200) {
		m.set(&f, 1, n)
		seen[fmt.Sprint(f.hid, f.mid, f.id)]++
	}
	if len(seen) != 200 {
		t.Errorf("%d different keys", len(seen))
	}
	for n, size := range map[int64]int64{0: 10, 39: 10, 400: 10, 420: 10, 5000: 100} {
		keys := map[[3]int64]bool{}
		for i := range n {
			m.set(&f, 0, i)
			keys[[3]int64{f.hid, f.mid, f.id / size}] = true
		}
		if got, exact := r.bucketsOf(n, size); got != int64(len(keys)) || !exact {
			t.Errorf("%d facts have %d buckets of %d, not %d", n, len(keys), size, got)
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
		if k < 0 || k > greatestK {
			t.Fatal(k)
		}
	}
	for _, c := range []struct{ got, want, within float64 }{{zeros / draws, 0.279, 0.005}, {low / draws, 0.8, 0.005}, {sum / draws, 1218, 20}} {
		if c.got < c.want-c.within || c.got > c.want+c.within {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	for _, given := range []map[string]any{
		{"rows": int64(10)}, {"schema": "aggregating", "id_scope": "global"}, {"schema": "scattered", "rollup_columns": "wide"},
	} {
		if _, err := workload.NewRun(Workload{}, "", given); err == nil {
			t.Errorf("%v is accepted", given)
		}
	}
}

// Do allocates nothing.
func TestNoAllocations(t *testing.T) {
	r := newRun(t, with(nil, nil))
	db, err := memory.Engine{}.Open(t.Context(), engine.Config{Durability: model.DurabilityNone, Schema: r.Schema()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	step := r.Steps()[0]
	stage, err := step.Open(t.Context(), workload.Env{DB: null{db}, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	session, _ := null{db}.Session(t.Context())
	c, err := stage.Client(t.Context(), workload.Seat{Session: session})
	if err != nil {
		t.Fatal(err)
	}
	ctx, out := context.Background(), workload.Outcome{}
	if err := c.(workload.Readier).Ready(ctx); err != nil {
		t.Fatal(err)
	}
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
