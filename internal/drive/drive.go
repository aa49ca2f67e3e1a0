// Package drive is the load loop: it runs the clients of a step from a common
// start, paced or closed, times every operation three times (intended start,
// actual start, end) and collects intervals. It knows no engine and no
// workload, and it judges only what the clock tells: stalls, promised rates,
// saturation.
package drive

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rumbench/internal/hist"
	"rumbench/workload"
)

// Config is a step to be run.
type Config struct {
	Step    *workload.Step
	Clients [][]workload.Client // per group of the step
	// Interval is the length of the intervals that OnInterval sees.
	Interval time.Duration
	Seed     uint64 // of Poisson schedules
	// Unpaced ignores the groups' rates, and Limit, if not 0, bounds the step
	// in time: how the client itself is measured.
	Unpaced bool
	Limit   time.Duration
	// ThreadCPU keeps every client on a thread of its own and measures that
	// thread's CPU time. It makes switching between clients dearer.
	ThreadCPU bool
	// OnInterval, if set, is called at the end of every interval, from one goroutine.
	OnInterval func(*Interval)
}

// Rate is the rate of a group's clients in this run, 0 for a closed loop.
func (c *Config) Rate(g *workload.Group) float64 {
	if c.Unpaced {
		return 0
	}
	return g.Rate
}

// Interval is what happened between two ticks.
type Interval struct {
	From, To time.Duration // from the start of the window
	Groups   []GroupInterval
}

// GroupInterval is one group's part of an interval.
type GroupInterval struct {
	Kinds   []hist.Sums // per operation kind; memory is reused after OnInterval
	Clients []int64     // operations of each client
	Errors  int64
}

// Result is what a step did.
type Result struct {
	Start  time.Time     // the barrier
	Window time.Duration // to the end of the last operation that began in it
	Groups []GroupResult
	// Ended is nil after a step that went to its planned end; otherwise why it
	// ended early: the context's error, or the error that no client could go on from.
	Ended error
}

// GroupResult is what one group did.
type GroupResult struct {
	Kinds  []hist.Sums
	Errors []hist.ErrorCount
	// Rates are the units a second of each interval, upkeep left out.
	Rates []Rate
	// CPU is the clients' own CPU time, if it was measured.
	CPU time.Duration
	// End is the end of the group's last operation, or of its last slot.
	End time.Duration
	// Of a group with a rate: how many operations its schedule, as if without
	// end, had begin before End; how many it had begin before the planned end
	// of the work or time, and how many of all were done by then; and how late
	// each client was.
	Due, DueInPlan, InPlan int64
	Lateness               []Late
}

// Rate is the rate of one interval.
type Rate struct {
	From, To time.Duration
	PerSec   float64
	Ops      int64 // completed in the interval
	Due      int64 // operations of a group with a rate that were due before the interval
}

// Late is how late a client was halfway through and at its end.
type Late struct{ Half, End time.Duration }

// Totals sums up what the groups did, for the workload's checks.
func (r *Result) Totals() workload.Totals {
	out := make(workload.Totals, len(r.Groups))
	for g := range r.Groups {
		for _, k := range r.Groups[g].Kinds {
			out[g] = append(out[g], workload.Total{Ops: k.Ops, Rows: k.Rows, Bytes: k.Bytes, Short: k.Short})
		}
	}
	return out
}

// Run runs the step. The error is about the configuration; how the step itself
// ended is told by Result.Ended.
func Run(ctx context.Context, c Config) (*Result, error) {
	r := &stepRun{Config: c}
	if err := r.build(); err != nil {
		return nil, err
	}
	ctx, r.fail = context.WithCancelCause(ctx)
	defer r.fail(nil)
	r.open, r.stop = context.WithCancel(ctx)
	defer r.stop()

	ready := make(chan struct{})
	var workers, leaders sync.WaitGroup
	for _, l := range r.loops {
		leads := r.leads(l)
		if leads {
			leaders.Add(1)
		}
		workers.Go(func() {
			<-ready
			l.run(ctx)
			if leads {
				leaders.Done()
			}
		})
	}
	var helpers sync.WaitGroup
	r.base = time.Now()
	close(ready) // the barrier
	helpers.Go(func() {
		leaders.Wait()
		r.stop()
	})
	if limit := r.limit(); limit > 0 {
		defer time.AfterFunc(limit, r.stop).Stop()
	}
	finished := make(chan struct{})
	helpers.Go(func() { r.collect(finished) })
	workers.Wait()
	r.stopped = time.Since(r.base)
	close(finished)
	helpers.Wait()
	return r.result(ctx), nil
}

// stepRun is a step in progress.
type stepRun struct {
	Config
	loops   []*loop
	base    time.Time
	open    context.Context // ends when no operation may begin any more
	stop    context.CancelFunc
	fail    context.CancelCauseFunc
	stopped time.Duration // when the last client had ended
	gather
}

// leads tells whether the step waits for the client: for those with work, or
// for all when the time bounds the step.
func (r *stepRun) leads(l *loop) bool { return l.group.Work > 0 || r.limit() > 0 }

func (r *stepRun) limit() time.Duration {
	if r.Limit > 0 {
		return r.Limit
	}
	return time.Duration(r.Step.Seconds * float64(time.Second))
}

func (r *stepRun) build() error {
	endless := r.limit() == 0
	for g := range r.Step.Groups {
		group := &r.Step.Groups[g]
		endless = endless && group.Work == 0
		paced := r.Rate(group) > 0
		for i, client := range r.Clients[g] {
			l, err := r.newLoop(g, i, client)
			if err != nil {
				return fmt.Errorf("step %s, group %s: %w", r.Step.Name, group.Name, err)
			}
			r.loops = append(r.loops, l)
		}
		r.addGroup(len(group.Ops), len(r.Clients[g]), paced)
	}
	if endless {
		return fmt.Errorf("step %s has neither work nor time: it would never end", r.Step.Name)
	}
	return nil
}
