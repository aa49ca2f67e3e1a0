// Package hist records latencies: one Recorder per client, without locks shared
// between clients, drained by a Collector at interval boundaries. It reads no
// clock; times come from its callers.
package hist

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Longest is the greatest latency that a histogram holds; longer ones are
// counted as overflow. The resolution is 1 ns with three significant digits.
const (
	Longest = time.Hour
	digits  = 3
)

// Dist is a distribution of latencies in nanoseconds. The zero Dist is empty. One goroutine reads it at a time: the
// first unpacks what has come from another process.
type Dist struct {
	h        *hdr.Histogram // nil: there are none, or all are in bars
	bars     []byte         // as they came from another process, and how many
	packed   int64
	overflow int64
	// Exact, also beyond Longest. A log does not hold the sum.
	low, high, sum int64
	logged         bool // some of it was read from a log
}

// NewDist returns an empty distribution.
func NewDist() *Dist { return &Dist{h: hdr.New(1, int64(Longest), digits)} }

// held returns the histogram.
func (d *Dist) held() *hdr.Histogram {
	if d.h == nil {
		d.h = NewDist().h
		d.addBars(d.bars)
		d.bars, d.packed = nil, 0
	}
	return d.h
}

func (d *Dist) addBars(packed []byte) {
	for bucket, n := range bars(packed) {
		_ = d.held().RecordValues(leastOf(bucket), n) // in range, so it does not fail
	}
}

// Record adds a latency. Negative ones, which a foreign clock may give, count as
// zero.
func (d *Dist) Record(ns int64) {
	ns = max(ns, 0)
	if d.Count() == 0 || ns < d.low {
		d.low = ns
	}
	d.high = max(d.high, ns)
	d.sum += ns
	if ns > int64(Longest) {
		d.overflow++
		return
	}
	_ = d.held().RecordValue(ns) // in range, so it does not fail
}

// Merge adds another distribution to d. If either is nil it does nothing.
func (d *Dist) Merge(o *Dist) {
	if d == nil || o == nil || o.Count() == 0 {
		return
	}
	if d.Count() == 0 || o.low < d.low {
		d.low = o.low
	}
	if o.h != nil {
		d.held().Merge(o.h)
	} else {
		d.addBars(o.bars)
	}
	d.overflow += o.overflow
	d.high = max(d.high, o.high)
	d.sum += o.sum
	d.logged = d.logged || o.logged
}

// Reset clears the distribution and keeps its memory.
func (d *Dist) Reset() {
	if d == nil || d.Count() == 0 {
		return
	}
	d.held().Reset()
	d.overflow, d.low, d.high, d.sum, d.logged = 0, 0, 0, 0, false
}

// Count returns the number of latencies recorded, overflow included.
func (d *Dist) Count() int64 {
	if d.h == nil {
		return d.packed + d.overflow
	}
	return d.h.TotalCount() + d.overflow
}

// Overflow returns the number of latencies above Longest.
func (d *Dist) Overflow() int64 { return d.overflow }

// Max returns the greatest latency in nanoseconds, exact.
func (d *Dist) Max() int64 { return d.high }

// Least returns the least latency in nanoseconds, exact; 0 for an empty
// distribution.
func (d *Dist) Least() int64 { return d.low }

// Total returns the sum of all latencies in nanoseconds, exact; 0 for an empty
// or nil distribution. It is unknown, and 0, for one that was read from a log.
func (d *Dist) Total() float64 {
	if d == nil {
		return 0
	}
	return float64(d.sum)
}

// Summed reports whether Total is known.
func (d *Dist) Summed() bool { return !d.logged }

// Percentile returns the latency in nanoseconds that p percent of all latencies
// do not exceed; 0 for an empty distribution, and the greatest latency if the
// percentile is among those that overflowed.
func (d *Dist) Percentile(p float64) int64 {
	n := d.Count()
	if n == 0 {
		return 0
	}
	rank := int64(math.Ceil(p / 100 * float64(n)))
	h := d.held()
	if rank > h.TotalCount() {
		return d.high
	}
	return min(h.ValueAtQuantile(float64(rank)/float64(h.TotalCount())*100), d.high)
}

// Curve returns the distribution as points of percentile and latency in
// nanoseconds, denser towards 100 %.
func (d *Dist) Curve() [][2]float64 {
	var out [][2]float64
	n := float64(d.Count())
	if n == 0 {
		return nil
	}
	for _, p := range curvePoints {
		if (100-p)/100*n < 0.5 && p < 100 {
			continue // too few samples for it
		}
		v := float64(d.Percentile(p))
		if p == 100 {
			v = float64(d.high)
		}
		out = append(out, [2]float64{p, v})
	}
	return out
}

var curvePoints = []float64{
	0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 96, 97, 98, 98.5,
	99, 99.3, 99.5, 99.7, 99.8, 99.9, 99.95, 99.97, 99.99, 99.995, 99.999, 100,
}

// Log writes distributions in the HDR V2 interval log format, which other tools
// read.
type Log struct{ w *hdr.HistogramLogWriter }

// NewLog writes the header of a log. Times in it are relative to base.
func NewLog(w io.Writer, base time.Time) (*Log, error) {
	l := &Log{hdr.NewHistogramLogWriter(w)}
	l.w.SetBaseTime(0)
	if err := cmp.Or(l.w.OutputLogFormatVersion(), l.w.OutputStartTime(base.UnixMilli()), l.w.OutputLegend()); err != nil {
		return nil, fmt.Errorf("write latency log: %w", err)
	}
	return l, nil
}

// Write writes the distribution of an interval. The tag must hold neither comma
// nor space.
func (l *Log) Write(tag string, start, end time.Time, d *Dist) error {
	h := d.held()
	h.SetTag(tag)
	h.SetStartTimeMs(start.UnixMilli())
	h.SetEndTimeMs(end.UnixMilli())
	if err := l.w.OutputIntervalHistogram(h); err != nil {
		return fmt.Errorf("write latency log: %w", err)
	}
	return nil
}

// ReadLog reads a log and merges its distributions by tag. A truncated line ends
// it without error, so that the log of a killed run is readable.
func ReadLog(r io.Reader) (map[string]*Dist, error) {
	in := hdr.NewHistogramLogReader(r)
	out := map[string]*Dist{}
	for {
		h, err := in.NextIntervalHistogram()
		if err != nil || h == nil {
			return out, nil
		}
		d := out[h.Tag()]
		if d == nil {
			d = NewDist()
			d.logged = true
			out[h.Tag()] = d
		}
		if d.Count() == 0 || h.Min() < d.low {
			d.low = h.Min()
		}
		d.held().Merge(h)
		d.high = max(d.high, h.Max())
	}
}
