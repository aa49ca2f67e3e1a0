package account

import (
	"fmt"

	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// Steadiness adds the percentiles of a group's rates.
func (b *Builder) Steadiness(group string, rates []float64, more ...With) {
	at := append([]With{Of(group, ""), Count(int64(len(rates)))}, more...)
	for _, p := range []float64{50, 95, 99} {
		if v, ok := stat.Reached(rates, p); ok {
			b.Put(fmt.Sprintf("interval_ops_p%.0f", p), v, at...)
		}
	}
}

// ClosedStalls adds the stalls of a closed loop, by the rates of its intervals.
func (b *Builder) ClosedStalls(group string, intervals []Interval, rates []float64, more ...With) {
	b.addStalls(group, spansOf(group, intervals, stat.Stalls(rates)), len(intervals), more...)
}

func (b *Builder) addStalls(group string, spans []metric.Span, intervals int, more ...With) {
	var total, longest float64
	for _, s := range spans {
		total += s.To - s.From
		longest = max(longest, s.To-s.From)
	}
	b.Stalls = append(b.Stalls, spans...)
	at := append([]With{Of(group, ""), Count(int64(intervals))}, more...)
	b.Put("stalls", float64(len(spans)), at...)
	b.Put("stall_s", total, at...)
	b.Put("stall_longest_s", longest, at...)
}
