package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/model"
)

// takes is how long an operation takes in simulated time, which passes only while
// everything sleeps.
func takes(op *model.Op) time.Duration {
	if op.Kind == model.Scan {
		return time.Millisecond
	}
	return 0
}

// An insert that takes three seconds makes those that were due meanwhile late,
// and all of that is seen; that the rate was held on average is seen, too.
func TestStall(t *testing.T) { synctest.Test(t, testStall) }

func testStall(t *testing.T) {
	const length = 3 * time.Second
	var inserts atomic.Int64
	s := spec(t, "memory", "params.steps=[l.i0, l.x, qr500]", "params.rates=[500]", "params.query_seconds=8")
	s.coarse = true
	s = s.with(&faulty{
		exec: func(op *model.Op, next func() error, _ *engine.Result) error {
			// 20 inserts by l.i0 and one by l.x come before.
			if op.Kind == model.Insert && inserts.Add(1) == 20+1+15 {
				time.Sleep(length)
			}
			time.Sleep(takes(op))
			return next()
		},
	})
	tr := run(t, s, result.Complete)
	q := step(t, tr, "qr500")

	us := float64(length.Microseconds())
	for _, metric := range []string{"service_max_us", "response_max_us", "response_p99_us"} {
		if v := value(t, q, "insert", "insert", metric); v < us {
			t.Errorf("%s is %.0f µs", metric, v)
		}
	}
	// The operations that waited: about thirty of eighty. One of them was slow.
	if v := value(t, q, "insert", "insert", "response_p95_us"); v < us*0.7 {
		t.Errorf("response_p95_us is %.0f µs: waiting was left out", v)
	}
	if r, s := value(t, q, "insert", "insert", "response_p95_us"), value(t, q, "insert", "insert", "service_p95_us"); s >= r {
		t.Errorf("service_p95_us is %.0f µs, response_p95_us %.0f µs", s, r)
	}
	if v := value(t, q, "insert", "insert", "lateness_max_us"); v < us*0.7 {
		t.Errorf("lateness_max_us is %.0f µs", v)
	}

	if v := value(t, q, "insert", "", "stalls"); v < 1 {
		t.Errorf("%v stalls", v)
	}
	for _, metric := range []string{"stall_s", "stall_longest_s"} {
		if v := value(t, q, "insert", "", metric); v < 2 {
			t.Errorf("%s is %v", metric, v)
		}
	}
	found := false
	for _, span := range q.Stalls {
		found = found || span.Group == "insert" && span.To-span.From >= 2 && span.From > 0 && span.To <= q.Seconds
	}
	expect.True(t, found, "stalls", q.Stalls)

	sla := q.Promise(q.Groups[0].Name)
	expect.True(t, sla.Met && !sla.Saturated && sla.Share < 0.8 && sla.Worst == 0 && sla.MaxLateness >= 2,
		"SLA", sla)
	expect.Equal(t, value(t, q, "insert", "", "sla_met"), 1, "sla_met is")
	if html := page(t, s.Dir, tr); !strings.Contains(html, "Stall") || !strings.Contains(html, `"stalls":[{`) {
		t.Error("the report does not show the stall")
	}
}

// An engine that cannot hold the rate makes what ran beside it not comparable.
func TestSaturation(t *testing.T) { synctest.Test(t, testSaturation) }

func testSaturation(t *testing.T) {
	s := spec(t, "memory", "params.steps=[l.i0, l.x, qr1000]", "params.rates=[1000]", "params.query_seconds=1")
	s.coarse = true
	s = s.with(&faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
		if op.Kind == model.Insert && op.Rows == 50 {
			time.Sleep(150 * time.Millisecond) // 20 a second are promised
		}
		time.Sleep(takes(op))
		return next()
	}})
	tr := run(t, s, result.Complete)
	q := step(t, tr, "qr1000")
	expect.Equal(t, value(t, q, "insert", "", "sla_met"), 0, "sla_met is")
	expect.Equal(t, value(t, q, "insert", "", "saturated"), 1, "saturated is")
	sla := q.Promise("insert")
	expect.True(t, !sla.Met && sla.Saturated && sla.Target == 1000 && sla.Achieved <= 1000.0/3+1, "SLA", sla)
	expect.True(t, has(metric.Texts(q.Warnings), "SLA missed: group insert was to do 1000/s") && has(metric.Texts(q.Warnings), "saturated: group insert"), q.Warnings)
	for _, name := range []string{"rows_per_s", "ops_per_s", "service_p50_us", "service_max_us"} {
		if r := row(t, q, "query", "query", name); !has(metric.Texts(r.Warnings), "not comparable") {
			t.Errorf("%s of the queries carries no warning: %q", name, r.Warnings)
		}
	}
	if html := page(t, s.Dir, tr); !strings.Contains(html, "SLA missed") || !strings.Contains(html, "saturated") || !strings.Contains(html, "not comparable") {
		t.Error("the report does not show the missed promise")
	}
}

