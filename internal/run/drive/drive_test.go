package drive

import (
	"context"
	"errors"
	"flag"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// TestMain leaves most draws of properties to make test-long: a step in simulated time takes
// seconds of CPU time under the race detector.
func TestMain(m *testing.M) {
	if !need.IsLong() {
		_ = flag.Set("rapid.checks", "20")
	}
	goleak.VerifyTestMain(m)
}

// fake is a client whose operations take a given time.
type fake struct {
	n    int64
	rows int64
	took func(n int64) time.Duration
	err  func(n int64) error
	kind func(n int64) int
}

func (f *fake) Do(ctx context.Context, out *workload.Outcome) error {
	n := f.n
	f.n++
	if f.took != nil {
		select {
		case <-time.After(f.took(n)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if f.kind != nil {
		out.Kind = f.kind(n)
	}
	if f.err != nil {
		if err := f.err(n); err != nil {
			return err
		}
	}
	out.Rows = f.rows
	return nil
}

func every(d time.Duration) func(int64) time.Duration {
	return func(int64) time.Duration { return d }
}

var insert = []workload.OpKind{{Name: "insert", Unit: "row"}}

// drive runs a step in fake time.
func drive(t *testing.T, step workload.Step, clients ...[]workload.Client) *Result {
	t.Helper()
	return expect.Value(Run(t.Context(), Config{Coarse: true, Step: &step, Clients: clients, Interval: time.Second}))(t)
}

// judged is a group of a result with its schedules.
func judged(r *Result, g int, group *workload.Group, seed uint64) *account.Group {
	return account.NewGroup(group, &r.Groups[g], workload.GroupSeed(seed, g))
}

func TestClosedLoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 2, Ops: insert, Work: 100}
		r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{
			&fake{rows: 10, took: every(10 * time.Millisecond)}, &fake{rows: 10, took: every(20 * time.Millisecond)}})
		k := r.Groups[0].Kinds[0]
		expect.True(t, k.Ops == 200 && k.Rows == 2000 && r.Window == 2*time.Second && r.Ended == nil,
			"operations, rows in, ended by", k.Ops, k.Rows, r.Window, r.Ended)
		expect.True(t, k.Response == nil, "a closed loop has a response time")
		expect.Equal(t, k.Service.Percentile(100), int64(20*time.Millisecond), "greatest service time")
		expect.True(t, len(r.Groups[0].Rates) == 2 && math.Abs(judged(r, 0, &g, 0).Intervals[0].PerSec()-1500) <= 20,
			"rates", r.Groups[0].Rates)
	})
}

// A client is awoken before its first operation and after each pause of a second, outside the
// time of the operation; one that cannot continue ends the step.
func TestAwake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			rate float64
			want int
		}{{10, 1}, {0.5, 5}} {
			g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: 5, Rate: c.rate, Pace: pace.Even, RowsPerOp: 1}
			awoken := 0
			config := Config{Coarse: true, Step: &workload.Step{Groups: []workload.Group{g}}, Interval: time.Second,
				Clients: [][]workload.Client{{&fake{rows: 1, took: every(time.Millisecond)}}},
				Awake: func(context.Context, int, int) error {
					awoken++
					time.Sleep(10 * time.Millisecond)
					return nil
				}}
			r, err := Run(t.Context(), config)
			expect.True(t, err == nil && r.Ended == nil && awoken == c.want,
				"rate: awoken times", c.rate, awoken, c.want, err, r.Ended)
			if k := r.Groups[0].Kinds[0]; k.Service.Max() > int64(2*time.Millisecond) || k.Response.Max() < int64(10*time.Millisecond) {
				t.Errorf("rate %v: service %d, response %d ns", c.rate, k.Service.Max(), k.Response.Max())
			}
			lost := engine.Errorf(engine.Gone, "it is lost")
			config.Awake = func(context.Context, int, int) error { return lost }
			if r, err := Run(t.Context(), config); err != nil || !errors.Is(r.Ended, lost) || r.Groups[0].Kinds[0].Ops != 0 {
				t.Errorf("rate %v: %v, %v", c.rate, err, r.Ended)
			}
		}
	})
}

