package account

import (
	"fmt"

	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Steadiness adds the percentiles of a group's rates.
func (b *Builder) Steadiness(group string, rates []float64, extra ...With) {
	fields := append([]With{Of(group, ""), Count(int64(len(rates)))}, extra...)
	for _, p := range []float64{50, 95, 99} {
		if v, ok := stat.Reached(rates, p); ok {
			b.Put(fmt.Sprintf("interval_ops_p%.0f", p), v, fields...)
		}
	}
	if i := stat.MeanInterval(rates, 0.95); i.Value > 0 && quantity.Finite(i.High) {
		b.Put(metric.IntervalOpsError, (i.High-i.Value)/i.Value, fields...)
	}
}

// Logged adds the figures about a group's steadiness that follow from the
// intervals of a log. A rated group has no stalls: a log does not show which
// operations were due in an interval. It returns the warnings about all numbers of the group.
func (b *Builder) Logged(group string, intervals []Interval, rated bool, extra ...With) []metric.Warning {
	if rated {
		perSec, _ := rates(intervals)
		b.Steadiness(group, perSec, extra...)
		return nil
	}
	perSec := Rates(intervals)
	if len(perSec) > 0 {
		b.Steadiness(group, perSec, extra...)
		b.addStalls(group, spansOf(group, intervals, stat.Stalls(perSec)), len(intervals), extra...)
	}
	return b.course(group, perSec)
}

func (b *Builder) addStalls(group string, spans []metric.Span, intervals int, extra ...With) {
	var total, longest float64
	for _, s := range spans {
		total += s.To - s.From
		longest = max(longest, s.To-s.From)
	}
	b.Stalls = append(b.Stalls, spans...)
	fields := append([]With{Of(group, ""), Count(int64(intervals))}, extra...)
	b.Put(metric.StallCount, float64(len(spans)), fields...)
	b.Put(metric.StallS, total, fields...)
	b.Put(metric.StallLongestS, longest, fields...)
}
