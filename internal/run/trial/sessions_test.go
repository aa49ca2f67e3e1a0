package trial

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/result"
	"rumbench/internal/server"
	"rumbench/model"
	"rumbench/workload"
)

// counters is a workload of one step: clients all add to one row of a table, and hold it
// for a statement more.
type counters struct {
	clients int
	seconds float64
}

const counterRows = 100

var counterTable = model.Table{Name: "counter", Key: []string{"id"},
	Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int, NotNull: true}}}

func (c counters) Schema() model.Schema      { return model.Schema{Tables: []model.Table{counterTable}} }
func (c counters) Needs() []model.Capability { return nil }
func (c counters) Estimate([]workload.Step) workload.Live {
	return workload.Live{Rows: counterRows, Bytes: 1600}
}
func (c counters) Steps() []workload.Step {
	return []workload.Step{{Name: "count", Creates: true, Seconds: c.seconds, Primary: "add", WritesPer: "add", Open: c.open,
		Groups: []workload.Group{{Name: "add", Clients: c.clients, Ops: []workload.OpKind{{Name: "add", Unit: "row"}}}}}}
}

func (c counters) open(ctx context.Context, env workload.Env) (workload.Stage, error) {
	s, err := env.DB.Session(ctx)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	insert, err := s.Prepare(ctx, &model.Op{Kind: model.Insert, Table: "counter", Columns: []string{"id", "n"}, Rows: 1})
	if err != nil {
		return nil, err
	}
	var r engine.Result
	for i := range int64(counterRows) {
		if err := insert.Exec(ctx, []model.Value{model.IntValue(i), model.IntValue(0)}, &r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c counters) Finish(context.Context, workload.Totals) (workload.Finding, error) {
	return workload.Finding{Live: c.Estimate(nil)}, nil
}

func (c counters) Client(ctx context.Context, seat workload.Seat) (workload.Client, error) {
	a := &adder{}
	ops := []model.Op{{Kind: model.Begin}, {Kind: model.Update, Table: "counter", Set: []model.Assign{{Column: "n", Add: true}}},
		{Kind: model.Get, Table: "counter", Columns: []string{"n"}}, {Kind: model.Commit}}
	for i := range ops {
		st, err := seat.Session.Prepare(ctx, &ops[i])
		if err != nil {
			return nil, err
		}
		a.stmts = append(a.stmts, st)
	}
	return a, nil
}

// adder adds one to the first row and reads it, in a transaction.
type adder struct{ stmts []engine.Stmt }

func (a *adder) Do(ctx context.Context, out *workload.Outcome) error {
	var r engine.Result
	for i, args := range [][]model.Value{nil, {model.IntValue(1), model.IntValue(0)}, {model.IntValue(0)}, nil} {
		if err := a.stmts[i].Exec(ctx, args, &r); err != nil {
			return err
		}
	}
	out.Rows, out.Bytes = 1, 16
	return nil
}

// countOn runs the workload on a real server.
func countOn(t *testing.T, engineName string, c counters) *result.Step {
	t.Helper()
	kind := map[string]string{"mysql": server.MariaDB, "postgres": server.Postgres}[engineName]
	_, err := server.Find(t.Context(), kind, server.Source{})
	need.Installed(t, err)
	s := spec(t, engineName)
	s.Dir, s.Plan.Run, s.Target.Config.Schema = need.TempDir(t), c, c.Schema()
	return step(t, run(t, s, result.Complete), "count")
}

// shares returns the shares of the sessions' time by role.
func shares(t *testing.T, s *result.Step) map[string]float64 {
	t.Helper()
	out, sum, detail := map[string]float64{}, 0.0, 0.0
	for _, r := range s.Rows {
		switch {
		case r.Metric != metric.WaitShare:
			continue
		case r.Whole():
			out[r.Op] = r.Value
			sum += r.Value
		default:
			detail += r.Value
		}
		expect.True(t, r.Value > 0 && r.N > 0 && r.Source != "", r)
	}
	expect.True(t, math.Abs(sum-1) <= 1e-9 && math.Abs(detail-1) <= 1e-9,
		"the shares sum to, in detail to", sum, detail)
	return out
}

// Clients that all want one row wait for it, and not for their client.
func TestLockBound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postgres", "mysql"} {
		t.Run(name, func(t *testing.T) {
			if name != "postgres" {
				need.Long(t)
			}
			s := countOn(t, name, counters{clients: 16, seconds: 2})
			by := shares(t, s)
			t.Log(by, value(t, s, "add", "add", "rows_per_s"), s.Notes, s.Warnings)
			for role, share := range by {
				expect.True(t, share <= by["row lock"],
					"they waited of their time for the row, and for", by["row lock"], share, role)
			}
			expect.True(t, !has(metric.Texts(s.Warnings), "the client was the bottleneck"), s.Warnings)
			client := row(t, s, "", "", "client_share")
			expect.Near(t, client.Value, by["client"], 1e-9, "the client's share")
			expect.True(t, client.N >= 1, client.N, "sessions were seen")
			// All time is reported: of 16 sessions, per row.
			sum := 0.0
			for _, r := range s.Rows {
				if r.Metric == "wait_us" {
					sum += r.Value
				}
			}
			all := 16 * s.Seconds * 1e6 / value(t, s, "add", "add", "rows")
			expect.True(t, math.Abs(sum/all-1) <= 0.1, "µs per row, not", sum, all)
		})
	}
}

