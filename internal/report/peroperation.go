package report

import (
	"fmt"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/stat"
)

// perOperation returns a count ÷ the operations completed, such as retries: the
// median over the trials.
func (m measure) perOperation(s *step, t *target) page.Cell {
	rate, known := s.Rate(s.Primary)
	count, _ := m.key(s)
	done, errors := key{Group: rate.Group, Op: rate.Op, Metric: "ops_per_s"}, key{Group: rate.Group, Metric: "errors"}
	var values []float64
	for _, run := range s.Used(t) {
		if v, ok := account.PerOperation(run.Row(count), run.Row(done), run.Row(errors), m.without); ok && known {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return page.Absent(s.Absence(t, key{Metric: m.metric}))
	}
	c := page.Cell{Text: quantity.Digits(stat.Median(values)), Number: true, Value: stat.Median(values)}
	if c.Title = fmt.Sprintf("%s ÷ operations completed = %s", m.metric, quantity.Full(c.Value)); len(values) > 1 {
		c.Title += fmt.Sprintf("; median of %d trials, from %s to %s", len(values), quantity.Full(slices.Min(values)), quantity.Full(slices.Max(values)))
	}
	return c
}
