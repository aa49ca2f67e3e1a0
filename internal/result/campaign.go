package result

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"rumbench/engine"
	"rumbench/internal/result/program"
	"rumbench/internal/result/regular"
	"rumbench/internal/server"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
)

// Campaign is the content of campaign.json: a plan and its trials.
//
// It has many fields because it has one for each of the file's.
type Campaign struct {
	Format  int            `json:"format"`
	Name    string         `json:"name"`
	Command secret.Command `json:"command"` // as it was started
	Started time.Time      `json:"started"`
	Resumed int            `json:"resumed,omitempty"` // how often it was interrupted and resumed
	Force   bool           `json:"force,omitempty"`   // schemas that exist may be used
	Client  string         `json:"client,omitempty"`  // directory of the client's calibration, below trials
	// an A/A test: the plan's first target under two names, so that differences are chance
	AA bool `json:"aa,omitempty"`
	// Rules are those that its trials follow, also if a newer version resumes it, see Rules.
	Rules   int      `json:"rules,omitempty"`
	Order   string   `json:"order,omitempty"`   // of the trials, as plans call it; "": imported
	Targets []string `json:"targets,omitempty"` // in the plan's order
	// Question is the plan's question; its zero value means the workload's subject.
	Question Question `json:"question,omitzero"`
	// Params are the workload's parameters as texts, with the preset and the
	// defaults filled in; none of an imported campaign.
	Params map[string]string `json:"params,omitempty"`
	// Programs are those of the servers that targets start, as found when the
	// campaign began.
	Programs []server.Found `json:"programs,omitempty"`
	// Builds are the rumbench programs that run the trials, as found when the
	// campaign began.
	Builds Builds `json:"builds,omitempty"`
	// Machine is the one of the fleet that this is the copy of; "": the campaign itself.
	Machine string `json:"machine,omitempty"`
	// Clients are the machines of the clients, in the order in which seats are dealt to them, and Listen the
	// address at which they reach a private server on this one; none: they are here.
	Clients []string `json:"clients_on,omitempty"`
	// Observed are the machines of the further servers of a cluster, in the order of their dsns.
	Observed []string `json:"observed,omitempty"`
	Listen   string   `json:"listen,omitempty"`
	Trials   []Entry  `json:"trials"` // in running order; those with the same number are a block
	// Profiled are the trials that are run for their profiles alone, one of each target.
	// They are apart from Trials, so that nothing shows or compares their numbers.
	Profiled []Entry `json:"profiled,omitempty"`
	// Hooks are the plan's commands that were run around the campaign.
	Hooks []Hook `json:"hooks,omitempty"`
	Trims []Trim `json:"trims,omitempty"` // before trials, as the plan wanted
	// Spent is how many seconds the campaign has run, without the time between an
	// interruption and its resumption.
	Spent float64 `json:"spent_s,omitempty"`
	// Stopped is the reason why the campaign ended before the plan's number of
	// trials, as the plan wanted; "" if it did not. The other trials are not in
	// Trials.
	Stopped string `json:"stopped,omitempty"`
}

// Rules are today's rules of trials. Since 1 a block of trials draws its own seed, sweeps turn round from
// block to block, and rates are not found on credit.
const Rules = 1

// Build is a rumbench program that runs trials of a campaign.
type Build struct {
	program.Build
	Targets []string `json:"targets"`
	// Client is the directory of its client's calibration, below trials.
	Client string `json:"client"`
}

// Builds are the programs of a campaign, with the program of its first target
// first.
type Builds []Build

