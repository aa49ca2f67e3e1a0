package drive

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// The queue hands out what a list of all arrivals would, sheds what that would,
// and loses none.
func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kind := pace.Kind(rapid.SampledFrom(pace.Kinds()).Draw(t, "kind"))
		a := pace.Constant(kind, rapid.Float64Range(1, 50).Draw(t, "rate"))
		a.Queue = rapid.Int64Range(0, 5).Draw(t, "queue")
		q := expect.Value(newQueue(a, 7, workload.Part{}))(t)
		all, _ := a.Schedule(7)
		var list []time.Duration // the arrivals that wait
		next := all.Next()
		var shed, taken int64
		arrive := func(now time.Duration) {
			for ; next <= now; next = all.Next() {
				list = append(list, next)
				if a.Queue > 0 && int64(len(list)) > a.Queue {
					list = list[1:]
					shed++
				}
			}
		}
		var now time.Duration
		for range 100 {
			now += time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "pause"))
			arrive(now)
			if rapid.Bool().Draw(t, "look") {
				_, s, w := q.at(now)
				expect.True(t, s == shed && w == int64(len(list)), "shed and waiting", s, w, shed, len(list))
				continue
			}
			want := next
			if len(list) > 0 {
				want, list = list[0], list[1:]
			} else {
				next = all.Next()
			}
			taken++
			expect.Equal(t, q.take(now), want, "took")
			now = max(now, want)
		}
		arrive(now)
		arrived, _, _ := q.at(now)
		waits := hist.NewDist()
		q.leave(now, waits)
		expect.True(t, waits.Count() == int64(len(list)) && arrived == taken+shed+int64(len(list)),
			"arrived, taken, shed, left", arrived, taken, shed, waits.Count())
		expect.True(t, len(list) == 0 || waits.Max() == int64(now-list[0]), "the longest waited for", waits.Max())
	})
}

// open runs an open group of clients whose operations take so long.
func open(t *testing.T, a *pace.Arrivals, seconds float64, clients int, took time.Duration, onInterval func(*Interval)) (*Result, *workload.Group) {
	t.Helper()
	step := &workload.Step{Name: "s", Seconds: seconds, Groups: []workload.Group{{Name: "q", Clients: clients, Ops: insert, Arrivals: a}}}
	var seats []workload.Client
	for range clients {
		seats = append(seats, &fake{rows: 3, took: every(took)})
	}
	r, err := Run(t.Context(), Config{Coarse: true, Step: step, Seed: 5, Interval: time.Second, Clients: [][]workload.Client{seats}, OnInterval: onInterval})
	expect.Must(t, err == nil && r.Ended == nil, err, r)
	return r, &step.Groups[0]
}

// Below its capacity a group does what arrives when it arrives.
func TestOpenGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var offered, started, done int64
		r, g := open(t, pace.Constant(pace.Even, 100), 10, 4, 20*time.Millisecond, func(iv *Interval) {
			q := iv.Groups[0].Queue
			offered, started, done = offered+q.Offered, started+q.Started, done+iv.Groups[0].Kinds[0].Ops
			expect.True(t, q.Waiting == 0 && q.Shed == 0, "until", iv.To, q)
		})
		k, a := &r.Groups[0].Kinds[0], r.Groups[0].Arrivals
		expect.True(t, k.Ops == 1000 && a.Offered == 1000 && a.Shed == 0 && r.Groups[0].Undone.Count() == 0 && offered == 1000 && started == 1000 && done == 1000, k.Ops, a, offered, started, done)
		expect.True(t, k.Response.Max() == int64(20*time.Millisecond) && k.Lateness.Max() == 0,
			"response, lateness", k.Response.Max(), k.Lateness.Max())
		p := judged(r, 0, g, 5).Judge()
		expect.True(t, p.Met && !p.Saturated && p.Share == 1 && p.Target >= 99 && p.Target <= 101, p)
		spans, known := judged(r, 0, g, 5).Stalls()
		expect.True(t, len(spans) == 0 && known, "stalls", spans, known)
	})
}

// Above it the queue grows, response times with it, and what waits at the end
// is recorded.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, g := open(t, pace.Constant(pace.Poisson, 300), 10, 2, 10*time.Millisecond, nil) // it can do 200 a second
		k, a := &r.Groups[0].Kinds[0], r.Groups[0].Arrivals
		if left := r.Groups[0].Undone.Count(); a.Offered != k.Ops+left || left < 800 || a.Longest < left || a.Shed != 0 {
			t.Errorf("of %d, %d were done and %d abandoned, %d waited", a.Offered, k.Ops, left, a.Longest)
		}
		// The last ones waited for a third of the time.
		d := time.Duration(k.Response.Max())
		expect.True(t, d >= 2800*time.Millisecond && d <= 4*time.Second, "response", d)
		expect.Equal(t, k.Service.Max(), int64(10*time.Millisecond), "service")
		p := judged(r, 0, g, 5).Judge()
		expect.True(t, !p.Met && p.Saturated && p.Backlog >= 800 && p.Share != 1, p)
	})
}

