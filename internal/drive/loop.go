package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"rumbench/engine"
	"rumbench/internal/hist"
	"rumbench/internal/pace"
	"rumbench/workload"
)

// loop is the life of one client.
type loop struct {
	*stepRun
	group    *workload.Group
	at       int // the group's position
	seat     int // the client's position in it
	client   workload.Client
	readier  workload.Readier
	schedule *pace.Schedule // nil: closed
	rec      *hist.Recorder
	timer    *time.Timer

	out      workload.Outcome
	op       hist.Op
	failures int  // in a row
	waiting  bool // a slot of the schedule is open: its operation has not been done yet

	done   int64
	inPlan int64 // operations done by the planned end
	late   Late
	end    time.Duration // of the last operation
	cpu    time.Duration
}

// maxFailures in a row end a client: it makes no progress.
const maxFailures = 1000

func (r *stepRun) newLoop(g, i int, client workload.Client) (*loop, error) {
	group := &r.Step.Groups[g]
	rate := r.Rate(group)
	l := &loop{stepRun: r, group: group, at: g, seat: i, client: client, rec: hist.NewRecorder(len(group.Ops), rate > 0)}
	l.readier, _ = client.(workload.Readier)
	if rate == 0 {
		return l, nil
	}
	l.timer = time.NewTimer(time.Hour)
	l.timer.Stop()
	var err error
	l.schedule, err = r.newSchedule(g, i)
	return l, err
}

// newSchedule makes the schedule of a client of a group with a rate.
func (r *stepRun) newSchedule(g, i int) (*pace.Schedule, error) {
	group := &r.Step.Groups[g]
	phase := float64(i) / float64(len(r.Clients[g])) // clients do not start together
	return pace.New(group.Pace, r.Rate(group), phase, r.Seed+uint64(g)<<32+uint64(i))
}

// plan is when a group with a rate is to have done its work, or its time is over.
func (r *stepRun) plan(g *workload.Group) time.Duration {
	if limit := r.limit(); limit > 0 {
		return limit
	}
	return time.Duration(float64(g.Work) / r.Rate(g) * float64(time.Second))
}

func (l *loop) clock() int64 { return int64(time.Since(l.base)) }

func (l *loop) run(ctx context.Context) {
	if l.ThreadCPU {
		defer measureThread(&l.cpu)()
	}
	limit := int64(l.limit())
	for {
		if l.group.Work > 0 && l.done >= l.group.Work {
			l.finish(ctx)
			l.sitOut()
			return
		}
		if !l.turn() {
			return
		}
		start := l.clock()
		if limit > 0 && start >= limit || l.open.Err() != nil {
			return
		}
		if !l.operate(ctx, start) {
			return
		}
	}
}

// finish lets a client that has done its work bring it to an end.
func (l *loop) finish(ctx context.Context) {
	f, ok := l.client.(workload.Finisher)
	if !ok {
		return
	}
	if err := f.Finish(ctx); err != nil {
		if ctx.Err() == nil {
			l.rec.Error(string(engine.ClassOf(err)), err.Error())
			l.fail(fmt.Errorf("group %s, client %d: end its work: %w", l.group.Name, l.seat, err))
		}
		return
	}
	l.end = time.Duration(l.clock())
}

// sitOut waits, after the last operation of a schedule, for the rest of its
// slot: ten operations at ten a second take a second, not nine tenths.
func (l *loop) sitOut() {
	if l.schedule == nil {
		return
	}
	if plan := l.plan(l.group); l.sleepUntil(plan) {
		l.end = max(l.end, plan)
	}
}

// turn waits until the next operation may begin: for its time, and for the
// client to be ready. It tells whether there is to be one.
func (l *loop) turn() bool {
	if l.schedule != nil && !l.waiting {
		next := l.schedule.Next()
		l.op.Intended = int64(next)
		if !l.sleepUntil(next) {
			return false
		}
		l.waiting = true
	}
	return l.readier == nil || l.readier.Ready(l.open) == nil
}

func (l *loop) sleepUntil(t time.Duration) bool {
	wait := t - time.Since(l.base)
	if wait <= 0 {
		return true
	}
	l.timer.Reset(wait)
	select {
	case <-l.timer.C:
		return true
	case <-l.open.Done():
		l.timer.Stop()
		return false
	}
}

// operate does one operation, records it and tells whether to go on.
func (l *loop) operate(ctx context.Context, start int64) bool {
	l.out = workload.Outcome{}
	err := l.client.Do(ctx, &l.out)
	end := l.clock()
	if err != nil {
		return l.failed(ctx, err)
	}
	l.failures = 0
	l.end = time.Duration(end)
	l.op.Kind, l.op.Rows, l.op.Bytes, l.op.Short = l.out.Kind, l.out.Rows, l.out.Bytes, l.out.Short
	l.op.Start, l.op.End = start, end
	if l.group.Ops[l.out.Kind].Upkeep {
		// Nobody asked for it at a certain time; the operation whose slot is
		// open still has its own intended start.
		upkeep := l.op
		upkeep.Intended = start
		l.rec.Record(&upkeep)
		return true
	}
	l.rec.Record(&l.op)
	l.done++
	if l.waiting {
		l.waiting = false
		if l.end <= l.plan(l.group) {
			l.inPlan++
		}
		l.noteLateness(time.Duration(start - l.op.Intended))
	}
	return true
}

func (l *loop) failed(ctx context.Context, err error) bool {
	if errors.Is(err, workload.ErrDone) || ctx.Err() != nil {
		return false
	}
	class := engine.ClassOf(err)
	l.rec.Error(string(class), err.Error())
	l.failures++
	if class.Ends() || l.failures >= maxFailures {
		if !class.Ends() {
			err = fmt.Errorf("%d operations failed in a row, the last with: %w", l.failures, err)
		}
		l.fail(fmt.Errorf("group %s, client %d: %w", l.group.Name, l.seat, err))
		return false
	}
	return true
}

// noteLateness keeps how late the client was halfway through its work or time,
// and at the end: lateness that grows to the end does not come from one stall.
func (l *loop) noteLateness(late time.Duration) {
	l.late.End = late
	half := l.group.Work > 0 && l.done <= l.group.Work/2
	if limit := l.limit(); limit > 0 {
		half = l.op.Start <= int64(limit/2)
	}
	if half {
		l.late.Half = late
	}
}
