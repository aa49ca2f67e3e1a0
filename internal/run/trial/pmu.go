package trial

import (
	"context"

	"rumbench/engine"
	"rumbench/internal/observe/pmu"
)

// countEvents begins to count events of the processors in the engine's processes, if there is a PMU. Only
// profiled trials do: with counts each switch between threads takes a microsecond or more, which engines
// with many of them would feel.
func countEvents(t *trial, pids []int) (added []atRest) {
	if t.events != nil { // of a server that has ended
		t.events.Close()
	}
	if t.events = nil; t.Profiled == "" {
		return nil
	}
	if t.events = pmu.Open(pids, pmu.Hardware()); t.events != nil {
		added = append(added, atRest{t.events})
	}
	return added
}

// atRest takes counts at both ends of a step only: reading them interrupts the processors.
type atRest struct{ *pmu.Counter }

// Collect adds the counts.
func (c atRest) Collect(ctx context.Context, s *engine.Sample) error {
	if ctx.Value(idle{}) == nil {
		return nil
	}
	return c.Counter.Collect(ctx, s)
}
