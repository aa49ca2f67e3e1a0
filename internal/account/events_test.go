package account_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/expect"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
)

// What processors count is divided by the units of work; a count for a part of the time is scaled and
// marked, one for no time absent.
func TestEvents(t *testing.T) {
	o := &account.Observed{}
	for name, v := range map[string]float64{
		"pmu.instructions": 9e9, "pmu.instructions_enabled_ns": 2e9, "pmu.instructions_running_ns": 2e9,
		"pmu.llc_misses": 1e6, "pmu.llc_misses_enabled_ns": 2e9, "pmu.llc_misses_running_ns": 1e9,
		"pmu.dtlb_misses": 0, "pmu.dtlb_misses_enabled_ns": 2e9, "pmu.dtlb_misses_running_ns": 0,
	} {
		o.InWindow = append(o.InWindow, observe.Change{Name: name, Kind: engine.Counter, Value: v})
	}
	s := inserts(level(1000, 1000, 60), o)
	units := float64(row(t, s, "g", "insert", metric.OpsPerS).N)
	for name, want := range map[string]float64{metric.Instructions: 9e9 / units, metric.LLCMisses: 2e6 / units} {
		r := row(t, s, "", "", name)
		expect.True(t, r.Value == want && r.Per == "insert row" && metric.Has(r.Warnings, remark.Multiplexed) == (name == metric.LLCMisses), r, want)
	}
	expect.True(t, !has(s, metric.DTLBMisses) && !has(s, metric.Cycles), "what was not counted has a row")
}
