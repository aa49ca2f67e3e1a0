package observe

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"syscall"
	"time"

	"rumbench/engine"
)

// Client collects the resource use of this process itself.
type Client struct {
	gauges []metrics.Sample
	gc     debug.GCStats
}

// NewClient returns a collector of this process.
func NewClient() *Client {
	return &Client{gauges: []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/sched/goroutines:goroutines"},
	}}
}

// Name returns "client".
func (c *Client) Name() string { return "client" }

// Collect adds the client's points.
func (c *Client) Collect(_ context.Context, s *engine.Sample) error {
	cpu, err := cpuClock(os.Getpid())
	if err != nil {
		return fmt.Errorf("sample client: %w", err)
	}
	s.Counter("client.cpu_ns", "ns", float64(cpu))
	debug.ReadGCStats(&c.gc) // the runtime's histogram of pauses has no exact sum
	s.Counter("client.gc_pause_ns", "ns", float64(c.gc.PauseTotal))
	s.Counter("client.gc_cycles", "count", float64(c.gc.NumGC))
	metrics.Read(c.gauges)
	s.Gauge("client.heap_bytes", "bytes", float64(c.gauges[0].Value.Uint64()))
	s.Gauge("client.goroutines", "count", float64(c.gauges[1].Value.Uint64()))
	return nil
}

// ClientDelay holds the delays that the client caused itself in a window.
type ClientDelay struct {
	// SchedP99 is the p99 of the time that runnable goroutines waited to be
	// scheduled, rounded up to a bucket bound of the runtime's histogram, at
	// most by 25 %. The runtime samples about one wait in eight.
	SchedP99 time.Duration
	Waits    uint64        // how many waits were sampled; if 0, SchedP99 is meaningless
	GCPause  time.Duration // total stop-the-world time of the garbage collector
	GCCycles int64
}

// WatchClient begins to measure how this process disturbs its own measurement.
// The returned function reports the delays since then.
func WatchClient() func() ClientDelay {
	var previousGcstats, after debug.GCStats
	debug.ReadGCStats(&previousGcstats)
	waits := schedWaits()
	return func() ClientDelay {
		debug.ReadGCStats(&after)
		d := ClientDelay{GCPause: after.PauseTotal - previousGcstats.PauseTotal,
			GCCycles: after.NumGC - previousGcstats.NumGC}
		d.SchedP99, d.Waits = quantile(waits, schedWaits(), 0.99)
		return d
	}
}

// schedWaits returns the runtime's distribution of goroutines' waits, in seconds.
func schedWaits() metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	return metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
}

// quantile returns the upper bound of the bucket that holds quantile q of the
// observations between a and b, and their number.
func quantile(a, b metrics.Float64Histogram, q float64) (time.Duration, uint64) {
	var n uint64
	for i := range b.Counts {
		n += b.Counts[i] - a.Counts[i]
	}
	if n == 0 {
		return 0, 0
	}
	rank := uint64(math.Ceil(q * float64(n)))
	var seen uint64
	for i := range b.Counts {
		if seen += b.Counts[i] - a.Counts[i]; seen >= rank {
			bound := b.Buckets[i+1]
			if math.IsInf(bound, 1) {
				bound = b.Buckets[i] // the last bucket has no upper bound
			}
			return time.Duration(math.Round(bound * float64(time.Second))), n
		}
	}
	return 0, n
}

// OwnCPU returns the CPU time of this process, 0 if it is unknown.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
