package explain

import (
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/workload"
)

// Tradeoff is the cost of reads, updates and data space of a target: no structure
// minimizes all three. M. Athanassoulis and others, "Designing access methods: the RUM
// conjecture", EDBT 2016.
type Tradeoff struct {
	Target *compare.Target
	Costs  [3]float64 // of reads, updates, and space; NaN if unknown
	Beaten bool       // a different target is at least as good in all three, and better in one
}

// RUM is the tradeoff of several targets. The costs are geometric means over the steps
// that all of them finished.
type RUM struct {
	Targets []Tradeoff
	// Metrics are the units of the costs: KB read per query or, if all data are cached,
	// CPU; bytes written, including those deferred until the next rest, and bytes stored,
	// both per byte of user data.
	Metrics [3]string

	steps []*compare.Step
}

// cached is the limit of KB read per query below which all data count as cached.
const cached = 0.01

// RUMOf returns the tradeoff of a campaign's targets; nil unless at least two of the
// three costs are known for two targets.
func RUMOf(c *compare.Campaign) *RUM {
	r := &RUM{Metrics: [3]string{metric.ReadKB, metric.WriteAmplification, metric.SpaceAmplification}, steps: c.Steps}
	for _, t := range c.Targets {
		r.Targets = append(r.Targets, Tradeoff{Target: t})
	}
	readers := slices.DeleteFunc(slices.Clone(c.Steps), func(s *compare.Step) bool {
		g := compare.GroupOf(s)
		return g != compare.Group(workload.PointAccess) && g != compare.Group(workload.RangeAccess)
	})
	if r.fill(0, readers); !(r.greatest(0) > cached) {
		r.Metrics[0] = metric.CPUUS
		r.fill(0, readers)
	}
	r.fill(1, c.Steps)
	for _, s := range slices.Backward(c.Steps) { // space is a state: the last one counts
		if _, ok := s.Own(r.Metrics[2]); ok {
			r.fill(2, []*compare.Step{s})
			break
		}
	}
	known := 0
	for axis := range r.Metrics {
		if !math.IsNaN(r.greatest(axis)) && r.greatest(axis) > 0 {
			known++
		}
	}
	if known < 2 || len(r.Targets) < 2 {
		return nil
	}
	for i := range r.Targets {
		r.Targets[i].Beaten = r.beaten(i)
	}
	return r
}

// fill sets a cost of all targets.
func (r *RUM) fill(axis int, steps []*compare.Step) {
	sums, n := make([]float64, len(r.Targets)), 0
	for _, s := range steps {
		logs := r.logs(axis, s)
		if logs == nil {
			continue
		}
		n++
		for i := range sums {
			sums[i] += logs[i]
		}
	}
	for i := range r.Targets {
		r.Targets[i].Costs[axis] = math.Exp(sums[i] / float64(n)) // NaN without steps
	}
}

// logs returns the logarithms of a cost in a step; nil unless all targets have it, and
// it is comparable.
func (r *RUM) logs(axis int, s *compare.Step) (out []float64) {
	k, ok := s.Own(r.Metrics[axis])
	if !ok || s.Warmup || compare.IsProbe(s) {
		return nil
	}
	for i := range r.Targets {
		t := r.Targets[i].Target
		n := s.Number(t, k)
		value := n.Value
		switch axis {
		case 0:
			value = max(value, cached) // a target that reads nothing wins here, and has a place on the axis
		case 1:
			value *= r.settled(s, t)
		}
		if n.Missing != "" || value <= 0 || n.Disturbed() || len(s.Refusals(t)) > 0 ||
			s.Unlike(r.Targets[0].Target, t) != "" {
			return nil
		}
		out = append(out, math.Log(value))
	}
	return out
}

// settled returns the factor by which writes had grown once the engine had come to rest
// after a step; 1 if no settle step follows.
func (r *RUM) settled(after *compare.Step, t *compare.Target) float64 {
	for _, s := range r.steps[slices.Index(r.steps, after)+1:] {
		if s.Primary != "" {
			continue
		}
		first := func(compare.Key) bool { return true }
		all, ok := s.Find(metric.SettledWriteKB, first)
		previousKey, found := s.Find(metric.UnsettledWriteKB, first)
		if !ok || !found {
			return 1
		}
		x, y := s.Number(t, previousKey), s.Number(t, all)
		if x.Missing != "" || y.Missing != "" || x.Value <= 0 {
			return 1
		}
		return max(1, y.Value/x.Value)
	}
	return 1
}

func (r *RUM) greatest(axis int) (limit float64) {
	for _, t := range r.Targets {
		limit = max(limit, t.Costs[axis])
	}
	return limit
}

// Known reports whether a cost is known for any target.
func (r *RUM) Known(axis int) bool { return !math.IsInf(r.Best(axis), 0) }

// Best returns the least cost of all targets.
func (r *RUM) Best(axis int) float64 {
	best := math.Inf(1)
	for _, t := range r.Targets {
		if v := t.Costs[axis]; !math.IsNaN(v) {
			best = min(best, v)
		}
	}
	return best
}

func (r *RUM) beaten(i int) bool {
	mine := r.Targets[i].Costs
	return slices.ContainsFunc(r.Targets, func(o Tradeoff) bool {
		better := false
		for axis := range mine {
			if !(o.Costs[axis] <= mine[axis]) {
				return false
			}
			better = better || o.Costs[axis] < mine[axis]
		}
		return better
	})
}
