// Package campaign runs many trials: their order, one process for each, what
// happens when one dies, and how a campaign that was interrupted goes on. It
// measures nothing itself.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/server"
	"rumbench/internal/trial"
)

// Progress is told what happens.
type Progress interface {
	// Begin: trial number n of total begins.
	Begin(e result.Entry, n, total int)
	Event(e trial.Event)
	// End: the trial has ended; it may be nil if nothing of it can be read.
	End(e result.Entry, t *result.Trial)
	Note(text string)
}

// Config says what to run and how.
type Config struct {
	Plan    *plan.Plan
	Dir     string   // the campaign directory; it must not exist yet, unless Resume
	Command []string // as it was started, for the record
	// Child is the command that runs a trial; the campaign's and the trial's
	// directory are appended.
	Child    []string
	Progress Progress
	// Resume goes on with an interrupted campaign: trials that are complete
	// are kept.
	Resume bool
	// LockFile is locked while the campaign runs: one benchmark at a time.
	LockFile string
	// SpaceFactor tells how many bytes an engine may need per live user byte,
	// and how many whatever the rows.
	SpaceFactor func(engine string) (factor float64, base int64)
	// Force lets targets that attach to a server use a schema that exists.
	Force bool
}

// ClientDir is the directory of the client's calibration, below trials.
const ClientDir = "_client"

// ErrIncomplete is the error of a campaign of which not all trials are complete.
var ErrIncomplete = errors.New("not all trials are complete")

// Run runs the campaign. It returns what campaign.json holds, also when it was
// ended early.
func Run(ctx context.Context, c Config) (*result.Campaign, error) {
	locked, err := lock(c.LockFile, c.Dir)
	if err != nil {
		return nil, err
	}
	defer unlock(locked)
	if err := CheckSpace(c); err != nil {
		return nil, err
	}
	r := &runner{Config: c, locked: locked}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	return r.state, r.run(ctx)
}

// runner is a campaign in progress.
type runner struct {
	Config
	state  *result.Campaign
	locked *os.File // the lock of this host
}

// prepare makes the campaign directory, or reads it.
func (r *runner) prepare() error {
	if r.Resume {
		var err error
		if r.state, err = result.ReadCampaign(r.Dir); err != nil || !r.Force || r.state.Force {
			return err
		}
		r.state.Force = true // trials read it
		return r.save()
	}
	if _, err := os.Stat(filepath.Join(r.Dir, result.CampaignFile)); err == nil {
		return hint(fmt.Errorf("%s holds a campaign already", r.Dir), "choose another --out, or go on with it: rumbench run --resume "+r.Dir)
	}
	if entries, err := os.ReadDir(r.Dir); err == nil && len(entries) > 0 {
		return hint(fmt.Errorf("%s exists and is not empty", r.Dir), "choose another --out; nothing that rumbench did not make is overwritten")
	}
	if err := os.MkdirAll(filepath.Join(r.Dir, result.TrialsDir), 0o755); err != nil {
		return fmt.Errorf("make the campaign directory: %w", err)
	}
	r.state = &result.Campaign{Format: result.Format, Name: r.Plan.Name, Sets: r.Plan.Sets, Command: r.Command, Started: time.Now(), Force: r.Force, Trials: Entries(r.Plan)}
	if r.Plan.Calibrate {
		r.state.Client = ClientDir
	}
	if err := result.WriteFile(filepath.Join(r.Dir, result.PlanFile), r.Plan.Source); err != nil {
		return err
	}
	return r.save()
}

func (r *runner) save() error {
	return result.WriteJSON(filepath.Join(r.Dir, result.CampaignFile), r.state)
}

// Entries lists the trials of a plan in the order in which they are run.
func Entries(p *plan.Plan) (out []result.Entry) {
	add := func(target string, n int) {
		out = append(out, result.Entry{Dir: fmt.Sprintf("%s.%d", target, n), Target: target, Trial: n})
	}
	if p.Order == plan.Sequential {
		for _, t := range p.Targets {
			for n := range p.Trials {
				add(t.Name, n+1)
			}
		}
		return out
	}
	for n := range p.Trials {
		for _, t := range p.Targets {
			add(t.Name, n+1)
		}
	}
	return out
}

