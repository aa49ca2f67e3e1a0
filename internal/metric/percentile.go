package metric

import (
	"fmt"
	"math"
)

// percentiles are the quantiles that require a minimum number of samples.
var percentiles = map[Quantile]float64{P50: 50, P95: 95, P99: 99, P999: 99.9}

// Percentile returns which percentile a latency metric is, 99 for
// service_p99_us, and the metric of the same distribution's maximum. ok is
// false for all other metrics.
func Percentile(metric string) (p float64, greatest string, ok bool) {
	m := byName[metric]
	if m == nil || percentiles[m.Quantile] == 0 {
		return 0, "", false
	}
	return percentiles[m.Quantile], latencyName(m.Family, Max), true
}

// LeastSamples returns how many samples a percentile requires so that ten are
// expected beyond it: 1000 for the 99th.
func LeastSamples(percentile float64) int64 { return int64(math.Round(10 / (1 - percentile/100))) }

// Needs returns the number of samples that a latency metric requires to be a
// percentile: "p99 needs 1000 operations".
func Needs(metric string) string {
	p, _, _ := Percentile(metric)
	return fmt.Sprintf("p%g needs %d operations", p, LeastSamples(p))
}

// Few reports whether the row is a percentile of fewer samples than it
// requires: it is then little more than the maximum. It is false if the number
// of samples is unknown, as in some imported logs.
func (r *Row) Few() bool {
	p, _, ok := Percentile(r.Metric)
	return ok && r.N > 0 && r.N < LeastSamples(p)
}
