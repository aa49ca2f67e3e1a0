package result

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/text/escape"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// What no machine does: an operation or row costs a client a nanosecond or more, a kernel has 8,192 processors, and
// storage takes a terabyte a second.
const (
	Fastest   = 1e9 // operations or rows of a client, a second
	mostMicro = 8192 * 1e6
	mostKB    = 1e9
)

// quantiles are in their order.
var quantiles = []metric.Quantile{metric.Min, metric.P50, metric.P95, metric.P99, metric.P999, metric.Max}

// Order is the trial that another machine was asked for.
type Order struct {
	Campaign, Machine string
	*Entry
	Steps []workload.Step // of the plan
	Took  time.Duration   // until it was there
}

// Doubt returns why a trial that another machine returned cannot be the one that it was asked for, or why its figures
// cannot be true; "" if nothing shows that.
func (o *Order) Doubt(t *Trial) string {
	if t.Campaign != o.Campaign || t.Target != o.Target || t.Trial != o.Trial || t.Machine != o.Machine {
		return fmt.Sprintf("it is trial %d of %.40q on %.40q, of %.40q", t.Trial, t.Target, t.Machine, t.Campaign)
	}
	seen := map[string]bool{}
	for i := range t.Steps {
		s := &t.Steps[i]
		if seen[s.Name] || s.Seconds < 0 || s.Seconds > o.Took.Seconds()*1.002+1 {
			return fmt.Sprintf("step %.40q has %g s, or is there twice", s.Name, s.Seconds)
		}
		seen[s.Name] = true
		planned := slices.IndexFunc(o.Steps, func(p workload.Step) bool {
			return p.Name == s.Name || strings.HasPrefix(s.Name, p.Name+"@") // at a rate
		})
		if planned < 0 {
			return fmt.Sprintf("the plan has no step %.40q", s.Name)
		}
		if reason := s.doubt(t, &o.Steps[planned]); reason != "" {
			return fmt.Sprintf("in step %.40q %s", s.Name, reason)
		}
	}
	if t.Status == Complete && len(t.Steps) == 0 {
		return "it is complete without a step"
	}
	return ""
}

func (s *Step) doubt(t *Trial, planned *workload.Step) string {
	clients := 0
	for i := range planned.Groups {
		clients += planned.Groups[i].Clients
	}
	type key struct {
		group, op, metric, per string
		labels                 metric.Labels
	}
	values := map[key]float64{}
	for _, r := range s.Rows {
		values[key{r.Group, r.Op, r.Metric, r.Per, r.Labels}] = r.Value
	}
	if len(values) < len(s.Rows) {
		return "a number is there twice"
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		m := metric.ByName(r.Metric)
		if r.Target != t.Target || r.Trial != t.Trial || r.Step != s.Name || m == nil || m.Unit != r.Unit ||
			escape.Line(r.Group+r.Op+r.Per) != r.Group+r.Op+r.Per {
			return fmt.Sprintf("a number is %.40q of trial %d of %.40q in %.40q", r.Metric, r.Trial, r.Target, r.Step)
		}
		higher, limit := "", math.Inf(1)
		if rank := slices.Index(quantiles, m.Quantile); rank >= 0 {
			for _, q := range quantiles[rank+1:] {
				l := metric.Latency(m.Family, q)
				if l == nil {
					continue
				}
				if v, found := values[key{r.Group, r.Op, l.Name, r.Per, r.Labels}]; found && v < limit {
					higher, limit = l.Name, v
				}
			}
		}
		total := r.Value * float64(max(1, r.N))
		switch {
		case !quantity.Finite(r.Value) || r.Value < 0 || r.Value > 1e18 || r.N < 0:
			return fmt.Sprintf("%s is %g, of %d", r.Metric, r.Value, r.N)
		case (r.Metric == metric.RowsPerS || r.Metric == metric.OpsPerS) && r.Value > Fastest*float64(clients+1):
			return fmt.Sprintf("%s is %g, which %d clients cannot do", r.Metric, r.Value, clients)
		case (r.Metric == metric.RowsPerS || r.Metric == metric.OpsPerS) &&
			math.Abs(r.Value*s.Seconds-float64(r.N)) > 0.01*float64(r.N)+1:
			return fmt.Sprintf("%s is %g, and %d were done in %g s", r.Metric, r.Value, r.N, s.Seconds)
		case metric.IsCost(r.Metric) && m.Family != metric.Waits && (r.Unit == "µs" && total > mostMicro*(s.Seconds+60) ||
			r.Unit == "KB" && total > mostKB*(s.Seconds+60)):
			return fmt.Sprintf("%s is %g %s for each of %d, in %g s", r.Metric, r.Value, r.Unit, r.N, s.Seconds)
		case r.Value > limit*1.05:
			return fmt.Sprintf("%s is %g, and %s %g", r.Metric, r.Value, higher, limit)
		}
	}
	return ""
}
