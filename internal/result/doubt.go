package result

import (
	"fmt"
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Fastest is how many operations or rows a client may do per second: each costs ten nanoseconds or more.
const Fastest = 1e8

// Doubt returns why a trial that another machine returned cannot be the one of a campaign that it was asked for, or why
// its figures cannot be true; "" if nothing shows that.
func (t *Trial) Doubt(campaign, machine string, e *Entry) string {
	if t.Campaign != campaign || t.Target != e.Target || t.Trial != e.Trial || t.Machine != machine {
		return fmt.Sprintf("it is trial %d of %.40q on %.40q, of %.40q", t.Trial, t.Target, t.Machine, t.Campaign)
	}
	seen := map[string]bool{}
	for i := range t.Steps {
		s := &t.Steps[i]
		if seen[s.Name] || s.Seconds < 0 {
			return fmt.Sprintf("step %.40q has %g s, or is there twice", s.Name, s.Seconds)
		}
		seen[s.Name] = true
		if reason := s.doubt(t); reason != "" {
			return fmt.Sprintf("in step %.40q %s", s.Name, reason)
		}
	}
	return ""
}

func (s *Step) doubt(t *Trial) string {
	clients := 1
	for _, g := range s.Groups {
		clients += max(0, g.Clients)
	}
	values := map[[3]string]float64{}
	for _, r := range s.Rows {
		values[[3]string{r.Group, r.Op, r.Metric}] = r.Value
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		_, greatest, _ := metric.Percentile(r.Metric)
		limit, known := values[[3]string{r.Group, r.Op, greatest}]
		switch {
		case r.Target != t.Target || r.Trial != t.Trial || r.Step != s.Name || metric.ByName(r.Metric) == nil:
			return fmt.Sprintf("a number is %.40q of trial %d of %.40q in %.40q", r.Metric, r.Trial, r.Target, r.Step)
		case !quantity.Finite(r.Value) || r.Value < 0 || r.Value > 1e18 || r.N < 0:
			return fmt.Sprintf("%s is %g, of %d", r.Metric, r.Value, r.N)
		case (r.Metric == metric.RowsPerS || r.Metric == metric.OpsPerS) && r.Value > Fastest*float64(clients):
			return fmt.Sprintf("%s is %g, which %d clients cannot do", r.Metric, r.Value, clients-1)
		case r.Metric == metric.OpsPerS && math.Abs(r.Value*s.Seconds-float64(r.N)) > 0.01*float64(r.N)+1:
			return fmt.Sprintf("%s is %g, and %d were done in %g s", r.Metric, r.Value, r.N, s.Seconds)
		case known && r.Value > limit*1.05:
			return fmt.Sprintf("%s is %g, and the maximum %g", r.Metric, r.Value, limit)
		}
	}
	return ""
}
