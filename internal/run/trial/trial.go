// Package trial runs one trial: one target × one workload × one repetition, in
// this process, into one directory. It knows no engine and no workload by name.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/drive"
	"rumbench/internal/text/hint"
	"rumbench/workload"
)

// Spec describes a trial to run. It has many fields because a trial depends on
// that many settings.
type Spec struct {
	Dir     string // the trial directory, which exists
	Plan    *plan.Plan
	Target  plan.Target
	Trial   int       // from 1
	Order   string    // the campaign's order of trials, recorded in the result
	Slot    int       // the trial's place in it, from 1, recorded in the result
	Resumed int       // how often the campaign had been resumed, recorded in the result
	Began   time.Time // when the campaign did
	Machine string    // of a fleet, recorded in the result; "": this one is no part of one
	Engine  engine.Engine
	Version string // of rumbench
	// Build is the program that runs the trial, nil if it is unknown.
	Build *program.Build
	// Calibrate measures the client instead: every step runs briefly, without its
	// rates, and the clients' own CPU time is measured.
	Calibrate bool
	// Preflight only tries whether the target can run all of it: each client
	// executes a few operations of every step, and results are not checked.
	Preflight bool
	// Profiled is how the trial is profiled, "" if it is not; Force samples also on a
	// kernel that may hang then.
	Profiled result.Profiling
	Force    bool
	// Client is the trial in which the client was calibrated, nil if it was not, and
	// Ceilings the device's limits from its probe, if the data are on that device.
	Client   *result.Trial
	Ceilings *observe.Ceilings
	// Partner is the other trial of a duet; nil for a trial that runs alone.
	Partner Partner
	// Head has the clients on other machines; nil: they are in this process.
	Head *divided.Head
	// Bases is the directory of data that are loaded once, if the plan has that.
	Bases string
	// Progress, if set, receives the trial's progress; it must not block.
	Progress func(Event)

	coarse bool // clients wait by timers only, as simulated time demands; in tests
}

// CalibrationTime is how long each step runs when the client is calibrated.
const CalibrationTime = 250 * time.Millisecond

// trial is a trial in progress. It has many fields: one for each part of the machinery around a step.
type trial struct {
	Spec
	res     *result.Trial
	db      engine.DB
	hosted  engine.Hosted // db, if it runs in a server; otherwise nil
	data    string        // the data's path on this host; "" if unknown
	dir     string        // the engine's directory: of its data, or of everything of a server
	created bool          // rumbench created dir and removes it
	series  *result.SeriesWriter
	fail    context.CancelCauseFunc // ends the steps
	latency *latencyLog
	observer
	config   engine.Config   // that the database is opened with
	begun    workload.Caches // of a copy or restart that no step has followed yet; "": none
	loaded   *loadedData     // nil: each trial loads its data
	previous *workload.Live
	driven   *drive.Result // of the step that was run last
	last     bool          // no step follows
	resumed  bool          // another process has loaded the trial's data
	taken    int           // how many of the result's steps another process ran
	limits   limits
	saved    int64 // bytes of the result, over all writes
}

// Run runs a trial and writes its result to Spec.Dir. The result has the
// trial's status; the error is why it is not complete, nil if it is.
func Run(ctx context.Context, s Spec) (*result.Trial, error) {
	if s.Progress == nil {
		s.Progress = func(Event) {}
	}
	t := &trial{Spec: s, res: s.header()}
	log, err := result.LockLog(s.Dir)
	if err != nil {
		return t.res, err
	}
	defer log.Close()
	if _, err := os.Stat(filepath.Join(s.Dir, result.TrialFile)); err == nil {
		loaded := takeUp(s.Dir)
		if loaded == nil {
			return t.res, fmt.Errorf("%s holds a trial already", s.Dir)
		}
		t.res.Started, t.res.Steps, t.res.Hooks = loaded.Started, loaded.Steps, loaded.Hooks
		t.resumed = true
	}
	if err := t.save(); err != nil {
		return t.res, err
	}
	err = t.run(ctx)
	return t.res, t.finish(ctx, err)
}