// An engine that says that it deleted rows, and did not, is found out.
func TestLostDeletes(t *testing.T) {
	s := spec(t, "memory").with(&faulty{exec: func(op *model.Op, next func() error, r *engine.Result) error {
		if op.Kind == model.DeleteLowest {
			r.Reset()
			r.Rows = int64(op.Rows)
			return nil
		}
		return next()
	}})
	tr := run(t, s, result.Invalid)
	q := step(t, tr, "qr100")
	expect.True(t, q.Status == result.Invalid && has(metric.Texts(q.Warnings), "wrong result: the tables hold "),
		"step", q.Status, q.Warnings)
	expect.Contains(t, tr.Reason, "step qr100: wrong result: ", "reason")
	for _, name := range []string{"l.i0", "l.x"} {
		expect.Equal(t, step(t, tr, name).Status, result.Complete, "step", name)
	}
}

// An engine that loses rows that it said it had inserted is found out at once.
func TestLostInserts(t *testing.T) {
	lose := every(7)
	s := spec(t, "memory").with(&faulty{exec: func(op *model.Op, next func() error, r *engine.Result) error {
		if op.Kind == model.Insert && lose() {
			r.Reset()
			r.Rows = int64(op.Rows)
			return nil
		}
		return next()
	}})
	tr := run(t, s, result.Invalid)
	if s := step(t, tr, "l.i0"); s.Status != result.Invalid || !has(metric.Texts(s.Warnings), "the tables hold 1800 rows; 0 at the start, 2000 inserted and 0 deleted make 2000") {
		t.Errorf("step %s: %q", s.Status, s.Warnings)
	}
}

// Failed operations are counted apart from those done, and too many make the
// step invalid.
func TestConflicts(t *testing.T) {
	for _, c := range []struct {
		allowed string
		want    result.Status
	}{{"0.5", result.Complete}, {"0.01", result.Invalid}, {"0", result.Invalid}} {
		t.Run(c.allowed, func(t *testing.T) {
			conflict := every(5)
			s := spec(t, "memory", "params.steps=[l.i0]", "errors_allowed="+c.allowed).with(&faulty{
				exec: func(op *model.Op, next func() error, _ *engine.Result) error {
					if op.Kind == model.Insert && conflict() {
						return engine.Errorf(engine.Conflict, "try again")
					}
					return next()
				},
			})
			tr := run(t, s, c.want)
			l := step(t, tr, "l.i0")
			// 20 batches: every fifth attempt failed and was made again.
			expect.Equal(t, value(t, l, "insert", "insert", "rows"), 2000, "rows")
			errs := row(t, l, "insert", "", "errors")
			expect.True(t, errs.Value == 4 && errs.N == 24 && has(metric.Texts(errs.Warnings), "4 × conflict, first: try again"), errs)
			expect.True(t, row(t, l, "insert", "insert", "service_p99_us").N == 20,
				"failed operations are in the latencies")
			expect.True(t, has(metric.Texts(l.Warnings), "group insert: 4 failed operations"), "warnings", l.Warnings)
			expect.True(t, c.want != result.Invalid || l.Status == result.Invalid && strings.Contains(tr.Reason, "errors_allowed"), l.Status, tr.Reason)
			var sum int64
			for _, line := range lines(t, s.Dir, "ops") {
				sum += line.Errors
			}
			expect.Equal(t, sum, 4, "the series shows")
		})
	}
}

var errPlanted = errors.New("planted")

func fail() error { return errPlanted }

func TestOpenFails(t *testing.T) {
	s := spec(t, "memory").with(&faulty{open: func() error { return syscall.EACCES }})
	tr := run(t, s, result.Failed)
	expect.True(t, strings.Contains(tr.Reason, "open memory: permission denied") && strings.Contains(tr.Hint, "who may write") && len(tr.Steps) == 0, tr.Reason, tr.Hint, len(tr.Steps))
}

func TestSettleFails(t *testing.T) {
	s := spec(t, "memory", "params.steps=[l.i0, settle, qr100]").with(&faulty{settle: fail})
	tr := run(t, s, result.Failed)
	expect.True(t, tr.Reason == "step settle: settle: planted" && len(tr.Steps) == 1 && tr.Steps[0].Status == result.Complete, tr.Reason, dump(tr.Steps))
}

func TestCloseFails(t *testing.T) {
	tr := run(t, spec(t, "memory", "params.steps=[l.i0]").with(&faulty{close: fail}), result.Failed)
	expect.True(t, tr.Reason == "planted" && len(tr.Steps) == 1 && tr.Steps[0].Status == result.Complete,
		"reason, steps", tr.Reason, dump(tr.Steps))
}

