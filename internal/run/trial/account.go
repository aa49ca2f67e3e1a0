package trial

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/drive"
)

// builder returns a builder with the fields common to all rows of a step.
func (t *Spec) builder(step string) account.Builder {
	return account.Builder{All: metric.Row{Target: t.Target.Name, Trial: t.Trial, Step: step}}
}

// account returns the data known about a step once its window is closed; res is
// nil for a settle step.
func (t *stepRun) account(res *drive.Result) *account.Step {
	a := &account.Step{
		Builder: t.builder(t.step.Name), Of: t.step, Seconds: t.window.length.Seconds(),
		Results: t.keepsRows(), ErrorsAllowed: t.Plan.ErrorsAllowed, Calibrating: t.Calibrate,
		Calibrated: t.calibration(t.step.Name), Observed: t.observed(&t.window),
	}
	a.Owing = owing(t.trial)
	for i := range t.res.Steps[t.taken:] { // trials of the same copies must not differ in this
		s := &t.res.Steps[t.taken+i]
		a.Earlier = append(a.Earlier, account.Earlier{Name: s.Name, Primary: s.Primary, WritesPer: s.WritesPer,
			Complete: s.Status == result.Complete, Restart: s.Restarts(), Caches: s.Caches, Rows: s.Rows})
	}
	a.Observed.Subsystems = subsystems(t)
	if res != nil {
		a.Groups = account.Groups(t.step, res.Groups, t.res.Seed)
	}
	return a
}

// owing reports whether the trial began with a copy of data that had not settled.
func owing(t *trial) bool {
	if t.loaded == nil || t.loaded.base == nil {
		return false
	}
	steps := t.Plan.Loading()
	return steps[len(steps)-1].Settle == nil
}

// observed returns the counts taken around a window.
func (t *trial) observed(w *window) *account.Observed {
	o := w.Observed
	o.Own, o.Sessions, o.Servers = w.ended-w.began, w.sessions.samples(), serversOf(t, w)
	o.InWindow, _ = counts(t, w.opening, w.closing)
	o.WithSync, o.Uncounted = counts(t, w.opening, w.drained)
	first, _ := counts(t, observe.Snapshot{}, w.opening)
	previous, found := account.Gauge(first, engine.DirtyBytes)
	if after, still := account.Gauge(o.WithSync, engine.DirtyBytes); found && still {
		o.Deferred = &[2]float64{previous, after}
	}
	if o.Remote != nil {
		o.Lag = max(o.Lag, o.Remote.Lag)
		client := observe.Change{Name: "client.cpu_ns", Kind: engine.Counter, Unit: "ns", Value: float64(o.Remote.CPU)}
		o.InWindow, o.WithSync = append(o.InWindow, client), append(o.WithSync, client)
	}
	owed, reports := account.DebtOf(first)
	if later, still := account.DebtOf(o.InWindow); reports && still {
		o.Debt = &[2]float64{owed, later}
	}
	read, _ := account.Counter(o.WithSync, "device.read_bytes")
	written, _ := account.Counter(o.WithSync, "device.write_bytes")
	o.Others.HereRead, o.Others.HereWritten = o.Others.Here(read, written)
	disks, _ := counts(t, w.disks[0], w.disks[1])
	o.AddDrive(disks)
	if total, ok := account.Counter(disks, "device.read_bytes"); ok {
		allWritten, _ := account.Counter(disks, "device.write_bytes")
		o.Disks = &[2]float64{max(read, total), max(written, allWritten)}
	}
	return &o
}

// changes returns the counts of all sources between two snapshots, and warnings
// about sources without counts.
func changes(a, b observe.Snapshot) (out []observe.Change, unknown []metric.Warning) {
	for _, iv := range observe.Diff(a, b) {
		if iv.Err != nil {
			unknown = append(unknown, metric.Warn(remark.SourceUnknown,
				metric.Values{"source": iv.Source, "why": iv.Err.Error()}))
		}
		out = append(out, iv.Changes...)
	}
	return out, unknown
}

// calibration returns the rows of the step in which the clients were
// calibrated, nil if they were not. Steps that differ only in their rate were
// calibrated as one.
func (t *Spec) calibration(step string) []metric.Row {
	if t.Client == nil {
		return nil
	}
	for _, name := range []string{step, plan.WithoutRate(step)} {
		for i := range t.Client.Steps {
			if t.Client.Steps[i].Name == name {
				return t.Client.Steps[i].Rows
			}
		}
	}
	return nil
}

// addGap adds to the previous step the writes between its end and the beginning
// of the next.
func (t *trial) addGap(next *window) {
	last := t.lastWindow
	t.lastWindow = next
	if last == nil || len(t.res.Steps) == 0 || t.Partner != nil { // the gap of a duet includes waiting for the other trial
		return
	}
	step := &t.res.Steps[len(t.res.Steps)-1]
	b := t.builder(step.Name)
	between, _ := counts(t, last.drained, next.opening)
	disks, _ := counts(t, last.disks[1], next.disks[0])
	last.After(&b, between, disks, next.began-last.ended)
	step.Take(&b.Sheet)
}

// addStructure adds how a database or a server keeps tables, if it knows.
func (t *stepRun) addStructure(ctx context.Context, source any) {
	s, ok := source.(engine.Structured)
	if !ok {
		return
	}
	var err error
	if t.out.Structure, err = s.Structure(context.WithoutCancel(ctx)); err != nil { // also of an interrupted step
		reason := metric.Values{"source": "structure", "why": err.Error()}
		t.out.Warnings = append(t.out.Warnings, metric.Warn(remark.SourceUnknown, reason))
	}
}

// addSpace adds the space that the database uses at the end of a step.
//
// Engines scan their files to determine the sizes of objects, which fills the
// page cache. That is done only if the check has read everything anyway, or if
// no step follows that would find the cache warm.
func (t *stepRun) addSpace(ctx context.Context, warm bool) (err error) {
	z := &account.Space{Live: *t.previous, Hosted: t.hosted != nil, Memory: t.window.memory,
		MemorySource: t.window.memorySource, Attached: t.dir == ""}
	if warm || t.last {
		if z.Sizes, err = t.db.Sizes(ctx); err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
	}
	if err := measureFiles(ctx, t.trial, z); err != nil {
		return err
	}
	if t.last && t.dir != "" {
		noteExtents(t.trial)
	}
	b := t.builder(t.out.Name)
	b.Growth(t.space, z)
	b.Space(z)
	t.space = z
	t.out.Take(&b.Sheet)
	return nil
}

// measureFiles measures the sizes of the database's files, and of the server's messages.
func measureFiles(ctx context.Context, t *trial, z *account.Space) (err error) {
	if t.dir == "" {
		return nil
	}
	class := func(string) engine.FileClass { return "" }
	if classifier, ok := t.db.(engine.Classifier); ok {
		if class, err = classifier.FileClass(ctx); err != nil {
			return fmt.Errorf("distinguish files: %w", err)
		}
		z.Apart, z.Empty = true, classifier.Empty()
	}
	if info, err := os.Stat(filepath.Join(t.Dir, result.ServerLogFile)); err == nil {
		z.Messages = info.Size()
	}
	z.Files, err = fsize.ByClass(t.dir, class)
	return err
}