func (t *trial) save() error {
	path := filepath.Join(t.Dir, result.TrialFile)
	if err := result.WriteJSON(path, t.res); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		t.saved += info.Size()
	}
	return nil
}

func (t *trial) run(ctx context.Context) (err error) {
	if err := begin(t); err != nil {
		return err
	}
	if !t.resumed {
		if err := hooked(ctx, t, "before trial", t.Plan.Before.Trial); err != nil {
			return err
		}
	}
	if err := t.openData(); err != nil {
		return err
	}
	if t.series, err = result.CreateSeries(t.Dir); err != nil {
		return err
	}
	if t.latency, err = createLatencyLog(t.Dir, time.Now()); err != nil {
		return err
	}
	if t.measures() && t.Partner == nil && t.Plan.Calibrate && !t.coarse {
		sung := observe.Sing()
		t.res.Canary = &sung
	}
	if err := t.open(ctx); err != nil {
		return t.limits.explain(err)
	}
	t.pids = t.processes(t.hosted)
	if t.res.Settings, err = readSettings(ctx, t); err != nil {
		return err
	}
	if err := checkEffects(t); err != nil {
		return err
	}
	if err := noteRoundTrip(ctx, t); err != nil {
		return err
	}
	compareServers(ctx, t)
	t.res.PageCache = pageCache(t)
	if version := t.res.Setting(engine.ServerVersion); version != "" {
		t.res.Versions = append(t.res.Versions, observe.Fact{Name: "server", Value: version})
	}
	if err := noteImage(t); err != nil {
		return err
	}
	t.observe(t.db)
	if t.Calibrate {
		t.res.Ceilings = ceilings(t.Dir)
	}
	return t.limits.explain(t.steps(ctx))
}

// ceilings measures the limits of the device; nil if it cannot be probed, for example a
// file system in memory.
func ceilings(dir string) *observe.Ceilings {
	c, err := observe.Probe(dir)
	if err != nil {
		return nil
	}
	return &c
}

// open opens the database and records its host and settings.
func (t *trial) open(ctx context.Context) (err error) {
	config := t.Target.Config
	config.Dir = t.data
	config.Server.Log, config.Server.Started = filepath.Join(t.Dir, result.ServerLogFile), t.limits.add
	if t.data != "" {
		t.res.Host = observe.FactsOf(t.data)
	}
	if t.Target.Config.Server.Image != "" {
		if config.Server.Started, err = t.limits.adder(); err != nil {
			return err
		}
	}
	if m := &t.Target.Machine; m.Limited() && !t.Calibrate && !t.loaded.loading() { // after the facts of the host
		if err := t.limits.begin(m, t.Dir, len(t.Engine.Info().Servers) > 0); err != nil {
			return err
		}
	}
	db, err := t.Engine.Open(ctx, config)
	if err != nil {
		return fmt.Errorf("open %s: %w", t.Engine.Info().Name, err)
	}
	t.config = config
	host(t, db)
	if t.res.Host == nil {
		t.res.Host = observe.FactsOf(t.data)
	}
	if t.Plan.Between.Trim {
		t.res.Host = append(t.res.Host, observe.Fact{Name: "trimmed before the trial", Value: "yes"})
	}
	return nil
}

// host notes where a database runs that was opened.
func host(t *trial, db engine.DB) {
	t.db, t.res.Hosting = db, result.Embedded
	if hosted, ok := db.(engine.Hosted); ok {
		t.hosted, t.data, t.res.Hosting = hosted, hosted.DataDir(), result.Server
	}
}

