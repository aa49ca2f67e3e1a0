package result

import (
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"

	"rumbench/internal/metric"
	"rumbench/internal/profile"
	"rumbench/internal/regular"
)

// Profiling is whether the trials of a campaign are profiled, and which.
type Profiling string

// The kinds of profiling. A trial that is not profiled has none.
const (
	// ProfileExtra profiles a trial that is run for that alone. Its numbers are never
	// shown beside those of other trials.
	ProfileExtra  Profiling = "extra"
	ProfileInside Profiling = "inside" // profiles the measured trials
	ProfileOff    Profiling = "off"
)

// ProfileDir is the directory of a trial's profiles.
const ProfileDir = "profile"

// CPUProfile is the kind of a profile of CPU time. Others are profile.LockProfiles.
const CPUProfile = "cpu"

// StepProfile is what is known of the profiles of a step beside their files.
type StepProfile struct {
	// Units are how many there were of Per in the window, which costs are divided by:
	// those of the step's own costs, or seconds.
	Units float64 `json:"units"`
	Per   string  `json:"per"`
	// Accounted is the CPU time in seconds that the kernel accounted to the processes
	// with the engine; 0 if that is unknown.
	Accounted float64          `json:"accounted_s,omitempty"`
	Warnings  []metric.Warning `json:"warnings,omitempty"`
}

// ProfilePath returns the file of a kind of profile of a step, below a trial's
// directory.
func ProfilePath(dir, step, kind string) string {
	return filepath.Join(dir, ProfileDir, url.PathEscape(step)+"."+kind+".pb.gz")
}

// ReadCPUProfile returns what a CPU profile of a step sampled, with the units of the
// step. The error is fs.ErrNotExist if there is none.
func (t *Trial) ReadCPUProfile(s *Step) (work profile.Work, err error) {
	err = t.readProfile(s, CPUProfile, func(r io.Reader) (err error) {
		work.Profile, err = profile.ReadPprof(r)
		return err
	})
	if err == nil {
		work.Units = s.Profile.Units
	}
	return work, err
}

// ReadLocks returns the waits for locks in a step: at the functions that waited, or by
// those that held what others waited for, see profile.ReadLocks.
func (t *Trial) ReadLocks(s *Step, kind string) (costs []profile.LockCost, err error) {
	err = t.readProfile(s, kind, func(r io.Reader) (err error) {
		costs, err = profile.ReadLocks(r, kind, s.Profile.Units)
		return err
	})
	return costs, err
}

func (t *Trial) readProfile(s *Step, kind string, read func(io.Reader) error) error {
	if s.Profile == nil || !(s.Profile.Units > 0) {
		return fmt.Errorf("step %s of %s has no profile: %w", s.Name, t.Dir, fs.ErrNotExist)
	}
	f, err := regular.Open(ProfilePath(t.Dir, s.Name, kind))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := read(io.LimitReader(f, most)); err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}
