package drive

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/internal/expect"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// stalls takes a millisecond for an operation, and for the one that begins next
// after so many seconds until the end of the stall.
func stalls(start, end time.Duration) *fake {
	base := time.Now()
	return &fake{rows: 1, took: func(int64) time.Duration {
		if at := time.Since(base); at >= start && at < end {
			return end - at
		}
		return time.Millisecond
	}}
}

// A stall at the end of a step hides nothing, whether work or time bounds it:
// what was due meanwhile and not done counts with its age.
func TestStallAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		step workload.Step
		work int64
		open bool
	}{
		{"work", workload.Step{}, 1000, false},
		{"time", workload.Step{Seconds: 10}, 0, false},
		{"time, arrivals", workload.Step{Seconds: 10}, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := workload.Group{Name: "w", Clients: 1, Ops: insert, Work: c.work, Rate: 100, Pace: pace.Even, RowsPerOp: 1}
				if c.open {
					g.Rate, g.Arrivals = 0, pace.Constant(pace.Even, 100)
				}
				c.step.Groups = []workload.Group{g}
				r := drive(t, c.step, []workload.Client{stalls(6*time.Second, 10*time.Second)}).Groups[0]
				all := hist.NewDist()
				all.Merge(r.Kinds[0].Response)
				all.Merge(r.Undone)
				expect.True(t, all.Count() == 1000, r.Kinds[0].Ops, r.Undone.Count())
				// 400 of 1000 were due in the stall: p60 is before it, p80 half of it. Those
				// that are done after it wait a little for each other.
				if p := time.Duration(all.Percentile(59)); p > 2*time.Millisecond {
					t.Errorf("p59 %v", p)
				}
				if p := time.Duration(all.Percentile(80)); p < 1900*time.Millisecond || p > 2300*time.Millisecond {
					t.Errorf("p80 %v of a stall of 4 s", p)
				}
				if p := time.Duration(all.Percentile(99)); p < 3800*time.Millisecond || p > 4*time.Second {
					t.Errorf("p99 %v of a stall of 4 s", p)
				}
				expect.True(t, c.work != 0 || r.Undone.Count() == 399 && r.Undone.Max() <= int64(3990*time.Millisecond),
					"undone, the oldest for", r.Undone.Count(), time.Duration(r.Undone.Max()))
			})
		})
	}
}

// What was due and not done is counted once, however the step ended; what was
// never due is not counted.
func TestUndone(t *testing.T) {
	rated := workload.Group{Name: "w", Clients: 1, Ops: insert, Rate: 10, Pace: pace.Even, RowsPerOp: 1}
	bounded := rated
	bounded.Work = 30
	leader := workload.Group{Name: "l", Clients: 1, Ops: insert, Work: 5}
	done := func(n int64) error {
		if n == 4 {
			return workload.ErrDone
		}
		return nil
	}
	for _, c := range []struct {
		name    string
		seconds float64
		groups  []workload.Group
		clients []*fake
		cancel  time.Duration
		want    int64
	}{
		{"all in time", 10, []workload.Group{rated}, []*fake{{rows: 1, took: every(time.Millisecond)}}, 0, 0},
		{"saturated", 10, []workload.Group{rated}, []*fake{{rows: 1, took: every(200 * time.Millisecond)}}, 0, 50},
		{"work, then nothing", 10, []workload.Group{bounded}, []*fake{{rows: 1, took: every(time.Millisecond)}}, 0, 0},
		{"work that was not done", 4, []workload.Group{bounded}, []*fake{{rows: 1, took: every(400 * time.Millisecond)}}, 0, 20},
		{"nothing more to do", 10, []workload.Group{rated}, []*fake{{rows: 1, took: every(time.Millisecond), err: done}}, 0, 0},
		{"beside work", 0, []workload.Group{rated, leader}, []*fake{{rows: 1, took: every(450 * time.Millisecond)}, {took: every(time.Second)}}, 0, 38},
		{"cancelled", 10, []workload.Group{rated}, []*fake{{rows: 1, took: every(time.Hour)}}, 3 * time.Second, 30},
		{"no rate", 10, []workload.Group{{Name: "w", Clients: 1, Ops: insert}}, []*fake{{rows: 1, took: every(time.Second)}}, 0, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				step := workload.Step{Seconds: c.seconds, Groups: c.groups}
				var clients [][]workload.Client
				for _, f := range c.clients {
					clients = append(clients, []workload.Client{f})
				}
				r, err := Run(ctx, Config{Coarse: true, Step: &step, Clients: clients, Interval: time.Second})
				expect.Must(t, err == nil && c.cancel > 0 == errors.Is(r.Ended, context.Canceled), err, r.Ended)
				if got := r.Groups[0].Undone; (got == nil) != (c.want < 0) || got != nil && got.Count() != c.want {
					t.Error(fmt.Sprintf("%d of those due were done; not done:", r.Groups[0].Kinds[0].Ops), got.Count(), "want", c.want)
				}
			})
		})
	}
}
