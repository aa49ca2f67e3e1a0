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
