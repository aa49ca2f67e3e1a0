package drive

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// divided runs a step in several parts that begin and end together, and merges their results after
// a way as JSON. clients returns new clients of all seats.
func divided(t *testing.T, step *workload.Step, parts int, clients func() [][]workload.Client) *Result {
	t.Helper()
	results := make([]*Result, parts)
	var leading, all sync.WaitGroup
	leading.Add(parts)
	begin := time.Now().Add(300 * time.Millisecond)
	for i := range parts {
		part := workload.Part{Index: i, Of: parts}
		own := clients()
		for _, group := range own {
			for seat := range group {
				if !part.Has(seat) {
					group[seat] = nil
				}
			}
		}
		all.Go(func() {
			r, err := Run(t.Context(), Config{Coarse: true, Step: step, Clients: own, Interval: time.Second, Part: part,
				Begin: func(context.Context) (time.Time, error) { return begin, nil },
				Led: func(context.Context) {
					leading.Done()
					leading.Wait()
				}})
			if err != nil {
				t.Error(err)
				return
			}
			b, err := json.Marshal(r)
			results[i] = &Result{}
			if err := errors.Join(err, json.Unmarshal(b, results[i])); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	return Merge(results, time.Second)
}

// summary is what must be the same, however a step is divided.
type summary struct {
	Window   time.Duration
	Counts   []hist.Counts
	Times    [][]int64 // of all distributions: count, sum, least, percentiles, greatest
	Done     [][]int64
	Lateness [][]hist.Late
	Rates    [][]hist.Rate
	Plan     []time.Duration
	InPlan   []int64
	Offered  int64
}

func summaryOf(r *Result) (s summary) {
	s.Window = r.Window
	for _, g := range r.Groups {
		dists := []*hist.Dist{g.Undone}
		for _, k := range g.Kinds {
			s.Counts = append(s.Counts, k.Counts)
			dists = append(dists, k.Service, k.Response, k.Lateness, k.Attempt, k.Failed)
		}
		for _, d := range dists {
			if d != nil {
				s.Times = append(s.Times, []int64{d.Count(), int64(d.Total()), d.Least(), d.Percentile(50), d.Percentile(99), d.Max()})
			}
		}
		s.Done, s.Lateness = append(s.Done, g.Done), append(s.Lateness, g.Lateness)
		s.Rates = append(s.Rates, g.Rates)
		s.Plan, s.InPlan = append(s.Plan, g.Plan), append(s.InPlan, g.InPlan)
		if g.Arrivals != nil {
			s.Offered += g.Arrivals.Offered
		}
	}
	return s
}

// A step gives the same numbers in one process and in several: counts, distributions to the last
// value, rates by interval, what each client has done.
func TestDivided(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seats := rapid.IntRange(1, 7).Draw(rt, "clients")
		took := rapid.SliceOfN(rapid.Int64Range(1, 400), seats, seats).Draw(rt, "ms")
		paced := rapid.Bool().Draw(rt, "paced")
		work := rapid.Int64Range(0, 15).Draw(rt, "work")
		g := workload.Group{Name: "w", Clients: seats, Ops: insert, Work: work, RowsPerOp: 1}
		if paced {
			g.Rate, g.Pace = rapid.Float64Range(3, 20).Draw(rt, "rate"), pace.Poisson
		}
		other := workload.Group{Name: "others", Clients: seats, Ops: insert}
		step := workload.Step{Name: "s", Groups: []workload.Group{g, other}}
		if work == 0 {
			step.Seconds = float64(rapid.IntRange(1, 4).Draw(rt, "seconds"))
		}
		// No operation ends at the same instant as an interval: which is first would be chance.
		clients := func() [][]workload.Client {
			out := make([][]workload.Client, 2)
			for i := range seats {
				out[0] = append(out[0], &fake{rows: 3, took: every(time.Duration(took[i])*time.Millisecond + 137_131)})
				out[1] = append(out[1], &fake{rows: 1, took: every(61_053_113)})
			}
			return out
		}
		parts := rapid.IntRange(2, 4).Draw(rt, "parts")
		var whole, merged summary
		synctest.Test(t, func(t *testing.T) {
			whole = summaryOf(drive(t, step, clients()...))
			merged = summaryOf(divided(t, &step, parts, clients))
		})
		near := cmpopts.EquateApprox(0, 1e-6)
		expect.Same(rt, whole, merged, near, "parts", parts)
	})
}

// Arrivals are dealt, each to one process: together they are those of one schedule.
func TestDealtArrivals(t *testing.T) {
	a := pace.Constant(pace.Poisson, 100)
	whole := expect.Value(newArrivals(a, 5, workload.Part{}))(t)
	var dealt []time.Duration
	for i := range 3 {
		part := expect.Value(newArrivals(a, 5, workload.Part{Index: i, Of: 3}))(t)
		for range 200 {
			dealt = append(dealt, part.Next())
		}
	}
	slices.Sort(dealt)
	for i, got := range dealt {
		if want := whole.Next(); got != want {
			t.Fatalf("arrival %d is at %v, not %v", i, got, want)
		}
	}
}

// The queue's limit is shared, and an open group offers the same in all, also if some processes have none of
// its clients.
func TestDividedOpenGroup(t *testing.T) {
	for _, parts := range []int{2, 5} {
		synctest.Test(t, func(t *testing.T) {
			arrivals := pace.Constant(pace.Poisson, 40)
			arrivals.Queue = 7
			step := workload.Step{Name: "s", Seconds: 8, Groups: []workload.Group{{Name: "w", Clients: 3, Ops: insert, Arrivals: arrivals}}}
			clients := func() [][]workload.Client {
				var out []workload.Client
				for range 3 {
					out = append(out, &fake{rows: 1, took: every(50 * time.Millisecond)})
				}
				return [][]workload.Client{out}
			}
			whole, merged := drive(t, step, clients()...), divided(t, &step, parts, clients)
			a, b := whole.Groups[0].Arrivals, merged.Groups[0].Arrivals
			expect.True(t, a.Offered == b.Offered && b.Longest <= 9,
				"parts: offered and, up to waited", parts, a.Offered, b.Offered, b.Longest)
			k := merged.Groups[0].Kinds[0]
			expect.True(t, k.Ops+b.Shed+merged.Groups[0].Undone.Count() == b.Offered,
				"parts: done, shed, undone of", parts, k.Ops, b.Shed, merged.Groups[0].Undone.Count(), b.Offered)
		})
	}
}

// Intervals of several processes are those of all: none is missing, and they follow each other, whichever
// process misses a tick or ends early.
func TestJoiner(t *testing.T) {
	const tick = time.Second
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "processes")
		j := NewJoiner(n, tick)
		var want, got int64
		var joined []*Interval
		lists := make([][]*Interval, n)
		for i := range lists {
			last, end := time.Duration(0), rapid.Int64Range(1, 12_000).Draw(rt, "ms")
			for last < time.Duration(end)*time.Millisecond {
				ticks := rapid.SampledFrom([]time.Duration{1, 1, 1, 2}).Draw(rt, "ticks")
				to := min(last.Truncate(tick)+ticks*tick, time.Duration(end)*time.Millisecond)
				iv := &Interval{From: last, To: to, Groups: []GroupInterval{{Totals: hist.NewTotals(hist.Shape{Kinds: 1}), Clients: make([]int64, n)}}}
				ops := rapid.Int64Range(0, 9).Draw(rt, "ops")
				iv.Groups[0].Kinds[0].Ops, iv.Groups[0].Clients[i] = ops, ops
				want += ops
				lists[i], last = append(lists[i], iv), to
			}
		}
		ended := make([]bool, n)
		for left := n; left > 0; {
			switch i := rapid.IntRange(0, n-1).Draw(rt, "next"); {
			case len(lists[i]) > 0:
				joined = append(joined, j.Add(i, lists[i][0])...)
				lists[i] = lists[i][1:]
			case !ended[i]:
				ended[i] = true
				left--
				joined = append(joined, j.End(i)...)
			}
		}
		last := time.Duration(0)
		for _, iv := range joined {
			expect.True(rt, iv.From == last && iv.To > iv.From, "from to after", iv.From, iv.To, last)
			last = iv.To
			got += iv.Groups[0].Kinds[0].Ops
		}
		expect.Equal(rt, got, want, "operations of")
	})
}

