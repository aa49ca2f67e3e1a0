package result

import "rumbench/internal/metric"

// Shown returns the step's rows as they may be quoted: a percentile of too few
// samples is replaced by the maximum, or left out if that is unknown.
func (s *Step) Shown() []metric.Row {
	out := make([]metric.Row, 0, len(s.Rows))
	for _, r := range s.Rows {
		if r.Few() {
			greatest := s.Greatest(&r)
			if greatest == nil {
				continue
			}
			r.Value, r.MaxOf = greatest.Value, r.N
		}
		out = append(out, r)
	}
	return out
}

// Greatest returns the row with the maximum of the distribution that a row is a
// percentile of; nil if the step has none.
func (s *Step) Greatest(row *metric.Row) *metric.Row {
	_, greatest, _ := metric.Percentile(row.Metric)
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Metric == greatest && r.Group == row.Group && r.Op == row.Op && r.Per == row.Per &&
			r.Labels == row.Labels {
			return r
		}
	}
	return nil
}

// Shown returns the rows of all steps that are shown.
func (t *Trial) Shown() (rows []metric.Row) {
	for i := range t.Steps {
		rows = append(rows, t.Steps[i].Shown()...)
	}
	return rows
}