// Counters that cannot be read are missing, with a warning; all else is there.
func TestCountersFail(t *testing.T) {
	tr := run(t, spec(t, "memory").with(&faulty{counters: fail}), result.Complete)
	for _, s := range tr.Steps {
		expect.True(t, has(metric.Texts(s.Warnings), "no figures of source engine: planted"),
			"step", s.Name, s.Warnings)
		for _, c := range s.Counters {
			expect.True(t, !strings.HasPrefix(c.Name, "memory."), "step: where is from?", s.Name, c.Name)
		}
	}
	value(t, step(t, tr, "qr100"), "", "", "server_cpu_us")
}

// An error that ends a step leaves its numbers up to then.
func TestFatalError(t *testing.T) {
	var inserts atomic.Int64
	s := spec(t, "memory", "params.steps=[l.i0]").with(&faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
		if op.Kind == model.Insert && inserts.Add(1) > 15 {
			return &os.PathError{Op: "write", Path: "data", Err: syscall.ENOSPC}
		}
		return next()
	}})
	tr := run(t, s, result.Failed)
	expect.True(t, strings.Contains(tr.Reason, "step l.i0: group insert, client 0: write data: no space left on device") && strings.Contains(tr.Hint, "disk is full"), tr.Reason, tr.Hint)
	l := step(t, tr, "l.i0")
	expect.True(t, l.Status == result.Failed && value(t, l, "insert", "insert", "rows") == 1500 && value(t, l, "insert", "", "errors") == 1, dump(l))
}

// A trial that is ended early keeps what it measured.
func TestEndedEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := spec(t, "bbolt", "params.query_seconds=600")
	s.Progress = func(e Event) {
		if e.Step == "qr100" && e.Elapsed > 0.5 {
			cancel()
		}
	}
	expect.Refused(Run(ctx, s))(t, "")
	tr := expect.Value(result.ReadTrial(s.Dir))(t)
	q := step(t, tr, "qr100")
	expect.True(t, tr.Status == result.Partial && q.Status == result.Partial && q.Seconds >= 0.4 && q.Promise("insert") != nil, tr.Status, q.Status, q.Seconds)
	value(t, q, "query", "query", "service_p99_us")
	value(t, q, "", "", "server_cpu_us")
	expect.Refused(os.Stat(filepath.Join(s.Dir, result.DataDir)))(t, "", "data was left behind")
}

// A disk without room for the series ends the trial soon, not after the step.
func TestSeriesCannotBeWritten(t *testing.T) {
	s := spec(t, "memory", "params.query_seconds=600")
	expect.NoError(t, os.Symlink("/dev/full", filepath.Join(s.Dir, result.SeriesFile)))
	tr := run(t, s, result.Failed)
	expect.True(t, strings.Contains(tr.Reason, "no space left on device") && strings.Contains(tr.Hint, "disk is full"),
		"reason, hint", tr.Reason, tr.Hint)
}

// Two processes do not run the same trial.
func TestLocked(t *testing.T) {
	s := spec(t, "memory", "params.steps=[l.i0]")
	log := expect.Value(result.LockLog(s.Dir))(t)
	defer log.Close()
	expect.Refused(Run(context.Background(), s))(t, "it is being run by another process")
	entries, _ := os.ReadDir(s.Dir)
	expect.True(t, len(entries) == 1, "something was written", entries)
}

// Data of the user is worked on in place and left there.
func TestDataOfTheUser(t *testing.T) {
	data := t.TempDir()
	load := spec(t, "bbolt", "params.steps=[l.i0, l.x]")
	load.Target.Data = data
	run(t, load, result.Complete)
	query := spec(t, "bbolt", "params.steps=[qr100]")
	query.Target.Data = data
	tr := run(t, query, result.Complete)
	expect.Equal(t, value(t, step(t, tr, "qr100"), "", "", "live_rows"), 2100, "rows")
	// Also where it fails.
	again := spec(t, "bbolt", "params.steps=[l.i0]")
	again.Target.Data = data
	if tr := run(t, again, result.Failed); !strings.Contains(tr.Reason, "create the tables") {
		t.Errorf("reason %q", tr.Reason)
	}
	if entries, err := os.ReadDir(data); err != nil || len(entries) == 0 {
		t.Errorf("the data: %v, %v", entries, err)
	}
	// What an interrupted run has changed is said.
	query.Dir, query.Trial = filepath.Join(t.TempDir(), "x"), 1
	for _, dir := range []string{query.Dir, query.Dir + ".partial1"} {
		expect.NoError(t, os.Mkdir(dir, 0o755))
	}
	if tr := run(t, query, result.Complete); !has(metric.Texts(tr.Warnings), "the data was changed by an earlier run") {
		t.Errorf("warnings %q", tr.Warnings)
	}
}
