package result

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"

	"rumbench/internal/metric"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/result/regular"
)

// Profiling is whether the trials of a campaign are profiled, and which.
type Profiling string

// The kinds of profiling. A trial that is not profiled has none.
const (
	// ProfileExtra profiles a trial that runs for that alone. Its numbers are never
	// shown next to those of other trials.
	ProfileExtra  Profiling = "extra"
	ProfileInside Profiling = "inside" // profiles the measured trials, and counts events of the processors
	// ProfileSampled takes CPU samples of the measured trials. It is the default: trials with and without
	// samples are compared, and the difference is named.
	ProfileSampled Profiling = "sampled"
	ProfileOff     Profiling = "off"
)

// Slows reports whether profiling is known to change numbers, so that only trials with the same are compared.
func (p Profiling) Slows() bool { return p == ProfileInside || p == ProfileExtra }

// ProfileDir is the directory of a trial's profiles.
const ProfileDir = "profile"

// The kinds of profiles; others are profile.LockProfiles.
const (
	CPUProfile     = "cpu"
	FilesProfile   = "files"   // the device's reads and writes, by class of file
	ThreadsProfile = "threads" // where threads slept
)

// StepProfile holds the data about the profiles of a step that are not in their
// files.
type StepProfile struct {
	// Units is the number of units of Per in the window, which costs are divided by:
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
	extension := ".pb.gz"
	if kind == FilesProfile || kind == ThreadsProfile {
		extension = ".jsonl"
	}
	return filepath.Join(dir, ProfileDir, url.PathEscape(step)+"."+kind+extension)
}

// WriteLines writes a head and its rows, a line of JSON each.
func WriteLines[R any](w io.Writer, head any, rows []R) error {
	return cmp.Or(json.NewEncoder(w).Encode(head), metric.WriteLines(w, rows))
}

func readLines[R any](r io.Reader, head any) (rows []R, err error) {
	in := json.NewDecoder(r)
	if err := in.Decode(head); err != nil {
		return nil, err
	}
	for {
		var row R
		if err := in.Decode(&row); err == io.EOF {
			return rows, nil
		} else if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
}

// ReadFiles returns the device's reads and writes in a step. The error is
// fs.ErrNotExist if it was not traced.
func (t *Trial) ReadFiles(s *Step) (*blockio.Files, error) {
	f := &blockio.Files{}
	return f, t.readProfile(s, FilesProfile, func(r io.Reader) (err error) {
		f.Rows, err = readLines[blockio.Row](r, f)
		return err
	})
}

// ReadAsleep returns where threads slept in a step, fs.ErrNotExist if threads were
// not sampled.
func (t *Trial) ReadAsleep(s *Step) (*profile.Asleep, error) {
	a := &profile.Asleep{}
	return a, t.readProfile(s, ThreadsProfile, func(r io.Reader) (err error) {
		a.Sleeps, err = readLines[profile.Sleep](r, a)
		return err
	})
}

// ReadCPUProfile returns the samples of a step's CPU profile, with the units of the
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
// the functions that others waited for, see profile.ReadLocks.
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
	path := ProfilePath(t.Dir, s.Name, kind)
	b, err := regular.ReadFile(path, limit)
	if err != nil {
		return err
	}
	if b, err = uncompressed(b); err == nil {
		err = read(bytes.NewReader(b))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Limits of uncompressing: a profile grows about tenfold; a small one may grow to grace.
const (
	growth = 30
	grace  = 16 << 20
)

// uncompressed returns the content of a file that may be compressed, once: a few bytes
// could become any number.
func uncompressed(b []byte) ([]byte, error) {
	magic := []byte{0x1f, 0x8b}
	if !bytes.HasPrefix(b, magic) {
		return b, nil
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		b, err = regular.ReadAll(r, max(grace, growth*int64(len(b))))
	}
	if err == nil && bytes.HasPrefix(b, magic) {
		err = errors.New("it is compressed twice")
	}
	if err != nil {
		return nil, fmt.Errorf("uncompress: %w", err)
	}
	return b, nil
}
