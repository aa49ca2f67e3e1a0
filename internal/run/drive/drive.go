// Package drive is the load loop: it runs the clients of a step from a common
// start, open or closed loop, takes three timestamps of every operation (intended
// start, actual start, end) and collects intervals. It knows no engine and no
// workload, and judges nothing.
package drive

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"rumbench/internal/stat/hist"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// Config is a step to be run.
type Config struct {
	Step    *workload.Step
	Clients [][]workload.Client // per group of the step; nil for a seat that another process has
	// Part is the share of this process. Of a whole step Begin and Led are nil.
	Part workload.Part
	// Begin is called when the clients are ready, and returns the instant at which those of all processes
	// begin.
	Begin func(ctx context.Context) (time.Time, error)
	// Led is called when no client that the step waits for is at work here, and returns when none is in any
	// process, or the context ends.
	Led func(ctx context.Context)
	// Interval is the length of the intervals that OnInterval sees.
	Interval time.Duration
	Seed     uint64 // of Poisson schedules
	// Limit, if not 0, replaces the step's time limit.
	Limit time.Duration
	// Longest is how many times its limit a step in a closed loop may take until its rate is steady;
	// up to 1: just its limit.
	Longest float64
	// ThreadCPU locks every client to its own thread and measures the thread's
	// CPU time. It makes switching between clients more expensive.
	ThreadCPU bool
	// Awake, if set, is called before an operation of a client that was idle for a while: its
	// connection may have been ended.
	Awake func(ctx context.Context, group, client int) error
	// Coarse waits for intended starts with timers only, which are up to a
	// millisecond late: for tests with fake time.
	Coarse bool
	// OnInterval, if set, is called at the end of every interval, from one goroutine.
	OnInterval func(*Interval)
}

// ShapeOf returns the kinds of data recorded for a group.
func ShapeOf(g *workload.Group) hist.Shape {
	retries := g.Retry != workload.Retry{} || len(g.Parts) > 0
	return hist.Shape{Kinds: len(g.Ops), Parts: len(g.Parts), Paced: g.Paced(), Attempts: retries}
}

// Interval holds the clients' work between two ticks.
type Interval struct {
	From, To time.Duration // from the start of the window
	Groups   []GroupInterval
}

// GroupInterval is one group's part of an interval.
type GroupInterval struct {
	hist.Totals         // memory is reused after OnInterval
	Clients     []int64 // operations of each client
	Errors      int64
	// Oldest is the age of the oldest operation in flight at the end of the
	// interval; 0: there was none. In an interval without completed operations
	// it is a lower bound of the stall.
	Oldest time.Duration
	Queue  *hist.Queue // nil for a closed group
}

// Result is the result of a step.
type Result struct {
	Window time.Duration // to the end of the last attempt that began in it, or of the step's time
	Groups []hist.Group
	Late   time.Duration // from the instant at which the step was to begin until the clients could
	// Ended is nil if the step reached its planned end, otherwise why it ended
	// early: the context's error, or the error after which clients could not
	// continue.
	Ended error
}

// Totals returns the sums over the groups, for the workload's checks.
func (r *Result) Totals() workload.Totals {
	out := make(workload.Totals, len(r.Groups))
	for g := range r.Groups {
		for _, k := range r.Groups[g].Kinds {
			out[g] = append(out[g], workload.Total{Ops: k.Ops, Work: k.Work})
		}
	}
	return out
}

// Run runs the step. The error is about the configuration; Result.Ended reports
// how the step itself ended.
func Run(ctx context.Context, c Config) (*Result, error) {
	r := &stepRun{Config: c}
	if err := r.build(); err != nil {
		return nil, err
	}
	ctx, r.fail = context.WithCancelCause(ctx)
	defer r.fail(nil)
	r.opened, r.stop = context.WithCancel(ctx)
	defer r.stop()

	ready := make(chan struct{})
	var workers, leaders sync.WaitGroup
	for _, l := range r.loops {
		leads := r.leads(l)
		if leads {
			leaders.Add(1)
		}
		r.running.Add(1)
		workers.Go(func() {
			<-ready
			l.run(ctx)
			r.running.Add(-1)
			if leads {
				leaders.Done()
			}
		})
	}
	var helpers sync.WaitGroup
	err := r.begin(ctx)
	if err != nil {
		r.stop() // and no client does anything
	}
	r.opening = time.Since(r.base)
	close(ready) // the barrier
	helpers.Go(func() {
		leaders.Wait()
		if r.Led != nil {
			r.Led(r.opened)
		}
		r.stop()
	})
	if limit := r.limit(); limit > 0 {
		defer r.atEnd(r.stop, 0)()
		defer r.atEnd(r.hung, max(limit, leastGrace))()
	}
	finished := make(chan struct{})
	if err == nil { // else there is no beginning to count from
		helpers.Go(func() { r.collect(finished) })
	}
	workers.Wait()
	r.stopped = time.Since(r.base)
	close(finished)
	r.stop() // what other processes still do is not waited for
	helpers.Wait()
	if err != nil {
		return nil, err
	}
	return r.result(ctx), nil
}