// Of returns the program that runs a trial: the one that is calibrated in its
// directory, else the one of its target, of several each in turn; nil if it is not recorded.
func (b Builds) Of(e Entry) *Build {
	var found []*Build
	for i := range b {
		if b[i].Client == e.Dir {
			return &b[i]
		}
		if slices.Contains(b[i].Targets, e.Target) {
			found = append(found, &b[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	return found[max(0, e.Trial-1)%len(found)]
}

// Entry is a trial of a campaign.
type Entry struct {
	Dir    string `json:"dir"` // below trials
	Target string `json:"target"`
	Trial  int    `json:"trial"`
	Status Status `json:"status,omitempty"` // "" until it has ended
	// Machine is the machine of a fleet that runs it, since Began; "" unless one does.
	Machine string    `json:"machine,omitempty"`
	Began   time.Time `json:"began,omitzero"`
}

// ReadCampaign reads a campaign directory.
func ReadCampaign(dir string) (*Campaign, error) {
	var c Campaign
	err := readJSON(filepath.Join(dir, CampaignFile), &c, &c.Format)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, noCampaign(dir)
	}
	c.Name = escape.Line(c.Name)
	for i := range c.Targets {
		c.Targets[i] = escape.Line(c.Targets[i])
	}
	seen := map[string]bool{} // a trial that is listed twice is one trial
	c.Trials = slices.DeleteFunc(c.Trials, func(e Entry) bool {
		found := seen[e.Dir]
		seen[e.Dir] = true
		return found
	})
	for _, e := range [][]Entry{c.Trials, c.Profiled} {
		for i := range e {
			e[i].Target = escape.Line(e[i].Target)
		}
	}
	return &c, err
}

// Missing returns the error about a directory that does not exist, with a hint at the one that
// was meant, a campaign before others.
func Missing(dir, otherwise string) error {
	meant := hint.Paths(dir, IsCampaign)
	if len(meant) == 0 {
		meant = hint.Paths(dir, nil)
	}
	if strings.HasPrefix(dir, "-") {
		otherwise = dir + " stands after --, where nothing is a flag"
	}
	return hint.Errorf(cmp.Or(hint.AnyOf(meant), otherwise), "%s does not exist", dir)
}

// noCampaign returns the error about a path that is no campaign, with a hint at the one that was
// meant, or at how to make one.
func noCampaign(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return Missing(dir, "rumbench list runs DIR lists the campaigns in a folder")
	}
	reason, help := "it has no "+CampaignFile, "rumbench run PLAN --out DIR makes one"
	if !info.IsDir() {
		reason = "it is a file"
	}
	if below := campaignsBelow(dir); len(below) > 0 {
		help = "it is a folder of campaigns: name one, such as " + strings.Join(below, " or ")
	}
	in := filepath.Dir(filepath.Clean(dir))
	for !IsCampaign(in) && in != filepath.Dir(in) {
		in = filepath.Dir(in)
	}
	if IsCampaign(in) {
		help = "it is part of a campaign: name that, " + in
	}
	return hint.Errorf(help, "%s is no campaign: %s", dir, reason)
}

// IsCampaign reports whether a directory was made by an import or a run.
func IsCampaign(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, CampaignFile))
	return err == nil
}

// campaignsBelow returns the first campaigns in a folder and in the folders not far below it.
func campaignsBelow(folder string) (dirs []string) {
	const shown, deepest = 2, 3
	root := strings.Count(filepath.Clean(folder), "/")
	_ = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		switch {
		case len(dirs) == shown:
			return fs.SkipAll
		case err != nil || !e.IsDir():
			return nil
		case path != folder && IsCampaign(path):
			dirs = append(dirs, path)
			return fs.SkipDir
		case strings.Count(path, "/") >= root+deepest:
			return fs.SkipDir
		}
		return nil
	})
	return dirs
}

// TrialPath returns the directory of a trial.
func TrialPath(campaign, trial string) string { return filepath.Join(campaign, TrialsDir, trial) }

// ReadTrials reads the trials of a campaign that have begun, in the plan's
// order of targets.
func ReadTrials(dir string, c *Campaign) (trials []*Trial, err error) {
	return readEntries(dir, c, c.byTarget())
}

// ReadProfiled reads the trials of a campaign that have profiles: those that were run
// for that alone or, of a campaign without such, all that were profiled.
func ReadProfiled(dir string, c *Campaign) (trials []*Trial, err error) {
	if len(c.Profiled) > 0 {
		return readEntries(dir, c, c.Profiled)
	}
	trials, err = ReadTrials(dir, c)
	return slices.DeleteFunc(trials, func(t *Trial) bool { return t.Profiled == "" }), err
}

func readEntries(dir string, c *Campaign, entries []Entry) (trials []*Trial, err error) {
	var completeTrials, half []*Trial
	for i, read := range ReadEach(dir, entries) {
		e := entries[i]
		switch {
		case errors.Is(read.Err, fs.ErrNotExist):
			continue // not begun
		case read.Err != nil:
			err = cmp.Or(err, read.Err)
		case read.Target != e.Target || read.Trial.Trial != e.Trial:
			read.Err = fmt.Errorf("%s is trial %d of %q", TrialPath(dir, e.Dir), read.Trial.Trial, read.Target)
		default:
			completeTrials = append(completeTrials, read.Trial)
		}
		if read.Err != nil { // it costs this trial alone
			read.Trial = &Trial{Target: e.Target, Trial: e.Trial, Status: Failed,
				Reason: "its result is not one: " + read.Err.Error(), Dir: resolved(TrialPath(dir, e.Dir))}
			half = append(half, read.Trial)
		}
		read.Asked = c.Question
		trials = append(trials, read.Trial)
	}
	if err != nil && len(completeTrials) == 0 {
		return nil, err
	}
	for _, t := range half { // what it was to do, others of its target say
		if index := slices.IndexFunc(completeTrials, func(o *Trial) bool { return o.Target == t.Target }); index >= 0 {
			o := *completeTrials[index]
			o.Trial, o.Status, o.Reason, o.Dir, o.Lost = t.Trial, Failed, t.Reason, t.Dir, false
			o.Steps, o.Warnings, o.Hooks, o.Canary, o.Start = nil, nil, nil, nil, nil
			*t = o
		}
	}
	return trials, nil
}

