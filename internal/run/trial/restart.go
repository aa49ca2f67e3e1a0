package trial

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/observe/pagecache"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// watch samples and watches the server until unwatch is called.
func watch(ctx context.Context, t *trial) {
	ctx, stop := context.WithCancel(ctx)
	var watches sync.WaitGroup
	watches.Go(func() { t.sampler.Run(ctx, t.writeSamples) })
	watches.Go(func() { t.watchServer(ctx, t.fail) })
	t.unwatch = func() {
		stop()
		watches.Wait()
	}
}

// restart runs a step in which the engine is closed and opened again. It is not sampled meanwhile: a
// database that is closed has no counters.
func (t *stepRun) restart(ctx context.Context) error {
	w := &t.window
	t.unwatch()
	w.plain = true
	if err := w.open(ctx, t.trial, t.step.Name); err != nil {
		return err
	}
	start := time.Now()
	stopped, started, err := t.reopen(ctx, start)
	if err != nil {
		return err
	}
	if err := w.close(ctx, t.trial, time.Since(start)); err != nil {
		return err
	}
	watch(ctx, t.trial)
	if t.begun != workload.CachesDropped { // by a copy that nothing has read yet
		t.begun = t.step.Restart.Caches
	}
	t.out.Seconds = w.length.Seconds()
	a := t.account(nil)
	account.Restarted(a, stopped, started)
	t.out.Take(&a.Sheet)
	if t.previous == nil || t.Preflight {
		return nil
	}
	return t.addSpace(ctx, false)
}

// reopen closes the database, drops its page cache if the step asks for that, opens it, and follows
// its new processes. It returns how long the stop and the start took.
func (t *stepRun) reopen(ctx context.Context, start time.Time) (stopped, started time.Duration, err error) {
	defer t.showProgress(PhaseRestart, start, 0)()
	if err := t.db.Close(); err != nil {
		return 0, 0, fmt.Errorf("stop the engine: %w", err)
	}
	stopped = time.Since(start)
	if err := cmp.Or(t.sync(ctx), dropCaches(t), ctx.Err()); err != nil {
		return 0, 0, err
	}
	start = time.Now()
	db, err := t.Engine.Open(ctx, t.config)
	if err != nil {
		return 0, 0, fmt.Errorf("start the engine again: %w", err)
	}
	started = time.Since(start)
	host(t.trial, db)
	if t.pids = t.processes(t.hosted); t.otherPrograms != nil {
		t.otherPrograms.Follow(append(slices.Clone(t.pids), os.Getpid())...)
	}
	countEvents(t.trial)
	t.sampler.Collectors[len(t.sampler.Collectors)-1] = engineCounters(t.trial, db)
	changed, err := changedSettings(ctx, t.trial)
	t.out.Warnings = append(t.out.Warnings, changed...)
	return stopped, started, err
}

// dropCaches removes the engine's files from the page cache.
func dropCaches(t *stepRun) error {
	if t.step.Restart.Caches != workload.CachesDropped || t.Preflight {
		return nil
	}
	return pagecache.Drop(t.dir)
}

// changedSettings reads back the settings and limits, and returns warnings of those that differ from those before.
func changedSettings(ctx context.Context, t *trial) (out []metric.Warning, err error) {
	now, err := readSettings(ctx, t)
	for _, s := range now {
		k := slices.IndexFunc(t.res.Settings, func(o engine.Setting) bool { return o.Name == s.Name })
		if k >= 0 && t.res.Settings[k].Value != s.Value && !s.Aside {
			out = append(out, metric.Warn(remark.SettingChanged,
				metric.Values{"setting": s.Name, "before": t.res.Settings[k].Value, "after": s.Value}))
		}
	}
	return out, err
}

// firstMinute is the time whose latencies are known apart, in a step before which the engine restarted.
const firstMinute = time.Minute

// addMinute adds the times of an interval's primary operations if it is in the first minute.
func (t *stepRun) addMinute(end time.Duration, group *workload.Group, kind *workload.OpKind, s *hist.Sums) {
	if t.out.Caches == "" || kind.Whole() != t.step.Primary || end > firstMinute+t.Plan.Interval/2 {
		return
	}
	if t.minute == nil {
		t.minute = map[string]*hist.Dist{}
	}
	if t.minute[group.Name] == nil {
		t.minute[group.Name] = hist.NewDist()
	}
	times := s.Service
	if s.Response != nil {
		times = s.Response
	}
	t.minute[group.Name].Merge(times)
}

// readTrack is how many bytes had been read from storage at moments of a step. A nil readTrack
// keeps nothing.
type readTrack struct {
	counter, source string
	began           time.Time // the window

	mu    sync.Mutex
	times []time.Time
	bytes []float64
}

// trackReads follows the reads of a step before which the engine restarted, from its first snapshot.
func (t *stepRun) trackReads() {
	if t.out.Caches == "" {
		return
	}
	r := &readTrack{counter: "device.read_bytes", source: deviceSource(t.trial), began: time.Now()}
	if r.add(t.window.opening); len(r.times) == 0 {
		r.counter, r.source = "process.read_bytes", metric.OfProcess
		if t.hosted != nil {
			r.source = metric.OfServer
		}
		r.add(t.window.opening)
	}
	t.reads.Store(r)
}

// add keeps the bytes in a snapshot, whose memory is reused.
func (r *readTrack) add(s observe.Snapshot) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, source := range s.Sources {
		sum, found := 0.0, false
		for _, p := range source.Points {
			if p.Name == r.counter {
				sum, found = sum+p.Value, true
			}
		}
		if found {
			r.times, r.bytes = append(r.times, source.Time), append(r.bytes, sum)
		}
	}
}

// until returns the bytes read until a moment, as if each interval had read evenly; ok is false if they
// are unknown.
func (r *readTrack) until(instant time.Time) (bytes float64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := slices.IndexFunc(r.times, func(o time.Time) bool { return !o.Before(instant) })
	if k <= 0 {
		return 0, k == 0
	}
	share := instant.Sub(r.times[k-1]).Seconds() / r.times[k].Sub(r.times[k-1]).Seconds()
	return r.bytes[k-1] - r.bytes[0] + share*(r.bytes[k]-r.bytes[k-1]), true
}

// startOf returns how a step began before which the engine restarted; nil for other steps.
func startOf(t *stepRun) *account.Start {
	if t.out.Caches == "" {
		return nil
	}
	s := &account.Start{Caches: t.out.Caches, FirstMinute: t.minute}
	if t.window.length < firstMinute {
		s.FirstMinute = nil
	}
	if r := t.reads.Swap(nil); r != nil {
		r.add(t.window.closing)
		s.Source, s.Read = r.source, func(seconds float64) (float64, bool) {
			return r.until(r.began.Add(quantity.AsDuration(seconds)))
		}
	}
	return s
}
