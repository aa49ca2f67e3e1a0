package observe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// fake is a collector made of a function.
type fake struct {
	name    string
	collect func(context.Context, *engine.Sample) error
}

func (f fake) Name() string                                        { return f.name }
func (f fake) Collect(ctx context.Context, s *engine.Sample) error { return f.collect(ctx, s) }

// clock is a source whose counter grows by 1000 a second. A question takes
// `before` until it is read and `after` until it is answered.
func clock(name string, since time.Time, before, after func() time.Duration) fake {
	return fake{name, func(_ context.Context, s *engine.Sample) error {
		time.Sleep(before())
		s.Counter(name+".milliseconds", "count", float64(time.Since(since))/float64(time.Millisecond))
		time.Sleep(after())
		return nil
	}}
}

func always(d time.Duration) func() time.Duration { return func() time.Duration { return d } }

// run runs the sampler for a time and returns all differences.
func run(t *testing.T, s *Sampler, d time.Duration) [][]Interval {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var all [][]Interval
	s.Run(ctx, func(prev, cur Snapshot) { all = append(all, Diff(prev, cur)) })
	return all
}

func TestSlowSourceKeepsRatesTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		// Each answer takes 0.4 of the interval, but every third one is quick.
		half := func() time.Duration {
			if calls++; (calls-1)/2%3 == 0 {
				return time.Millisecond
			}
			return 200 * time.Millisecond
		}
		s := &Sampler{Interval: time.Second, Collectors: []Collector{
			clock("engine", begin, half, half),
			clock("host", begin, always(0), always(0)),
		}}
		all := run(t, s, 20*time.Second+500*time.Millisecond)
		expect.Must(t, len(all) == 20, len(all), "intervals, want 20")
		for i, interval := range all {
			for _, source := range interval {
				rate := source.Changes[0].Value / source.Elapsed.Seconds()
				expect.True(t, math.Abs(rate-1000) <= 1, "interval: rate of is", i, source.Source, rate)
			}
		}
	})
}

func TestTicksDoNotDrift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := &Sampler{Interval: time.Second, Collectors: []Collector{clock("engine", begin, always(150*time.Millisecond), always(150*time.Millisecond))}}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second+time.Millisecond*500)
		defer cancel()
		n := 0
		s.Run(ctx, func(prev, cur Snapshot) {
			n++
			expect.Equal(t, cur.Time.Sub(begin), time.Duration(n)*time.Second, "tick", n)
			source := cur.Sources[0]
			if at := source.Time.Sub(cur.Time); at != 150*time.Millisecond || source.Took != 300*time.Millisecond {
				t.Errorf("tick %d: sampled %v after it, took %v", n, at, source.Took)
			}
			expect.Equal(t, Diff(prev, cur)[0].Late, 300*time.Millisecond, "tick", n)
		})
		expect.Equal(t, n, 100, "ticks in")
	})
}

func TestOverrunCostsTicksOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		s := &Sampler{Interval: time.Second, Collectors: []Collector{clock("engine", begin, always(1300*time.Millisecond), always(0))}}
		total := 0.0
		var elapsed time.Duration
		for _, interval := range run(t, s, time.Minute) {
			total += interval[0].Changes[0].Value
			elapsed += interval[0].Elapsed
		}
		want := elapsed.Seconds() * 1000
		expect.True(t, math.Abs(total-want) <= 1e-6 && elapsed >= 50*time.Second, "growth in", total, elapsed)
	})
}

var errBroken = errors.New("broken")

