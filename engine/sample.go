package engine

import (
	"context"
	"strings"
	"time"
)

// CounterKind is how a sampled number is to be read.
type CounterKind string

// The kinds of sampled numbers.
const (
	Counter CounterKind = "counter" // never decreases; the difference of two samples counts
	Gauge   CounterKind = "gauge"   // a state; the value itself counts
)

// Point is one sampled number.
type Point struct {
	Name   string // dotted, lower case, beginning with its source: "pebble.wal.bytes_written"
	Labels string // "" or `level="3"`, sorted by name
	Kind   CounterKind
	Unit   string // "bytes", "count", "ns", "ratio"…
	Value  float64
}

// Key identifies the time series that the point belongs to.
func (p Point) Key() string {
	if p.Labels == "" {
		return p.Name
	}
	return p.Name + "{" + p.Labels + "}"
}

// Sample collects points. Its memory is reused across samples.
type Sample struct {
	Points []Point
}

// Reset empties the sample, keeping its memory.
func (s *Sample) Reset() { s.Points = s.Points[:0] }

// Counter adds a counter. Labels are pairs of name and value.
func (s *Sample) Counter(name, unit string, value float64, labels ...string) {
	s.add(Counter, name, unit, value, labels)
}

// Gauge adds a gauge. Labels are pairs of name and value.
func (s *Sample) Gauge(name, unit string, value float64, labels ...string) {
	s.add(Gauge, name, unit, value, labels)
}

func (s *Sample) add(kind CounterKind, name, unit string, value float64, labels []string) {
	s.Points = append(s.Points, Point{Name: name, Labels: labelText(labels), Kind: kind, Unit: unit, Value: value})
}

func labelText(pairs []string) string {
	switch len(pairs) {
	case 0:
		return ""
	case 2:
		return pairs[0] + `="` + pairs[1] + `"`
	}
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(pairs[i] + `="` + pairs[i+1] + `"`)
	}
	return b.String()
}

// RocksDB adds the figures that RocksDB's tickers, by their names, have in common with those of
// other engines. A compaction's reads count as misses there, but they add no block to the
// cache: a miss is a block that was added. Blocks of filters and indexes are left out: most
// look-ups find them.
func (s *Sample) RocksDB(ticker func(name string) float64, labels ...string) {
	added := ticker("rocksdb.block.cache.data.add")
	s.Counter(CacheLookups, "count", ticker("rocksdb.block.cache.data.hit")+added, labels...)
	s.Counter(CacheMisses, "count", added, labels...)
	log, flushed, compacted := ticker("rocksdb.wal.bytes"), ticker("rocksdb.flush.write.bytes"),
		ticker("rocksdb.compact.write.bytes")
	s.Counter(BytesWritten, "bytes", log+flushed+compacted, labels...)
	s.Counter(LogBytes, "bytes", log, labels...)
	s.Counter(FlushBytes, "bytes", flushed, labels...)
	s.Counter(CompactedBytes, "bytes", compacted, labels...)
	s.Counter(LogSyncs, "count", ticker("rocksdb.wal.synced"), labels...)
	s.Counter(BytesTaken, "bytes", ticker("rocksdb.bytes.written"), labels...)
	s.Counter(StallTime, "ns", ticker("rocksdb.stall.micros")*1e3, labels...)
}

// Runs adds the sorted runs of an LSM tree that has files at each level: those of the first overlap.
func (s *Sample) Runs(files []float64) {
	runs := 0.0
	for level, n := range files {
		if level > 0 {
			n = min(n, 1)
		}
		runs += n
	}
	s.Gauge(SortedRuns, "count", runs)
}

// Reporter is a DB whose counters lag behind, as its sessions report their counts now and
// then.
type Reporter interface {
	// Report has the sessions report their counts, while all are idle. It returns by how
	// much the counters may still lag.
	Report(ctx context.Context) time.Duration
}
