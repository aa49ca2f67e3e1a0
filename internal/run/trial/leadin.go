package trial

import (
	"context"
	"slices"

	"rumbench/internal/run/drive"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// leadIn runs the step's clients before the window, if its arrivals have a
// lead-in: the connections are warm then, and work left over from earlier steps
// is in progress. It returns the clients' totals.
func (t *stepRun) leadIn(ctx context.Context, by clients, c drive.Config) (workload.Totals, error) {
	step := *c.Step
	step.Groups, step.Seconds = slices.Clone(step.Groups), 0
	for i := range step.Groups {
		a := step.Groups[i].Arrivals
		if a == nil || a.LeadIn == 0 || a.Segments[0].From == 0 {
			continue
		}
		first := pace.Constant(a.Kind, a.Segments[0].From)
		first.Queue = a.Queue
		step.Groups[i].Arrivals, step.Seconds = first, a.LeadIn
	}
	if step.Seconds == 0 {
		return nil, nil
	}
	t.lastWindow = nil // writes from now on are not left over from the previous step
	c.Step, c.OnInterval = &step, nil
	if err := by.ready(ctx, &c); err != nil {
		return nil, err
	}
	if t.Head != nil { // in a duet only windows are met
		if err := by.start(ctx, func() {}); err != nil {
			return nil, err
		}
	}
	res, err := by.run(ctx, c)
	if err != nil {
		return nil, err
	}
	return res.Totals(), res.Ended
}
