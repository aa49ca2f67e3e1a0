package all_test

import (
	"context"
	"sync"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/run/drive"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

// TestKilledMidway: a server that is killed in the middle of tpcc's mix, at level os, has
// all that was committed, and nothing in halves, when it is started again on its data.
func TestKilledMidway(t *testing.T) {
	for name, c := range map[string]engine.Config{
		"mysql innodb": {Storage: "innodb"}, "mysql rocksdb": {Storage: "rocksdb"}, "postgres": {},
	} {
		t.Run(name, func(t *testing.T) {
			engineName := "mysql"
			if c.Storage == "" {
				engineName = "postgres"
			} else {
				need.Long(t)
			}
			if e, _ := (catalog.Plugins{}).Engine(engineName); !usable(t, e) {
				t.Skip("the server is not installed")
			}
			killMidway(t, engineName, c)
		})
	}
}

const (
	killSeed    = 42
	killClients = 4
)

func killMidway(t *testing.T, name string, c engine.Config) {
	t.Helper()
	given := tpcc(map[string]any{
		"warehouses": int64(1), "items": int64(1000), "customers_per_district": int64(60), "new_orders_per_district": int64(18),
		"clients": []int64{killClients}, "transactions": int64(0), "seconds": 60.0, "retry_max": int64(0),
	})
	w, _ := catalog.Plugins{}.Workload("tpcc")
	run := runOf(t, w, given)
	steps := run.Steps()
	c.Dir, c.Durability, c.Schema = need.TempDir(t), model.DurabilityOS, run.Schema()
	e, _ := catalog.Plugins{}.Engine(name)
	db := openAgain(t, e, c)
	workloadtest.Lockstep(t, stepsOf{run, steps[:2]}, db, killSeed)
	before, paidBefore := countRows(t, db, "orders"), countRows(t, db, "history")

	entered, paid := mixUntilKilled(t, db, &steps[len(steps)-1])
	if err := db.Close(); err != nil {
		t.Log(err) // it was killed
	}

	db = openAgain(t, e, c)
	// Each client may have had a commit in flight that was done and not acknowledged.
	for _, n := range []struct {
		table        string
		lowest, rows int64
	}{{"orders", before + entered, countRows(t, db, "orders")}, {"history", paidBefore + paid, countRows(t, db, "history")}} {
		t.Logf("%s: %d rows, %d were committed", n.table, n.rows, n.lowest)
		expect.True(t, n.rows >= n.lowest && n.rows <= n.lowest+killClients,
			n.table, "has", n.rows, "rows after the kill", n.lowest, "were committed")
	}
	given["load"] = false
	again := runOf(t, w, given).Steps()[0]
	stage, err := again.Open(t.Context(), workload.Env{DB: db, Seed: killSeed, Results: true})
	expect.NoError(t, err)
	found, err := stage.Finish(t.Context(), nil)
	expect.Must(t, err == nil && found.ReadAll, found, err)
	for _, b := range found.Broken {
		t.Error(b)
	}
}

// stepsOf is a run of some of its steps.
type stepsOf struct {
	workload.Run
	steps []workload.Step
}

func (r stepsOf) Steps() []workload.Step { return r.steps }

func openAgain(t *testing.T, e engine.Engine, c engine.Config) engine.DB {
	t.Helper()
	db, err := e.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

func countRows(t *testing.T, db engine.DB, table string) int64 {
	t.Helper()
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	defer session.Close()
	n, _, err := workload.QueryInt(t.Context(), session, &model.Op{Kind: model.Scan, Table: table, Aggregate: model.Count})
	expect.NoError(t, err)
	return n
}

// mixUntilKilled runs the mix, kills the server when some hundred transactions are done,
// and returns how many orders and payments were committed.
func mixUntilKilled(t *testing.T, db engine.DB, step *workload.Step) (entered, paid int64) {
	t.Helper()
	ctx := context.Background()
	stage, err := step.Open(ctx, workload.Env{DB: db, Seed: killSeed, Results: true})
	expect.NoError(t, err)
	clients, closeAll, err := workload.Seats(ctx, step, stage, workload.Part{}, db.Session)
	defer closeAll()
	expect.NoError(t, err)
	pids, reason := db.(engine.Hosted).Processes()
	expect.Must(t, len(pids) == 1, "processes", pids, reason)
	var once sync.Once
	var done int64
	res, err := drive.Run(ctx, drive.Config{
		Step: step, Clients: clients, Interval: 50 * time.Millisecond, Seed: killSeed,
		OnInterval: func(iv *drive.Interval) {
			for _, k := range iv.Groups[0].Kinds {
				done += k.Ops
			}
			if done >= 500 {
				once.Do(func() {
					expect.Equal(t, syscall.Kill(pids[0], syscall.SIGKILL), nil) // not in the test's goroutine
				})
			}
		},
	})
	expect.NoError(t, err)
	expect.Must(t, engine.ClassOf(res.Ended) == engine.Gone, "the mix ended by", res.Ended)
	kinds := res.Totals()[0]
	return kinds[0].Ops, kinds[1].Ops
}
