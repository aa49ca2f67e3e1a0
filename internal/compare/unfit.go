package compare

import (
	"fmt"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat"
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
		bytes, limited, found := side[0].Trials[0].Memory()
		_, otherLimited, otherKnown := side[1].Trials[0].Memory()
		if !found || !otherKnown || !limited || otherLimited {
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

// OthersApart returns why speed and CPU time of two targets cannot be judged, as other programs used much
// more of the processors beside all runs of one; "" if that is not so. What they used now and then is in both
// numbers, and in their intervals.
func OthersApart(s *Step, base, t *Target) string {
	const much, times = 15, 2 // percent; the ratio of the shares
	found := base.Trials[0].Imported == nil && t.Trials[0].Imported == nil
	for _, side := range [][2]*Target{{base, t}, {t, base}} {
		low, _ := othersShare(s, side[0])
		_, high := othersShare(s, side[1])
		bound := min(high*times, 100-(100-high)/times) // twice the share, or half of what is left
		if found && low > much && low > bound && designOf(t.Trials, len(t.Trials)) != stat.Duet {
			return fmt.Sprintf("other programs used %.0f %% of the processors or more beside %s, and at most %.0f %% beside %s",
				low, side[0].Name, high, side[1].Name)
		}
	}
	return ""
}

// othersShare returns the least and the greatest share of the processors, in percent, that other programs used in
// the runs of a target; 0 is unknown, or too little for a warning.
func othersShare(s *Step, t *Target) (low, high float64) {
	shares := stat.Values(s.Used(t), func(r Run) (share float64) {
		for _, w := range r.Step.Warnings {
			share = max(share, remark.OthersShare(w))
		}
		return share
	})
	if len(shares) == 0 {
		return 0, 0
	}
	return slices.Min(shares), slices.Max(shares)
}