// A writer that stalls for three seconds is asked again at once: the operations
// that were due meanwhile have their response times counted from then.
func TestStallIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: 200, Rate: 20, Pace: pace.Even, RowsPerOp: 50}
		client := &fake{rows: 50, took: func(n int64) time.Duration {
			if n == 60 {
				return 3 * time.Second
			}
			return time.Millisecond
		}}
		r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{client})
		k := r.Groups[0].Kinds[0]
		expect.True(t, k.Response.Max() >= int64(3*time.Second),
			"greatest response time", time.Duration(k.Response.Max()))
		// 59 more operations were due while it stalled: a quarter of all is late.
		if p := k.Response.Percentile(80); p < int64(500*time.Millisecond) {
			t.Errorf("p80 of response time %v hides the stall", time.Duration(p))
		}
		if p := k.Service.Percentile(99); p > int64(2*time.Millisecond) {
			t.Errorf("p99 of service time %v", time.Duration(p))
		}
		p := judged(r, 0, &g, 0).Judge()
		expect.True(t, p.Met && !p.Saturated && p.Share != 1 && p.Backlog == 0,
			"a stall that was caught up with is judged", p)
	})
}

func TestRateIsHeld(t *testing.T) {
	for _, rate := range []float64{2, 10, 20} { // 100, 500, 1000 rows a second in batches of 50
		synctest.Test(t, func(t *testing.T) {
			g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: int64(rate * 10), Rate: rate, Pace: pace.Even, RowsPerOp: 50}
			r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{&fake{rows: 50, took: every(time.Millisecond)}})
			p := judged(r, 0, &g, 0).Judge()
			expect.True(t, p.Achieved >= 0.995*p.Target && p.Met && p.Share == 1 && !p.Saturated, rate, p)
		})
	}
}

// A rate that cannot be held is missed and saturated, work-bound or time-bound.
func TestSaturation(t *testing.T) {
	for _, step := range []workload.Step{{}, {Seconds: 20}} {
		synctest.Test(t, func(t *testing.T) {
			g := workload.Group{Name: "w", Clients: 1, Ops: insert, Rate: 20, Pace: pace.Even, RowsPerOp: 50}
			if step.Seconds == 0 {
				g.Work = 400
			}
			step.Groups = []workload.Group{g}
			r := drive(t, step, []workload.Client{&fake{rows: 50, took: every(100 * time.Millisecond)}})
			p := judged(r, 0, &g, 0).Judge()
			expect.True(t, !p.Met && p.Saturated, p)
			expect.True(t, step.Seconds <= 0 || math.Abs(p.Backlog-200*50) <= 100, "backlog", p.Backlog)
		})
	}
}

// Groups without work run beside those that have some, and end with them.
func TestFollowers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := []workload.Group{
			{Name: "w", Clients: 1, Ops: insert, Work: 50, Rate: 10, Pace: pace.Even, RowsPerOp: 1},
			{Name: "q", Clients: 1, Ops: []workload.OpKind{{Name: "query", Unit: "query"}}},
		}
		r := drive(t, workload.Step{Groups: groups}, []workload.Client{&fake{rows: 1, took: every(time.Millisecond)}},
			[]workload.Client{&fake{rows: 1, took: every(7 * time.Millisecond)}})
		w, q := r.Groups[0].Kinds[0].Ops, r.Groups[1].Kinds[0].Ops
		expect.True(t, w == 50 && q >= 700 && q <= 716, "writes, queries", w, q)
		// The writer's 50 slots take 5 s, and the window ends with the last
		// operation that began in them.
		expect.True(t, r.Window >= 5*time.Second && r.Window <= 5007*time.Millisecond, "window", r.Window)
		p := judged(r, 0, &groups[0], 0).Judge()
		expect.True(t, p.Achieved <= p.Target && p.Achieved >= 0.99*p.Target, "achieved of", p.Achieved, p.Target)
	})
}

func TestTimeBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "q", Clients: 1, Ops: insert}
		r := drive(t, workload.Step{Seconds: 5, Groups: []workload.Group{g}}, []workload.Client{&fake{rows: 1, took: every(300 * time.Millisecond)}})
		expect.True(t, r.Window == 5100*time.Millisecond && r.Groups[0].Kinds[0].Ops == 17,
			"operations in", r.Groups[0].Kinds[0].Ops, r.Window)
	})
}

