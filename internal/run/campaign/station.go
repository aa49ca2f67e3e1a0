package campaign

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"rumbench/internal/result"
)

// Station runs trials on one machine of a fleet: a copy of the campaign, in a directory of its own,
// whose trials another rumbench chooses.
type Station struct {
	r   *runner
	ran bool // a trial
}

// OpenStation makes the campaign's directory on this machine, and locks the machine. state is that
// of the campaign.
func OpenStation(c Config, machine string, state *result.Campaign) (*Station, error) {
	r, err := newRunner(c)
	if err != nil {
		return nil, err
	}
	s := &Station{r: r}
	if err = r.prepare(); err == nil {
		own := r.state
		own.Name, r.Plan.Name = state.Name, state.Name
		own.Machine, own.Started, own.Resumed, own.Rules = machine, state.Started, state.Resumed, state.Rules
		own.Trials, own.Profiled = state.Trials, state.Profiled
		err = r.save()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Prepare tries every target that has no complete trial, and measures the client.
func (s *Station) Prepare(ctx context.Context) error {
	if err := s.r.preflight(ctx); err != nil {
		return err
	}
	return s.r.calibrate(ctx)
}

// Trial runs a trial, in a block or for its profile. Whatever became of it is in its directory.
func (s *Station) Trial(ctx context.Context, dir string) error {
	all := slices.Concat(s.r.state.Trials, s.r.state.Profiled)
	i := slices.IndexFunc(all, func(e result.Entry) bool { return e.Dir == dir })
	if i < 0 {
		return fmt.Errorf("the campaign has no trial %s", dir)
	}
	if err := errors.Join(s.r.pause(ctx, s.ran, dir), s.r.aside(dir)); err != nil {
		return err
	}
	s.ran = true
	_, err := s.r.trial(ctx, all[i], nil)
	return err
}

// Close ends the use of the machine, and what trials have left running. The directory stays, with the
// data that the plan keeps.
func (s *Station) Close() error {
	err := s.r.spare.give()
	for _, dir := range trialDirs(s.r.Dir) {
		err = errors.Join(err, s.r.tidy(dir))
	}
	unlockAll(s.r)
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
