// Package result reads and writes the files that a campaign leaves on disk:
// trial directories, their files, and the rows that every table, chart and test
// reads. It measures nothing and judges nothing.
package result

import (
	"slices"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// Find returns the first row of a step with the metric, operation and
// denominator given; "" matches any operation or denominator.
func (s *Step) Find(name, op, per string) *metric.Row { return metric.Find(s.Rows, name, op, per) }

// Promise returns how a group of clients held the rate that it promised; nil if that is unknown.
func (s *Step) Promise(group string) *metric.SLA { return metric.SLAOf(s.Rows, group) }

// Take adds the figures derived from a step.
func (s *Step) Take(a *account.Sheet) {
	s.Rows = append(s.Rows, a.Rows...)
	s.Curves = append(s.Curves, a.Curves...)
	s.Stalls = append(s.Stalls, a.Stalls...)
	s.Counters = append(s.Counters, a.Counters...)
	s.Notes = append(s.Notes, a.Notes...)
	s.Alone = max(s.Alone, a.Alone)
	if a.Invalid {
		s.Status = Invalid
		s.Warnings = slices.Concat(a.Warnings, s.Warnings) // the reason comes first
	} else {
		s.Warnings = append(s.Warnings, a.Warnings...)
	}
}

// Refuse marks the step as one whose numbers must not be used. The reason comes
// before all other warnings.
func (s *Step) Refuse(w metric.Warning) {
	s.Status = Invalid
	s.Warnings = append([]metric.Warning{w}, s.Warnings...)
}

// Rename gives the trial's target another name, to distinguish it from one of
// another campaign.
func (t *Trial) Rename(target string) {
	t.Target = target
	for i := range t.Steps {
		for k := range t.Steps[i].Rows {
			t.Steps[i].Rows[k].Target = target
		}
	}
}

// Note adds untyped notes, on which nothing is decided.
func (s *Step) Note(texts ...string) { s.Notes = append(s.Notes, metric.UntypedAll(texts)...) }
