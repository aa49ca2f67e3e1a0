package trial

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// stopping is an engine on a server that stops, and then answers nothing. A connection
// whose request was given up is lost.
type stopping struct {
	engine.Engine
	stopped, lost atomic.Bool
	deaf          bool // only its counters do not answer, for some time
}

func (e *stopping) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	db, err := e.Engine.Open(ctx, c)
	return &stoppingDB{db, e}, err
}

// wait waits until the server answers.
func (e *stopping) wait(ctx context.Context) error {
	if e.lost.Load() {
		return engine.Errorf(engine.Gone, "the connection is lost")
	}
	for e.stopped.Load() {
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			e.lost.Store(true)
			return ctx.Err()
		}
	}
	return nil
}

type stoppingDB struct {
	engine.DB
	e *stopping
}

func (*stoppingDB) Processes() (pids []int, reason string) { return nil, "it is elsewhere" }
func (*stoppingDB) DataDir() string                        { return "" }
func (*stoppingDB) Died() error                            { return nil }

func (d *stoppingDB) Counters(ctx context.Context, s *engine.Sample) error {
	if err := d.e.wait(ctx); err != nil {
		return err
	}
	return d.DB.Counters(ctx, s)
}

func (d *stoppingDB) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	if err := d.e.wait(ctx); err != nil {
		return nil, err
	}
	return d.DB.Settle(ctx)
}

func (d *stoppingDB) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.DB.Session(ctx)
	return &stoppingSession{s, d.e}, err
}

type stoppingSession struct {
	engine.Session
	e *stopping
}

func (s *stoppingSession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	st, err := s.Session.Prepare(ctx, op)
	return &stoppingStmt{st, s.e}, err
}

type stoppingStmt struct {
	engine.Stmt
	e *stopping
}

func (s *stoppingStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if !s.e.deaf {
		if err := s.e.wait(ctx); err != nil {
			return err
		}
	}
	time.Sleep(200 * time.Millisecond)
	return s.Stmt.Exec(ctx, args, r)
}

// A server that stops ends the step when it has answered nothing for long, whatever the
// step waits for; one whose operations go on does not.
func TestServerStops(t *testing.T) {
	for _, c := range []struct {
		step string
		sets []string
		deaf bool
	}{
		{"l.i0", []string{"params.rows=1M"}, false},
		{"qr100", []string{"params.query_seconds=3600"}, false},
		{"settle", []string{"params.steps=[l.i0, settle]", "params.settle_floor=1h"}, false},
		{"qr100", []string{"params.query_seconds=300"}, true},
	} {
		t.Run(fmt.Sprint(c.step, c.deaf), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := spec(t, "memory", append(c.sets, "interval=5s")...)
				s.coarse = true
				e := &stopping{Engine: s.Engine, deaf: c.deaf}
				s.Engine = e
				var begun time.Time
				s.Progress = func(ev Event) {
					if ev.Step == c.step && ev.Phase == PhaseBegin {
						begun = time.Now()
						time.AfterFunc(time.Second, func() { e.stopped.Store(true) })
					}
				}
				if c.deaf {
					time.AfterFunc(3*time.Minute, func() { e.stopped.Store(false) })
					if tr := run(t, s, result.Complete); !tr.Unseen {
						t.Error("its machine is not unknown")
					}
					return
				}
				tr := run(t, s, result.Failed)
				if !strings.Contains(tr.Reason, "step "+c.step+": ") || !strings.Contains(tr.Reason, "the server has answered nothing for 2m") {
					t.Errorf("%s", tr.Reason)
				}
				took := tr.Ended.Sub(begun)
				expect.True(t, took <= 3*time.Minute, "it ended after", took)
			})
		})
	}
}

// counting is an engine whose server allows few prepared statements.
type counting struct {
	engine.Engine
	free int64
}

func (e *counting) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	db, err := e.Engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &countingDB{db, db.(engine.Explainer), e.free}, nil
}

type countingDB struct {
	engine.DB
	engine.Explainer
	free int64
}

func (d *countingDB) FreeStatements(context.Context) (int64, string, error) {
	return d.free, "max_statements", nil
}

// A step whose clients prepare more statements than the server allows is refused before
// the load. Statements that begin and end transactions do not count.
func TestPreflightCountsStatements(t *testing.T) {
	// 30 clients insert, 30 delete, 30 query: each prepares what two prepare in the preflight.
	counted := func(free int64) (string, string) {
		s := preflown(spec(t, "sqlite", "params.clients=30", "params.steps=[l.i0, l.x, qr100]"))
		s.Engine = &counting{s.Engine, free}
		tr, err := Run(context.Background(), s)
		expect.Equal(t, err == nil, tr.Status == result.Complete, tr.Status, err)
		return tr.Reason, hint.Of(err)
	}
	reason, advice := counted(59)
	if !strings.Contains(reason, "statements, and the server allows 59 more (max_statements)") || !strings.Contains(advice, "raise max_statements") {
		t.Errorf("%q, hint %q", reason, advice)
	}
	var need int64
	if _, err := fmt.Sscanf(reason[strings.Index(reason, "its clients prepare"):], "its clients prepare %d", &need); err != nil || need%30 != 0 {
		t.Errorf("%d statements, %v", need, err)
	}
	if reason, _ := counted(1 << 20); reason != "" {
		t.Error(reason)
	}
}
