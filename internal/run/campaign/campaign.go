// Package campaign runs many trials: their order, one process for each, the
// handling of trials that die, and the resumption of an interrupted campaign.
// It measures nothing itself.
package campaign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/hook"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// Progress shows the course of a campaign.
type Progress interface {
	// Begin shows that a trial begins, and where the campaign is.
	Begin(e result.Entry, at forecast.Place)
	Event(e trial.Event)
	// End shows that the trial has ended; it may be nil if nothing of it can be read.
	End(e result.Entry, t *result.Trial)
	Note(text string)
}

// Config describes a campaign and how to run it. It has many fields because it
// holds the plan and everything that a command line can add.
type Config struct {
	Plan    *plan.Plan
	Dir     string   // the campaign directory; it must not exist yet, unless Resume
	Command []string // as it was started, for the record
	// Child returns the command that makes a rumbench program run a trial; the
	// campaign's and the trial's directory are appended.
	Child func(program string) []string
	// Start starts the process of a trial, on some processors; nil: as usual. In a test it may be no process.
	Start func(cmd *exec.Cmd, cpus cpuset.Set) (*Process, error)
	// Builds are the programs that run the trials of the targets.
	Builds   result.Builds
	Progress Progress
	// Forecast is the forecast of the plan.
	Forecast *forecast.Forecast
	// Programs are the servers' programs that targets need, as found.
	Programs []server.Found
	// Machines run the trials of a plan with a fleet. They say what goes on through Progress, by turns.
	Machines []Machine
	// Resume continues an interrupted campaign: complete trials are kept.
	Resume bool
	// Connect is called with each process of a trial, and of clients of one, if the two are on different
	// machines: pass gives it messages, end ends its input. hear gets those that it sends, until leave.
	Connect func(dir string, pass func(divided.Message), end func()) (hear func(divided.Message), leave func())
	// LockFile is locked while the campaign runs: one benchmark at a time.
	LockFile string
	// InfoOf returns the description of a target's engine.
	InfoOf func(t *plan.Target) engine.Info
	// Force lets targets that attach to a server use a schema that exists.
	Force bool
	// NoPreflight begins with the trials, without having tried every target.
	NoPreflight bool
	// KeepGoing runs the other trials when one of the plan's first target has
	// failed, without which they compare with nothing.
	KeepGoing bool
	// AA marks a plan of [AgainstItself], for the record.
	AA bool
	// Enough judges whether the complete trials compare the targets as
	// precisely as the plan wants, and gives the reason in a few words. It is
	// asked at the end of blocks; nil is never enough.
	Enough func(trials []*result.Trial) (enough bool, reason string)

	now func() time.Time // time.Now, but in tests
}

// ClientDir is the directory of the client's calibration, below trials. It
// belongs to the first program that runs trials; each other program has a
// separate one, see CalibrationDir.
const ClientDir = "_client"

// CalibrationDir returns the directory of the calibration of a program's client,
// below trials: of the first program, which is 0, ClientDir.
func CalibrationDir(program int) string {
	if program == 0 {
		return ClientDir
	}
	return ClientDir + strconv.Itoa(program+1)
}

// ErrIncomplete is the error of a campaign with trials that are not complete.
var ErrIncomplete = errors.New("not all trials are complete")

// Run runs the campaign. It returns the content of campaign.json, also when it
// was ended early.
func Run(ctx context.Context, c Config) (*result.Campaign, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	defer unlockAll(r)
	if c.Plan.Order == plan.Duet {
		if r.halves, err = halves(); err != nil {
			return nil, err
		}
	}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	for _, f := range r.Programs {
		r.Progress.Note(fmt.Sprintf("server %s %s: %s", f.Kind, f.Version, f.Place()))
	}
	if err := r.spare.take(); err != nil {
		return r.state, err
	}
	err = hooked(ctx, r, "before campaign", c.Plan.Before.Campaign)
	if err == nil {
		err = errors.Join(deal(ctx, r), hooked(ctx, r, "after campaign", c.Plan.After.Campaign))
	}
	if _, failed := errors.AsType[*PreflightError](err); failed && !c.Resume {
		return nil, errors.Join(err, r.abandon())
	}
	return r.state, errors.Join(err, r.spare.give())
}

