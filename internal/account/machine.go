package account

import (
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
)

// stolenShare is the share of the processors' time that other guests may take without a remark.
const stolenShare = 0.01

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
	if share := quotient(stolen, total); s.Seconds >= shortWindow && share > stolenShare {
		out = append(out, s.Warn(metric.Stolen, metric.Values{"share": 100 * share}))
	}
	if n, ok := Counter(s.InWindow, "host.thermal_throttles"); ok && n > 0 {
		out = append(out, s.Warn(metric.Throttled, metric.Values{"what": "processors", "n": n}))
	}
	if n, ok := Counter(s.WithSync, "nvme.thermal_transitions"); ok && n > 0 {
		out = append(out, s.Warn(metric.Throttled, metric.Values{"what": "drive", "n": n}))
	}
	return out
}
