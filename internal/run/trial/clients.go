package trial

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/drive"
	"rumbench/workload"
)

// clients are those of a step, in this process or in those of other machines.
type clients interface {
	// ready has them wait for the start of a load.
	ready(ctx context.Context, c *drive.Config) error
	// start agrees with other processes on the start, and returns then. count is called before, at least once.
	start(ctx context.Context, count func()) error
	run(ctx context.Context, c drive.Config) (*drive.Result, error)
	// observed notes in the window of the load that has ended what it cost the clients.
	observed(ctx context.Context, w *window) error
	close()
}

// openClients opens a step and the sessions of its clients, and returns what these have prepared.
func openClients(ctx context.Context, t *stepRun, env *workload.Env) (clients, workload.Stage, *divided.Prepared,
	error) {
	if t.Head != nil {
		return openRemote(ctx, t, env)
	}
	stage, err := t.step.Open(ctx, *env)
	if err != nil {
		return nil, nil, nil, err
	}
	seen := newPreparedOps()
	open := func(ctx context.Context) (engine.Session, error) {
		s, err := t.db.Session(ctx)
		if err != nil {
			return nil, err
		}
		return seen.session(t.keep(s)), nil
	}
	previous := dealtBy(t.db)
	seats, closeAll, err := workload.Seats(ctx, t.step, stage, workload.Part{}, open)
	if err != nil {
		closeAll()
	}
	prepared := seen.collected(t.step, workload.Part{})
	prepared.Dealt = since(dealtBy(t.db), previous)
	return &localClients{stepRun: t, seats: seats, closeAll: closeAll}, stage, prepared, err
}

// dealtBy returns how many sessions a database has dealt to each of its servers; none: it has one.
func dealtBy(db engine.DB) []int {
	if d, ok := db.(engine.Dealer); ok {
		if n := d.Dealt(); len(n) > 1 {
			return n
		}
	}
	return nil
}

func since(now, previous []int) (out []int) {
	for i, n := range now {
		out = append(out, n-previous[i])
	}
	return out
}

// localClients are clients in this process.
type localClients struct {
	*stepRun
	seats    [][]workload.Client
	closeAll func()
	delay    observe.ClientDelay
}

func (*localClients) ready(context.Context, *drive.Config) error { return nil }

func (h *localClients) start(ctx context.Context, count func()) error {
	return meetAndCount(ctx, h.trial, h.step.Name, count)
}

func (h *localClients) run(ctx context.Context, c drive.Config) (*drive.Result, error) {
	c.Clients = h.seats
	delay := observe.WatchClient()
	res, err := drive.Run(ctx, c)
	h.delay = delay()
	return res, err
}

func (h *localClients) observed(_ context.Context, w *window) error {
	w.Client = h.delay
	return nil
}

func (h *localClients) close() { h.closeAll() }

// remoteClients are clients in processes on other machines.
type remoteClients struct {
	*stepRun
	stage   workload.Stage
	outcome *divided.Outcome // of the last load; nil: none has ended
}

// openRemote has the parts open their clients. The only part of a step has all of it, also its checks; of
// several none has.
func openRemote(ctx context.Context, t *stepRun, env *workload.Env) (clients, workload.Stage, *divided.Prepared,
	error) {
	a := &remoteClients{stepRun: t}
	task := divided.Task{Step: t.step.Name, Seed: env.Seed, Results: env.Results, Previous: env.Previous,
		Copied: env.Copied, Numbers: *divided.NumbersOf(&drive.Config{Step: t.step}), Whole: len(t.Head.Machines) == 1}
	reachable, ok := t.db.(engine.Reachable)
	if !ok {
		return nil, nil, nil, errors.New("clients on other machines cannot reach this engine")
	}
	var err error
	if task.Route, err = reachable.Reach(ctx); err != nil {
		return nil, nil, nil, err
	}
	if k, ok := t.Plan.Run.(workload.Knowing); ok {
		if task.Knowledge, err = json.Marshal(k.Knowledge()); err != nil {
			return nil, nil, nil, err
		}
	}
	if a.stage = (&remoteStage{stepRun: t}); !task.Whole {
		if a.stage, err = t.step.Open(ctx, *env); err != nil {
			return nil, nil, nil, err
		}
	}
	prepared, err := t.Head.Open(ctx, &task)
	return a, a.stage, prepared, err
}

// remoteStage is a step that the only part has.
type remoteStage struct {
	workload.Stage // nil: its clients are there
	*stepRun
}

// Finish has the part check the step, and takes over what it knows then.
func (c *remoteStage) Finish(ctx context.Context, done workload.Totals) (workload.Finding, error) {
	v, err := c.Head.Check(ctx, done)
	if k, ok := c.Plan.Run.(workload.Knowing); ok && err == nil {
		err = k.GoOn(func(into any) error { return json.Unmarshal(v.Knowledge, into) })
	}
	return v.Finding, err
}

