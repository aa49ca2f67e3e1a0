package trial

import (
	"runtime"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/model"
	"rumbench/workload"
)

// header returns the result before anything was measured.
func (t *Spec) header() *result.Trial {
	info := engine.InfoOf(t.Engine, t.Target.Config)
	return &result.Trial{
		Format: result.Format, Campaign: t.Plan.Name, Target: t.Target.Name, Trial: t.Trial, Order: t.Order, Slot: t.Slot,
		Resumed: t.Resumed, Machine: t.Machine, Placement: t.placement(),
		Engine: info.Name, Structure: info.Structure,
		Workload: t.Plan.Workload, Preset: t.Plan.Preset, Params: printable(t.Plan.Params), OwnParams: t.Target.Own,
		Knobs:      t.Target.Knobs,
		Affects:    info.Affected(t.Target.Config.Options),
		Durability: string(t.Target.Config.Durability), Promise: engine.PromiseOf(t.Engine, t.Target.Config),
		Seed: t.seed(), PlanSeed: t.drawn(), Interval: t.Plan.Interval.Seconds(),
		Status: result.Running, Started: time.Now(), Build: t.Build, Profiled: t.Profiled, Ceilings: t.Ceilings,
		Versions: observe.Facts{
			{Name: "rumbench", Value: t.Version},
			{Name: "go", Value: runtime.Version()},
			{Name: info.Name, Value: info.Version},
		},
	}
}

// seed returns the seed of the trial's block.
func (t *Spec) seed() uint64 { return t.Plan.Seed.Of(t.Trial) }

// drawn returns the plan's seed if the block's is drawn from it, else nil.
func (t *Spec) drawn() *uint64 {
	if t.Plan.Seed.Fixed {
		return nil
	}
	return &t.Plan.Seed.Value
}

// keepsRows reports whether the engine returns the rows that were stored.
func (t *Spec) keepsRows() bool {
	return slices.Contains(engine.InfoOf(t.Engine, t.Target.Config).Capabilities, model.CapResults)
}

// printable formats durations; JSON would make them nanoseconds.
func printable(p workload.Params) map[string]any {
	out := make(map[string]any, len(p))
	for name, v := range p {
		if d, ok := v.(time.Duration); ok {
			v = d.String()
		}
		out[name] = v
	}
	return out
}

// placement returns where the processes of the trial run; nil: all here.
func (t *Spec) placement() *result.Placement {
	if t.Head == nil {
		return nil
	}
	return &result.Placement{Server: t.Machine, Observed: t.Head.Observed, Clients: t.Head.Machines}
}
