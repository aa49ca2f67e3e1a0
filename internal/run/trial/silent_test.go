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

// stopping is a server that stops, and then answers nothing. A connection whose request was
// given up is lost.
type stopping struct {
	stopped, lost atomic.Bool
	deaf          bool // only its counters do not answer, for some time
}

// wait waits until the server answers.
func (e *stopping) wait(ctx context.Context, op *model.Op) error {
	if op != nil {
		time.Sleep(200 * time.Millisecond)
		if e.deaf {
			return nil
		}
	}
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

// remoteDB is of a server elsewhere.
type remoteDB struct{ engine.DB }

func (remoteDB) Processes() (pids []int, reason string) { return nil, "it is elsewhere" }
func (remoteDB) DataDir() string                        { return "" }
func (remoteDB) Died() error                            { return nil }

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
				e := &stopping{deaf: c.deaf}
				s = s.with(&faulty{wait: e.wait, opened: func(db engine.DB) engine.DB { return remoteDB{db} }})
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
				expect.True(t, strings.Contains(tr.Reason, "step "+c.step+": ") && strings.Contains(tr.Reason, "the server has answered nothing for 2m"), tr.Reason)
				took := tr.Ended.Sub(begun)
				expect.True(t, took <= 3*time.Minute, "it ended after", took)
			})
		})
	}
}

// countingDB is of a server that allows few prepared statements.
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
		s = s.with(&faulty{opened: func(db engine.DB) engine.DB {
			return &countingDB{db, db.(*faultyDB).DB.(engine.Explainer), free}
		}})
		tr, err := Run(context.Background(), s)
		expect.Equal(t, err == nil, tr.Status == result.Complete, tr.Status, err)
		return tr.Reason, hint.Of(err)
	}
	reason, advice := counted(59)
	expect.True(t, strings.Contains(reason, "statements, and the server allows 59 more (max_statements)") && strings.Contains(advice, "raise max_statements"), reason, advice)
	var need int64
	if _, err := fmt.Sscanf(reason[strings.Index(reason, "its clients prepare"):], "its clients prepare %d", &need); err != nil || need%30 != 0 {
		t.Errorf("%d statements, %v", need, err)
	}
	if reason, _ := counted(1 << 20); reason != "" {
		t.Error(reason)
	}
}