// Upkeep is timed, but it is not work and takes no slot of the schedule.
func TestUpkeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Work: 10, Rate: 1, Pace: pace.Even, RowsPerOp: 1,
			Ops: []workload.OpKind{{Name: "delete", Unit: "row"}, {Name: "min id", Unit: "query", Upkeep: true}}}
		client := &fake{rows: 1, took: every(200 * time.Millisecond), kind: func(n int64) int { return int(n % 2) }}
		r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{client})
		k := r.Groups[0].Kinds
		expect.True(t, k[0].Ops == 10 && k[1].Ops == 9, "deletes, upkeep", k[0].Ops, k[1].Ops)
		p := judged(r, 0, &g, 0).Judge()
		expect.True(t, p.Achieved <= 1.2 && p.Met, p)
		// The upkeep before an operation makes it late.
		l := k[0].Lateness.Max()
		expect.True(t, l == int64(200*time.Millisecond), "lateness", time.Duration(l))
	})
}

// Failed operations are counted by class and tried again; they are not work.
func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: 10}
		client := &fake{rows: 1, took: every(time.Millisecond), err: func(n int64) error {
			if n%3 == 0 {
				return engine.Errorf(engine.Conflict, "busy %d", n)
			}
			return nil
		}}
		r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{client})
		res := r.Groups[0]
		expect.True(t, res.Kinds[0].Ops == 10 && len(res.Errors) == 1 && res.Errors[0].Count == 5 && res.Errors[0].First == "busy 0", res.Kinds[0].Ops, res.Errors)
	})
}

func TestFatalErrorEndsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := []workload.Group{{Name: "w", Clients: 2, Ops: insert, Work: 1000}}
		broken := errors.New("disk on fire")
		bad := &fake{rows: 1, took: every(time.Millisecond), err: func(n int64) error {
			if n == 100 {
				return broken
			}
			return nil
		}}
		r := drive(t, workload.Step{Groups: groups}, []workload.Client{bad, &fake{rows: 1, took: every(time.Millisecond)}})
		expect.True(t, errors.Is(r.Ended, broken), "ended by", r.Ended)
		if n := r.Groups[0].Kinds[0].Ops; n < 195 || n > 205 {
			t.Errorf("%d operations were done before", n)
		}
	})
}

func TestNoProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: 10}
		client := &fake{err: func(int64) error { return engine.Errorf(engine.Conflict, "always") }}
		r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{client})
		expect.True(t, r.Ended != nil && r.Groups[0].Errors[0].Count == maxFailures,
			"ended by after", r.Ended, r.Groups[0].Errors)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, cancel)
		step := workload.Step{Groups: []workload.Group{
			{Name: "w", Clients: 1, Ops: insert, Work: 1000, Rate: 0.1, Pace: pace.Even, RowsPerOp: 1},
			{Name: "q", Clients: 1, Ops: insert},
		}}
		r, err := Run(ctx, Config{Coarse: true, Step: &step, Interval: time.Second, Clients: [][]workload.Client{
			{&fake{}}, {&fake{rows: 1, took: every(100 * time.Millisecond)}}}})
		expect.True(t, err == nil && errors.Is(r.Ended, context.Canceled), "ended by", err, r.Ended)
		n := r.Groups[1].Kinds[0].Ops
		expect.True(t, n == 24 || n == 25, "operations were kept", n)
	})
}

func TestEndless(t *testing.T) {
	step := workload.Step{Name: "s", Groups: []workload.Group{{Name: "q", Clients: 1, Ops: insert}}}
	if _, err := Run(t.Context(), Config{Coarse: true, Step: &step, Clients: [][]workload.Client{{&fake{}}}, Interval: time.Second}); err == nil {
		t.Error("a step without end is accepted")
	}
}

