package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/model"
	"rumbench/workload"
)

// RecordedWorkload is the workload of trials with a load that is not
// rumbench's.
const RecordedWorkload = "recorded"

// Recording is the load of another program on a running server, which is recorded
// as a trial of one step.
type Recording struct {
	Dir                    string // the trial directory, which exists
	Campaign, Target, Step string // names
	Command                string // that makes the load, as it may be shown
	Engine                 engine.Engine
	Server                 engine.Watch
	DSN                    string // as it may be shown
	Interval               time.Duration
	Version                string // of rumbench
	// Load returns when the load has ended. The output of its program may be
	// kept in the trial directory.
	Load func(ctx context.Context, dir string) (Load, error)
}

// Load is the data known about a load that has ended, in addition to the
// server's counts.
type Load struct {
	CPU *time.Duration // of its program; nil: unknown
	// Own returns the output of the program itself, the source of latencies; nil: it is
	// unknown. It is called once, after the measurement; nil: there is no program.
	Own func() *result.Trial
}

// ErrKilled is wrapped by the error of a load that was ended from outside: the
// recording is partial.
var ErrKilled = errors.New("the load was ended before its end")

// Record records a load and writes the result to Recording.Dir, as Run does.
func Record(ctx context.Context, r Recording) (*result.Trial, error) {
	t := &recorder{trial: &trial{
		Spec: Spec{Dir: r.Dir, Trial: 1, Plan: &plan.Plan{Interval: r.Interval}, Target: plan.Target{Name: r.Target},
			Engine: r.Engine},
		fail:     func(error) {}, // the load continues even if its recording fails
		res:      r.header(),
		observer: observer{recorded: true},
	}, Recording: r, intervals: map[string][]account.Interval{}}
	log, err := result.LockLog(r.Dir)
	if err != nil {
		return t.res, err
	}
	defer log.Close()
	if err := t.save(); err != nil {
		return t.res, err
	}
	err = t.run(ctx)
	return t.res, t.finish(ctx, err)
}

func (r *Recording) header() *result.Trial {
	info := r.Engine.Info()
	return &result.Trial{
		Format: result.Format, Campaign: r.Campaign, Target: r.Target, Trial: 1, Slot: 1, Order: string(plan.Sequential),
		Engine: info.Name, Structure: info.Structure, Hosting: result.Server, Workload: RecordedWorkload, Recorded: r.Command,
		Params: map[string]any{}, Knobs: map[string]string{"dsn": r.DSN}, Durability: result.Unknown,
		Interval: r.Interval.Seconds(),
		Status:   result.Running, Started: time.Now(),
		Versions: observe.Facts{{Name: "rumbench", Value: r.Version}, {Name: "go", Value: runtime.Version()},
			{Name: info.Name, Value: info.Version}},
	}
}

// recorder is a recording in progress.
type recorder struct {
	*trial
	Recording
	served    []account.Served // the server's counts
	intervals map[string][]account.Interval
}

func (r *recorder) run(ctx context.Context) (err error) {
	if r.series, err = result.CreateSeries(r.trial.Dir); err != nil {
		return err
	}
	if err := r.describe(ctx); err != nil {
		return err
	}
	r.pids = r.processes(r.Server)
	r.observe(r.Server)
	out := r.begin()
	r.res.Steps = []result.Step{*out}
	if err := r.save(); err != nil { // so that the series can be read if rumbench is killed
		return err
	}
	r.res.Steps = nil
	run := &stepRun{trial: r.trial, step: &workload.Step{Name: out.Name, Primary: out.Primary, WritesPer: out.WritesPer},
		out: out}
	err = r.measure(ctx, run)
	if out.Seconds == 0 {
		return err // nothing was measured
	}
	out.Status = result.Complete
	if err != nil {
		out.Status = result.Failed
		if errors.Is(err, ErrKilled) || ctx.Err() != nil {
			out.Status = result.Partial
		}
	}
	r.res.Steps = []result.Step{*out}
	return cmp.Or(err, r.series.Err())
}

// describe notes the facts about the server.
func (r *recorder) describe(ctx context.Context) (err error) {
	r.data = r.Server.DataDir()
	r.res.Host = observe.FactsOf(r.data)
	if r.res.Settings, err = r.Server.Settings(ctx); err != nil {
		return fmt.Errorf("read the settings: %w", err)
	}
	for _, s := range r.res.Settings {
		switch s.Name {
		case engine.ServerVersion:
			r.res.Versions = append(r.res.Versions, observe.Fact{Name: "server", Value: s.Value})
		case "durability":
			r.res.Durability = s.Value
			level := model.Durability(s.Value)
			r.res.Promise = cmp.Or(r.Recording.Engine.Info().Promises[level], level.Promise())
		}
	}
	var counted engine.Sample
	if err := r.Server.Counters(ctx, &counted); err != nil {
		return err
	}
	for _, w := range account.AllServed {
		if slices.ContainsFunc(counted.Points, func(p engine.Point) bool { return p.Name == w.Counter }) {
			r.served = append(r.served, w)
		}
	}
	return nil
}