// A single client is never reported as the bottleneck, however long its round trips are.
func TestOneClient(t *testing.T) {
	s := countOn(t, "postgres", counters{clients: 1, seconds: 1})
	for _, text := range metric.Texts(append(s.Warnings, s.Notes...)) {
		expect.Lacks(t, text, "the client was the bottleneck")
		expect.Lacks(t, text, "the server waited for its clients")
	}
}

// What the end of a window takes is not looked at.
func TestLooksEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(fakeSampler{resting: 1})
		s.begin(t.Context(), nil)
		s.client = func() (*time.Duration, *account.Busiest) {
			time.Sleep(time.Second)
			return nil, nil
		}
		time.Sleep(3*account.LookEvery + account.LookEvery/2)
		if s.end(); s.Looks != 3 {
			t.Errorf("%d looks, not 3", s.Looks)
		}
	})
}

// fakeSampler returns the same in every look.
type fakeSampler map[engine.SessionActivity]int

func (f fakeSampler) Source() string { return "fake" }
func (f fakeSampler) Close() error   { return nil }
func (f fakeSampler) Sample(_ context.Context, add func(engine.SessionActivity, int)) error {
	if f == nil {
		return fmt.Errorf("the server is busy")
	}
	for d, n := range f {
		add(d, n)
	}
	return nil
}

var (
	resting = engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "idle"}
	working = engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU}
	locked  = engine.SessionActivity{State: engine.Waiting, Role: engine.RoleRow, Event: "Lock:tuple"}
)

func looked(closed, looks int, each fakeSampler) *sessions {
	s := newSessions(each)
	s.Closed = closed
	for range looks {
		s.look(context.Background(), context.Background())
	}
	return s
}

func TestLook(t *testing.T) {
	for _, c := range []struct {
		name   string
		closed int
		see    fakeSampler
		want   map[engine.SessionActivity]int64
	}{
		{"all clients", 3, fakeSampler{resting: 1, working: 2}, map[engine.SessionActivity]int64{resting: 1, working: 2}},
		{"a connection for definitions rests", 3, fakeSampler{resting: 2, working: 2}, map[engine.SessionActivity]int64{resting: 1, working: 2}},
		{"it works in place of a client", 2, fakeSampler{resting: 2, working: 1}, map[engine.SessionActivity]int64{resting: 1, working: 1}},
		{"clients with a rate rest", 2, fakeSampler{resting: 9, locked: 1}, map[engine.SessionActivity]int64{resting: 1, locked: 1}},
		{"more work than clients", 1, fakeSampler{resting: 1, working: 3}, map[engine.SessionActivity]int64{working: 3}},
		{"some are not seen", 5, fakeSampler{resting: 1, working: 1}, map[engine.SessionActivity]int64{resting: 1, working: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := looked(c.closed, 1, c.see)
			for d, n := range s.Seen {
				expect.Equal(t, n, c.want[d], d)
			}
			expect.True(t, len(s.Seen) >= len(c.want), s.Seen)
		})
	}
	if s := looked(1, 3, nil); s.Looks != 0 || s.Failed == nil {
		t.Errorf("looks that failed: %+v", s)
	}
}