// Intervals add up to the totals.
func TestIntervals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := workload.Step{Groups: []workload.Group{{Name: "w", Clients: 2, Ops: insert, Work: 500}}}
		var ops, perClient int64
		var last time.Duration
		r, err := Run(t.Context(), Config{Coarse: true, Step: &step, Interval: time.Second,
			Clients: [][]workload.Client{{&fake{rows: 1, took: every(7 * time.Millisecond)}, &fake{rows: 1, took: every(9 * time.Millisecond)}}},
			OnInterval: func(iv *Interval) {
				expect.Equal(t, iv.From, last, "interval from")
				last = iv.To
				ops += iv.Groups[0].Kinds[0].Service.Count()
				perClient += iv.Groups[0].Clients[0] + iv.Groups[0].Clients[1]
			}})
		expect.True(t, err == nil && ops == 1000 && perClient == 1000 && r.Groups[0].Kinds[0].Ops == 1000 && last == r.Window, err, ops, perClient, last, r.Window)
	})
}

func TestStalls(t *testing.T) {
	stalled := func(n, at int64, took, stall time.Duration) *fake {
		return &fake{rows: 50, took: func(i int64) time.Duration {
			if i == at {
				return stall
			}
			return took
		}}
	}
	for _, c := range []struct {
		name  string
		group workload.Group
		fake  *fake
		spans int
		total time.Duration
		known bool
	}{
		{"closed", workload.Group{Work: 1000}, stalled(1000, 300, 10*time.Millisecond, 3*time.Second), 1, 3 * time.Second, true},
		{"between the ticks", workload.Group{Work: 1000}, stalled(1000, 348, 10*time.Millisecond, 2040*time.Millisecond), 1, 2040 * time.Millisecond, true},
		{"in no whole interval", workload.Group{Work: 1000}, stalled(1000, 330, 10*time.Millisecond, 1300*time.Millisecond), 1, 1300 * time.Millisecond, true},
		{"in nearly one interval", workload.Group{Work: 1000}, stalled(1000, 304, 10*time.Millisecond, 930*time.Millisecond), 1, 930 * time.Millisecond, true},
		{"closed and steady", workload.Group{Work: 1000}, stalled(1000, -1, 10*time.Millisecond, 0), 0, 0, true},
		{"paced", workload.Group{Work: 200, Rate: 20, RowsPerOp: 50}, stalled(200, 61, time.Millisecond, 3*time.Second), 1, 3 * time.Second, true},
		{"paced, operations as long as intervals", workload.Group{Work: 5, Rate: 0.5, RowsPerOp: 50}, stalled(5, -1, 1200*time.Millisecond, 0), 0, 0, true},
		{"slowly paced", workload.Group{Work: 5, Rate: 0.3, RowsPerOp: 50}, stalled(5, -1, time.Millisecond, 0), 0, 0, true},
		{"too coarse", workload.Group{Work: 4}, stalled(4, -1, 2500*time.Millisecond, 0), 0, 0, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := c.group
			g.Name, g.Clients, g.Ops, g.Pace = "w", 1, insert, pace.Even
			r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{c.fake})
			spans, known := judged(r, 0, &g, 0).Stalls()
			var total float64
			for _, s := range spans {
				total += s.To - s.From
			}
			expect.True(t, len(spans) == c.spans && math.Abs(total-c.total.Seconds()) <= 1e-3 && known == c.known,
				"known", c.name, spans, known)
		})
	}
}

// A group stalls only if all its clients do, for as long as they all do.
func TestStallOfAllClients(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(stall time.Duration) *fake {
			return &fake{rows: 1, took: func(n int64) time.Duration {
				if n == 300 {
					return stall
				}
				return 10 * time.Millisecond
			}}
		}
		for _, c := range []struct{ first, second, want time.Duration }{
			{2500 * time.Millisecond, 1700 * time.Millisecond, 1700 * time.Millisecond},
			{2500 * time.Millisecond, 10 * time.Millisecond, 0},
		} {
			g := workload.Group{Name: "w", Clients: 2, Ops: insert}
			r := drive(t, workload.Step{Seconds: 10, Groups: []workload.Group{g}}, []workload.Client{hangs(c.first), hangs(c.second)})
			spans, _ := judged(r, 0, &g, 0).Stalls()
			var total float64
			for _, s := range spans {
				total += s.To - s.From
			}
			expect.True(t, math.Abs(total-c.want.Seconds()) <= 1e-3, "and: stalls", c.first, c.second, spans)
		}
	})
}