// readSettings reads back the engine's settings, what the host imposes on its processes, and their limits.
func readSettings(ctx context.Context, t *trial) ([]engine.Setting, error) {
	settings, err := t.db.Settings(ctx)
	if err != nil {
		return nil, fmt.Errorf("read back the settings: %w", err)
	}
	pids := t.pids
	if t.hosted == nil {
		pids = []int{os.Getpid()}
	}
	for _, f := range observe.Imposed(pids) {
		settings = append(settings, engine.Setting{Name: f.Name, Value: f.Value, Source: engine.Imposed})
	}
	limited, err := t.limits.readBack(t.pids)
	return append(settings, limited...), err
}

// openData creates the private data directory, or uses the one that the plan
// names.
func (t *trial) openData() error {
	if t.Target.Config.Server.DSN != "" {
		return nil // the data is where the server keeps it
	}
	if t.Target.Data != "" && t.loaded == nil {
		t.data, t.dir = t.Target.Data, t.Target.Data
		if _, err := os.Stat(t.Dir + ".partial1"); err == nil { // set aside by the campaign
			t.warn(remark.DataChanged, nil)
		}
		return nil
	}
	t.data = filepath.Join(t.Dir, result.DataDir)
	if err := os.Mkdir(t.data, 0o755); err != nil {
		return fmt.Errorf("make the data directory: %w", err)
	}
	t.dir, t.created = t.data, true
	if t.loaded == nil || t.loaded.loading() {
		return nil
	}
	return errors.Join(copyData(t), goOn(t))
}

// sync writes everything dirty of the data's file system to its device. In a
// preflight nothing is measured, and nothing is to be kept; a server that is only
// recorded is left alone.
func (t *trial) sync(ctx context.Context) error {
	defer syncCluster(ctx, t)()
	if t.data == "" || t.Preflight || t.recorded {
		return nil
	}
	return observe.SyncDir(t.data)
}

// warn adds a warning about the trial, once.
func (t *trial) warn(code metric.Code, values metric.Values) {
	t.res.Warnings = metric.AppendNew(t.res.Warnings, metric.Warn(code, values))
}

// unobserved adds a warning about something that could not be observed, and the
// reason.
func (t *trial) unobserved(subject string) {
	if subject != "" {
		t.warn(remark.NotObserved, metric.Values{"what": subject})
	}
}

// steps runs the steps until one fails.
func (t *trial) steps(ctx context.Context) error {
	ctx, t.fail = context.WithCancelCause(ctx)
	defer t.fail(nil)
	watch(ctx, t)
	defer func() { t.unwatch() }()
	steps, err := t.plannedSteps(ctx)
	if err != nil {
		return err
	}
	t.space = &account.Space{}
	if err := measureFiles(ctx, t, t.space); err != nil {
		return err
	}
	for i := range steps {
		searched := t.Plan.Find != nil && t.measures() && plan.OpenGroup(&steps[i]) >= 0
		t.last = i == len(steps)-1 && !searched
		if err := t.runStep(ctx, &steps[i]); err != nil {
			return err
		}
		if searched {
			if err := t.search(ctx, &steps[i]); err != nil {
				return err
			}
		}
	}
	if t.Target.Config.Server.DSN == "" {
		return nil
	}
	changed, err := changedSettings(ctx, t) // by others, meanwhile
	t.res.Warnings = append(t.res.Warnings, changed...)
	return err
}

// measures reports whether this is a trial of the plan's own steps.
func (t *Spec) measures() bool { return !t.Calibrate && !t.Preflight }

// plannedSteps returns the steps that are to be run.
func (t *trial) plannedSteps(ctx context.Context) ([]workload.Step, error) {
	switch {
	case t.Preflight:
		steps := t.Plan.Restart.Within(t.Plan.Run.Steps(), nil)
		return brief(steps, triedClients(t)), connectAll(ctx, t.db, steps)
	case t.Calibrate: // the null engine would lose nothing, and has nothing
		return slices.DeleteFunc(t.Plan.Run.Steps(), restarts), nil
	}
	return stepsOf(t), nil
}

