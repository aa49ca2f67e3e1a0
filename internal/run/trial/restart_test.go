package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/server"
	_ "rumbench/internal/server/servertest"
	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/workloadtest"
)

// restartable are engines of each family, with the settings by which they read through the page cache.
// One embedded engine and one server are for make test.
var restartable = []struct {
	name, kind string
	sets       []string
}{
	{"pebble", "", nil}, {"badger", "", nil}, {"sqlite", "", nil}, {"bbolt", "", nil},
	{"mysql", server.MariaDB, []string{"common.direct_io=false"}}, {"postgres", server.Postgres, nil},
	{"tarantool", server.Tarantool, nil},
}

// restartSpec makes a trial in which an engine restarts with a few thousand rows.
func restartSpec(t *testing.T, name string, caches workload.Caches, sets ...string) Spec {
	t.Helper()
	s := spec(t, name, append([]string{"params.rows=5k", "restart={before: qr100, caches: " + string(caches) + "}"}, sets...)...)
	s.Dir = need.TempDir(t)
	return s
}

// summing is an engine whose tables are read before it is closed and after it is opened.
type summing struct {
	engine.Engine
	t       *testing.T
	tables  []model.Table
	sums    []string // when it was closed
	reopens int
}

type summedDB struct {
	engine.DB
	of *summing
}

func (s *summing) read(db engine.DB) (out []string) {
	for i := range s.tables {
		out = append(out, workloadtest.TableSums(s.t, db, &s.tables[i])...)
	}
	return out
}

func (s *summing) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	db, err := s.Engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	if s.sums != nil {
		s.reopens++
		if got := s.read(db); !slices.Equal(got, s.sums) {
			s.t.Errorf("%q, want %q as before", got, s.sums)
		}
	}
	if hosted, ok := db.(engine.Hosted); ok {
		return &summedHosted{hosted, s}, nil
	}
	return &summedDB{db, s}, nil
}

func (d *summedDB) Close() error {
	d.of.sums = d.of.read(d.DB)
	return d.DB.Close()
}

type summedHosted struct {
	engine.Hosted
	of *summing
}

func (d *summedHosted) Close() error {
	d.of.sums = d.of.read(d.Hosted)
	return d.Hosted.Close()
}

// All rows are there after a restart, and a step that begins cold reads from the device.
func TestRestart(t *testing.T) {
	for _, c := range restartable {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "sqlite" && c.name != "postgres" {
				need.Long(t)
			}
			if c.kind != "" {
				_, err := server.Find(t.Context(), c.kind, server.Source{})
				need.Installed(t, err)
				t.Parallel() // embedded engines share the counters of this process
			}
			s := restartSpec(t, c.name, workload.CachesKept, c.sets...)
			sums := &summing{Engine: s.Engine, t: t, tables: s.Plan.Run.Schema().Tables}
			s.Engine = sums
			kept := run(t, s, result.Complete)
			expect.True(t, sums.reopens == 1 && len(sums.sums) != 0,
				"opened again times, with sums", sums.reopens, sums.sums)
			dropped := run(t, restartSpec(t, c.name, workload.CachesDropped, c.sets...), result.Complete)
			for _, tr := range []*result.Trial{kept, dropped} {
				checkRestart(t, tr)
			}
			cold, warm := bytesRead(t, dropped), bytesRead(t, kept)
			t.Logf("%.0f KB and %.0f KB", cold, warm)
			expect.True(t, cold >= 64 && warm <= cold/4,
				"KB read after caches were dropped, KB when they were kept", cold, warm)
		})
	}
}

// bytesRead returns the KB read from storage by the step after a restart, with those of the restart
// itself in an engine whose start reads all data.
func bytesRead(t *testing.T, tr *result.Trial) (kb float64) {
	for _, name := range []string{"restart.qr100", "qr100"} {
		r := step(t, tr, name).Find(metric.ProcessReadKB, "", "")
		if r == nil && name != "qr100" && tr.Steps[3].Caches == workload.CachesDropped {
			r = step(t, tr, name).Find(metric.ReadKB, "", "") // other programs' may be in it, too
		}
		if r != nil {
			kb += r.Value * float64(r.N)
		}
	}
	return kb
}

