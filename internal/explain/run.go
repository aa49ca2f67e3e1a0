package explain

import (
	"iter"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// run is a step of a trial.
type run struct {
	*result.Step
	trial *result.Trial
	units float64 // of the primary operation
}

// rowsOf returns the rows of a metric in a step.
func rowsOf(s *result.Step, name string) iter.Seq[*metric.Row] {
	return func(yield func(*metric.Row) bool) {
		for i := range s.Rows {
			if s.Rows[i].Metric == name && !yield(&s.Rows[i]) {
				return
			}
		}
	}
}

func (r *run) rows(name string) iter.Seq[*metric.Row] { return rowsOf(r.Step, name) }

// value returns a row's value per the unit of another row.
func (r *run) value(name, op string, like compare.Key) float64 {
	if row := metric.Find(r.Rows, name, op, like.Per); row != nil {
		return row.Value
	}
	return math.NaN()
}

// part returns the KB of a part of the writes per the unit of another row; NaN if the engine has none.
func (r *run) part(p account.Part, like compare.Key) float64 {
	return r.value(metric.PartKB, string(p), like)
}

// counter returns the growth of a counter; NaN if it is unknown.
func (r *run) counter(name string) float64 {
	if v, ok := account.Counter(r.Counters, name); ok {
		return v
	}
	return math.NaN()
}

// growth returns the growth of a counter per primary unit; NaN if it is unknown.
func (r *run) growth(name string) float64 { return r.perPrimary(r.counter(name)) }

// micros returns the growth of a counter of ns in µs per primary unit; NaN if it is unknown.
func (r *run) micros(name string) float64 { return r.perPrimary(r.counter(name) / 1e3) }

func (r *run) perPrimary(v float64) float64 {
	if r.units <= 0 {
		return math.NaN()
	}
	return v / r.units
}

// whole returns a number of the whole step; NaN if it is unknown.
func (r *run) whole(name string) float64 {
	for row := range r.rows(name) {
		if row.Group == "" && row.Op == "" && row.Whole() {
			return row.Value
		}
	}
	return math.NaN()
}

// othersShare returns the share of the processors that other programs used; NaN if it is unknown.
func othersShare(r *run) float64 {
	x := r.processors()
	return (x.find(Others).value + x.find(Steal).value) / x.total()
}

// gauge returns a gauge at the end of a step; NaN if it is unknown.
func gauge(s *result.Step, name string) float64 {
	if s != nil {
		if v, ok := account.Gauge(s.Counters, name); ok {
			return v
		}
	}
	return math.NaN()
}

// disturbed reports whether other programs used the device.
func (r *run) disturbed() bool {
	return slices.ContainsFunc(r.Rows, func(row metric.Row) bool { return row.Disturbed })
}

// clients returns the number of clients in closed loops.
func (r *run) clients() (n int) {
	for i := range r.Groups {
		if g := &r.Groups[i]; !paced(g) {
			n += g.Clients
		}
	}
	return n
}

// paced reports whether a group of clients does what it does at a rate, however fast the engine is.
func paced(g *result.Group) bool { return g.Open || g.Rate > 0 }

// pacedBeside returns the paced groups beside those of the primary operation.
func pacedBeside(r *run) (out []string) {
	for i := range r.Groups {
		g := &r.Groups[i]
		if _, does := g.Units[r.Primary]; !does && paced(g) {
			out = append(out, g.Name)
		}
	}
	return out
}

// place returns the run's place among the steps of its trial.
func (r *run) place() int {
	for i := range r.trial.Steps {
		if &r.trial.Steps[i] == r.Step {
			return i
		}
	}
	return -1
}

// previous returns the step before the run's; nil if it is the first.
func (r *run) previous() *result.Step {
	if i := r.place(); i > 0 {
		return &r.trial.Steps[i-1]
	}
	return nil
}

// clientCost returns the CPU time of a client per primary unit, by its calibration.
func (r *run) clientCost() float64 {
	for row := range r.rows(metric.ClientCPUUS) {
		if row.Whole() && metric.PerOf(row.Per, r.Primary) {
			return row.Value
		}
	}
	return 0
}

// engineCommits returns the engine's commits per unit; NaN if it does not count all of them.
func engineCommits(r *run) float64 {
	explicit := func(c observe.Change) bool {
		return c.Name == engine.Commits && observe.ParseLabels(c.Labels).Get(engine.ExplicitOnly) != ""
	}
	if slices.ContainsFunc(r.Counters, explicit) {
		return math.NaN()
	}
	return r.counter(engine.Commits) / r.units
}

// commitKB is what commits of a tree that copies pages write besides pages of data, per primary unit.
func commitKB(r *run) float64 {
	if r.Structure.Commit <= 0 {
		return math.NaN()
	}
	return r.growth(engine.WriteCommits) * float64(r.Structure.Commit) / 1024
}

// retries counts the attempts that are repeated, per primary unit; none is recorded where nothing failed.
func retries(r *run) (n float64) {
	for row := range r.rows(metric.Retries) {
		if row.Op == r.Primary {
			n += row.Value
		}
	}
	return n / r.units
}

// orZero returns a number; 0 if it is unknown.
func orZero(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// unequal reports whether two numbers differ by more than a share.
func unequal(a, b, share float64) bool { return math.Abs(a-b) > share*min(math.Abs(a), math.Abs(b)) }
