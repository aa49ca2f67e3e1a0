package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/drive"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// window holds the observations around a step: at its barrier, after its last
// operation, and after the final sync. It has many fields: one for each.
type window struct {
	account.Observed          // without the figures that follow from the snapshots
	step                      string
	opening, closing, drained observe.Snapshot
	disks                     [2]observe.Snapshot // before and drained
	length                    time.Duration
	began, ended              float64 // bytes that rumbench had written to its own files at before and at drained
	memory                    int64   // bytes at the end; 0 if unknown
	memorySource              string
	memories                  []int64   // of each machine with a server of a cluster; 0: unknown
	sessions                  *sessions // nil if the engine does not report them
	endOthers                 func() account.Others
	profiles                  []collecting  // their collector is nil if it could not end
	plain                     bool          // it is never profiled
	counted                   bool          // after has been taken
	skew                      time.Duration // by which counts of other machines may be older or newer; greatest
	// start is as in clients; nil: there are none.
	start func(ctx context.Context, count func()) error
}

// open syncs everything dirty, waits for other processes, and takes
// the first snapshot of a window, which also ends the gap since the previous
// window.
func (w *window) open(ctx context.Context, t *trial, step string) error {
	if !w.plain {
		w.profiles = collect(t)
	}
	if err := t.sync(ctx); err != nil {
		return fmt.Errorf("sync before the step: %w", err)
	}
	w.step = step
	w.Hosted, w.Device, w.Elsewhere, w.Duet = t.hosted != nil, deviceSource(t), t.elsewhere, t.Partner != nil
	start := w.start
	if start == nil {
		start = func(ctx context.Context, count func()) error { return meetAndCount(ctx, t, step, count) }
	}
	err := start(ctx, func() {
		w.endOthers = t.lookAtOthers() // its own work is not part of the window
		w.skew = 0                     // of an earlier try
		w.disks[0], w.opening = t.disks.Snapshot(ctx), w.snapshot(ctx, t)
		w.began = t.written()
	})
	if err != nil {
		return err
	}
	t.addGap(w)
	return nil
}

// close ends a window of a length: it takes a snapshot, syncs everything dirty, and
// takes the last snapshot, before the check reads the database.
func (w *window) close(ctx context.Context, t *trial, length time.Duration) error {
	w.length = length
	if t.Partner != nil {
		t.Partner.Done(w.step)
	}
	w.count(ctx, t)
	start := time.Now()
	if err := t.sync(ctx); err != nil {
		return fmt.Errorf("sync after the step: %w", err)
	}
	w.Drain = time.Since(start)
	if t.Partner != nil {
		w.Alone = t.Partner.Alone()
	}
	w.drained, w.disks[1] = w.snapshot(ctx, t), t.disks.Snapshot(ctx)
	w.ended = t.written()
	w.Others = w.endOthers()
	t.started.Store(nil) // later samples do not belong to the step
	if t.process == nil {
		return nil
	}
	if n, source, err := t.process.Memory(ctx); err == nil {
		w.memory, w.memorySource, w.memories = n, source, []int64{n}
		addClusterMemory(ctx, t, w)
	}
	return nil
}

// count takes the snapshot at the end of the load, once.
func (w *window) count(ctx context.Context, t *trial) {
	if w.counted {
		return
	}
	w.counted = true
	w.sessions.end()
	w.closing = w.snapshot(ctx, t)
	w.endProfiles(t)
}

// snapshot samples all sources while no session works.
func (w *window) snapshot(ctx context.Context, t *trial) observe.Snapshot {
	combinedSnapshot := t.sampler.Snapshot(context.WithValue(ctx, idle{}, &w.Lag))
	for i := range combinedSnapshot.Sources { // the first of other machines takes as long as all of them
		if s := &combinedSnapshot.Sources[i]; s.Machine != "" {
			w.skew = max(w.skew, s.Took)
		}
	}
	return combinedSnapshot
}

// written returns the number of bytes that rumbench wrote to its own files,
// which the figures of the process and the device include.
func (t *trial) written() float64 { return float64(t.series.Written() + t.latency.Written() + t.saved) }

// stepRun is a step in progress.
type stepRun struct {
	*trial
	step      *workload.Step
	out       *result.Step
	window    window
	live      *liveFigures
	builds    *building             // nil: the step builds no indexes
	renewable []*renewableSession   // sessions of the clients on an attached server, group by group
	minute    map[string]*hist.Dist // the times of primary operations in the first minute, by group; see addMinute
}

