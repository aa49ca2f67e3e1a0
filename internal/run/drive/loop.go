package drive

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"rumbench/engine"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// loop runs one client.
type loop struct {
	*stepRun
	group    *workload.Group
	at       int // index of the group
	seat     int // index of the client in the group
	client   workload.Client
	readier  workload.Readier
	schedule *pace.Schedule // of this client alone; nil: none
	queue    *queue         // shared by the clients of an open group; nil: closed
	gaps     *gaps          // shared by the clients of the group
	rec      *hist.Recorder
	timer    *time.Timer
	retry    retry
	end      time.Duration // of the last attempt
	attempt
	progress
}

// attempt is the operation that a client is at.
type attempt struct {
	out  workload.Outcome
	op   hist.Op
	open bool // a slot of the schedule is open: its operation is not done yet
	cut  bool // the end of the step interrupted an attempt
	// since is when the operation in flight began, plus one; 0: none.
	since atomic.Int64
}

// progress is a client's work so far.
type progress struct {
	done   int64
	inPlan int64 // operations done by the planned end
	late   hist.Late
	used   bool // its connection was used in this window
	cpu    time.Duration
}

func (r *stepRun) newLoop(g, i int, client workload.Client) (*loop, error) {
	group := &r.Step.Groups[g]
	l := &loop{stepRun: r, group: group, at: g, seat: i, client: client, queue: r.queues[g], gaps: r.gaps[g],
		rec: hist.NewRecorder(ShapeOf(group))}
	l.op.Work = &l.out.Work
	l.readier, _ = client.(workload.Readier)
	if len(group.Parts) > 0 {
		l.out.Parts = &workload.Parts{Clock: l.clock}
	}
	l.timer = time.NewTimer(time.Hour)
	l.timer.Stop()
	var err error
	if l.retry, err = r.newRetry(g, i, client); err != nil {
		return nil, err
	}
	if group.Rate > 0 {
		l.schedule, err = group.Schedule(workload.GroupSeed(r.Seed, g), i)
	}
	return l, err
}

func (l *loop) clock() int64 { return int64(time.Since(l.base)) }

func (l *loop) run(ctx context.Context) {
	if l.ThreadCPU {
		defer measureThread(&l.cpu)()
	}
	defer l.idle()
	defer l.leave()
	for {
		if l.group.Work > 0 && l.done >= l.group.Work {
			l.idle()
			l.finish(ctx)
			l.sitOut()
			return
		}
		if !l.turn(ctx) {
			return
		}
		start := l.clock()
		if l.rested(start) {
			if !l.awake(ctx) {
				return
			}
			start = l.clock()
		}
		if l.over(start) || !l.operate(ctx, start) {
			return
		}
	}
}

// idleTime is the time without operations after which a connection may have been ended.
const idleTime = time.Second

// rested reports whether a client was idle for so long that it has to be readied.
func (l *loop) rested(now int64) bool {
	return l.Awake != nil && l.retry.failures == 0 && (!l.used || now-int64(l.end) >= int64(idleTime))
}

// awake readies a client that was idle, and reports whether it can continue.
func (l *loop) awake(ctx context.Context) bool {
	l.used = true
	l.idle()
	err := l.Awake(ctx, l.at, l.seat)
	return err == nil || l.unready(ctx, "continue after a pause", err)
}

// over reports whether no operation may begin any more.
func (l *loop) over(now int64) bool {
	return now >= l.until.Load() || l.opened.Err() != nil
}

// finish lets a client that has done its work finish it.
func (l *loop) finish(ctx context.Context) {
	f, ok := l.client.(workload.Finisher)
	if !ok {
		return
	}
	if err := f.Finish(ctx); err != nil {
		if ctx.Err() == nil {
			l.rec.Error(string(engine.ClassOf(err)), err)
			l.fail(fmt.Errorf("group %s, client %d: end its work: %w", l.group.Name, l.seat, err))
		}
		return
	}
	l.end = time.Duration(l.clock())
}

// sitOut waits for the rest of the last slot of a schedule: ten operations at ten
// per second take 1 s, not 0.9 s.
func (l *loop) sitOut() {
	if l.schedule == nil {
		return
	}
	if plan := l.group.Plan(l.limit()); l.sleepUntil(plan) {
		l.end = max(l.end, plan)
	}
}

// turn waits until the next attempt may begin: for the start of its operation, or
// for the pause after a failed one, and for the client to be ready. It reports
// whether there is one.
func (l *loop) turn(ctx context.Context) bool {
	switch {
	case l.retry.failures > 0:
		if !l.sleepUntil(time.Duration(l.retry.next)) {
			return false
		}
	case l.open:
	case l.schedule != nil:
		if !l.await(l.schedule.Next()) {
			return false
		}
	case l.queue != nil:
		now := l.clock()
		if l.over(now) || !l.await(l.queue.take(time.Duration(now))) {
			return false
		}
	}
	if l.readier == nil {
		return true
	}
	if l.retry.failures == 0 {
		l.idle()
	}
	return l.ready(ctx)
}