// A short window of a random schedule may hold fewer operations than the rate
// says: what was asked for was done.
func TestShortPoissonWindow(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			g := workload.Group{Name: "w", Clients: 2, Ops: insert, Rate: 2, Pace: pace.Poisson, RowsPerOp: 50}
			step := workload.Step{Seconds: 1, Groups: []workload.Group{g}}
			r, err := Run(t.Context(), Config{Coarse: true, Step: &step, Seed: seed, Interval: time.Second,
				Clients: [][]workload.Client{{&fake{rows: 50, took: every(time.Millisecond)}, &fake{rows: 50, took: every(time.Millisecond)}}}})
			expect.NoError(t, err)
			p := judged(r, 0, &g, seed).Judge()
			expect.True(t, p.Met && !p.Saturated && p.Backlog <= 0, "seed", seed, p)
		})
	}
}

// The average decides, however the work was caught up with or not.
func TestMissedAverage(t *testing.T) {
	for name, took := range map[string]func(n int64) time.Duration{
		"the last batch stalls": func(n int64) time.Duration {
			if n == 59 {
				return 3 * time.Second
			}
			return time.Millisecond
		},
		"a stall, and too slow to catch up": func(n int64) time.Duration {
			if n == 20 {
				return 3 * time.Second
			}
			return 40 * time.Millisecond
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: 60, Rate: 20, Pace: pace.Even, RowsPerOp: 50}
			r := drive(t, workload.Step{Groups: []workload.Group{g}}, []workload.Client{&fake{rows: 50, took: took}})
			p := judged(r, 0, &g, 0).Judge()
			expect.True(t, !p.Met && p.Backlog != 0, name, p)
		})
	}
}

// A group is judged over its own time, not over that of a slower one beside it.
func TestGroupsAreJudgedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := []workload.Group{
			{Name: "insert", Clients: 1, Ops: insert, Work: 60, Rate: 20, Pace: pace.Even, RowsPerOp: 50},
			{Name: "delete", Clients: 1, Ops: insert, Work: 60, Rate: 20, Pace: pace.Even, RowsPerOp: 50},
		}
		r := drive(t, workload.Step{Groups: groups}, []workload.Client{&fake{rows: 50, took: every(time.Millisecond)}},
			[]workload.Client{&fake{rows: 50, took: every(100 * time.Millisecond)}})
		if p := judged(r, 0, &groups[0], 0).Judge(); !p.Met || p.Achieved != 1000 {
			t.Errorf("insert: %+v", p)
		}
		if p := judged(r, 1, &groups[1], 0).Judge(); p.Met || !p.Saturated {
			t.Errorf("delete: %+v", p)
		}
	})
}

// Half the rate is not held in any interval, with any number of clients.
func TestHalfTheRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 8, Ops: insert, Rate: 2, Pace: pace.Even, RowsPerOp: 50}
		var clients []workload.Client
		for range 8 {
			clients = append(clients, &fake{rows: 50, took: every(time.Second)})
		}
		r := drive(t, workload.Step{Seconds: 10, Groups: []workload.Group{g}}, clients)
		p := judged(r, 0, &g, 0).Judge()
		expect.True(t, p.Share == 0 && !p.Met && p.Saturated, p)
	})
}

// A random schedule leaves gaps; they are no stalls.
func TestPoissonGapsAreNoStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Ops: insert, Rate: 2, Pace: pace.Poisson, RowsPerOp: 50}
		r := drive(t, workload.Step{Seconds: 60, Groups: []workload.Group{g}}, []workload.Client{&fake{rows: 50, took: every(time.Millisecond)}})
		spans, known := judged(r, 0, &g, 0).Stalls()
		expect.True(t, len(spans) == 0 && known, "known", spans, known)
		p := judged(r, 0, &g, 0).Judge()
		expect.True(t, p.Met && !p.Saturated && p.Backlog <= 50, p)
	})
}

