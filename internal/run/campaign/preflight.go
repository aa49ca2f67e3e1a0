package campaign

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/regular"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// PreflightDir is the directory of the preflight: below trials while it runs,
// then next to them with the logs of failed targets.
const PreflightDir = "_preflight"

// PreflightTarget returns the target that a trial is the preflight of, if it is one.
func PreflightTarget(trial string) (target string, ok bool) {
	return strings.CutPrefix(trial, PreflightDir+"/")
}

// PreflightError reports the targets that cannot run the plan.
type PreflightError struct {
	Failed []FailedTarget
	Tried  int // number of targets
}

// FailedTarget is a target that failed its preflight.
type FailedTarget struct {
	Name   string
	Reason string
	Hint   string   // for the user; may be empty
	Logs   []string // files
}

// Error lists the targets.
func (e *PreflightError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "preflight: %d of %d targets cannot run the plan, and no trial was begun", len(e.Failed), e.Tried)
	for _, t := range e.Failed {
		fmt.Fprintf(&b, "\n  %s: %s", t.Name, t.Reason)
		if t.Hint != "" {
			fmt.Fprintf(&b, "\n    hint: %s", t.Hint)
		}
		for _, path := range t.Logs {
			fmt.Fprintf(&b, "\n    log: %s", path)
		}
	}
	return b.String()
}

// Hint returns advice for the user.
func (*PreflightError) Hint() string {
	return "correct the plan, or what it needs; --no-preflight begins with the trials all the same"
}

// preflight runs all steps briefly on every target, so that one that cannot run
// them fails before the first trial and not an hour later.
func (r *runner) preflight(ctx context.Context) error {
	if err := r.clearPreflight(); err != nil || r.NoPreflight {
		return err
	}
	targets := r.untried()
	if len(targets) == 0 {
		return nil
	}
	began := r.now()
	var names []string
	failed := &PreflightError{}
	for _, t := range targets {
		if reason := untouchable(r.Plan, &t); reason != "" {
			r.Progress.Note(fmt.Sprintf("preflight: %s is not tried: %s", t.Name, reason))
			continue
		}
		tr, err := r.trial(ctx, result.Entry{Dir: PreflightDir + "/" + t.Name, Target: t.Name, Trial: 1}, nil)
		switch {
		case ctx.Err() != nil:
			return errors.Join(r.early(ctx), err, r.clearPreflight())
		case err != nil:
			return err
		case tr.Status != result.Complete:
			failed.Failed = append(failed.Failed, FailedTarget{Name: t.Name, Reason: tr.Reason, Hint: tr.Hint})
		}
		names = append(names, t.Name)
	}
	if failed.Tried = len(names); len(failed.Failed) > 0 {
		return errors.Join(r.keepLogs(failed.Failed), r.clearPreflight(), failed)
	}
	if len(names) > 0 {
		r.Progress.Note(fmt.Sprintf("preflight: %s: %s ok in %s", strings.Join(names, ", "),
			quantity.Count(len(names), "target"), coarse(r.now().Sub(began))))
	}
	return r.clearPreflight()
}

// untried returns the targets without a complete trial. Those of an A/A
// campaign count as one.
func (r *runner) untried() (out []plan.Target) {
	targets := r.Plan.Targets
	if r.AA {
		targets = targets[:1]
	}
	for _, t := range targets {
		done := func(e result.Entry) bool { return e.Target == t.Name && e.Status == result.Complete }
		if !slices.ContainsFunc(r.state.Trials, done) {
			out = append(out, t)
		}
	}
	return out
}

// untouchable returns why a target is not tried: it has data that is not ours. ""
// means that it is tried.
func untouchable(p *plan.Plan, t *plan.Target) string {
	creates := func(s workload.Step) bool { return s.Creates }
	switch {
	case t.Data != "" && p.Start.Any():
		return "it works on copies of data that exist"
	case t.Data != "":
		return "it works on data in place"
	case t.Config.Server.DSN != "" && !slices.ContainsFunc(p.For(t).Run.Steps(), creates):
		return "its steps work on the tables that its server has"
	}
	return ""
}

// keepLogs moves the useful logs of failed targets to the campaign's directory,
// and notes their paths.
func (r *runner) keepLogs(failed []FailedTarget) error {
	kept := filepath.Join(r.Dir, PreflightDir)
	if err := os.RemoveAll(kept); err != nil {
		return err
	}
	for i := range failed {
		t := &failed[i]
		for _, path := range logsOf(result.TrialPath(r.Dir, PreflightDir+"/"+t.Name)) {
			target := filepath.Join(kept, t.Name, filepath.Base(path))
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
				return err
			}
			if err := os.Rename(path, target); err != nil {
				return err
			}
			t.Logs = append(t.Logs, target)
		}
	}
	return nil
}

// logsOf returns the logs of a trial that contain more than its result: its
// server's, and its own if it crashed.
func logsOf(trialDir string) (paths []string) {
	server, text := filepath.Join(trialDir, result.ServerLogFile), filepath.Join(trialDir, result.LogFile)
	if info, err := os.Stat(server); err == nil && info.Size() > 0 {
		paths = append(paths, server)
	}
	if b, err := regular.Tail(text, mostWords); err == nil && strings.Contains(string(b), "\ngoroutine ") {
		paths = append(paths, text)
	}
	return paths
}

// clearPreflight removes the files that a preflight has left below trials, even
// if it was killed.
func (r *runner) clearPreflight() error {
	dir := result.TrialPath(r.Dir, PreflightDir)
	trials, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, t := range trials {
		err = errors.Join(err, removeData(filepath.Join(dir, t.Name())))
	}
	return errors.Join(err, os.RemoveAll(dir))
}

// abandon removes a campaign that has not begun, all but the logs of its preflight.
func (r *runner) abandon() error {
	var errs []error
	errs = append(errs, os.RemoveAll(filepath.Join(r.Dir, result.TrialsDir))) // other machines' calibrations
	for _, name := range []string{result.CampaignFile, result.PlanFile, plan.WorkloadFile, plan.SecretFile,
		result.LockFile} {
		if err := os.Remove(filepath.Join(r.Dir, name)); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	errs = append(errs, r.spare.give())
	if r.made {
		_ = os.Remove(r.Dir) // if nothing is left
	}
	return errors.Join(errs...)
}

// forget removes the files that [runner.abandon] has left in a directory: there
// are no others.
func forget(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != PreflightDir {
		return nil // whoever needs the directory looks at it
	}
	return os.RemoveAll(filepath.Join(dir, PreflightDir))
}