// begin waits for the instant at which the step begins.
func (r *stepRun) begin(ctx context.Context) (err error) {
	r.base = time.Now()
	if r.Begin == nil {
		return nil
	}
	if r.base, err = r.Begin(ctx); err != nil {
		return err
	}
	wait := time.Until(r.base)
	if !r.Coarse {
		wait -= timerGrain
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !r.Coarse {
		nap(time.Until(r.base))
	}
	return nil
}

// stepRun is a step in progress.
type stepRun struct {
	Config
	loops   []*loop
	queues  []*queue     // by group; nil for a closed one
	gaps    []*gaps      // by group
	running atomic.Int32 // clients
	base    time.Time
	until   atomic.Int64    // when no operation may begin any more, on the loops' clock
	opened  context.Context // ends when no operation may begin any more
	stop    context.CancelFunc
	fail    context.CancelCauseFunc
	opening time.Duration // how late the barrier opened
	stopped time.Duration // when the last client had ended
	gather
}

// leads reports whether the step waits for the client: for those with work, or
// for all if the step is bounded by time.
func (r *stepRun) leads(l *loop) bool { return l.group.Work > 0 || r.limit() > 0 }

// limit returns when the step's time is over; 0: it has no limit.
func (r *stepRun) limit() time.Duration {
	if until := r.until.Load(); until < math.MaxInt64 {
		return time.Duration(until)
	}
	return 0
}

func (r *stepRun) planned() time.Duration {
	if r.Limit > 0 {
		return r.Limit
	}
	return quantity.AsDuration(r.Step.Seconds)
}

// leastGrace is the least time that operations in flight get when the time is
// over; they get the length of the step if that is longer.
const leastGrace = time.Minute

// hung ends a step whose operations do not end, by cancelling their contexts. An
// engine that ignores its context stays stuck.
func (r *stepRun) hung() {
	now := time.Since(r.base)
	for _, l := range r.loops {
		if age := l.inFlight(now); age > 0 {
			r.fail(fmt.Errorf("the time was over %v ago, and an operation of group %s, client %d, has been in flight for %v: "+
				"it hangs",
				(now - r.limit()).Round(time.Second), l.group.Name, l.seat, age.Round(time.Second)))
			return
		}
	}
	r.fail(fmt.Errorf("the time was over %v ago, and a client has not ended", (now - r.limit()).Round(time.Second)))
}

func (r *stepRun) build() error {
	endless := r.planned() == 0
	r.until.Store(math.MaxInt64)
	if !endless {
		r.until.Store(int64(r.planned()))
	}
	for g := range r.Step.Groups {
		group := &r.Step.Groups[g]
		endless = endless && group.Work == 0
		if err := r.addGroup(g, group); err != nil {
			return fmt.Errorf("step %s, group %s: %w", r.Step.Name, group.Name, err)
		}
	}
	if endless {
		return fmt.Errorf("step %s has neither work nor time: it would never end", r.Step.Name)
	}
	return nil
}

func (r *stepRun) addGroup(g int, group *workload.Group) error {
	var q *queue
	if group.Arrivals != nil {
		if group.Rate > 0 || group.Work > 0 || r.limit() == 0 {
			return fmt.Errorf("arrivals need a step that is bounded by time, and a group with neither work nor a rate")
		}
		share := r.Part // only processes with a client of the group have arrivals
		share.Of = min(share.Of, group.Clients)
		var err error
		if q, err = newQueue(group.Arrivals, workload.GroupSeed(r.Seed, g), share); err != nil {
			return err
		}
	}
	r.queues = append(r.queues, q)
	r.gaps = append(r.gaps, &gaps{shortest: int64(r.Interval / 2)})
	for i, client := range r.Clients[g] {
		if client == nil {
			continue
		}
		l, err := r.newLoop(g, i, client)
		if err != nil {
			return err
		}
		r.loops = append(r.loops, l)
	}
	r.gather.addGroup(ShapeOf(group), len(r.Clients[g]))
	return nil
}
