package trial

import (
	"errors"
	"sync/atomic"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/model"
	"rumbench/workload"
)

// preflown makes a preflight of a plan.
func preflown(s Spec) Spec {
	s.Preflight = true
	return s
}

// Every workload runs briefly, whatever its size, on engines of every kind.
func TestPreflight(t *testing.T) {
	for i, c := range []struct {
		workload, params string
		steps            []string
	}{
		{"ibench", "rows: 800M, clients: 40, rates: [100, 1000]", []string{"l.i0", "l.x", "l.i1", "l.i2", "settle", "qr100", "qp100", "qr1000", "qp1000"}},
		{"ibench", "form: 2016, rows: 800M, rates: [100]", []string{"l", "q100"}},
		{"rollup", "rows: 800M, stages: 9", []string{"insert-1", "insert-9"}},
		{"sysbench", "table_size: 10M, tables: [1, 9], clients: [1, 1024], tests: [oltp_read_write, ratio, delete], warmup_seconds: 5",
			[]string{"load", "index", "settle", "oltp_read_write@9t.1024c", "ratio@1r.9t.1024c", "delete@9t.1024c"}},
	} {
		for j, name := range []string{"null", "memory", "bbolt", "sqlite"} {
			t.Run(c.workload+" on "+name, func(t *testing.T) {
				if (i+j)%2 > 0 {
					need.Long(t)
				}
				tr := run(t, preflown(planOf(t, "workload: "+c.workload+"\nparams: {"+c.params+"}\ncalibrate: false\n"+
					"targets: [{engine: \""+name+"\", durability: none}]\n")), result.Complete)
				var got []string
				for i := range tr.Steps {
					got = append(got, tr.Steps[i].Name)
				}
				expect.Same(t, c.steps, got)
			})
		}
	}
}

// A few operations are enough, but each kind is executed.
func TestPreflightExecutesAll(t *testing.T) {
	var done [256]atomic.Int64
	s := preflown(spec(t, "memory", allSteps, "params.rows=1M", "params.write_rows=100k", "params.settle_floor=1h")).with(&faulty{
		exec: func(op *model.Op, next func() error, _ *engine.Result) error {
			done[op.Kind].Add(1)
			return next()
		}})
	run(t, s, result.Complete)
	for _, kind := range []model.Kind{model.Insert, model.DeleteLowest, model.Get, model.Scan} {
		n := done[kind].Load()
		expect.True(t, n != 0 && n <= 2000, "was executed times", kind, n)
	}
}

// What fails is named with its step and the engine's own words.
func TestPreflightFails(t *testing.T) {
	boom := errors.New("out of cheese")
	fails := func(kind model.Kind, err error) *faulty {
		return &faulty{exec: func(op *model.Op, next func() error, _ *engine.Result) error {
			if op.Kind == kind {
				return err
			}
			return next()
		}}
	}
	for _, c := range []struct {
		name  string
		f     *faulty
		words []string
	}{
		{"open", &faulty{open: func() error { return boom }}, []string{"open memory: out of cheese"}},
		{"settle", &faulty{settle: func() error { return boom }}, []string{"step settle: settle: out of cheese"}},
		{"operation", fails(model.Get, boom), []string{"step qp100: group query, client 0: ", "out of cheese"}},
		{"always a timeout", fails(model.Get, engine.Classify(engine.Timeout, boom)), []string{"step qp100: group query", "out of cheese"}},
		{"few rows", &faulty{exec: func(op *model.Op, next func() error, r *engine.Result) error {
			err := next()
			if op.Kind == model.Insert {
				r.Rows--
			}
			return err
		}}, []string{"step l.i0: group insert: ", "rows were not changed that should have been"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := run(t, preflown(spec(t, "memory", allSteps)).with(c.f), result.Failed)
			for _, w := range c.words {
				expect.Contains(t, tr.Reason, w)
			}
		})
	}
}

// As many sessions are opened as the trial will need.
func TestPreflightConnects(t *testing.T) {
	s := preflown(spec(t, "memory", "params.clients=30"))
	var opened atomic.Int64
	s = s.with(&faulty{session: func() error {
		if opened.Add(1) > 50 {
			return errors.New("too many")
		}
		return nil
	}})
	tr := run(t, s, result.Failed) // of 30 inserters, deleters and queriers
	expect.Contains(t, tr.Reason, "open a session for each of 90 clients: at number 51: too many")
}

// Steps are shortened to closed loops of few clients, and none is run twice.
func TestBrief(t *testing.T) {
	steps := []workload.Step{
		{Name: "load", Groups: []workload.Group{{Clients: 8, Work: 1000}}},
		{Name: "index", Whole: true, Groups: []workload.Group{{Clients: 8, Work: 1000}}},
		{Name: "a.warmup", Warmup: true},
		{Name: "a@1c", Base: "a"},
		{Name: "a@2c", Base: "a", Seconds: 60, Groups: []workload.Group{
			{Clients: 1, Rate: 5, Ops: make([]workload.OpKind, 3)}, {Clients: 9, Work: 3, Ops: []workload.OpKind{{}, {Upkeep: true}}},
		}},
	}
	want := []workload.Step{
		{Name: "load", Groups: []workload.Group{{Clients: 2, Work: preflightOps}}},
		steps[1],
		{Name: "a@2c", Base: "a", Groups: []workload.Group{
			{Clients: 1, Work: preflightDraws, Ops: make([]workload.OpKind, 3)}, {Clients: 2, Work: 3, Ops: steps[4].Groups[1].Ops},
		}},
	}
	expect.Same(t, want, brief(steps, preflightClients))
	expect.Equal(t, steps[0].Groups[0].Clients, 8, "the plan's own steps were changed")
}
