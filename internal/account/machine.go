package account

import (
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// judgeMachine warns of what slowed the machine down in the window: other guests of its host, and heat.
func (s *costing) judgeMachine() (out []metric.Warning) {
	var total, stolen float64
	for _, c := range s.InWindow {
		if c.Kind == engine.Counter && strings.HasPrefix(c.Name, "host.cpu.") && c.Name != "host.cpu.busy_ns" &&
			c.Name != "host.cpu.kernel_threads_ns" {
			total += c.Value
		}
		if c.Name == "host.cpu.steal_ns" {
			stolen += c.Value
		}
	}
	if share := 100 * quotient(stolen, total); s.Seconds >= shortWindow && share > remark.LittleStolen {
		out = append(out, s.Warn(remark.Stolen, metric.Values{"share": share}))
	}
	if n, ok := Counter(s.InWindow, "host.thermal_throttles"); ok && n > 0 {
		out = append(out, s.Warn(remark.Throttled, metric.Values{"what": "processors", "n": n}))
	}
	if n, ok := Counter(s.WithSync, "nvme.thermal_transitions"); ok && n > 0 {
		out = append(out, s.Warn(remark.Throttled, metric.Values{"what": "drive", "n": n}))
	}
	return out
}