// step runs a step and adds it to the result, also if it did not complete.
func (t *trial) step(ctx context.Context, step *workload.Step) error {
	if t.Calibrate {
		step = unpaced(step)
	}
	s := &result.Step{Name: step.Name, Doc: step.Doc, Started: time.Now(), Primary: step.Primary,
		WritesPer: step.WritesPer, Status: result.Complete}
	s.Base, s.Axes, s.Warmup, s.Creates, s.Judged = step.Base, step.Axes, step.Warmup, step.Creates, step.Judged
	s.Access, s.BeforeWrites = cmp.Or(step.Access, workload.OtherAccess), step.BeforeWrites
	s.Touches = step.Touches
	s.Groups, t.dealt = groupsOf(step), nil
	if s.Caches = t.begun; step.Restart != nil {
		s.Caches = step.Restart.Caches
	} else {
		t.begun = ""
	}
	defer t.started.Store(nil)
	// The step's description is written first, so that its series can be read if
	// the trial is killed.
	done := len(t.res.Steps)
	running := *s
	running.Status = result.Running
	t.res.Steps = append(t.res.Steps, running)
	err := t.save()
	t.res.Steps = t.res.Steps[:done]
	if err != nil {
		return err
	}
	t.Progress(eventOf(PhaseBegin, running))
	switch r := (&stepRun{trial: t, step: step, out: s}); {
	case step.Settle != nil:
		err = r.settle(ctx)
	case step.Restart != nil:
		err = r.restart(ctx)
	default:
		err = r.load(ctx)
	}
	if err != nil {
		s.Status = result.Failed
		if errors.Is(context.Cause(ctx), context.Canceled) { // interrupted by the user
			s.Status = result.Partial
		}
		if s.Seconds == 0 {
			return err // nothing was measured
		}
		reason := err.Error()
		if s.Status == result.Partial {
			reason = "it was interrupted"
		}
		s.Warnings = append(s.Warnings, metric.Warn(remark.StepNotEnded, metric.Values{"why": reason}))
	}
	t.res.Steps = append(t.res.Steps, *s)
	t.Progress(eventOf(PhaseEnd, *s))
	return err
}

// unpaced returns the step with all groups in closed loops.
func unpaced(step *workload.Step) *workload.Step {
	out := *step
	out.Groups = slices.Clone(step.Groups)
	for i := range out.Groups {
		out.Groups[i].Rate, out.Groups[i].Arrivals = 0, nil
	}
	return &out
}

// groupsOf describes the groups of a step.
func groupsOf(step *workload.Step) (out []result.Group) {
	for i := range step.Groups {
		g := &step.Groups[i]
		d := result.Group{Name: g.Name, Clients: g.Clients, Parts: g.Parts, Units: map[string]string{}}
		switch {
		case g.Arrivals != nil:
			d.Open, d.Pace, d.Queue, d.LeadIn = true, string(g.Arrivals.Kind), g.Arrivals.Queue, g.Arrivals.LeadIn
			d.Rate, d.Ramp = g.Arrivals.Until(step.Seconds)/step.Seconds, rampOf(g.Arrivals)
		case g.Rate > 0:
			d.Rate, d.Pace = g.Rate*float64(g.RowsPerOp)*float64(g.Clients), string(g.Pace)
		}
		for _, k := range g.Ops {
			d.Ops = append(d.Ops, k.Name)
			if k.Share > 0 && k.Share < 1 {
				if d.Shares == nil {
					d.Shares = map[string]float64{}
				}
				d.Shares[k.Name] = k.Share
			}
			d.Units[k.Name], d.Units[k.Whole()] = k.Unit, k.Unit
			if k.Whole() != k.Name && !k.Upkeep {
				if d.Of == nil {
					d.Of = map[string]string{}
				}
				d.Of[k.Name] = k.Whole()
			}
		}
		out = append(out, d)
	}
	return out
}

// rampOf returns how the arrival rate changes; empty, not nil, if it does not.
func rampOf(a *pace.Arrivals) []result.Ramp {
	first := a.Segments[0].From
	if slices.ContainsFunc(a.Segments, func(s pace.Segment) bool { return s.From != first || s.To != first }) {
		return a.Segments
	}
	return []result.Ramp{}
}