// checkRestart checks the steps of a trial in which the engine has restarted.
func checkRestart(t *testing.T, tr *result.Trial) {
	t.Helper()
	names := []string{"l.i0", "l.x", "restart.qr100", "qr100"}
	for i, name := range names {
		s := &tr.Steps[i]
		expect.True(t, s.Name == name && s.Status == result.Complete && (s.Caches != "") == (i >= 2),
			"step is, caches", s.Name, s.Status, s.Caches, name)
		for _, w := range s.Warnings {
			expect.True(t, w.Code != remark.CounterReset && w.Code != remark.SettingChanged && w.Code != remark.SourceUnknown, s.Name, w)
		}
	}
	r := step(t, tr, "restart.qr100")
	stop, start := value(t, r, "", "", metric.StopS), value(t, r, "", "", metric.StartS)
	expect.True(t, stop > 0 && start > 0 && stop+start <= value(t, r, "", "", metric.DurationS),
		"stopped for s, started for s", stop, start, r.Rows)
	wanted := "begun cold"
	if r.Caches == workload.CachesKept {
		wanted = "begun after a restart, caches kept"
	}
	notes := step(t, tr, "qr100").Notes
	expect.True(t, len(notes) != 0 && strings.HasPrefix(notes[0].Text, wanted), "remarks", notes, wanted)
}

// A closed database is asked for nothing, and opened with what it was opened with before.
func TestRestartCloses(t *testing.T) {
	var closed atomic.Bool
	opened := 0
	s := restartSpec(t, "pebble", workload.CachesKept)
	s = s.with(&faulty{
		open: func() error {
			opened++
			closed.Store(false)
			return nil
		},
		counters: func() error {
			expect.True(t, !closed.Load(), "a closed database was asked for its counters")
			return nil
		},
		close: func() error {
			closed.Store(true)
			time.Sleep(3 * s.Plan.Interval)
			return nil
		},
	})
	run(t, s, result.Complete)
	expect.Equal(t, opened, 2, "opened")
	for _, l := range lines(t, s.Dir, "engine") {
		expect.True(t, l.Step != "restart.qr100" && l.T >= 0, "sampled while it restarted", l)
	}
}

// A setting that is another one after a restart is named with both values.
func TestRestartSetting(t *testing.T) {
	n := 0
	s := restartSpec(t, "bbolt", workload.CachesKept).with(&faulty{settings: func(all []engine.Setting) []engine.Setting {
		n++
		return append(all, engine.Setting{Name: "planted", Value: strconv.Itoa(n), Source: engine.ReadBack},
			engine.Setting{Name: "apart", Value: strconv.Itoa(n), Source: engine.ReadBack, Aside: true})
	}})
	r := step(t, run(t, s, result.Complete), "restart.qr100")
	expect.True(t, len(r.Warnings) != 0 && r.Warnings[0].Text == "setting planted was 1 before the restart and is 2 after it", r.Warnings)
	expect.Lacks(t, fmt.Sprint(r.Warnings), "apart", r.Warnings)
}

// An engine that cannot be opened again ends the trial, as does an interruption meanwhile.
func TestRestartFails(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	opened := 0
	for name, c := range map[string]struct {
		faulty faulty
		status result.Status
		reason string
	}{
		"open": {faulty{open: func() error {
			if opened++; opened > 1 {
				return errors.New("planted")
			}
			return nil
		}}, result.Failed, "start the engine again: planted"},
		"close": {faulty{close: func() error { return errors.New("planted") }}, result.Failed, "stop the engine: planted"},
		"interrupt": {faulty{close: func() error {
			interrupt()
			return nil
		}}, result.Partial, "it was interrupted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := restartSpec(t, "pebble", workload.CachesDropped).with(&c.faulty)
			running := t.Context()
			if c.status == result.Partial {
				running = ctx
			}
			expect.Refused(Run(running, s))(t, "")
			tr := expect.Value(result.ReadTrial(s.Dir))(t)
			expect.True(t, tr.Status == c.status && strings.Contains(tr.Reason, c.reason) && len(tr.Steps) == 2,
				"with steps", tr.Status, tr.Reason, len(tr.Steps))
			if _, err := os.Stat(filepath.Join(s.Dir, result.DataDir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the data were left: %v", err)
			}
		})
	}
}

// A server that dies when it is started again is shown with its own words.
func TestRestartServerDies(t *testing.T) {
	_, err := server.Find(t.Context(), server.MariaDB, server.Source{})
	need.Installed(t, err)
	s := restartSpec(t, "mysql", workload.CachesKept)
	s = s.with(&faulty{close: func() error {
		return os.Truncate(filepath.Join(s.Dir, result.DataDir, "data", "ibdata1"), 4096)
	}})
	tr := run(t, s, result.Failed)
	expect.True(t, strings.Contains(tr.Reason, "start the engine again: ") && strings.Contains(tr.Reason, "InnoDB"),
		"reason", tr.Reason)
}

// keeping is an engine in memory that keeps its rows over a restart.
type keeping struct {
	engine.Engine
	db engine.DB
}

