package observe

import (
	"context"

	"rumbench/engine"
)

// Collector reads one source of numbers.
type Collector interface {
	// Name is the source: "host", "device", "process", "engine" or "client".
	// The names of its points begin with it; only an engine's points begin
	// with the engine's own name.
	Name() string
	// Collect adds the source's points, each series once. Values that the
	// machine does not report are left out, never zero. After an error the
	// points are not used: partial samples would make series come and go.
	//
	// It is not called concurrently.
	Collect(ctx context.Context, s *engine.Sample) error
}

// Placed is a collector of a source on another machine.
type Placed interface {
	Collector
	Machine() string
}

// Counted is an engine that reports counters; engine.DB is one.
type Counted interface {
	Counters(ctx context.Context, s *engine.Sample) error
}

// Engine collects the counters of a database engine.
type Engine struct{ db Counted }

// NewEngine returns a collector of the engine's counters.
func NewEngine(db Counted) *Engine { return &Engine{db} }

// Name returns "engine".
func (e *Engine) Name() string { return "engine" }

// Collect adds the points of the engine.
func (e *Engine) Collect(ctx context.Context, s *engine.Sample) error { return e.db.Counters(ctx, s) }

// meanings are the meanings of the counters of hosts, devices and processes by which
// engines are compared. Counters that follow from these, or that describe the whole
// host, are not included.
var meanings = map[string]string{
	"process.cpu_ns":        "CPU time of the processes",
	"process.system_ns":     "CPU time of the processes in the kernel",
	"process.read_bytes":    "read by the processes",
	"process.write_bytes":   "written by the processes",
	"process.syscall_reads": "read calls", "process.syscall_writes": "write calls",
	"process.minor_faults": "minor page faults", "process.major_faults": "major page faults",
	"device.reads": "device reads", "device.read_bytes": "read from the device",
	"device.writes": "device writes", "device.write_bytes": "written to the device",
	"device.flushes": "device flushes", "device.discard_bytes": "discarded on the device",
	"host.context_switches": "context switches of the host",
}

// Meaning returns the meaning of a counter that is the same for all engines; ""
// for a counter of one engine.
func Meaning(counter string) string {
	for _, m := range engine.Meanings() {
		if m.Name == counter {
			return m.Title
		}
	}
	return meanings[counter]
}