func TestErrorStopsNobodyAndLosesNoGrowth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		good := clock("host", begin, always(0), always(0))
		bad := fake{"engine", func(ctx context.Context, s *engine.Sample) error {
			s.Counter("engine.milliseconds", "count", float64(time.Since(begin).Milliseconds()))
			if calls++; calls == 3 || calls == 4 {
				return errBroken
			}
			return nil
		}}
		s := &Sampler{Interval: time.Second, Collectors: []Collector{bad, good}}
		var grown, elapsed []string
		for _, interval := range run(t, s, 5*time.Second+time.Millisecond) {
			if v := interval[1]; v.Err != nil || v.Changes[0].Value != 1000 {
				t.Errorf("the other source: %v", v)
			}
			if v := interval[0]; v.Err != nil {
				expect.True(t, errors.Is(v.Err, errBroken) && len(v.Changes) == 0, "error, changes", v.Err, v.Changes)
			} else {
				grown = append(grown, fmt.Sprint(v.Changes[0].Value))
				elapsed = append(elapsed, v.Elapsed.String())
			}
		}
		// Samples at 0, 1, 4 and 5 s were good.
		expect.Same(t, []string{"1000", "3000", "1000"}, grown)
		expect.Same(t, []string{"1s", "3s", "1s"}, elapsed)
	})
}

func TestRunEndsWithoutAHalfSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		s := &Sampler{Collectors: []Collector{fake{"engine", func(ctx context.Context, s *engine.Sample) error {
			if calls++; calls == 3 {
				cancel()
				return ctx.Err()
			}
			return nil
		}}}}
		n := 0
		s.Run(ctx, func(_, cur Snapshot) {
			if n++; cur.Sources[0].Err != nil {
				t.Error("the end was reported as an error of the source")
			}
		})
		expect.Equal(t, n, 1, "sets")
	})
}

// Snapshots are taken while Run samples, and stay as they are. Under the race
// detector this fails if a collector is called from both at once.
func TestSnapshotWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0.0
		s := &Sampler{Interval: time.Second, Collectors: []Collector{fake{"engine", func(_ context.Context, s *engine.Sample) error {
			n++
			s.Counter("engine.n", "count", n)
			return nil
		}}}}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { s.Run(ctx, func(_, _ Snapshot) {}) })
		synctest.Wait()
		a := s.Snapshot(ctx)
		time.Sleep(5 * time.Second) // ends together with a tick
		synctest.Wait()
		b := s.Snapshot(ctx)
		time.Sleep(5 * time.Second)
		cancel()
		wg.Wait()
		expect.Equal(t, Diff(a, b)[0].Changes[0].Value, 6, "growth")
	})
}

func TestSeriesSampledTwice(t *testing.T) {
	s := &Sampler{Collectors: []Collector{fake{"device", func(_ context.Context, s *engine.Sample) error {
		s.Counter("device.writes", "count", 1, "dev", "sda")
		s.Counter("device.writes", "count", 2, "dev", "sda")
		return nil
	}}}}
	for range 2 { // the second time the layout might be taken for known
		source := s.Snapshot(t.Context()).Sources[0]
		expect.True(t, source.Err != nil && len(source.Points) == 0, "error, points", source.Err, source.Points)
	}
}

// thousand is a source of 1000 counters with labels, as an engine with many
// tables has.
func thousand() Collector {
	names := make([]string, 1000)
	for i := range names {
		names[i] = fmt.Sprintf("engine.table.rows_%d", i%20)
	}
	n := 0.0
	return fake{"engine", func(_ context.Context, s *engine.Sample) error {
		n++
		for i, name := range names {
			s.Points = append(s.Points, engine.Point{Name: name, Labels: labels[i/20], Kind: engine.Counter, Unit: "count", Value: n * float64(i)})
		}
		return nil
	}}
}

var labels = func() (all [50]string) {
	for i := range all {
		all[i] = fmt.Sprintf(`table="t%d"`, i)
	}
	return all
}()

func TestSamplingAllocatesNothingPerPoint(t *testing.T) {
	s := &Sampler{Collectors: []Collector{thousand()}}
	var prev, cur Snapshot
	s.take(t.Context(), time.Now(), &prev)
	s.take(t.Context(), time.Now(), &cur)
	per := testing.AllocsPerRun(10, func() {
		s.take(t.Context(), time.Now(), &cur)
		Diff(prev, cur)
		prev.succeed(&cur)
	})
	expect.True(t, per <= 5, "allocations for 1000 unchanged series", per)
}
