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

// What other guests and heat took from the processors marks rates and latencies.
func TestMachineSlowedDown(t *testing.T) {
	for _, c := range []struct {
		steal, throttles float64 // seconds of 120 of two processors in a minute; times
		code             metric.Code
	}{{0.5, 0, ""}, {3, 0, remark.Stolen}, {0, 2, remark.Throttled}} {
		o := &account.Observed{}
		for name, v := range map[string]float64{
			"host.cpu.user_ns": 60e9, "host.cpu.idle_ns": (60 - c.steal) * 1e9, "host.cpu.steal_ns": c.steal * 1e9,
			"host.cpu.busy_ns": 60e9, "host.thermal_throttles": c.throttles,
		} {
			o.InWindow = append(o.InWindow, observe.Change{Name: name, Kind: engine.Counter, Value: v})
		}
		s := inserts(level(1000, 1000, 60), o)
		for _, code := range []metric.Code{remark.Stolen, remark.Throttled} {
			expect.True(t, metric.Has(row(t, s, "g", "insert", metric.OpsPerS).Warnings, code) == (code == c.code),
				c, s.Warnings)
		}
	}
}
