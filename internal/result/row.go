// Package result is what a campaign leaves on disk: trial directories, their
// files, and the rows that every table, chart and test reads. It measures
// nothing and judges nothing.
package result

import "rumbench/internal/metric"

// Find returns the first row of a step with the metric, operation and
// denominator given; "" matches any operation or denominator.
func (s *Step) Find(metric, op, per string) *metric.Row {
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Metric == metric && (op == "" || r.Op == op) && (per == "" || r.Per == per) {
			return r
		}
	}
	return nil
}

// Rename gives the trial's target another name, to tell it apart from one of
// another campaign.
func (t *Trial) Rename(target string) {
	t.Target = target
	for i := range t.Steps {
		for k := range t.Steps[i].Rows {
			t.Steps[i].Rows[k].Target = target
		}
	}
}

// Note adds notes in words that nothing is decided by.
func (s *Step) Note(texts ...string) {
	s.Notes = append(s.Notes, metric.UntypedAll(texts)...)
}
