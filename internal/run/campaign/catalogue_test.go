package campaign

import (
	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/internal/plan"
	"rumbench/workload"
	"rumbench/workload/ibench"
	"rumbench/workload/sysbench"
)

// plugins are what the plans of these tests name. The catalogue of the binary would have all
// engines compiled again for the race detector, for minutes.
type plugins struct{ plan.Catalog }

// named is an engine with the name of another.
type named struct {
	engine.Engine
	name string
}

func (n named) Info() engine.Info {
	info := n.Engine.Info()
	info.Name = n.name
	return info
}

func (plugins) EngineNames() []string                    { return []string{"bbolt", "pebble"} }
func (plugins) WorkloadNames() []string                  { return []string{"ibench", "sysbench"} }
func (plugins) Engine(name string) (engine.Engine, bool) { return named{bbolt.Engine{}, name}, true }
func (plugins) Workload(name string) (workload.Workload, bool) {
	w, found := map[string]workload.Workload{"ibench": ibench.Workload{}, "sysbench": sysbench.Workload{}}[name]
	return w, found
}