// ready waits for the client to be ready, and reports whether it is.
func (l *loop) ready(ctx context.Context) bool {
	err := l.readier.Ready(l.opened)
	return err == nil || l.unready(ctx, "prepare an operation", err)
}

// unready ends a client that cannot begin an operation.
func (l *loop) unready(ctx context.Context, doing string, err error) bool {
	if l.opened.Err() == nil && ctx.Err() == nil && !errors.Is(err, workload.ErrDone) {
		l.rec.Error(string(engine.ClassOf(err)), err)
		l.fail(fmt.Errorf("group %s, client %d: %s: %w", l.group.Name, l.seat, doing, err))
	}
	return false
}

// await opens the slot of an operation and waits for its start.
func (l *loop) await(start time.Duration) bool {
	l.op.Intended = int64(start)
	l.open = true
	return l.sleepUntil(start)
}

// idle notes that no operation is in flight.
func (l *loop) idle() { l.since.Store(0) }

// sleepUntil waits until t. It returns false if the step ended in the meantime.
func (l *loop) sleepUntil(t time.Duration) bool {
	wait := t - time.Since(l.base)
	if wait <= 0 {
		return true
	}
	if l.retry.failures == 0 {
		l.idle()
	}
	if l.Coarse {
		return l.sleep(wait)
	}
	if wait > 2*timerGrain && !l.sleep(wait-timerGrain) {
		return false
	}
	nap(t - time.Since(l.base))
	return l.opened.Err() == nil
}

// timerGrain is the greatest lateness of Go's timers on an idle machine: the
// network poller waits for whole milliseconds.
const timerGrain = time.Millisecond

func (l *loop) sleep(d time.Duration) bool {
	l.timer.Reset(d)
	select {
	case <-l.timer.C:
		return true
	case <-l.opened.Done():
		l.timer.Stop()
		return false
	}
}

// operate makes one attempt at an operation, records it and reports whether to
// continue.
func (l *loop) operate(ctx context.Context, start int64) bool {
	if l.retry.failures == 0 {
		l.op.Start = start
		l.since.Store(start + 1)
	}
	parts := l.out.Parts
	if l.retry.anew {
		parts.Reset()
	}
	if parts != nil {
		parts.Kept = len(parts.Laps)
	}
	l.out = workload.Outcome{Parts: parts}
	err := l.client.Do(ctx, &l.out)
	end := l.clock()
	if err != nil {
		return l.failed(ctx, err, end)
	}
	l.record(start, end)
	return true
}

// leave counts the operation that the client leaves unfinished.
func (l *loop) leave() {
	if l.retry.failures > 0 || l.cut {
		l.rec.Leave(l.out.Kind, l.clock()-l.op.Start)
	}
}

// record records a completed operation.
func (l *loop) record(attempt, end int64) {
	o := &l.op
	o.Kind = l.out.Kind
	o.Attempt, o.Retried, o.End = attempt, l.retry.failures > 0, end
	if parts := l.out.Parts; parts != nil {
		o.Laps, o.Kept = parts.Laps, parts.Kept
	}
	l.retry.succeeded()
	l.end = time.Duration(end)
	if l.group.Ops[o.Kind].Upkeep {
		// It has no intended start; the operation whose slot is open still has
		// one.
		upkeep := *o
		upkeep.Intended = o.Start
		l.rec.Record(&upkeep)
		return
	}
	l.rec.Record(o)
	l.complete(end)
	l.done++
	if l.open {
		l.open = false
		if l.end <= l.group.Plan(l.limit()) {
			l.inPlan++
		}
		l.noteLateness(time.Duration(o.Start - o.Intended))
	}
}

// failed counts a failed attempt and reports whether to continue.
func (l *loop) failed(ctx context.Context, err error, end int64) bool {
	if errors.Is(err, workload.ErrDone) {
		if l.schedule != nil { // arrivals of a shared queue remain to be done
			l.schedule, l.open = nil, false
		}
		return false
	}
	if l.cut = ctx.Err() != nil; l.cut {
		return false
	}
	l.end = time.Duration(end)
	class := engine.ClassOf(err)
	f := hist.Failure{Kind: l.out.Kind, Retried: l.retry.failures > 0, Class: string(class), Err: err,
		Time: end - l.op.Start}
	f.Statements = l.out.Statements()
	stuck := l.retry.failed(class, end)
	f.GivenUp = l.retry.last && !stuck && !class.Ends()
	l.rec.Fail(&f)
	switch {
	case class.Ends():
	case stuck:
		err = fmt.Errorf("%d operations failed in a row, the last with: %w", l.retry.row, err)
	default:
		if f.GivenUp {
			l.retry.giveUp()
			l.open = l.open && l.group.Ops[l.out.Kind].Upkeep
		}
		return true
	}
	l.fail(fmt.Errorf("group %s, client %d: %w", l.group.Name, l.seat, err))
	return false
}

// noteLateness keeps the client's lateness halfway through its work or time, and
// at the end: lateness that grows until the end does not come from one stall.
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

// inFlight returns the age of the operation in flight, 0 if there is none.
func (l *loop) inFlight(now time.Duration) time.Duration {
	if since := l.since.Load(); since > 0 {
		return max(now-time.Duration(since-1), 0)
	}
	return 0
}