// Rows do not make up for operations that were not done: three of an operation
// are not three operations.
func TestOverloadInRows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, g := open(t, pace.Constant(pace.Even, 300), 10, 2, 10*time.Millisecond, nil) // it can do 200 a second
		g.RowsPerOp = 1
		p := judged(r, 0, g, 5).Judge()
		expect.True(t, !p.Met && p.Share == 0 && p.Achieved <= 201 && p.Target >= 299 && p.Target <= 301, p)
	})
}

// A queue of a bounded length sheds the oldest: those that are done are fresh.
func TestShedding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrivals := pace.Constant(pace.Even, 300)
		arrivals.Queue = 20
		var shed int64
		r, g := open(t, arrivals, 10, 2, 10*time.Millisecond, func(iv *Interval) {
			shed += iv.Groups[0].Queue.Shed
			w := iv.Groups[0].Queue.Waiting
			expect.True(t, w <= 20, "wait", w)
		})
		k, a := &r.Groups[0].Kinds[0], r.Groups[0].Arrivals
		expect.True(t, a.Offered == k.Ops+a.Shed+r.Groups[0].Undone.Count() && a.Shed == shed && a.Shed >= 950 && a.Longest == 20 && r.Groups[0].Undone.Count() <= 20, k.Ops, a, shed)
		d := time.Duration(k.Response.Max())
		expect.True(t, d <= 120*time.Millisecond, "response with a queue of 20", d)
		p := judged(r, 0, g, 5).Judge()
		expect.True(t, !p.Met && p.Saturated, p)
	})
}

// With steps of the rate every interval is judged by what arrived in it.
func TestRateSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &pace.Arrivals{Segments: []pace.Segment{{Seconds: 5, From: 20, To: 20}, {Seconds: 5, From: 200, To: 200}, {Seconds: 5, From: 20, To: 100}}}
		r, g := open(t, a, 15, 4, 10*time.Millisecond, nil)
		k := r.Groups[0].Kinds[0]
		expect.True(t, k.Ops == 1400, "done", k.Ops)
		p := judged(r, 0, g, 5).Judge()
		expect.True(t, p.Met && p.Share == 1 && p.Intervals >= 10, p)
		for i, want := range []float64{20, 20, 20, 20, 20, 200} {
			expect.Equal(t, judged(r, 0, g, 5).Intervals[i].Arrived, want, i)
		}
	})
}

// One that hangs is a stall, even if the others idle.
func TestOpenStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := &workload.Step{Name: "s", Seconds: 10, Groups: []workload.Group{{Name: "q", Clients: 1, Ops: insert, Arrivals: pace.Constant(pace.Even, 20)}}}
		client := &fake{rows: 1, took: func(n int64) time.Duration {
			if n == 50 {
				return 3 * time.Second
			}
			return time.Millisecond
		}}
		r, err := Run(t.Context(), Config{Coarse: true, Step: step, Interval: time.Second, Clients: [][]workload.Client{{client}}})
		expect.NoError(t, err)
		spans, known := judged(r, 0, &step.Groups[0], 0).Stalls()
		expect.True(t, known && len(spans) == 1 && math.Abs(spans[0].To-spans[0].From-3) <= 1e-3, spans, known)
	})
}

// An operation that fails keeps its place, and what was being tried at the end
// is abandoned.
func TestOpenRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{fails: func(value, attempt int) error {
			if value == 15 || value == 3 && attempt < 3 {
				return busy
			}
			return nil
		}}
		g := workload.Group{Arrivals: pace.Constant(pace.Even, 100), Retry: workload.Retry{Policy: workload.RetrySame}}
		r := retried(t, k, g)
		s, a := &r.Groups[0].Kinds[0], r.Groups[0].Arrivals
		expect.True(t, s.Ops == 15 && a.Offered == 20 && r.Groups[0].Undone.Count() == 5 && s.GivenUp == 0, s.Counts, a)
		expect.Equal(t, s.Response.Max(), int64(30*time.Millisecond), "response")
		k = &keeper{fails: func(value, _ int) error {
			if value == 3 {
				return busy
			}
			return nil
		}}
		g.Retry.Policy = workload.RetryNone
		r = retried(t, k, g)
		s, a = &r.Groups[0].Kinds[0], r.Groups[0].Arrivals
		expect.True(t, s.Ops == 19 && s.GivenUp == 1 && a.Offered == 20 && r.Groups[0].Undone.Count() == 0, s.Counts, a)
	})
}

func TestArrivalsRefused(t *testing.T) {
	a := pace.Constant(pace.Even, 10)
	for _, step := range []workload.Step{
		{Seconds: 1, Groups: []workload.Group{{Arrivals: a, Rate: 3}}},
		{Seconds: 1, Groups: []workload.Group{{Arrivals: a, Work: 3}}},
		{Groups: []workload.Group{{Arrivals: a}, {Work: 3}}},
		{Seconds: 1, Groups: []workload.Group{{Arrivals: &pace.Arrivals{}}}},
	} {
		clients := [][]workload.Client{{&fake{}}, {&fake{}}}[:len(step.Groups)]
		for g := range step.Groups {
			step.Groups[g].Clients, step.Groups[g].Ops = 1, insert
		}
		_, err := Run(t.Context(), Config{Coarse: true, Step: &step, Interval: time.Second, Clients: clients})
		expect.True(t, err != nil, "is accepted", step)
	}
}