// runStep runs a step and saves its results.
func (t *trial) runStep(ctx context.Context, step *workload.Step) error {
	err := hooked(ctx, t, "before step "+step.Name, t.Plan.Before.Step)
	if err == nil {
		err = t.step(ctx, step)
		if herr := hooked(ctx, t, "after step "+step.Name, t.Plan.After.Step); err == nil {
			err = herr
		}
	}
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, context.Canceled) {
		err = cause
	}
	if serr := t.save(); err == nil {
		err = serr
	}
	if err == nil {
		err = t.series.Err()
	}
	if err != nil {
		return fmt.Errorf("step %s: %w", step.Name, err)
	}
	return nil
}

// finish closes everything, removes what rumbench created, and writes the final
// result. The data is removed first, which makes room on a full disk.
func (t *trial) finish(ctx context.Context, err error) error {
	for _, w := range t.observer.warnings() {
		t.unobserved(w)
	}
	err = blameServer(t.hosted, err)
	noteServerWarnings(t)
	if t.Target.Config.Server.DSN != "" && engine.ClassOf(err) == engine.Gone && hint.Of(err) == "" {
		err = hint.With(err, goneHintOf(err))
	}
	t.latency.flush() // data that cannot be written is in the result as well
	if t.db != nil {
		cerr := t.db.Close()
		switch {
		case err == nil:
			err = cerr
		case cerr != nil && t.Preflight: // whose warnings are not shown
			err = fmt.Errorf("%w; at the end: %w", err, cerr)
		case cerr != nil:
			t.warn(remark.AtEnd, metric.Values{"why": cerr.Error()})
		}
	}
	if t.loaded.loading() && err == nil {
		err = keepLoaded(t)
	}
	if !t.res.Pending() {
		if herr := hooked(ctx, t, "after trial", t.Plan.After.Trial); err == nil {
			err = herr
		}
	}
	if t.created && !t.Plan.Keep {
		if rerr := os.RemoveAll(t.dir); err == nil {
			err = rerr
		}
	}
	if t.events != nil {
		t.events.Close()
	}
	t.series.Close()
	t.latency.Close()
	t.conclude(ctx, err)
	if werr := t.save(); err == nil {
		err = werr
	}
	if err == nil && t.res.Status == result.Invalid {
		return errors.New(t.res.Reason)
	}
	return err
}

// dyingTime is how long to wait until a server that broke a connection is found
// dead.
const dyingTime = 2 * time.Second

// blameServer adds to a failed trial's error that its server has died, if it
// has, with the end of its log.
func blameServer(hosted engine.Hosted, err error) error {
	if err == nil || hosted == nil {
		return err
	}
	deadline := time.Now().Add(dyingTime)
	for engine.ClassOf(err) == engine.Gone && hosted.Died() == nil && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if died := hosted.Died(); died != nil {
		return fmt.Errorf("%w; %w", err, died)
	}
	return err
}

// conclude sets the trial's status.
func (t *trial) conclude(ctx context.Context, err error) {
	now := time.Now()
	t.res.Ended = &now
	switch {
	case errors.Is(err, ErrKilled):
		t.res.Status, t.res.Reason = result.Partial, err.Error()
	case err != nil && ctx.Err() != nil:
		t.res.Status, t.res.Reason = result.Partial, "it was interrupted"
	case err != nil:
		_, t.res.Lost = errors.AsType[*divided.LostError](err)
		t.res.Status, t.res.Reason, t.res.Hint = result.Failed, err.Error(), hint.Of(err)
	case t.res.Pending():
		t.res.Status, t.res.Reason = result.Partial, "its data are loaded; the other steps have not begun"
	default:
		t.res.Status = result.Complete
		for _, s := range t.res.Steps {
			if s.Status == result.Invalid {
				t.res.Status, t.res.Reason = result.Invalid, "step "+s.Name+": its numbers must not be used"
				if reason := metric.WithEffect(s.Warnings, metric.Invalidates); reason != nil {
					t.res.Reason = "step " + s.Name + ": " + reason.Text
				}
				return
			}
		}
	}
}
