package all_test

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
)

// locked is how long a table is locked in the middle of a run.
const locked = 3500 * time.Millisecond

// TestLockedTable: a table that is locked for 3.5 s while points are selected
// from it is seen in the greatest times, in stalls, in the age of what waits,
// and in the picture. Its p95 is seen only where queries arrive by a rate: in a
// closed loop each client asks one question less.
func TestLockedTable(t *testing.T) {
	e, _ := catalog.Plugins{}.Engine("mysql")
	if !usable(t, e) {
		t.Skip("MariaDB is not installed")
	}
	us := float64(locked.Microseconds())
	check := func(t *testing.T, s *result.Step, least map[string]float64) {
		t.Helper()
		for metric, lowest := range least {
			if v := metricOf(t, s, metric); v < lowest {
				t.Errorf("%s is %.0f, want at least %.0f", metric, v, lowest)
			}
		}
	}
	t.Run("by a rate", func(t *testing.T) {
		check(t, runLocked(t, e, "params.clients=32", "rate=1000"), map[string]float64{"response_p95_us": us / 4,
			"response_p999_us": us * 0.9, "response_max_us": us * 0.95, "stalls": 1})
	})
	t.Run("closed loop", func(t *testing.T) {
		need.Long(t)
		closed := runLocked(t, e, "params.clients=512")
		// 3.5 s hold at least two whole intervals; their true lengths may be a little below a second.
		check(t, closed, map[string]float64{"service_p999_us": us / 2, "service_max_us": us * 0.95, "stalls": 1, "stall_s": 1.9})
		if v := metricOf(t, closed, "service_p95_us"); v > us/2 {
			t.Errorf("p95 is %.0f µs; this test has lost its point", v)
		}
	})
}

// runLocked runs point selects of nine seconds on a server of its own, and
// locks their table after three.
func runLocked(t *testing.T, e engine.Engine, sets ...string) *result.Step {
	t.Helper()
	running, dsn := startServer(t, e, server.Setting{Name: "max_connections", Value: "1000"})
	at := running.Endpoint()
	src := fmt.Sprintf("workload: sysbench\nparams: {tests: [point-query], read_seconds: 9, settle_floor: 0}\ncalibrate: false\ntargets: [{name: server, engine: mysql, durability: os, dsn: %q}]\n", dsn)
	p, err := plan.Load("locked.yaml", []byte(src), sets, catalog.Plugins{})
	expect.NoError(t, err)
	var lock sync.WaitGroup
	var once sync.Once
	dir := t.TempDir()
	tr, err := trial.Run(t.Context(), trial.Spec{
		Dir: dir, Plan: p, Target: p.Targets[0], Trial: 1, Engine: e,
		Progress: func(ev trial.Event) {
			if !strings.HasPrefix(ev.Step, "point-query") || ev.Elapsed < 3 {
				return
			}
			once.Do(func() {
				lock.Go(func() {
					text := fmt.Sprintf("LOCK TABLES %s.sbtest1 WRITE; SELECT SLEEP(%g)", engine.DefaultSchema, locked.Seconds())
					if out, err := exec.Command("mariadb", "--no-defaults", "-S", at.Socket, "-u", at.User, "-e", text).CombinedOutput(); err != nil {
						t.Errorf("%s: %v: %s", text, err, out)
					}
				})
			})
		},
	})
	lock.Wait()
	expect.NoError(t, err)
	for i := range tr.Steps {
		if strings.HasPrefix(tr.Steps[i].Name, "point-query") {
			return &tr.Steps[i]
		}
	}
	t.Fatal("there was no step of point queries")
	return nil
}

// metricOf is a step's number of its queries, or of its clients.
func metricOf(t *testing.T, s *result.Step, metric string) float64 {
	t.Helper()
	for _, r := range s.Rows {
		if r.Metric == metric && (r.Op == "query" || r.Op == "") {
			t.Logf("%s %s %.0f", s.Name, metric, r.Value)
			return r.Value
		}
	}
	t.Fatalf("step %s has no %s", s.Name, metric)
	return 0
}