// Percentiles are those of all operations: with one slow machine of three an average of theirs is
// far off.
func TestMergedPercentile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		step := workload.Step{Name: "s", Groups: []workload.Group{{Name: "w", Clients: 3, Ops: insert, Work: 100}}}
		merged := divided(t, &step, 3, func() [][]workload.Client {
			return [][]workload.Client{{&fake{took: every(time.Millisecond)}, &fake{took: every(time.Millisecond)}, &fake{took: every(20 * time.Millisecond)}}}
		})
		p := merged.Groups[0].Kinds[0].Service.Percentile(99)
		expect.True(t, math.Abs(float64(p)-20e6) <= 20e3, "p99 ns", p)
	})
}

// What ended a part ends the whole, with its class.
func TestMergedEnd(t *testing.T) {
	gone := &Result{Ended: engine.Errorf(engine.Gone, "the server is gone")}
	b, err := json.Marshal(gone)
	back := &Result{}
	expect.NoError(t, errors.Join(err, json.Unmarshal(b, back)))
	m := Merge([]*Result{{}, back}, time.Second)
	expect.True(t, engine.ClassOf(m.Ended) == engine.Gone && m.Ended.Error() == gone.Ended.Error(), m.Ended)
}

// A gap is one only if no process completed anything in it.
func TestMergedGaps(t *testing.T) {
	group := func(ops int64, end float64, gaps ...hist.Gap) *hist.Group {
		g := &hist.Group{Totals: hist.NewTotals(hist.Shape{Kinds: 1}), Gaps: gaps, End: time.Duration(end * float64(time.Second))}
		g.Kinds[0].Ops = ops
		return g
	}
	got := hist.Merged([]*hist.Group{group(9, 10, hist.Gap{From: 1, To: 3}, hist.Gap{From: 5, To: 9}),
		group(9, 6, hist.Gap{From: 2, To: 4}), group(0, 10)}, 1).Gaps
	expect.Same(t, []hist.Gap{{From: 2, To: 3}, {From: 6, To: 9}}, got)
}
