package engine

import "strings"

// CounterKind tells how a sampled number is to be read.
type CounterKind string

// The kinds of sampled numbers.
const (
	Counter CounterKind = "counter" // only ever grows; its meaning is the difference of two samples
	Gauge   CounterKind = "gauge"   // a state; its meaning is the value itself
)

// Names that mean the same on every engine. An engine that can tell one of
// them adds it beside its own counters, and metrics are derived from it.
const (
	CacheLookups   = "engine.cache_lookups"    // counter: blocks or pages that were looked for in the engine's own cache, for operations
	CacheMisses    = "engine.cache_misses"     // counter: of them, those that were not there
	BytesWritten   = "engine.bytes_written"    // counter: bytes that the engine says it wrote, data and logs
	BytesRead      = "engine.bytes_read"       // counter: bytes that the engine says it read, for operations and for its background work
	BytesTaken     = "engine.bytes_taken"      // counter: bytes of keys and values given to the storage, index entries included; the denominator of an LSM tree's own account
	DirtyBytes     = "engine.dirty_bytes"      // gauge: changed pages that are still to be written
	CompactionDebt = "engine.compaction_debt"  // gauge: bytes that background merges still have to rewrite
	CheckpointAge  = "engine.checkpoint_bytes" // gauge: log that recovery would have to read: written since the last checkpoint
	StallTime      = "engine.stall_ns"         // counter: time for which writes were held up
	Stalls         = "engine.stalls"           // counter: how often writes were held up
)

// Point is one sampled number.
type Point struct {
	Name   string // dotted, lower case, beginning with its source: "pebble.wal.bytes_written"
	Labels string // "" or `level="3"`, sorted by name
	Kind   CounterKind
	Unit   string // "bytes", "count", "ns", "ratio"…
	Value  float64
}

// Key identifies the series that the point belongs to.
func (p Point) Key() string {
	if p.Labels == "" {
		return p.Name
	}
	return p.Name + "{" + p.Labels + "}"
}

// Sample collects points. Its memory is reused from one sample to the next.
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