// load runs a step that has clients.
func (t *stepRun) load(ctx context.Context) error {
	if t.step.Creates {
		if err := t.db.CreateTables(ctx); err != nil {
			return fmt.Errorf("create the tables: %w", err)
		}
	}
	env := workload.Env{DB: t.countBuilds(), Seed: t.res.Seed, Results: t.keepsRows() && !t.Preflight,
		Previous: t.previous, Copied: copiedSeed(t.trial)}
	plans := t.newPlanCheck(t.step.Name)
	checkStatements, err := t.statementLimit(ctx)
	if err != nil {
		return err
	}
	clients, stage, prepared, err := openClients(ctx, t, &env)
	if err != nil {
		return err
	}
	defer clients.close()
	t.dealt = prepared.Dealt
	if err := checkStatements(prepared.Statements); err != nil {
		return err
	}
	if err := plans.checkBefore(ctx, t.out, prepared.Ops); err != nil {
		return err
	}
	config := drive.Config{
		Step: t.step, Interval: t.Plan.Interval, Seed: t.res.Seed, OnInterval: t.onInterval, Coarse: t.coarse,
	}
	if t.renewable != nil {
		config.Awake = t.awake
	}
	switch {
	case !t.Preflight && !t.Calibrate:
		config.Longest = t.Plan.Until
	case t.Calibrate:
		config.ThreadCPU, config.Limit = true, CalibrationTime
	case t.Preflight && !t.step.Whole:
		config.Limit = preflightTime
	}
	earlierTotals, err := t.leadIn(ctx, clients, config)
	if err != nil {
		return err
	}
	res, err := t.measure(ctx, clients, config)
	if err != nil {
		return err
	}
	if t.Preflight {
		return t.tried(ctx, stage, res)
	}
	t.driven = res
	t.latency.logUndone(t.step, res.Groups)
	t.latency.flush()
	t.out.Seconds = res.Window.Seconds()
	a := t.account(res)
	a.Start = startOf(t)
	a.Operations()
	t.out.Take(&a.Sheet)
	t.renewals()
	t.addStructure(ctx, t.db)
	t.saveProfiles()
	if res.Ended != nil {
		return res.Ended
	}
	if err := plans.checkAfter(ctx, t.out); err != nil {
		return err
	}
	found, err := stage.Finish(ctx, earlierTotals.And(res.Totals()))
	if err != nil {
		return fmt.Errorf("check the step: %w", err)
	}
	t.previous = &found.Live
	if t.Calibrate {
		return nil // there is nothing to check
	}
	t.out.Note(found.Notes...)
	t.out.OwnSQL = found.OwnSQL
	for _, b := range found.Broken {
		t.out.Refuse(metric.Warn(remark.WrongResult, metric.Values{"what": b}))
	}
	return t.addSpace(ctx, found.ReadAll)
}

// measure runs the load between two snapshots. Everything dirty is synced
// before, so that the step is charged only for its own writes, and after, so
// that it is charged for all of them.
func (t *stepRun) measure(ctx context.Context, by clients, c drive.Config) (*drive.Result, error) {
	w := &t.window
	w.sessions = t.watchSessions(ctx)
	defer w.sessions.close()
	if err := by.ready(ctx, &c); err != nil {
		return nil, err
	}
	w.start = by.start
	if err := w.open(ctx, t.trial, t.step.Name); err != nil {
		return nil, err
	}
	t.trackReads()
	t.live = newLiveFigures()
	t.started.Store(&stepStart{t.step.Name, time.Now()})
	w.sessions.begin(ctx, t.process)
	res, err := by.run(ctx, c)
	w.sessions.end()
	if err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx) // an interrupted step is still measured
	if err := w.close(ctx, t.trial, res.Window); err != nil {
		return res, err
	}
	return res, by.observed(ctx, w)
}

// settle runs a settle step.
func (t *stepRun) settle(ctx context.Context) error {
	w := &t.window
	if err := w.open(ctx, t.trial, t.step.Name); err != nil {
		return err
	}
	t.started.Store(&stepStart{t.step.Name, time.Now()})
	start := time.Now()
	floor := t.step.Settle.Floor
	if !t.measures() {
		floor = 0
	}
	if err := t.bringToRest(ctx, start, floor); err != nil {
		return err
	}
	if err := w.close(ctx, t.trial, time.Since(start)); err != nil {
		return err
	}
	t.out.Seconds = w.length.Seconds()
	a := t.account(nil)
	a.Settled()
	t.out.Take(&a.Sheet)
	t.addStructure(ctx, t.db)
	t.saveProfiles()
	if t.previous == nil || t.Calibrate {
		return nil
	}
	return t.addSpace(ctx, false)
}

// bringToRest brings the engine to rest, for no less than floor.
func (t *stepRun) bringToRest(ctx context.Context, start time.Time, floor time.Duration) (err error) {
	defer t.showProgress(PhaseSettle, start, floor)()
	if t.out.Settle, err = t.db.Settle(ctx); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	return sleep(ctx, floor-time.Since(start))
}

// showProgress reports the progress of a step without clients at each interval, until the returned
// function is called.
func (t *stepRun) showProgress(phase string, start time.Time, floor time.Duration) (end func()) {
	over := make(chan struct{})
	var shows sync.WaitGroup
	shows.Go(func() {
		each := time.NewTicker(t.Plan.Interval)
		defer each.Stop()
		for {
			t.Progress(Event{Step: t.step.Name, Phase: phase, Elapsed: time.Since(start).Seconds(),
				Expected: floor.Seconds()})
			select {
			case <-each.C:
			case <-over:
				return
			}
		}
	})
	return func() {
		close(over)
		shows.Wait()
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
