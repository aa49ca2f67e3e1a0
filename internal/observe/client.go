package observe

import (
	"context"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
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

// Name is "client".
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

// Window begins to measure how this process disturbs its own measurement.
func (c *Client) Window() *ClientWindow {
	w := &ClientWindow{}
	w.begin = readDelays()
	return w
}

// ClientWindow is a window in which the client is watched.
type ClientWindow struct{ begin delays }

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

// Stop returns what happened since the window began. It may be called again later.
func (w *ClientWindow) Stop() ClientDelay {
	end := readDelays()
	d := ClientDelay{
		GCPause:  end.gc.PauseTotal - w.begin.gc.PauseTotal,
		GCCycles: end.gc.NumGC - w.begin.gc.NumGC,
	}
	d.SchedP99, d.Waits = quantile(w.begin.waits, end.waits, 0.99)
	return d
}

// delays are the runtime's cumulative figures.
type delays struct {
	waits metrics.Float64Histogram // seconds
	gc    debug.GCStats
}

func readDelays() delays {
	var d delays
	debug.ReadGCStats(&d.gc)
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	h := sample[0].Value.Float64Histogram()
	d.waits = metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
	return d
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
