package importer

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// Campaign is an imported campaign, ready to be written.
type Campaign struct {
	result.Campaign
	trials []trial
	// Ignored are the files in directories that have no supported format.
	Ignored []string
	// Unused are files of iostat, vmstat and time that belong to no run.
	Unused []string
	// Left lists the parts left out, with the reasons; only with Options.Skip.
	Left hint.Problems
	// Missing are the tests that some targets lack.
	Missing []Missing
	// Guessed are assumptions that no file states.
	Guessed []string
	// Doubtful are the contradictions in logs, of which nothing is compared.
	Doubtful []string
	// Dropped are the figures of logs that no metric takes.
	Dropped []string
}

// Missing is a test that some targets lack.
type Missing struct {
	Step    string
	Targets []string
}

type trial struct {
	*result.Trial
	runs []*run
}

// The modes of arithmetic, as recorded in trials.
const (
	modeCorrect    = "correct"
	modeCompatible = "compatible"
)

// assemble sorts runs into trials, in the order of targets, trials and steps.
func (c *Campaign) assemble(runs []*run, o *Options) error {
	targets, byTarget := groups(runs, func(r *run) string { return r.target })
	if o.Base != "" && !slices.Contains(targets, o.Base) {
		slices.SortFunc(targets, quantity.Natural)
		return hint.Problems{{Reason: fmt.Sprintf("there is no target %s to be the base", o.Base),
			Hint: "the targets are " + strings.Join(targets, ", ")}}
	}
	slices.SortStableFunc(targets, byName(o.Base))
	c.Campaign = result.Campaign{Format: result.Format, Name: o.Name, Command: o.Command, Started: o.Now}
	dirs, common := map[string]bool{}, commonParams(runs)
	for _, target := range targets {
		numbers, trials := groups(byTarget[target], func(r *run) int { return r.trial })
		slices.Sort(numbers)
		for _, n := range numbers {
			t := newTrial(trials[n], c.Name, common, o)
			c.trials = append(c.trials, t)
			c.Trials = append(c.Trials, result.Entry{Dir: directory(target, n, dirs), Target: target, Trial: n,
				Status: t.Status})
		}
	}
	return nil
}

// directory returns a unique name for a trial's directory.
func directory(target string, n int, taken map[string]bool) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r <= ' ' {
			return '-'
		}
		return r
	}, target)
	dir := fmt.Sprintf("%s.%d", strings.TrimLeft(name, "."), n)
	for taken[dir] {
		dir = "_" + dir
	}
	taken[dir] = true
	return dir
}

func newTrial(runs []*run, campaign string, common map[string]bool, o *Options) trial {
	slices.SortStableFunc(runs, func(a, b *run) int { return quantity.Natural(a.step.Name, b.step.Name) })
	first := runs[0]
	t := &result.Trial{
		Format: result.Format, Campaign: campaign, Target: first.target, Trial: first.trial,
		// Runs with the same number share only that number.
		Order:  "sequential",
		Engine: result.Unknown, Workload: first.workload, Params: map[string]any{}, Knobs: map[string]string{},
		Durability: result.Unknown, Status: result.Complete,
		Imported: &result.Imported{Mode: modeCorrect},
	}
	if o.Compatible {
		t.Imported.Mode = modeCompatible
		t.Warnings = append(t.Warnings, metric.Warn(remark.Compatible, nil))
	}
	out := trial{Trial: t, runs: runs}
	for _, r := range runs {
		out.add(r, common)
	}
	tools, _ := groups(runs, func(r *run) string { return r.tool })
	t.Imported.Tool = strings.Join(tools, ", ")
	t.Versions = append(observe.Facts{{Name: "client", Value: t.Imported.Tool}}, t.Versions...)
	t.Params["arithmetic"] = t.Imported.Mode // the modes are not comparable
	return out
}

// commonParams returns the names of the parameters on which the steps of each target
// agree. Others are in the notes of the steps: a target that lacks a test should not
// appear to have done different work.
func commonParams(runs []*run) map[string]bool {
	common := map[string]bool{}
	first := map[[2]string]string{} // by target and name
	for _, r := range runs {
		for name := range r.params {
			common[name] = true
		}
	}
	for _, r := range runs {
		for name := range common {
			key := [2]string{r.target, name}
			if v, seen := first[key]; len(r.plan) > 0 && !seen { // else its parameters are unknown
				first[key] = r.params[name]
			} else if len(r.plan) > 0 && v != r.params[name] {
				common[name] = false
			}
		}
	}
	return common
}

// storageKnob is the knob for a server's storage engine in a trial. It is not a
// parameter of the work: storage engines are the subject of the comparison.
const storageKnob = "storage"

