package trial

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/observe/profile"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/hint"
)

// collector profiles the window of a step in one way. It begins before the window.
type collector interface {
	// end ends it, right after the window.
	end() error
	// save writes the collected data. The step's numbers are known then.
	save(s *stepRun, stepProfile *result.StepProfile) error
}

// collect begins to profile a step in all ways that this trial is profiled in: a new
// one is a line here. Missing profiles are noted, and the trial continues.
func collect(t *trial) (out []collecting) {
	if t.Profiled == "" || !t.measures() {
		return nil
	}
	usual := t.Profiled == result.ProfileSampled // doctor says what it lacks
	switch {
	case t.clustered() && usual:
		return nil
	case t.clustered():
		noProfile(t, "the servers", errors.New("they are on several machines"))
		return nil
	}
	for _, way := range []struct {
		name  string
		begin func(*trial) (collector, error)
	}{{"CPU time", sampleCPU}, {"lock waits", watchLocks}, {"files", traceFiles}, {"threads", lookAtThreads}} {
		c, err := way.begin(t)
		switch {
		case err != nil && !usual:
			noProfile(t, way.name, err)
		case err == nil && c != nil:
			out = append(out, collecting{way.name, c})
		}
	}
	return out
}

// collecting is a collector and the name of its subject.
type collecting struct {
	name string
	collector
}

// noProfile notes why there is no profile of something, and the remedy.
func noProfile(t *trial, name string, err error) {
	reason := err.Error()
	if help := hint.Of(err); help != "" {
		reason += "; " + help
	}
	t.warn(remark.NoProfile, metric.Values{"what": name, "why": reason})
}

// endProfiles ends the profiles of a window.
func (w *window) endProfiles(t *trial) {
	for i, c := range w.profiles {
		if err := c.end(); err != nil {
			noProfile(t, c.name, err)
			w.profiles[i].collector = nil
		}
	}
}

// saveProfiles writes the profiles of a step after its window has ended.
func (t *stepRun) saveProfiles() {
	if len(t.window.profiles) == 0 {
		return
	}
	p := &result.StepProfile{Per: "second", Units: t.window.length.Seconds()}
	// of a server elsewhere only the client's CPU time is known
	for _, name := range []string{metric.ServerCPUUS, metric.ClientCPUUS} {
		if r := t.out.Find(name, "", ""); r != nil && r.N > 0 {
			p.Per, p.Units = r.Per, float64(r.N)
			break
		}
	}
	for _, c := range t.window.profiles {
		if c.collector == nil {
			continue
		}
		if err := c.save(t, p); err != nil {
			noProfile(t.trial, c.name, err)
		}
	}
	t.out.Profile = p
}

// saveProfile writes a profile of a kind.
func (t *stepRun) saveProfile(kind string, write func(io.Writer) error) error {
	path := result.ProfilePath(t.Dir, t.out.Name, kind)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of profiles: %w", err)
	}
	if err := result.Replace(path, 0o644, write); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil {
		t.saved += info.Size()
	}
	return nil
}

// cpuSampler is the collector of CPU time.
type cpuSampler struct {
	sampler   *profile.Sampler
	recording *profile.Recording
	profile   *profile.Profile // of the window; nil: it is not to be used
	warnings  []metric.Warning
	accounted time.Duration // that the kernel accounted to the processes with the engine; 0: unknown
	// contradicted is why the samples of these processes cannot be of that time; nil if they can.
	contradicted error
}

func sampleCPU(t *trial) (collector, error) {
	s, err := profile.Start(t.Plan.Profile.Hertz, t.Force)
	if err != nil {
		return nil, err
	}
	if t.Profiled == result.ProfileSampled && s.OwnOnly() { // events of threads cost more than those of processors
		_, err = s.Stop()
		return nil, err
	}
	return &cpuSampler{sampler: s}, nil
}

func (c *cpuSampler) end() (err error) {
	c.recording, err = c.sampler.Stop()
	return err
}

