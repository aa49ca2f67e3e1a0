package observe

import (
	"context"
	"math"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func TestClient(t *testing.T) {
	c := NewClient()
	before := collect(t, c)
	stop := WatchClient()
	runtime.GC()
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(runtime.Gosched)
	}
	wg.Wait()
	delay := stop()
	after := collect(t, c)
	for _, key := range []string{"client.cpu_ns", "client.gc_pause_ns", "client.gc_cycles"} {
		expect.True(t, after[key] > before[key], "went from to over a collection", key, before[key], after[key])
	}
	expect.True(t, after["client.goroutines"] >= 1 && after["client.heap_bytes"] != 0, "implausible", after)
	expect.True(t, delay.GCCycles >= 1 && delay.GCPause > 0, "a collection is missing", delay)
	expect.True(t, delay.Waits != 0 && delay.SchedP99 > 0, "waits are missing", delay)
}

func TestQuantile(t *testing.T) {
	inf := math.Inf(1)
	bounds := []float64{-inf, 0, 0.001, 0.002, 0.004, inf}
	for _, test := range []struct {
		name string
		a, b []uint64
		want time.Duration
		n    uint64
	}{
		{"nothing came", []uint64{0, 5, 5, 5, 5}, []uint64{0, 5, 5, 5, 5}, 0, 0},
		{"only what came", []uint64{0, 0, 0, 1000, 0}, []uint64{0, 100, 0, 1000, 0}, time.Millisecond, 100},
		{"99 of 100", []uint64{0, 0, 0, 0, 0}, []uint64{0, 99, 0, 1, 0}, time.Millisecond, 100},
		{"98 of 100", []uint64{0, 0, 0, 0, 0}, []uint64{0, 98, 0, 2, 0}, 4 * time.Millisecond, 100},
		{"beyond the bounds", []uint64{0, 0, 0, 0, 0}, []uint64{0, 0, 0, 0, 1}, 4 * time.Millisecond, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, n := quantile(metrics.Float64Histogram{Counts: test.a, Buckets: bounds}, metrics.Float64Histogram{Counts: test.b, Buckets: bounds}, 0.99)
			expect.True(t, got == test.want && n == test.n, got, n, test.want, test.n)
		})
	}
}

func TestEngine(t *testing.T) {
	e := NewEngine(counted{})
	var s engine.Sample
	expect.NoError(t, e.Collect(t.Context(), &s))
	expect.True(t, e.Name() == "engine" && len(s.Points) == 1 && s.Points[0].Name == "pebble.wal.bytes_written",
		e.Name(), s.Points)
}

type counted struct{}

func (counted) Counters(_ context.Context, s *engine.Sample) error {
	s.Counter("pebble.wal.bytes_written", "bytes", 7)
	return nil
}