func (a *remoteClients) ready(ctx context.Context, c *drive.Config) error { return a.Head.Load(ctx, c) }

func (a *remoteClients) start(ctx context.Context, count func()) error {
	return a.Head.Start(ctx, count)
}

func (a *remoteClients) run(ctx context.Context, c drive.Config) (*drive.Result, error) {
	leadIn := c.OnInterval == nil
	out, err := a.Head.Run(ctx, func(iv *divided.Interval) {
		if !leadIn {
			a.writeUse(iv)
			c.OnInterval(&iv.Interval)
		}
	}, func() {
		if !leadIn {
			a.window.count(context.WithoutCancel(ctx), a.trial)
		}
	})
	if err != nil {
		return nil, err
	}
	a.outcome = out
	if s, ok := a.stage.(workload.Counting); ok {
		s.Count(out.Counts)
	}
	return out.Result, nil
}

func (a *remoteClients) close() { a.Head.Close() }

// writeUse writes what an interval cost the machines of clients.
func (a *remoteClients) writeUse(iv *divided.Interval) {
	line := result.Line{Step: a.step.Name, Source: "client", T: iv.To.Seconds(), DT: (iv.To - iv.From).Seconds()}
	total := 0.0
	var lines []result.Line
	for _, u := range iv.Machines {
		ownLine := line
		ownLine.Source = result.SourceOn(ownLine.Source, u.Machine)
		ownLine.V = map[string]float64{"client.cpu_ns": float64(u.CPU), "client.busy": u.Busy,
			"client.queue_ns": float64(u.Queue)}
		if u.Net > 0 {
			ownLine.V["client.net"] = u.Net
		}
		total += float64(u.CPU)
		lines = append(lines, ownLine)
	}
	line.V = map[string]float64{"client.cpu_ns": total}
	a.live.remote = total / float64(max(iv.To-iv.From, 1))
	a.write(append(lines, line))
}

func (a *remoteClients) observed(ctx context.Context, w *window) error {
	w.Remote = &account.RemoteClients{Lag: a.outcome.Lag}
	out := a.outcome
	processors := 0.0
	if w.sessions != nil {
		w.sessions.Client = 0
	}
	for i := range out.Reports {
		r := &out.Reports[i]
		w.Remote.CPU += r.CPU
		w.Client.GCPause += r.Delay.GCPause
		w.Client.GCCycles += r.Delay.GCCycles
		w.Client.Waits += r.Delay.Waits
		w.Client.SchedP99 = max(w.Client.SchedP99, r.Delay.SchedP99)
		processors += r.Processors
		if w.sessions != nil {
			w.sessions.Client += r.Queue
		}
		w.Remote.Machines = append(w.Remote.Machines, clientOf(r))
	}
	if w.sessions != nil {
		w.sessions.Processors = processors
	}
	w.Remote.Warned = warningsOf(out, a.Plan.Interval)
	return a.db.(engine.Reachable).Refresh(ctx)
}

// The shares of an interval beyond which machines that began apart, or whose clocks are, blur it.
const (
	apartTolerated = 0.05
	blurTolerated  = 0.1
)

func warningsOf(out *divided.Outcome, interval time.Duration) (warnings []metric.Warning) {
	for i := range out.Reports {
		r := &out.Reports[i]
		if len(r.Saturated) > 0 {
			warnings = append(warnings, metric.Warn(remark.MachineFull,
				metric.Values{"machine": r.Machine, "what": strings.Join(r.Saturated, " and ")}))
		}
		if r.Straggler {
			warnings = append(warnings, metric.Warn(remark.MachineSlow, metric.Values{"machine": r.Machine,
				"own": micros(int64(r.P99))}))
		}
	}
	if float64(out.Spread) > apartTolerated*float64(interval) {
		warnings = append(warnings, metric.Warn(remark.StartsApart, metric.Values{"spread": millis(out.Spread)}))
	}
	if float64(out.Bound) > blurTolerated*float64(interval) {
		warnings = append(warnings, metric.Warn(remark.ClocksApart, metric.Values{"bound": millis(out.Bound)}))
	}
	return warnings
}

func millis(d time.Duration) float64 { return float64(d) / 1e6 }

func clientOf(r *divided.Report) account.ClientMachine {
	return account.ClientMachine{Name: r.Machine, Ops: r.Ops, P50: micros(int64(r.P50)), P99: micros(int64(r.P99)),
		CPU: r.CPU.Seconds(), Busy: r.Busy, Queue: r.Queue.Seconds(), GC: millis(r.Delay.GCPause), Net: r.Net,
		Sent: r.Sent, Got: r.Got, Resent: r.Resent, MinTrip: micros(int64(r.MinTrip)), Trip: micros(int64(r.Trip)),
		ClockBound: millis(r.Clock.Bound), Late: millis(r.Late)}
}
