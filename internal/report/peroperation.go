package report

import (
	"fmt"
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/stat"
)

// perOperation is a count per completed operation, such as retries.
type perOperation struct {
	metric  string
	without float64 // its value if nothing failed
}

// perOperations returns the counts that a reader of a sweep wants per operation.
func perOperations() []perOperation {
	return []perOperation{{"retries", 0}, {"given_up", 0}, {"wasted_statements", 0}}
}

// perOperationsIn returns the counts that are known in a panel.
func perOperationsIn(p panel) (out []perOperation) {
	for _, r := range perOperations() {
		if metric.ByName(r.metric) != nil && slices.ContainsFunc(p.levels, func(l levelStep) bool { _, ok := r.key(l.step); return ok }) {
			out = append(out, r)
		}
	}
	return out
}

// key returns the key of the count.
func (r perOperation) key(s *step) (key, bool) { return s.About(r.metric) }

func (r perOperation) column() page.Column {
	c := metricColumn(key{Metric: r.metric})
	c.Title += " Here ÷ operations completed."
	return c
}

// values returns the trials' counts ÷ their completed operations.
func (r perOperation) values(s *step, t *target) (out []float64) {
	rate, known := s.Rate(s.Primary)
	if !known {
		return nil
	}
	count, _ := r.key(s)
	done, errors := key{Group: rate.Group, Op: rate.Op, Metric: "ops_per_s"}, key{Group: rate.Group, Metric: "errors"}
	for _, run := range s.Used(t) {
		if v, ok := account.PerOperation(run.Row(count), run.Row(done), run.Row(errors), r.without); ok {
			out = append(out, v)
		}
	}
	return out
}

func (r perOperation) cell(s *step, t *target) page.Cell {
	values := r.values(s, t)
	if len(values) == 0 {
		return page.Absent(s.Absence(t, key{Metric: r.metric}))
	}
	c := page.Cell{Text: quantity.Digits(stat.Median(values)), Number: true, Value: stat.Median(values)}
	if c.Title = fmt.Sprintf("%s ÷ operations completed = %s", r.metric, quantity.Full(c.Value)); len(values) > 1 {
		c.Title += fmt.Sprintf("; median of %d trials, from %s to %s", len(values), quantity.Full(slices.Min(values)), quantity.Full(slices.Max(values)))
	}
	return c
}
