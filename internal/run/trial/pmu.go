package trial

import (
	"context"

	"rumbench/engine"
	"rumbench/internal/observe/pmu"
)

// countEvents begins to count events of the processors in the engine's processes, if there is a PMU, and
// ends the counts in those before a restart. Only trials that a plan asks to profile do: with counts each
// switch between threads takes a microsecond or more, which engines with many of them would feel.
func countEvents(t *trial) {
	if t.events != nil {
		t.events.Close()
	}
	if t.events = nil; t.Profiled.Slows() {
		t.events = pmu.Open(t.pids, pmu.Hardware())
	}
}

// atRest takes counts at both ends of a step only: reading them interrupts the processors.
type atRest struct{ *observer }

// Name returns "pmu".
func (atRest) Name() string { return "pmu" }

// Collect adds the counts.
func (c atRest) Collect(ctx context.Context, s *engine.Sample) error {
	if c.events == nil || ctx.Value(idle{}) == nil {
		return nil
	}
	return c.events.Collect(ctx, s)
}