// paramValue returns a parameter as rumbench's own workloads have it: a number as a number.
func paramValue(text string) any {
	v, err := strconv.ParseFloat(text, 64)
	if err == nil && !math.IsNaN(v) && strconv.FormatFloat(v, 'f', -1, 64) == text {
		return v
	}
	return text
}

func (t *trial) add(r *run, common map[string]bool) {
	for i := range r.step.Rows {
		row := &r.step.Rows[i]
		row.Target, row.Trial, row.Step = t.Target, t.Trial.Trial, r.step.Name
	}
	besideMissed(r)
	var special []string
	for _, name := range slices.Sorted(maps.Keys(r.params)) {
		if common[name] {
			t.Params[name] = paramValue(r.params[name])
		} else {
			special = append(special, name+" "+r.params[name])
		}
	}
	if len(special) > 0 {
		r.step.Notes = append([]metric.Warning{metric.Untyped("Parameters: " + strings.Join(special, ", ") + ".")},
			r.step.Notes...)
	}
	r.step.Note("Imported from " + strings.Join(r.paths(), ", ") + ".")
	t.Steps = append(t.Steps, r.step)
	if r.step.Status != result.Complete {
		t.Status, t.Reason = result.Partial, cmp.Or(t.Reason, fmt.Sprintf("step %s: %s", r.step.Name, r.reason))
	}
	t.Engine = cmp.Or(r.engine, t.Engine)
	if r.storage != "" {
		t.Knobs[storageKnob] = r.storage
	}
	if r.version != "" && t.Versions.Value("engine") == "" {
		t.Versions = append(t.Versions, observe.Fact{Name: "engine", Value: r.version})
	}
	for _, f := range r.host {
		if !slices.Contains(t.Host, f) {
			t.Host = append(t.Host, f)
		}
	}
	t.Warnings = metric.AppendNew(t.Warnings, r.warnings...)
	t.Interval = cmp.Or(t.Interval, r.interval)
	if t.Started.IsZero() {
		t.Started = r.step.Started
	}
	t.Imported.Files = append(t.Imported.Files, r.paths()...)
	t.Imported.CPUs = max(t.Imported.CPUs, r.cpus)
}

// besideMissed marks the rows of groups without a rate, and all costs, if another
// group missed its promised rate.
func besideMissed(r *run) {
	rated := map[string]bool{}
	missed := false
	for _, g := range r.step.Groups {
		rated[g.Name] = g.Rate > 0
		if sla := r.step.Promise(g.Name); sla != nil {
			missed = missed || !sla.Met
		}
	}
	for i := range r.step.Rows {
		row := &r.step.Rows[i]
		if missed && (row.Per != "" || row.Group != "" && !rated[row.Group]) {
			row.Warnings = append(row.Warnings, metric.Warn(remark.BesideMissed, nil))
		}
	}
}

// Write writes the campaign into a directory, which must be empty or not exist.
func (c *Campaign) Write(dir string) error {
	if err := result.CheckEmpty(dir); err != nil {
		return err
	}
	var writers errgroup.Group
	writers.SetLimit(runtime.GOMAXPROCS(0))
	for i := range c.trials {
		writers.Go(func() error {
			path := result.TrialPath(dir, c.Trials[i].Dir)
			if err := os.MkdirAll(path, 0o755); err != nil {
				return fmt.Errorf("write campaign: %w", err)
			}
			if err := c.trials[i].write(path); err != nil {
				return fmt.Errorf("write trial %s: %w", c.Trials[i].Dir, err)
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		return err
	}
	return result.WriteJSON(filepath.Join(dir, result.CampaignFile), &c.Campaign)
}

func (t *trial) write(dir string) error {
	s, err := result.CreateSeries(dir)
	if err != nil {
		return err
	}
	for _, r := range t.runs {
		if err == nil {
			err = r.writeSeries(s)
		}
	}
	if cerr := s.Close(); err == nil {
		err = cerr
	}
	if err == nil && s.Written() == 0 {
		err = os.Remove(filepath.Join(dir, result.SeriesFile))
	}
	if err != nil {
		return err
	}
	return result.WriteJSON(filepath.Join(dir, result.TrialFile), t.Trial)
}

func (r *run) paths() (out []string) {
	for _, f := range r.files {
		out = append(out, f.path)
		if f.errors != nil {
			out = append(out, f.errors.path)
		}
	}
	return append(out, r.companions...)
}

func (r *run) writeSeries(w *result.SeriesWriter) error {
	if r.series.end == 0 {
		return nil
	}
	return w.Copy(r.step.Name, io.NewSectionReader(r.file.spool.file, r.series.start, r.series.end-r.series.start))
}

// byName returns the order of targets: the base first, then by natural order.
func byName(base string) func(a, b string) int {
	first := func(name string) int {
		if name == base {
			return 0
		}
		return 1
	}
	return func(a, b string) int { return cmp.Or(first(a)-first(b), quantity.Natural(a, b)) }
}
