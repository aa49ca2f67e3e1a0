// Package drive is the load loop: it runs the clients of a step from a common
// start, paced or closed, times every operation three times (intended start,
// actual start, end) and collects intervals. It knows no engine and no
// workload, and it judges nothing.
package drive

import (
	"context"
	"fmt"
	"math"
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
	// Limit, if not 0, bounds the step in time instead of its own.
	Limit time.Duration
	// ThreadCPU keeps every client on a thread of its own and measures that
	// thread's CPU time. It makes switching between clients dearer.
	ThreadCPU bool
	// Coarse waits for intended starts by timers alone, which are up to a
	// millisecond late: where the time is not real.
	Coarse bool
	// OnInterval, if set, is called at the end of every interval, from one goroutine.
	OnInterval func(*Interval)
}

// shape is what is recorded of a group.
func shape(g *workload.Group) hist.Shape {
	retries := g.Retry != workload.Retry{} || len(g.Parts) > 0
	return hist.Shape{Kinds: len(g.Ops), Parts: len(g.Parts), Paced: g.Paced(), Attempts: retries}
}

// Interval is what happened between two ticks.
type Interval struct {
	From, To time.Duration // from the start of the window
	Groups   []GroupInterval
}

// GroupInterval is one group's part of an interval.
type GroupInterval struct {
	hist.Totals         // memory is reused after OnInterval
	Clients     []int64 // operations of each client
	Errors      int64
	// Oldest is for how long the oldest operation that was in flight at the end
	// of the interval had been; 0: there was none. An interval in which nothing
	// was completed says with it how bad it is.
	Oldest time.Duration
	Queue  *Queue // nil for a closed group
}

// Queue is how the arrivals of an open group stood.
type Queue struct {
	Offered int64 // how many arrived in the interval
	Started int64 // how many operations began in it
	Shed    int64 // how many were shed, as too many waited
	Waiting int64 // how many waited at its end
}

// Result is what a step did.
type Result struct {
	Start  time.Time     // the barrier
	Window time.Duration // to the end of the last attempt that began in it, or of the step's time
	Groups []hist.Group
	// Ended is nil after a step that went to its planned end; otherwise why it
	// ended early: the context's error, or the error that no client could go on from.
	Ended error
}

// Totals sums up what the groups did, for the workload's checks.
func (r *Result) Totals() workload.Totals {
	out := make(workload.Totals, len(r.Groups))
	for g := range r.Groups {
		for _, k := range r.Groups[g].Kinds {
			out[g] = append(out[g], workload.Total{Ops: k.Ops, Rows: k.Rows, Bytes: k.Bytes, Expected: k.Expected, Found: k.Found})
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
	r.opened, r.stop = context.WithCancel(ctx)
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
		defer time.AfterFunc(limit+max(limit, leastGrace), r.hung).Stop()
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
	queues  []*queue // per group; nil for a closed one
	base    time.Time
	until   int64           // when no operation may begin any more, on the loops' clock
	opened  context.Context // ends when no operation may begin any more
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

// leastGrace is for how long, at least, operations are waited for that are in
// flight when the time is over; it is as long as the step where that is longer.
const leastGrace = time.Minute

// hung ends a step whose operations do not: the contexts of all are cancelled.
// An engine that does not heed that cannot be helped.
func (r *stepRun) hung() {
	now := time.Since(r.base)
	for _, l := range r.loops {
		if age := l.inFlight(now); age > 0 {
			r.fail(fmt.Errorf("the time was over %v ago, and an operation of group %s, client %d, has been in flight for %v: it hangs",
				(now - r.limit()).Round(time.Second), l.group.Name, l.seat, age.Round(time.Second)))
			return
		}
	}
	r.fail(fmt.Errorf("the time was over %v ago, and a client has not ended", (now - r.limit()).Round(time.Second)))
}

func (r *stepRun) build() error {
	endless := r.limit() == 0
	r.until = math.MaxInt64
	if !endless {
		r.until = int64(r.limit())
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
			return fmt.Errorf("arrivals need a step that is bounded by time, and a group with neither work nor a rate of its own")
		}
		var err error
		if q, err = newQueue(group.Arrivals, workload.GroupSeed(r.Seed, g)); err != nil {
			return err
		}
	}
	r.queues = append(r.queues, q)
	for i, client := range r.Clients[g] {
		l, err := r.newLoop(g, i, client)
		if err != nil {
			return err
		}
		r.loops = append(r.loops, l)
	}
	r.gather.addGroup(shape(group), len(r.Clients[g]))
	return nil
}
