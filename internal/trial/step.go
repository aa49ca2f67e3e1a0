package trial

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/drive"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/pace"
	"rumbench/internal/result"
	"rumbench/workload"
)

// window is what was observed around a step: at its barrier, after its last
// operation, and when everything dirty had been synced.
type window struct {
	before, after, drained observe.Snapshot
	length                 time.Duration
	drain                  time.Duration
	alone                  time.Duration // in a duet: how long it went on after the other's
	client                 observe.ClientDelay
	began, ended           float64 // bytes that rumbench had written to its own files at before and at drained
	own                    float64 // bytes that it wrote to them in between
	memory                 int64   // bytes at the end; 0 if not known
	memorySource           string
	sessions               *sessions // nil if the engine cannot tell what they do
	others                 neighbours
	endOthers              func() neighbours
}

// open syncs everything dirty, waits for the other trial of a duet, and takes
// the first figures of a window, which are also the last of what went on since
// the window before.
func (w *window) open(ctx context.Context, t *trial, step string) error {
	if err := t.sync(); err != nil {
		return fmt.Errorf("sync before the step: %w", err)
	}
	if err := t.meet(ctx, step); err != nil {
		return err
	}
	w.endOthers = t.lookAtOthers() // its own work is not of the window
	w.before = t.sampler.Snapshot(ctx)
	w.began = t.written()
	t.addGap(w)
	return nil
}

// close syncs everything dirty, and takes the last figures of a window:
// before anybody reads the database to check it.
func (w *window) close(ctx context.Context, t *trial) error {
	start := time.Now()
	if err := t.sync(); err != nil {
		return fmt.Errorf("sync after the step: %w", err)
	}
	w.drain = time.Since(start)
	w.alone = t.alone()
	w.drained = t.sampler.Snapshot(ctx)
	w.ended = t.written()
	w.own = w.ended - w.began
	w.others = w.endOthers()
	t.clock.end() // samples from here on are not of the step
	if t.process == nil {
		return nil
	}
	if n, from, err := t.process.Memory(ctx); err == nil {
		w.memory, w.memorySource = n, from
	}
	return nil
}

// written is the number of bytes that rumbench wrote to its own files, which
// the process and the device count like the engine's.
func (t *trial) written() float64 { return float64(t.series.Written() + t.latency.Written() + t.saved) }

// step runs a step and adds it to the result, as far as it came.
func (t *trial) step(ctx context.Context, step *workload.Step) error {
	s := &result.Step{Name: step.Name, Doc: step.Doc, Started: time.Now(), Primary: step.Primary, WritesPer: step.WritesPer, Status: result.Complete}
	s.Base, s.Axes, s.Warmup = step.Base, axesOf(step), step.Warmup
	s.Access, s.BeforeWrites = cmp.Or(step.Access, workload.OtherAccess), step.BeforeWrites
	s.Groups = t.groups(step)
	t.clock.begin(step.Name)
	defer t.clock.end()
	// What is known of the step is written first: should it be its last one, a
	// reader knows what its series are about.
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
	if step.Settle != nil {
		err = t.settle(ctx, step, s)
	} else {
		err = t.load(ctx, step, s)
	}
	if err != nil {
		s.Status = result.Failed
		if ctx.Err() != nil && t.series.Err() == nil { // ended by its user
			s.Status = result.Partial
		}
		if s.Seconds == 0 {
			return err // nothing was measured
		}
		why := err.Error()
		if s.Status == result.Partial {
			why = "it was ended early"
		}
		s.Warnings = append(s.Warnings, metric.Untyped("the step did not end: "+why))
	}
	t.res.Steps = append(t.res.Steps, *s)
	t.Progress(eventOf(PhaseEnd, *s))
	return err
}

// axesOf are the numbers in which a step differs from others of its base.
func axesOf(step *workload.Step) (out []result.Axis) {
	for _, a := range step.Axes {
		out = append(out, result.Axis(a))
	}
	return out
}