// cut makes the profile of the time between the two readings of CPU clocks that the step's costs are made of,
// and checks it against these.
func (c *cpuSampler) cut(t *stepRun) error {
	r := c.recording
	if r.OwnOnly && t.hosted != nil {
		return errors.New("without the right to sample all processes the server cannot be sampled; run as root or with " +
			"CAP_PERFMON")
	}
	start, end, err := t.window.accounted()
	if err != nil {
		return err
	}
	var servers []int
	if t.hosted != nil {
		servers, _ = t.hosted.Processes()
	}
	p := r.Cut(start, end, profile.Trees(os.Getpid(), servers...))
	if w := unusable(r, p); w != nil {
		c.warnings = append(c.warnings, *w)
		return nil
	}
	c.profile = p
	if r.OwnOnly {
		c.warnings = append(c.warnings, metric.Warn(remark.ProfileUserOnly, nil))
	}
	if r.Throttled > 0 {
		c.warnings = append(c.warnings, metric.Warn(remark.ProfileThrottled, metric.Values{"times": float64(r.Throttled)}))
	}
	inWindow, _ := changes(t.window.opening, t.window.closing)
	if ns, found := account.Counter(inWindow, "process.cpu_ns"); found {
		c.accounted = time.Duration(ns)
	}
	if t.hosted == nil {
		c.profile = p.Embedded()
	}
	if c.accounted > 0 {
		c.contradicted = c.profile.Engine().Check(c.accounted)
	}
	if c.contradicted != nil && !r.OwnOnly {
		values := metric.Values{"why": c.contradicted.Error()}
		if stolen, ok := account.Counter(inWindow, "host.cpu.steal_ns"); ok && stolen > 0 {
			values["stolen"] = stolen / float64(time.Second)
		}
		c.warnings = append(c.warnings, metric.Warn(remark.ProfileSum, values))
	}
	return nil
}

// subsystems returns what the step's subsystems used of the processors; nil if that is unknown, or contradicts
// what the kernel accounted.
func subsystems(t *stepRun) []profile.SubsystemCPU {
	for i, way := range t.window.profiles {
		c, ok := way.collector.(*cpuSampler)
		if !ok {
			continue
		}
		if err := c.cut(t); err != nil {
			noProfile(t.trial, way.name, err)
			t.window.profiles[i].collector = nil
		} else if c.profile != nil && c.accounted > 0 && c.contradicted == nil {
			return c.profile.Subsystems()
		}
	}
	return nil
}

// save writes the profile.
func (c *cpuSampler) save(t *stepRun, stepProfile *result.StepProfile) error {
	stepProfile.Warnings, stepProfile.Accounted = append(stepProfile.Warnings, c.warnings...), c.accounted.Seconds()
	if c.profile == nil {
		return nil
	}
	const minimum = 0.5 // of the stacks
	if share := c.profile.Of(profile.Server).Rooted(); share < minimum {
		stepProfile.Warnings = append(stepProfile.Warnings,
			metric.Warn(remark.ProfileRoots, metric.Values{"share": 100 * share}))
	}
	return t.saveProfile(result.CPUProfile, c.profile.WritePprof)
}

// unusable returns why a profile must not be used, nil if it may be: too many samples
// were lost, or the sampler stopped itself.
func unusable(r *profile.Recording, p *profile.Profile) *metric.Warning {
	const limit = 0.01 // of the records
	var w metric.Warning
	switch records := float64(p.Count()) + float64(r.Lost); {
	case r.OverBudget:
		w = metric.Warn(remark.ProfileOverBudget, metric.Values{"budget": 100 * profile.Budget})
	case float64(r.Lost) > limit*records:
		w = metric.Warn(remark.ProfileLost, metric.Values{"lost": float64(r.Lost), "records": records})
	default:
		return nil
	}
	return &w
}

// accounted returns when the CPU clocks of the engine's processes were read at
// the begin and the end of a window, on the clock of profiles. If the engine's
// are not known, the client's are used instead.
func (w *window) accounted() (start, end time.Duration, err error) {
	return between(w.opening, w.closing, "process", "client")
}

// between returns when the last of some sources was read in two snapshots, on the clock
// of profiles.
func between(a, b observe.Snapshot, sources ...string) (start, end time.Duration, err error) {
	now, err := profile.Now()
	if err != nil {
		return 0, 0, err
	}
	read := func(s observe.Snapshot) time.Duration {
		instant := s.Time
		for _, source := range s.Sources {
			if slices.Contains(sources, source.Name) {
				instant = source.Time
			}
		}
		return now - time.Since(instant)
	}
	if start, end = read(a), read(b); end <= start {
		return 0, 0, errors.New("the window has no length")
	}
	return start, end, nil
}

// lockWatcher is the collector of waits in this process.
type lockWatcher struct {
	locks    *profile.Locks
	profiles []interface{ Write(io.Writer) error }
}

// watchLocks watches the waits for locks of an engine in this process. It costs a
// little, so that it is done in extra trials alone.
func watchLocks(t *trial) (collector, error) {
	if t.hosted != nil || t.Profiled != result.ProfileExtra {
		return nil, nil
	}
	l, err := profile.WatchLocks()
	return &lockWatcher{locks: l}, err
}

func (l *lockWatcher) end() error {
	list, err := l.locks.Stop()
	for _, p := range list {
		l.profiles = append(l.profiles, p)
	}
	return err
}

func (l *lockWatcher) save(t *stepRun, _ *result.StepProfile) error {
	for i, kind := range profile.LockProfiles {
		if err := t.saveProfile(kind, l.profiles[i].Write); err != nil {
			return err
		}
	}
	return nil
}
