package account

import (
	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// addEvents adds what the processors counted in the engine's processes. Counts for a part of the time,
// because the processor had too few counters, are scaled and marked.
func (f *figures) addEvents(o *Observed) {
	const whole = 0.999
	for _, e := range [][2]string{{metric.Instructions, "pmu.instructions"}, {metric.Cycles, "pmu.cycles"},
		{metric.LLCMisses, "pmu.llc_misses"}, {metric.DTLBMisses, "pmu.dtlb_misses"}} {
		n, found := Counter(o.InWindow, e[1])
		enabled, _ := Counter(o.InWindow, e[1]+"_enabled_ns")
		running, _ := Counter(o.InWindow, e[1]+"_running_ns")
		if !found || running == 0 {
			continue
		}
		f.add(e[0], processSource(o.Hosted)+", PMU", n*enabled/running)
		if share := running / enabled; share < whole {
			(*f)[len(*f)-1].Warnings = []metric.Warning{metric.Warn(remark.Multiplexed, metric.Values{"share": 100 * share})}
		}
	}
}
