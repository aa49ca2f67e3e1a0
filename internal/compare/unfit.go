package compare

import (
	"fmt"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// reads are the metrics of reads.
var reads = []string{metric.ReadKB, metric.ProcessReadKB, metric.EngineReadKB, metric.DeviceReads,
	metric.ReadAmplification}

// memoryApart returns why a number about reads cannot be judged, as the reads of one target can be served
// from any free memory, and those of the other from less than its data; "" if that is not so.
func memoryApart(s *Step, base, t *Target, k Key) string {
	access := []Group{Group(workload.PointAccess), Group(workload.RangeAccess)}
	if !slices.Contains(reads, k.Metric) && !(isSpeed(k) && slices.Contains(access, GroupOf(s))) {
		return ""
	}
	for _, side := range [][2]*Target{{base, t}, {t, base}} {
		bytes, limited, known := side[0].Trials[0].Memory()
		_, otherLimited, otherKnown := side[1].Trials[0].Memory()
		if !known || !otherKnown || !limited || otherLimited {
			continue
		}
		size, ok := s.Own(metric.DBBytes)
		if n := s.number(side[0], size); !ok || n.Missing != "" || n.Value <= float64(bytes) {
			continue
		}
		return fmt.Sprintf("memory is not equal: %s reads from %s, %s from any free memory", side[0].Name,
			quantity.Bytes(bytes), side[1].Name)
	}
	return ""
}

// isSpeed reports whether a number is a rate, a time or CPU time, or follows from one.
func isSpeed(k Key) bool {
	return metric.IsLatency(k.Metric) || slices.Contains([]metric.Family{metric.Throughput, metric.CPU, metric.Stalls,
		metric.Statement, metric.Waits, metric.Arrivals, metric.Promise, metric.Restarts, metric.Spread},
		metric.FamilyOf(k.Metric))
}