func (r *runner) run(ctx context.Context) error {
	if err := r.calibrate(ctx); err != nil {
		return err
	}
	bad := 0
	ran := false
	for i := range r.state.Trials {
		e := &r.state.Trials[i]
		if err := r.recognize(e); err != nil {
			return err
		}
		if e.Status == result.Complete {
			continue
		}
		if ctx.Err() != nil {
			return r.early(ctx)
		}
		if ran {
			if err := r.coolDown(ctx); err != nil {
				return err
			}
		}
		if err := r.aside(e.Dir); err != nil {
			return err
		}
		r.Progress.Begin(*e, i+1, len(r.state.Trials))
		t, err := r.child(ctx, *e)
		if t != nil {
			e.Status = t.Status
			r.Progress.End(*e, t) // first: it may tell why nothing can be written
		}
		if err != nil {
			return err
		}
		ran = true
		if err := r.save(); err != nil {
			return err
		}
		if t.Status != result.Complete {
			bad++
		}
	}
	if ctx.Err() != nil && bad > 0 {
		return r.early(ctx)
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d: %w", bad, len(r.state.Trials), ErrIncomplete)
	}
	return nil
}

// recognize sees that a trial is complete though the campaign was killed before
// it could write that down.
func (r *runner) recognize(e *result.Entry) error {
	if e.Status != "" {
		return nil
	}
	t, err := result.ReadTrial(result.TrialPath(r.Dir, e.Dir))
	if err != nil || t.Status != result.Complete {
		return nil // it is to be run
	}
	e.Status = t.Status
	return r.save()
}

func (r *runner) coolDown(ctx context.Context) error {
	if r.Plan.CoolDown == 0 {
		return nil
	}
	r.Progress.Note(fmt.Sprintf("cooling down for %v", r.Plan.CoolDown))
	select {
	case <-time.After(r.Plan.CoolDown):
		return nil
	case <-ctx.Done():
		return r.early(ctx)
	}
}

// earlyError says that a campaign's user ended it.
type earlyError struct{ cause error }

func (earlyError) Error() string   { return "the campaign was ended early" }
func (e earlyError) Unwrap() error { return e.cause }

// early is the error of a campaign that its user ended.
func (r *runner) early(ctx context.Context) error {
	return hint(earlyError{ctx.Err()}, "go on with it: rumbench run --resume "+r.Dir)
}

// calibrate measures the client on the null engine. Without it there are no
// client costs, but all else is as good.
func (r *runner) calibrate(ctx context.Context) error {
	if r.state.Client == "" {
		return nil
	}
	if t, err := result.ReadTrial(result.TrialPath(r.Dir, ClientDir)); err == nil && t.Status == result.Complete {
		return nil // of the part of the campaign before it was interrupted
	}
	if err := r.aside(ClientDir); err != nil {
		return err
	}
	r.Progress.Note("measuring the client on the null engine")
	t, err := r.child(ctx, result.Entry{Dir: ClientDir, Target: "client", Trial: 1})
	if err != nil {
		return err
	}
	if t.Status != result.Complete && ctx.Err() == nil {
		r.Progress.Note("the client could not be measured: " + t.Reason)
	}
	return nil
}

// aside moves what an interrupted trial has left out of the way: what it
// measured is kept, its data is not.
func (r *runner) aside(dir string) error {
	path := result.TrialPath(r.Dir, dir)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if !r.Plan.Keep {
		if err := removeData(path); err != nil {
			return err
		}
	}
	for n := 1; ; n++ {
		old := fmt.Sprintf("%s.partial%d", path, n)
		if _, err := os.Stat(old); errors.Is(err, fs.ErrNotExist) {
			return os.Rename(path, old)
		}
	}
}

// removeData removes the data directories that a trial made in its own
// directory, after a server that still runs there has been ended.
func removeData(trialDir string) error {
	data := filepath.Join(trialDir, result.DataDir)
	return errors.Join(server.Sweep(data), os.RemoveAll(data), os.RemoveAll(filepath.Join(trialDir, result.TempDir)))
}
