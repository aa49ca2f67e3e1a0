package trial

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/internal/cli/catalog"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/report"
	"rumbench/internal/report/course"
	"rumbench/internal/result"
	"rumbench/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faulty is an engine with planted faults; those that are nil are not planted.
type faulty struct {
	engine.Engine
	open     func() error
	opened   func(engine.DB) engine.DB // wraps what was opened
	session  func() error
	wait     func(context.Context, *model.Op) error // before an operation; settling and counters have none
	settle   func() error
	counters func() error
	settings func([]engine.Setting) []engine.Setting
	close    func() error
	exec     func(op *model.Op, next func() error, r *engine.Result) error
}

func (f *faulty) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	if err := call(f.open); err != nil {
		return nil, err
	}
	db, err := f.Engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	faulty := &faultyDB{db, f}
	if f.opened != nil {
		return f.opened(faulty), nil
	}
	return faulty, nil
}

// await waits before something is done.
func (f *faulty) await(ctx context.Context, op *model.Op) error {
	if f.wait == nil {
		return nil
	}
	return f.wait(ctx, op)
}

func call(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

type faultyDB struct {
	engine.DB
	f *faulty
}

func (d *faultyDB) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	if err := errors.Join(d.f.await(ctx, nil), call(d.f.settle)); err != nil {
		return nil, err
	}
	return d.DB.Settle(ctx)
}

func (d *faultyDB) Counters(ctx context.Context, s *engine.Sample) error {
	if err := errors.Join(d.f.await(ctx, nil), call(d.f.counters)); err != nil {
		return err
	}
	return d.DB.Counters(ctx, s)
}

func (d *faultyDB) Settings(ctx context.Context) ([]engine.Setting, error) {
	all, err := d.DB.Settings(ctx)
	if d.f.settings != nil {
		all = d.f.settings(all)
	}
	return all, err
}

func (d *faultyDB) Close() error {
	err := d.DB.Close()
	if ferr := call(d.f.close); ferr != nil {
		return ferr
	}
	return err
}

func (d *faultyDB) Session(ctx context.Context) (engine.Session, error) {
	if err := call(d.f.session); err != nil {
		return nil, err
	}
	s, err := d.DB.Session(ctx)
	return &faultySession{s, d.f}, err
}

type faultySession struct {
	engine.Session
	f *faulty
}

func (s *faultySession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	st, err := s.Session.Prepare(ctx, op)
	if s.f.exec == nil && s.f.wait == nil {
		return st, err
	}
	return &faultyStmt{st, op, s.f}, err
}

type faultyStmt struct {
	engine.Stmt
	op *model.Op
	f  *faulty
}

func (s *faultyStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	next := func() error { return s.Stmt.Exec(ctx, args, r) }
	if err := s.f.await(ctx, s.op); err != nil {
		return err
	}
	if s.f.exec == nil {
		return next()
	}
	return s.f.exec(s.op, next, r)
}

// every makes a function that is true at each nth call, from any goroutine.
func every(n int64) func() bool {
	var calls atomic.Int64
	return func() bool { return calls.Add(1)%n == 0 }
}

// small is a plan of three steps on 2000 rows.
const small = `
workload: ibench
params: {rows: 2k, steps: [l.i0, l.x, qr100], rates: [100], query_seconds: 0.5, settle_floor: 0s}
interval: 100ms
calibrate: false
`

// spec makes a trial of an engine, with overrides of the plan.
func spec(t *testing.T, name string, sets ...string) Spec {
	t.Helper()
	src := small + "targets: [{engine: " + name
	if name == "memory" || name == "null" {
		src += ", durability: none"
	}
	return planOf(t, src+"}]\n", sets...)
}

// planOf makes the first trial of the first target of a plan.
func planOf(t *testing.T, src string, sets ...string) Spec {
	t.Helper()
	p := expect.Value(plan.Load("test.yaml", []byte(src), sets, catalog.Plugins{}))(t)
	e, _ := catalog.Plugins{}.Engine(p.Targets[0].Engine)
	return Spec{Dir: t.TempDir(), Plan: p, Target: p.Targets[0], Trial: 1, Engine: e, Version: "test"}
}

// with plants faults.
func (s Spec) with(f *faulty) Spec {
	f.Engine = s.Engine
	s.Engine = f
	return s
}

// run runs a trial that is to end with a status, and reads back its result.
func run(t *testing.T, s Spec, want result.Status) *result.Trial {
	t.Helper()
	_, err := Run(context.Background(), s)
	expect.Equal(t, err == nil, want == result.Complete, "of a trial that was to be", err, want)
	tr := expect.Value(result.ReadTrial(s.Dir))(t)
	expect.Must(t, tr.Status == want && tr.Ended != nil && (want == result.Complete) == (tr.Reason == ""),
		"status", tr.Status, tr.Reason, "want", want)
	expect.Refused(os.Stat(filepath.Join(s.Dir, result.DataDir)))(t, "", "data was left behind")
	return tr
}

func step(t *testing.T, tr *result.Trial, name string) *result.Step {
	t.Helper()
	for i := range tr.Steps {
		if tr.Steps[i].Name == name {
			return &tr.Steps[i]
		}
	}
	t.Fatalf("there is no step %s", name)
	return nil
}

// value returns the number of a row that must be there.
func value(t *testing.T, s *result.Step, group, op, metric string) float64 {
	t.Helper()
	return row(t, s, group, op, metric).Value
}

func row(t *testing.T, s *result.Step, group, op, metric string) *metric.Row {
	t.Helper()
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Group == group && r.Op == op && r.Metric == metric {
			return r
		}
	}
	t.Fatalf("step %s has no row %s of group %q, operation %q", s.Name, metric, group, op)
	return nil
}

func has(list []string, part string) bool {
	for _, s := range list {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}

// page returns the report on a trial.
func page(t *testing.T, dir string, tr *result.Trial) string {
	t.Helper()
	var b strings.Builder
	in := report.Input{Title: "test", Trials: []report.Trial{{Trial: tr, Series: func(yield func(result.Line) error) error {
		return result.ReadSeries(dir, course.Sources, yield)
	}}}}
	expect.NoError(t, report.HTML(&b, in))
	return b.String()
}

// lines reads the series of a source.
func lines(t *testing.T, dir, source string) (out []result.Line) {
	t.Helper()
	err := result.ReadSeries(dir, []string{source}, func(l result.Line) error {
		out = append(out, l)
		return nil
	})
	expect.NoError(t, err)
	return out
}

func dump(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