// Read is a trial, or the error of reading it.
type Read struct {
	*Trial
	Err error
}

// ReadEach reads trials of a campaign, several at once, and returns them in the order of
// the entries: decoding them takes most of the time of commands on many.
func ReadEach(dir string, entries []Entry) []Read {
	out := make([]Read, len(entries))
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range entries {
		readers.Go(func() error {
			out[i].Trial, out[i].Err = ReadTrial(TrialPath(dir, e.Dir))
			return nil
		})
	}
	_ = readers.Wait()
	return out
}

// byTarget returns the trials sorted by target in the plan's order, then by
// number: the order in which they ran only balances the machine's drift.
func (c *Campaign) byTarget() []Entry {
	if len(c.Targets) == 0 {
		return c.Trials
	}
	entries := slices.Clone(c.Trials)
	slices.SortStableFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(slices.Index(c.Targets, a.Target), slices.Index(c.Targets, b.Target)),
			cmp.Compare(a.Trial, b.Trial))
	})
	return entries
}

// ReadTrial reads a trial directory. A step that was running when the trial was
// killed is recovered from the series and the latency log.
func ReadTrial(dir string) (*Trial, error) {
	var t Trial
	if err := readJSON(filepath.Join(dir, TrialFile), &t, &t.Format); err != nil {
		return nil, err
	}
	t.Dir = resolved(dir)
	if t.Format < Format {
		for i := range t.Steps {
			t.upgrade(&t.Steps[i])
		}
		t.Format = Format
	}
	t.keepLines()
	if dsn, ok := t.Knobs["dsn"]; ok {
		t.Knobs["dsn"] = engine.ShownDSN(dsn)
	}
	for i := range t.Steps {
		for k := range t.Steps[i].Rows {
			t.Steps[i].Rows[k].Mark()
		}
	}
	if t.Status != Running {
		return &t, nil
	}
	if err := addUnfinished(dir, &t); err != nil {
		return nil, err
	}
	if !Locked(filepath.Join(dir, LogFile)) {
		t.Status = Partial
		for i := range t.Steps {
			if t.Steps[i].Status == Running {
				t.Steps[i].Status = Partial
			}
		}
		t.Reason = "it ended without a message: it was killed, or the machine went down"
	}
	return &t, nil
}

// keepLines keeps line breaks out of names: a foreign file may contain any
// text.
func (t *Trial) keepLines() {
	t.Rename(escape.Line(t.Target))
	for _, name := range []*string{&t.Campaign, &t.Engine, &t.Structure, &t.Workload, &t.Preset, &t.Durability} {
		*name = escape.Line(*name)
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		s.Name, s.Base, s.Primary = escape.Line(s.Name), escape.Line(s.Base), escape.Line(s.Primary)
		for k := range s.Groups {
			s.Groups[k].Name = escape.Line(s.Groups[k].Name)
		}
		for k := range s.Rows {
			r := &s.Rows[k]
			l := &r.Labels
			for _, name := range []*string{&r.Step, &r.Group, &r.Op, &l.Machine, &l.Event, &l.State, &l.Object} {
				*name = escape.Line(*name)
			}
		}
	}
}

// resolved returns the absolute path of a directory with symbolic links
// resolved.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		dir = path
	}
	return dir
}

// LockLog opens a trial's log and locks it for as long as the process lives, so
// that other processes see that the trial is running.
func LockLog(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, LogFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: it is being run by another process: %w", dir, err)
	}
	return f, nil
}

// IsRunning reports whether the campaign in a directory runs: a process holds its lock.
func IsRunning(dir string) bool { return Locked(filepath.Join(dir, LockFile)) }

// Locked reports whether a process holds the lock of a file.
func Locked(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}
