package account

import (
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// addRules adds a standard's requirements for the operations of a kind, if
// there are any, and whether they are met.
func (s *Step) addRules(group string, kind *workload.OpKind, d *hist.Sums) {
	rules := kind.Rules
	if rules == nil || d.Ops == 0 || s.Calibrating {
		return
	}
	subject, n := Of(group, kind.Name), Count(d.Ops)
	times := d.Service
	if d.Response != nil {
		times = d.Response
	}
	p90, limit := micros(times.Percentile(90)), float64(rules.P90.Microseconds())
	s.Put(metric.RuledP90US, p90, subject, n)
	s.Put(metric.RuleMet, yesNo(p90 <= limit), subject, n)
	if p90 > limit {
		s.Warn(remark.RuleMissed, metric.Values{"op": kind.Name, "took": p90 / 1e6, "limit": limit / 1e6})
	}
	perMinute := PerSecond(float64(d.Ops), s.Seconds) * 60
	s.Put(metric.OpsPerMin, perMinute, subject, n)
	if rules.MostPerMinute > 0 {
		s.Put(metric.Efficiency, PerUnit(perMinute, rules.MostPerMinute), subject, n)
	}
}