// begin returns the description of the step before the measurement.
func (r *recorder) begin() *result.Step {
	s := &result.Step{Name: r.Step, Doc: "The load of another program, recorded.", Status: result.Running,
		Started: time.Now(), Access: workload.OtherAccess}
	for _, w := range r.served {
		s.Primary = cmp.Or(s.Primary, w.Op)
		s.Groups = append(s.Groups, result.Group{Name: w.Group, Ops: []string{w.Op}, Units: map[string]string{w.Op: w.Op}})
	}
	s.WritesPer = s.Primary
	s.Note("Work is what the server counted, of all its clients.",
		"Nothing was synced before or after: what was still in the operating system's cache at the end is not among the "+
			"KB written.")
	return s
}

// measure samples while the load runs, between two snapshots. An interrupted load
// is still measured.
func (r *recorder) measure(ctx context.Context, run *stepRun) error {
	w, wholeContext := &run.window, context.WithoutCancel(ctx)
	if err := w.open(wholeContext, r.trial, run.step.Name); err != nil {
		return err
	}
	w.Hosted = true
	start := time.Now()
	r.started.Store(&stepStart{run.step.Name, start})
	over, stop := context.WithCancel(wholeContext)
	sampled := make(chan struct{})
	go func() {
		defer close(sampled)
		r.sampler.Run(over, r.sample)
	}()
	load, err := r.Load(ctx, r.trial.Dir)
	length := time.Since(start)
	stop()
	<-sampled
	cerr := w.close(wholeContext, r.trial, length)
	var ownTrial *result.Trial
	if load.Own != nil {
		ownTrial = load.Own()
	}
	if cerr != nil {
		return errors.Join(err, cerr)
	}
	w.Load = load.CPU
	run.out.Seconds = length.Seconds()
	a := run.account(nil)
	a.Recorded(r.intervals)
	run.out.Take(&a.Sheet)
	run.addStructure(ctx, r.Server)
	r.addLatency(run.out, ownTrial)
	r.addSize(run)
	return err
}

// addLatency adds the times that the program which made the load printed itself.
func (r *recorder) addLatency(out *result.Step, ownTrial *result.Trial) {
	start := len(out.Rows)
	if ownTrial != nil && len(ownTrial.Steps) == 1 {
		s := &ownTrial.Steps[0]
		for _, row := range s.Rows {
			if f := metric.FamilyOf(row.Metric); f != metric.Service && f != metric.Response && row.Metric != metric.Errors {
				continue
			}
			row.Target, row.Trial, row.Step, row.Source = r.Target, 1, out.Name, "the output of "+ownTrial.Imported.Tool
			out.Rows = append(out.Rows, row)
		}
		out.Groups, out.Curves = append(out.Groups, s.Groups...), append(out.Curves, s.Curves...)
	}
	if len(out.Rows) == start {
		out.Note("Latency was not measured: the load was not rumbench's.")
		return
	}
	r.res.Versions = append(r.res.Versions, observe.Fact{Name: "client", Value: ownTrial.Imported.Tool})
	out.Note("Latency was not measured here: " + ownTrial.Imported.Tool + " printed it of its own clients.")
}

// sample writes an interval: the counts of all sources, and the work.
func (r *recorder) sample(prev, cur observe.Snapshot) {
	r.writeSamples(prev, cur)
	start := r.started.Load()
	if start == nil {
		return
	}
	var lines []result.Line
	for _, iv := range observe.Diff(prev, cur) {
		if iv.Source != "engine" || iv.Err != nil || iv.Elapsed <= 0 {
			continue
		}
		for _, w := range r.served {
			n, ok := account.Counter(iv.Changes, w.Counter)
			if !ok {
				continue
			}
			end, length := iv.Time.Sub(start.began).Seconds(), iv.Elapsed.Seconds()
			r.intervals[w.Op] = append(r.intervals[w.Op], account.NewInterval(end, length, n))
			lines = append(lines, result.Line{Step: start.name, Source: "ops", T: end, DT: length, Group: w.Group, Op: w.Op,
				Ops: int64(n), Rows: int64(n)})
		}
	}
	r.write(lines)
}

// addSize adds the memory of the server, and the size of its data directory if that
// is on this host.
func (r *recorder) addSize(run *stepRun) {
	z := &account.Space{Hosted: true, Memory: run.window.memory, MemorySource: run.window.memorySource,
		Attached: r.data == ""}
	if !z.Attached {
		var err error
		if z.Files, err = fsize.ByClass(r.data, func(string) engine.FileClass { return "" }); err != nil {
			r.unobserved("no size of the data: " + err.Error())
		}
	}
	b := r.builder(run.step.Name)
	b.Unknown = map[string]bool{metric.LiveRows: true, metric.LiveBytes: true}
	b.Space(z)
	run.out.Take(&b.Sheet)
}