// newRunner returns a campaign that has locked this host and has room on its disk, unless its trials
// run elsewhere.
func newRunner(c Config) (*runner, error) {
	if c.now == nil {
		c.now = time.Now
	}
	if c.Start == nil {
		c.Start = startProcess
	}
	if c.Forecast == nil {
		c.Forecast = forecast.New(c.Plan, nil)
	}
	r := &runner{launcher: launcher{c, nil, spare(filepath.Join(c.Dir, ".spare"))}, began: c.now()}
	if len(c.Machines) > 0 {
		return r, nil
	}
	host, err := lock(c.LockFile, c.Dir)
	if err != nil {
		return nil, err
	}
	r.locked = []*os.File{host}
	if err := Fits(c); err != nil {
		unlockAll(r)
		return nil, err
	}
	return r, nil
}

func unlockAll(r *runner) {
	for _, f := range r.locked {
		unlock(f)
	}
}

// hooked runs a command of the plan around the campaign.
func hooked(ctx context.Context, r *runner, when, command string) error {
	done, err := hook.Run(ctx, when, command, filepath.Join(r.Dir, result.HooksFile), "RUMBENCH_DIR="+r.Dir)
	if r.state.Hooks = append(r.state.Hooks, done...); len(done) > 0 {
		err = errors.Join(err, r.save())
	}
	return err
}

// runner is a campaign in progress.
type runner struct {
	launcher
	state       *result.Campaign
	halves      cpuset.Halves // of a duet
	began       time.Time     // when this run of the campaign began
	spentBefore float64       // seconds that it had run before
	made        bool          // the directory is not one that the user had made
}

// prepare makes the campaign directory, or reads it.
func (r *runner) prepare() error {
	if r.Resume {
		err := r.lockDir()
		if err != nil {
			return err
		}
		if r.state, err = result.ReadCampaign(r.Dir); err != nil {
			return err
		}
		if err := r.resolvedAgain(); err != nil {
			return err
		}
		r.spentBefore, r.state.Programs, r.state.Builds, r.state.Params = r.state.Spent, r.Programs, r.Builds,
			r.Plan.ParamTexts()
		r.state.Force = r.state.Force || r.Force // trials read it
		r.state.Resumed++
		return r.save()
	}
	entries, err := os.ReadDir(r.Dir)
	r.made = err != nil || len(entries) > 0 // by this run, or by one that was abandoned
	if err := vacate(r.Dir); err != nil {
		return err
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return fmt.Errorf("make the campaign directory: %w", err)
	}
	if err := r.lockDir(); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(r.Dir, result.TrialsDir), 0o755); err != nil {
		return fmt.Errorf("make the campaign directory: %w", err)
	}
	r.state = &result.Campaign{
		Format: result.Format, Name: r.Plan.Name, Command: r.Command, Started: time.Now(),
		Force: r.Force,
		AA:    r.AA, Rules: result.Rules,
		Order: string(r.Plan.Order), Targets: targetNames(r.Plan), Question: r.Plan.Question,
		Params: r.Plan.ParamTexts(), Programs: r.Programs, Builds: r.Builds, Trials: Entries(r.Plan),
		Profiled: profiledEntries(r.Plan),
	}
	if r.Plan.Calibrate {
		r.state.Client = ClientDir
	}
	if err := result.WriteFile(filepath.Join(r.Dir, result.PlanFile), r.Plan.Source, 0o644); err != nil {
		return err
	}
	if r.Plan.Declared != nil {
		if err := result.WriteFile(filepath.Join(r.Dir, plan.WorkloadFile), r.Plan.Declared, 0o644); err != nil {
			return err
		}
	}
	if len(r.Plan.Secrets) > 0 {
		if err := result.WriteFile(filepath.Join(r.Dir, plan.SecretFile), r.Plan.Secrets, 0o600); err != nil {
			return err
		}
	}
	return r.save()
}

// vacate checks that a directory holds nothing, or is not there. It removes what a campaign has
// left that was abandoned.
func vacate(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, result.CampaignFile)); err == nil {
		return hint.Errorf("choose another --out, or go on with it: "+resuming(dir), "%s holds a campaign already", dir)
	}
	if err := forget(dir); err != nil {
		return err
	}
	return result.CheckEmpty(dir)
}

// Alone does something before a campaign that would disturb a benchmark on this host. It is
// refused while one runs, and when the campaign could not have its directory.
func Alone(c Config, do func() error) error {
	host, err := lock(c.LockFile, c.Dir)
	if err != nil {
		return err
	}
	defer unlock(host)
	if !c.Resume && c.Dir != "" {
		if err := vacate(c.Dir); err != nil {
			return err
		}
	}
	return do()
}

