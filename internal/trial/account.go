package trial

import (
	"rumbench/engine"
	"rumbench/internal/result"
)

// ownAccount is the source of what an engine tells of itself.
const ownAccount = "the engine's own counters"

// account is what the engine says it wrote, with what the sync after the
// window made it write, and what it read in the window.
func account(run, whole []result.CounterChange) (out []cost) {
	if v, ok := counterOf(whole, engine.BytesWritten); ok {
		out = append(out, cost{metric: "engine_write_kb", value: v / kb, source: ownAccount})
	}
	if v, ok := counterOf(run, engine.BytesRead); ok {
		out = append(out, cost{metric: "engine_read_kb", value: v / kb, source: ownAccount})
	}
	return out
}

// addEngine adds what only the engine can tell: how its cache did, for how long
// it held up writes, and what it has still to do.
func (r *rows) addEngine() {
	run := r.inWindow()
	from := source(ownAccount)
	if lookups, ok := counterOf(run, engine.CacheLookups); ok && lookups > 0 {
		if misses, ok := counterOf(run, engine.CacheMisses); ok {
			r.put("cache_hit_ratio", 1-misses/lookups, count(int64(lookups)), from)
		}
	}
	if n, ok := counterOf(run, engine.Stalls); ok {
		r.put("engine_stalls", n, from)
	}
	if ns, ok := counterOf(run, engine.StallTime); ok {
		r.put("engine_stall_s", ns/1e9, from)
	}
	r.addDebts()
}

// addDebts adds what the engine has still to do at the end of the step.
func (r *rows) addDebts() {
	whole := r.withSync()
	from := source(ownAccount)
	for _, g := range []struct{ metric, gauge string }{
		{"dirty_bytes", engine.DirtyBytes}, {"compaction_debt_bytes", engine.CompactionDebt}, {"checkpoint_age_bytes", engine.CheckpointAge},
	} {
		if v, ok := gaugeOf(whole, g.gauge); ok {
			r.put(g.metric, v, from)
		}
	}
}

// gaugeOf finds a gauge at the end of a window.
func gaugeOf(points []result.CounterChange, name string) (float64, bool) {
	for _, p := range points {
		if p.Name == name && p.Kind == engine.Gauge {
			return p.Value, true
		}
	}
	return 0, false
}
