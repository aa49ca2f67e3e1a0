package trial

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/need"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// profiled runs a trial that is profiled. Without the right to sample it is noted
// that there is no profile, and the test ends.
func profiled(t *testing.T, engine string, how result.Profiling, sets ...string) *result.Trial {
	t.Helper()
	need.Setup(t)
	s := spec(t, engine, append(sets, "profile=extra")...)
	s.Profiled = how
	tr := run(t, s, result.Complete)
	expect.Equal(t, tr.Profiled, how, "the trial is profiled as")
	for _, w := range tr.Warnings {
		if w.Code == remark.NoProfile && strings.HasPrefix(w.Text, "no profile of CPU time") {
			t.Skip(w.Text)
		}
	}
	return tr
}

// withheld reports whether a step's profile must not be used, as the processors were too
// busy for the sampler: that is right, too.
func withheld(t *testing.T, s *result.Step) bool {
	t.Helper()
	for _, w := range s.Profile.Warnings {
		if w.Code == remark.ProfileOverBudget || w.Code == remark.ProfileLost {
			t.Log(w.Text)
			return true
		}
	}
	return false
}

// Every step of a profiled trial has a profile of its window: divided by the units of
// the step's own costs, with the sum that the kernel accounted, and with the engine's
// part apart from the client's.
func TestProfile(t *testing.T) {
	tr := profiled(t, "bbolt", result.ProfileExtra, "params.steps=[l.i0, l.x]", "params.rows=200k")
	for i := range tr.Steps {
		s := &tr.Steps[i]
		row := s.Find("server_cpu_us", "", "")
		expect.Must(t, s.Profile != nil && row != nil && s.Profile.Per == row.Per && s.Profile.Units == float64(row.N),
			"step", s.Name, s.Profile)
		if got, want := s.Profile.Accounted*1e6/s.Profile.Units, row.Value; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("step %s: the kernel accounted %v µs a row, its costs say %v", s.Name, got, want)
		}
		if withheld(t, s) {
			continue
		}
		w := expect.Value(tr.ReadCPUProfile(s))(t)
		expect.True(t, w.Units == s.Profile.Units && w.Window.Seconds() > 0.8*s.Seconds && w.Window <= tr.Ended.Sub(tr.Started), s.Name, w.Window, w.Units, s.Seconds, s.Profile.Units)
		for _, kind := range profile.LockProfiles {
			if _, err := tr.ReadLocks(s, kind); err != nil {
				t.Errorf("step %s: %v", s.Name, err)
			}
		}
	}
	checkExtra(t, tr)
	if withheld(t, &tr.Steps[0]) {
		return
	}
	load := expect.Value(tr.ReadCPUProfile(&tr.Steps[0]))(t)
	operations := load.Of(profile.Server).Only(func(s *profile.Sample) bool { return s.Thread == profile.Foreground })
	if load.Count() < 5 {
		t.Skip("the step was too short")
	}
	expect.True(t, operations.CPU() != 0 && load.Of(profile.Client).CPU() <= load.CPU()/2,
		"of the operations have and the client", load.CPU(), operations.CPU(), load.Of(profile.Client).CPU())
}

// checkExtra checks what was traced from outside: the log of the load is in no file but
// the database, and a thread slept in each look. Beside much other work on the disk
// tracing takes more than it may, or loses requests, and its profile is withheld: that is right, too.
func checkExtra(t *testing.T, tr *result.Trial) {
	t.Helper()
	for _, w := range tr.Warnings {
		if w.Code != remark.NoProfile {
			continue
		}
		if t.Log(w.Text); os.Getenv("CI") == "" || strings.Contains(w.Text, "more than 1 %") {
			return
		}
	}
	s := &tr.Steps[0]
	files := expect.Value(tr.ReadFiles(s))(t)
	if !slices.ContainsFunc(files.Rows, func(r blockio.Row) bool { return r.Use == engine.UseData && r.Op == blockio.Write && r.KB > 100 }) {
		t.Errorf("%+v", files)
	}
	written := s.Find("write_kb", "", "")
	if all := written.Value * s.Profile.Units; written.Per != s.Profile.Per || math.Abs(files.KB(blockio.Write)-all) > 0.02*all+1024 {
		t.Errorf("%v KB were written by class, %v KB by the device", files.KB(blockio.Write), all)
	}
	asleep := expect.Value(tr.ReadAsleep(s))(t)
	expect.True(t, asleep.Looks != 0 && len(asleep.Sleeps) != 0 && asleep.Window > 0, asleep)
}

// Measured trials are sampled, and nothing more.
func TestProfileInside(t *testing.T) {
	tr := profiled(t, "bbolt", result.ProfileInside, "params.steps=[l.i0]")
	if _, err := tr.ReadCPUProfile(&tr.Steps[0]); err != nil && !withheld(t, &tr.Steps[0]) {
		t.Error(err)
	}
	if _, err := tr.ReadLocks(&tr.Steps[0], "block"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("waits for locks: %v", err)
	}
	if _, err := tr.ReadFiles(&tr.Steps[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files: %v", err)
	}
	if _, err := tr.ReadAsleep(&tr.Steps[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("threads: %v", err)
	}
}

// A trial of a plan that does not say is sampled: its CPU time by subsystem adds up to the whole, and it has no remark.
func TestSampled(t *testing.T) {
	tr := profiled(t, "bbolt", result.ProfileSampled, "params.steps=[l.i0]", "params.rows=400k")
	step := &tr.Steps[0]
	sum, clients := 0.0, 0.0
	for i := range step.Rows {
		if r := &step.Rows[i]; r.Metric == metric.CPUUS && r.Labels.Subsystem != "" {
			sum += r.Value
			if r.Labels.Subsystem == string(profile.Clients) {
				clients += r.Value
			}
		}
	}
	all := step.Find(metric.CPUUS, "", "")
	if len(step.Profile.Warnings) > 0 || sum == 0 && all.Value*float64(all.N) < 1e6 {
		t.Skip("too few samples, or too busy:", step.Profile.Warnings)
	}
	expect.True(t, math.Abs(sum/all.Value-1) < 1e-9 && clients > 0 && clients < 0.6*sum, "sum", sum, "of", all.Value, "clients", clients)
	if _, err := tr.ReadFiles(step); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files: %v", err)
	}
}

// A trial that is not profiled has no trace of one.
func TestUnprofiled(t *testing.T) {
	s := spec(t, "bbolt", "params.steps=[l.i0]", "profile=extra")
	tr := run(t, s, result.Complete)
	if _, err := tr.ReadCPUProfile(&tr.Steps[0]); !errors.Is(err, fs.ErrNotExist) || tr.Profiled != "" || tr.Steps[0].Profile != nil {
		t.Errorf("%q, %+v, %v", tr.Profiled, tr.Steps[0].Profile, err)
	}
	expect.Refused(os.Stat(s.Dir+"/"+result.ProfileDir))(t, "", "there is a directory of profiles")
}

// A profile with holes is not kept.
func TestUnusable(t *testing.T) {
	p := &profile.Profile{Period: 1e7, Samples: []profile.Sample{{Parts: []profile.Part{{CPU: 1e9}}}}} // 100 samples
	for _, c := range []struct {
		r    profile.Recording
		want metric.Code
	}{{profile.Recording{Lost: 1}, ""}, {profile.Recording{Lost: 2}, remark.ProfileLost}, {profile.Recording{OverBudget: true}, remark.ProfileOverBudget}} {
		got := metric.Code("")
		if w := unusable(&c.r, p); w != nil {
			got = w.Code
		}
		expect.Equal(t, got, c.want, "lost", c.r.Lost)
	}
}
