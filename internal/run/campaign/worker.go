package campaign

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Worker runs trials on one machine of a fleet: a copy of the campaign, in a directory of its own,
// whose trials another rumbench chooses.
type Worker struct{ local }

// OpenWorker makes the campaign's directory on this machine, and locks the machine. state is that
// of the campaign.
func OpenWorker(c Config, machine string, state *result.Campaign) (*Worker, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	s := &Worker{local{runner: r}}
	if err = r.prepare(); err == nil {
		campaign := r.state
		campaign.Name, r.Plan.Name = state.Name, state.Name
		campaign.Machine, campaign.Started, campaign.Resumed, campaign.Rules = machine, state.Started, state.Resumed,
			state.Rules
		campaign.Clients, campaign.Observed, campaign.Listen = state.Clients, state.Observed, state.Listen
		campaign.Trials, campaign.Profiled = state.Trials, state.Profiled
		err = r.save()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Benchmark is how fast a machine is at what needs no database.
type Benchmark struct {
	// Rates are operations a second of the workload on the null engine, the geometric mean over steps,
	// of each try.
	Rates    []float64         `json:"rates"`
	Ceilings *observe.Ceilings `json:"ceilings,omitempty"` // of the device, as probed by the last
}

// Benchmark measures the client on the null engine this many times.
func (s *Worker) Benchmark(ctx context.Context, times int) (g Benchmark, err error) {
	e := result.Entry{Dir: ClientDir, Target: "client", Trial: 1}
	for range times {
		if err := os.RemoveAll(result.TrialPath(s.Dir, e.Dir)); err != nil {
			return g, err
		}
		t, err := s.runner.trial(ctx, e, nil)
		switch {
		case err != nil:
			return g, err
		case ctx.Err() != nil:
			return g, ctx.Err()
		case t.Status != result.Complete:
			return g, fmt.Errorf("measure the client: %s", t.Reason)
		}
		var logs []float64
		for i := range t.Steps {
			step := &t.Steps[i]
			if rate := step.Find(metric.RowsPerS, step.Primary, ""); rate != nil && rate.Value > 0 {
				logs = append(logs, math.Log(rate.Value))
			}
		}
		g.Rates, g.Ceilings = append(g.Rates, math.Exp(stat.Mean(logs))), t.Ceilings
	}
	return g, nil
}

// Trial runs a trial, in a block or for its profile. Whatever became of it is in its directory.
func (s *Worker) Trial(ctx context.Context, dir string) error {
	e, err := s.entry(dir)
	if err != nil {
		return err
	}
	_, err = s.run(ctx, e, func() {})
	return err
}

// entry returns a trial of the campaign, or of its preflight.
func (s *Worker) entry(dir string) (result.Entry, error) {
	if target, is := PreflightTarget(dir); is {
		return result.Entry{Dir: dir, Target: target, Trial: 1}, nil
	}
	entries := slices.Concat(s.state.Trials, s.state.Profiled)
	i := slices.IndexFunc(entries, func(e result.Entry) bool { return e.Dir == dir })
	if i < 0 {
		return result.Entry{}, fmt.Errorf("the campaign has no trial %s", dir)
	}
	return entries[i], nil
}

// PartDir begins the names of processes that have clients of a trial on another machine.
const PartDir = "_part"

// PartOf returns the trial whose clients a process has, if it has those of another machine's; else the
// name of its own trial.
func PartOf(name string) (trial string, part bool) { return strings.CutPrefix(name, PartDir+"/") }

// Part runs clients of a trial whose server is on another machine, until that ends them.
func (s *Worker) Part(ctx context.Context, dir string) error {
	e, err := s.entry(dir)
	if err != nil {
		return err
	}
	e.Dir = filepath.Join(PartDir, dir)
	path := result.TrialPath(s.Dir, e.Dir)
	log, err := openLog(path)
	if err != nil {
		return err
	}
	defer log.Close()
	tidied := make(chan struct{})
	defer close(tidied)
	err = s.exec(ctx, e, path, log, nil, tidied)
	if words := lastWords(log.Name()); err != nil && words != "" {
		err = fmt.Errorf("%w; end of its log: %s", err, words)
	}
	return err
}

// Ran reports whether a trial has run.
func (s *Worker) Ran() bool { return s.ran }

// Close ends the use of the machine, and what trials have left running. The directory stays, with the
// data that the plan keeps.
func (s *Worker) Close() error {
	err := s.spare.give()
	for _, dir := range trialDirs(s.Dir) {
		err = errors.Join(err, s.tidy(dir))
	}
	unlockAll(s.runner)
	return err
}

// SweepTrials ends the servers that trials of a campaign have left, and removes their data.
func SweepTrials(dir string) (err error) {
	for _, t := range trialDirs(dir) {
		removeGroup(t)
		err = errors.Join(err, removeData(t))
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(dir, result.BasesDir)))
}

// trialDirs lists the directories of a campaign's trials and of its preflight.
func trialDirs(dir string) (out []string) {
	for _, below := range []string{result.TrialsDir, filepath.Join(result.TrialsDir, PreflightDir)} {
		entries, _ := os.ReadDir(filepath.Join(dir, below)) // if it is not there nothing is
		for _, e := range entries {
			if e.IsDir() && e.Name() != PreflightDir {
				out = append(out, filepath.Join(dir, below, e.Name()))
			}
		}
	}
	return out
}