// sameImage checks that a server's image is the one of the campaign's beginning, run by the same program.
func sameImage(is, was server.Found) error {
	switch a, b := is.Container, was.Container; {
	case a == nil || b == nil:
		return nil
	case a.ID != b.ID:
		return hint.Errorf(fmt.Sprintf("%s tag %.12s %s gives it the name again; or begin a new campaign", b.Runtime, b.ID,
			is.Image), "%s is another image now than when the campaign began", is.Image)
	case a.Runtime != b.Runtime:
		return hint.Errorf("make "+b.Runtime+" usable again, or begin a new campaign",
			"image %s would be run by %s now, and was run by %s when the campaign began", is.Image, a.Runtime, b.Runtime)
	}
	return nil
}

// resolvedAgain compares the programs and parameters with those at the
// beginning of the campaign. It refuses to continue with a different version of
// a server's program: the trials of a target would belong to two versions.
// Parameters may have been changed on purpose.
func (r *runner) resolvedAgain() error {
	for _, is := range r.Programs {
		for _, was := range r.state.Programs {
			if is.Kind != was.Kind || is.Source != was.Source {
				continue
			}
			if err := sameImage(is, was); err != nil {
				return err
			}
			if is.Version != was.Version {
				return hint.Errorf("install "+was.Version+" again, or begin a new campaign",
					"%s is %s %s now, and was %s when the campaign began", is.Path, is.Kind, is.Version, was.Version)
			}
		}
	}
	for _, is := range r.Builds {
		for _, was := range r.state.Builds {
			if is.Path == was.Path && !maps.Equal(is.Modules, was.Modules) {
				return hint.Errorf("build it again from "+cmp.Or(was.Revision, was.Version)+", or begin a new campaign",
					"%s has other versions of its Go modules than when the campaign began", is.Path)
			}
			if is.Path == was.Path && is.SHA256 != was.SHA256 {
				r.Progress.Note(is.Path + " was built again since the campaign began: its client is measured again")
				if err := os.RemoveAll(result.TrialPath(r.Dir, is.Client)); err != nil {
					return err
				}
			}
		}
	}
	for _, note := range changedParams(r.state.Params, r.Plan.ParamTexts()) {
		r.Progress.Note(note)
	}
	return nil
}

// changedParams returns which parameters have changed. A parameter that a target does
// not override has the plan's value.
func changedParams(was, now map[string]string) (notes []string) {
	byName := maps.Clone(was)
	maps.Copy(byName, now)
	text := func(params map[string]string, name string) string {
		if v, set := params[name]; set {
			return v
		}
		return params[name[strings.LastIndex(name, ".")+1:]]
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if then, v := text(was, name), text(now, name); then != "" && v != "" && then != v {
			notes = append(notes, fmt.Sprintf("parameter %s is %s now, and was %s when the campaign began", name, v, then))
		}
	}
	return notes
}

// spent returns for how long the campaign has run, earlier runs of it included.
func (r *runner) spent() time.Duration {
	return time.Duration(r.spentBefore*float64(time.Second)) + r.now().Sub(r.began)
}

func (r *runner) save() error {
	r.state.Spent = math.Round(r.spent().Seconds()*1e3) / 1e3
	return r.spare.writeJSON(filepath.Join(r.Dir, result.CampaignFile), r.state)
}

// calibrate measures the client on the null engine. Without it there are no
// client costs, but all else is as good.
func (r *runner) calibrate(ctx context.Context) error {
	if r.state.Client == "" {
		return nil
	}
	dirs := []string{ClientDir}
	for i := 1; i < len(r.Builds); i++ {
		dirs = append(dirs, r.Builds[i].Client)
	}
	for _, dir := range dirs {
		if err := r.calibrateIn(ctx, dir); err != nil || ctx.Err() != nil {
			return err
		}
	}
	return nil
}

// calibrateIn measures the client of the program that has the directory.
func (r *runner) calibrateIn(ctx context.Context, dir string) error {
	if t, err := result.ReadTrial(result.TrialPath(r.Dir, dir)); err == nil && t.Status == result.Complete {
		return nil // of the part of the campaign before it was interrupted
	}
	if err := r.aside(dir); err != nil {
		return err
	}
	e := result.Entry{Dir: dir, Target: "client", Trial: 1}
	subject := ""
	if b := r.Builds.Of(e); b != nil && len(r.Builds) > 1 {
		subject = " of " + filepath.Base(b.Path)
	}
	r.Progress.Note("measuring the client" + subject + " on the null engine")
	t, err := r.trial(ctx, e, nil)
	if err != nil {
		return err
	}
	if t.Status != result.Complete && ctx.Err() == nil {
		r.Progress.Note("the client could not be measured: " + t.Reason)
	}
	return nil
}
