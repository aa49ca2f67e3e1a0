package compare

import (
	"slices"

	"rumbench/internal/metric"
)

// asked returns the keys of the step's numbers that the campaign's question is about.
func (s *Step) asked() []Key {
	q := &s.campaign.Question
	switch {
	case s.Warmup, (len(q.Steps) > 0 || IsProbe(s) || s.LoadedOnce()) && !slices.Contains(q.Steps, s.Name):
		return nil
	case len(q.Metrics) == 0 && searched(s):
		return s.own([]string{metric.HighestRate})
	case !s.campaign.declares() && len(q.Metrics) == 0: // an imported log
		return s.own([]string{metric.RowsPerS})
	case !s.campaign.declares():
		return s.own(q.Metrics)
	case len(q.Metrics) == 0 && len(s.Judged) == 0 && len(q.Steps) > 0:
		return s.headline()
	case len(q.Metrics) == 0:
		return s.sampled(s.own(s.Judged))
	case len(q.Steps) > 0 || len(s.Judged) > 0:
		return s.own(q.Metrics)
	}
	// Metrics without steps belong to the steps that the workload is about. A metric
	// that none of those has belongs to all other steps.
	var metrics []string
	for _, m := range q.Metrics {
		elsewhere := func(o *Step) bool { return len(o.Judged) > 0 && len(o.own([]string{m})) > 0 }
		if !slices.ContainsFunc(s.campaign.Steps, elsewhere) {
			metrics = append(metrics, m)
		}
	}
	return s.own(metrics)
}

// declares reports whether any step declares the metrics that it is judged by.
func (c *Campaign) declares() bool {
	return slices.ContainsFunc(c.Steps, func(s *Step) bool { return len(s.Judged) > 0 })
}

// Unasked returns the steps that the question names and the campaign lacks, and the
// metrics that no step has.
func (c *Campaign) Unasked() (steps, metrics []string) {
	for _, name := range c.Question.Steps {
		if c.Step(name) == nil {
			steps = append(steps, name)
		}
	}
	for _, m := range c.Question.Metrics {
		if !slices.ContainsFunc(c.Steps, func(s *Step) bool { _, ok := s.Own(m); return ok }) {
			metrics = append(metrics, m)
		}
	}
	return steps, metrics
}