// Writers that end before the step does are not late in the rest of it.
func TestWritersThatEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		groups := []workload.Group{
			{Name: "w", Clients: 2, Ops: insert, Work: 20, Rate: 10, Pace: pace.Even, RowsPerOp: 1},
			{Name: "q", Clients: 1, Ops: insert},
		}
		r := drive(t, workload.Step{Seconds: 10, Groups: groups}, []workload.Client{&fake{rows: 1}, &fake{rows: 1}},
			[]workload.Client{&fake{rows: 1, took: every(10 * time.Millisecond)}})
		spans, _ := judged(r, 0, &groups[0], 0).Stalls()
		expect.True(t, len(spans) == 0, "stalls", spans)
		for _, rate := range judged(r, 0, &groups[0], 0).Intervals {
			expect.True(t, rate.Due <= 40, "of 40 operations are due at", rate.Due, rate.From)
		}
	})
}

// A group that completes nothing has figures all the same.
func TestNothingCompleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := workload.Group{Name: "w", Clients: 1, Ops: insert, Rate: 10, Pace: pace.Even, RowsPerOp: 1}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(5*time.Second, cancel)
		step := workload.Step{Seconds: 60, Groups: []workload.Group{g}}
		r, err := Run(ctx, Config{Coarse: true, Step: &step, Interval: time.Second, Clients: [][]workload.Client{{&fake{took: every(time.Hour)}}}})
		expect.NoError(t, err)
		p := judged(r, 0, &g, 0).Judge()
		expect.True(t, !math.IsNaN(p.Achieved) && p.Achieved == 0 && !p.Met, p)
		expect.True(t, r.Window >= 5*time.Second,
			"the window is: the time in which nothing was completed is lost", r.Window)
	})
}

// finisher is a client with something to do at the end of its work.
type finisher struct {
	fake
	err error
}

func (f *finisher) Finish(ctx context.Context) error {
	time.Sleep(time.Second)
	return f.err
}

// The end of a client's work belongs to the window; if it fails, the step does.
func TestFinisher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := workload.Step{Groups: []workload.Group{{Name: "w", Clients: 1, Ops: insert, Work: 100}}}
		client := &finisher{fake: fake{rows: 10, took: every(10 * time.Millisecond)}}
		if r := drive(t, step, []workload.Client{client}); r.Window != 2*time.Second || r.Groups[0].Kinds[0].Ops != 100 || r.Ended != nil {
			t.Errorf("%v, %v", r.Window, r.Ended)
		}
		client = &finisher{fake: fake{rows: 10, took: every(10 * time.Millisecond)}, err: errors.New("no")}
		if r := drive(t, step, []workload.Client{client}); r.Ended == nil || len(r.Groups[0].Errors) != 1 {
			t.Errorf("%v, %v", r.Ended, r.Groups[0].Errors)
		}
	})
}

// unready is a client that cannot prepare its operations from the third on.
type unready struct {
	fake
	err error
}

func (u *unready) Ready(context.Context) error {
	if u.n >= 2 {
		return u.err
	}
	return nil
}

// A client that cannot prepare an operation ends the step with its error: only one that is
// done, or whose context has ended, ends itself.
func TestNotReady(t *testing.T) {
	for _, c := range []struct{ err, want error }{{errors.New("too great"), errors.New("group w, client 0: prepare an operation: too great")}, {workload.ErrDone, nil}} {
		synctest.Test(t, func(t *testing.T) {
			g := workload.Group{Name: "w", Clients: 1, Ops: insert}
			r := drive(t, workload.Step{Seconds: 2, Groups: []workload.Group{g}}, []workload.Client{&unready{fake{rows: 1, took: every(time.Millisecond)}, c.err}})
			expect.True(t, (r.Ended == nil) == (c.want == nil) && (r.Ended == nil || r.Ended.Error() == c.want.Error()),
				"ended by", r.Ended, c.want)
			expect.Equal(t, r.Groups[0].Kinds[0].Ops, 2)
		})
	}
}

// Ticks after the last operation make no interval.
func TestTicksAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var intervals int
		r := &stepRun{Config: Config{Step: &workload.Step{}, Interval: time.Second, OnInterval: func(*Interval) { intervals++ }}, base: time.Now()}
		finished := make(chan struct{})
		time.AfterFunc(5*time.Second, func() { close(finished) })
		r.collect(finished)
		expect.Equal(t, intervals, 0)
	})
}