// groups describes the groups of a step.
func (t *trial) groups(step *workload.Step) (out []result.Group) {
	for i := range step.Groups {
		g := &step.Groups[i]
		d := result.Group{Name: g.Name, Clients: g.Clients, Units: map[string]string{}}
		switch {
		case t.Calibrate:
		case g.Arrivals != nil:
			d.Open, d.Pace, d.Queue = true, string(g.Arrivals.Kind), g.Arrivals.Queue
			d.Rate, d.Ramp = g.Arrivals.Until(step.Seconds)/step.Seconds, rampOf(g.Arrivals)
		case g.Rate > 0:
			d.Rate, d.Pace = g.Rate*float64(g.RowsPerOp)*float64(g.Clients), string(g.Pace)
		}
		for _, k := range g.Ops {
			d.Ops = append(d.Ops, k.Name)
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

// rampOf is how the rate of arrivals changes; empty, not nil, if it does
// not.
func rampOf(a *pace.Arrivals) []result.Ramp {
	out := []result.Ramp{}
	first := a.Segments[0].From
	if !slices.ContainsFunc(a.Segments, func(s pace.Segment) bool { return s.From != first || s.To != first }) {
		return out
	}
	for _, s := range a.Segments {
		out = append(out, result.Ramp(s))
	}
	return out
}

// load runs a step that has clients.
func (t *trial) load(ctx context.Context, step *workload.Step, s *result.Step) error {
	if step.Creates {
		if err := t.db.CreateTables(ctx); err != nil {
			return fmt.Errorf("create the tables: %w", err)
		}
	}
	stage, err := step.Open(ctx, workload.Env{DB: t.db, Seed: t.Plan.Seed, Results: t.keepsRows(), Previous: t.previous})
	if err != nil {
		return err
	}
	plans := t.newPlanCheck(step.Name)
	clients, closeSessions, err := t.seat(ctx, step, stage, plans)
	defer closeSessions()
	if err != nil {
		return err
	}
	if err := plans.before(ctx, s); err != nil {
		return err
	}
	config := drive.Config{
		Step: step, Clients: clients, Interval: t.Plan.Interval, Seed: t.Plan.Seed,
		OnInterval: func(iv *drive.Interval) { t.onInterval(step, iv) },
	}
	if t.Calibrate {
		config.Unpaced, config.ThreadCPU, config.Limit = true, true, CalibrationTime
	}
	var w window
	res, err := t.measure(ctx, config, &w)
	if err != nil {
		return err
	}
	t.driven = res
	t.logUndone(step, res)
	t.latency.flush()
	s.Seconds = res.Window.Seconds()
	r := &rows{trial: t, step: step, out: s, res: res, window: &w, config: &config}
	r.add()
	if res.Ended != nil {
		return res.Ended
	}
	if t.Calibrate {
		return nil
	}
	if err := plans.after(ctx, s); err != nil {
		return err
	}
	return t.finding(ctx, step, stage, r)
}

// seat opens a session for every client and makes the clients.
func (t *trial) seat(ctx context.Context, step *workload.Step, stage workload.Stage, plans *planCheck) (clients [][]workload.Client, closeAll func(), err error) {
	var sessions []engine.Session
	closeAll = func() {
		for _, s := range sessions {
			s.Close()
		}
	}
	for g := range step.Groups {
		var seats []workload.Client
		for i := range step.Groups[g].Clients {
			session, err := t.db.Session(ctx)
			if err != nil {
				return nil, closeAll, fmt.Errorf("open a session: %w", err)
			}
			sessions = append(sessions, session)
			client, err := stage.Client(ctx, workload.Seat{Group: g, Client: i, Session: plans.session(session)})
			if err != nil {
				return nil, closeAll, err
			}
			seats = append(seats, client)
		}
		clients = append(clients, seats)
	}
	return clients, closeAll, nil
}

// measure runs the load between two snapshots. Everything dirty is synced
// before, so that the step pays only for its own writes, and after, so that it
// pays for all of them.
func (t *trial) measure(ctx context.Context, c drive.Config, w *window) (*drive.Result, error) {
	w.sessions = t.watchSessions(ctx, c.Step)
	defer w.sessions.close()
	if err := w.open(ctx, t, c.Step.Name); err != nil {
		return nil, err
	}
	t.pulse = newPulse()
	delays := t.client.Window()
	t.clock.barrier()
	w.sessions.begin(ctx, t.process)
	res, err := drive.Run(ctx, c)
	w.sessions.end(t.process)
	if err != nil {
		return nil, err
	}
	t.over(c.Step.Name)
	w.client = delays.Stop()
	ctx = context.WithoutCancel(ctx) // an interrupted step is measured to its end
	w.after = t.sampler.Snapshot(ctx)
	w.length = res.Window
	return res, w.close(ctx, t)
}

// finding asks the workload whether the step's invariants hold, and measures
// what it left.
func (t *trial) finding(ctx context.Context, step *workload.Step, stage workload.Stage, r *rows) error {
	done := r.res.Totals()
	found, err := stage.Finish(ctx, done)
	if err != nil {
		return fmt.Errorf("check the step: %w", err)
	}
	t.previous = &found.Live
	r.out.Note(found.Notes...)
	for _, b := range found.Broken {
		r.out.Status = result.Invalid
		r.out.Warnings = append([]metric.Warning{metric.Warn(metric.WrongResult, metric.Values{"what": b})}, r.out.Warnings...)
	}
	return r.addSpace(ctx, found.Live, found.ReadAll)
}

// settle runs a settle step.
func (t *trial) settle(ctx context.Context, step *workload.Step, s *result.Step) error {
	var w window
	if err := w.open(ctx, t, step.Name); err != nil {
		return err
	}
	t.clock.barrier()
	start := time.Now()
	floor := step.Settle.Floor
	if t.Calibrate {
		floor = 0
	}
	t.Progress(Event{Step: step.Name, Phase: PhaseSettle, Expected: floor.Seconds()})
	actions, err := t.db.Settle(ctx)
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	s.Settle = actions
	if err := sleep(ctx, floor-time.Since(start)); err != nil {
		return err
	}
	w.length = time.Since(start)
	t.over(step.Name)
	w.after = t.sampler.Snapshot(ctx)
	if err := w.close(ctx, t); err != nil {
		return err
	}
	s.Seconds = w.length.Seconds()
	r := &rows{trial: t, step: step, out: s, window: &w}
	r.addSettle()
	if t.previous == nil || t.Calibrate {
		return nil
	}
	return r.addSpace(ctx, *t.previous, false)
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

// expected is the planned length of a step in seconds, 0 if it has none.
func expected(step *workload.Step) float64 {
	if step.Seconds > 0 {
		return step.Seconds
	}
	var longest float64
	for _, g := range step.Groups {
		if g.Work > 0 && g.Rate > 0 {
			longest = math.Max(longest, float64(g.Work)/g.Rate)
		}
	}
	return longest
}