type keptDB struct{ engine.DB }

func (keptDB) Close() error { return nil }

func (k *keeping) Open(ctx context.Context, c engine.Config) (_ engine.DB, err error) {
	if k.db == nil {
		k.db, err = k.Engine.Open(ctx, c)
	}
	return keptDB{k.db}, err
}

// A step that is slow for its first twenty seconds is warm after them, and its first minute has them.
func TestWarmUp(t *testing.T) { synctest.Test(t, testWarmUp) }

func testWarmUp(t *testing.T) {
	s := spec(t, "memory", "params.query_seconds=90", "interval=1s")
	s.coarse = true
	s.Plan.Restart.Before, s.Plan.Restart.Caches = []string{"qr100"}, workload.CachesKept
	k := &keeping{Engine: s.Engine}
	s.Engine = k
	began := time.Time{}
	s = s.with(&faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
		if op.Kind == model.Scan && op.Limit > 1 {
			if began.IsZero() {
				began = time.Now()
			}
			wait := 10 * time.Millisecond
			if time.Since(began) < 20*time.Second {
				wait = 100 * time.Millisecond
			}
			time.Sleep(wait)
		}
		return next()
	}})
	tr := run(t, s, result.Complete)
	k.db.Close()
	q := step(t, tr, "qr100")
	v := value(t, q, "query", "query", metric.WarmS)
	expect.True(t, v >= 19 && v <= 21, "warm after s", v)
	first := row(t, q, "query", "query", metric.FirstMinuteP99US)
	if want := int64(20*10 + 40*100); first.Value < 100e3 || first.N < want*9/10 || first.N > want*11/10 {
		t.Errorf("p99 of the first minute: %+v, want %d operations", first, want)
	}
}

// awaiting is an engine that is opened again when something is true of its server.
type awaiting struct {
	engine.Engine
	opened int
	ready  func(ctx context.Context, db engine.DB) bool
}

func (a *awaiting) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	db, err := a.Engine.Open(ctx, c)
	if a.opened++; err != nil || a.opened == 1 {
		return db, err
	}
	for ctx.Err() == nil && !a.ready(ctx, db) {
		time.Sleep(20 * time.Millisecond)
	}
	return db, ctx.Err()
}

// A buffer pool that is dumped and loaded, or prewarmed, leaves little to read for the step after it.
func TestPrewarm(t *testing.T) {
	need.Long(t)
	for _, c := range []struct {
		name, kind, without, with string
		ready                     func(s Spec) func(context.Context, engine.DB) bool
	}{
		{"mysql", server.MariaDB, "innodb_buffer_pool_load_at_startup: OFF",
			"innodb_buffer_pool_dump_at_shutdown: ON, innodb_buffer_pool_load_at_startup: ON, innodb_buffer_pool_dump_pct: 100",
			func(Spec) func(context.Context, engine.DB) bool {
				return func(ctx context.Context, db engine.DB) (loaded bool) {
					admin := db.(interface{ Admin() *sqlkit.Admin }).Admin()
					err := admin.Query(ctx, "SHOW STATUS LIKE 'Innodb_buffer_pool_load_status'", func(row []string) error {
						loaded = strings.Contains(row[1], "completed")
						return nil
					})
					return err == nil && loaded
				}
			}},
		{"postgres", server.Postgres, "", "shared_preload_libraries: pg_prewarm",
			func(s Spec) func(context.Context, engine.DB) bool {
				return func(context.Context, engine.DB) bool {
					log, err := os.ReadFile(filepath.Join(s.Dir, result.ServerLogFile))
					return err == nil && strings.Contains(string(log), "successfully prewarmed")
				}
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := server.Find(t.Context(), c.kind, server.Source{})
			need.Installed(t, err)
			t.Parallel()
			read := func(options string, await bool) float64 {
				s := restartSpec(t, c.name, workload.CachesDropped, "params.rows=20k", "params.steps=[l.i0, l.x, qr100, qr500]",
					"params.rates=[100, 500]", "restart=qr500", "targets=[{engine: "+c.name+", cache: 64MiB, options: {"+options+"}}]")
				if await {
					s.Engine = &awaiting{Engine: s.Engine, ready: c.ready(s)}
				}
				tr := run(t, s, result.Complete)
				r := row(t, step(t, tr, "qr500"), "", "", metric.ProcessReadKB)
				return r.Value * float64(r.N)
			}
			without, with := read(c.without, false), read(c.with, true)
			t.Logf("%.0f KB without, %.0f KB with", without, with)
			expect.True(t, with <= without/2, "KB were read, and KB without", with, without)
		})
	}
}
