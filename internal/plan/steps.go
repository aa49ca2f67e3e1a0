package plan

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Words returns the promise in readable form: "p99 < 10 ms".
func (f *Find) Words() string { return (&result.Search{Promise: f.Promise}).Words() }

// lengthened is the greatest factor by which a probe is lengthened.
const lengthened = 10

// Length returns the length in seconds of a probe at a rate, after a step of a
// length: the plan's length, or more if that is too short for the percentile.
func (f *Find) Length(rate, step float64) float64 {
	usual := cmp.Or(f.Seconds, step)
	return min(max(usual, math.Ceil(f.operations()/rate)), lengthened*usual)
}

// Holds returns for how many seconds the answer is held, after a step of a length; 0: it is not.
func (f *Find) Holds(step float64) float64 {
	const probes = 4
	if f.Hold < 0 {
		return probes * f.Length(math.Inf(1), step)
	}
	return f.Hold
}

// LeastRate returns the lowest rate that gives a probe enough operations for
// the percentile.
func (f *Find) LeastRate(step float64) float64 {
	return f.operations() / (lengthened * cmp.Or(f.Seconds, step))
}

// operations returns how many operations a probe needs.
func (f *Find) operations() float64 {
	if f.Percentile == 100 {
		return 1
	}
	const chance = 1.1 // the number of random arrivals varies
	return chance * float64(metric.LeastSamples(f.Percentile))
}

// OpenGroup returns the group of a step that can be driven by an arrival
// schedule, -1 if there is none: the group of the step's primary operation, if
// its clients have no rate and the step is bounded by time. A step that creates
// tables, or has a fixed amount of work, cannot be repeated, and a warm-up
// needs no schedule.
func OpenGroup(s *workload.Step) int {
	if s.Settle != nil || s.Creates || s.Warmup || s.Seconds <= 0 {
		return -1
	}
	for g := range s.Groups {
		group := &s.Groups[g]
		if group.Work > 0 {
			return -1
		}
		if group.Rate > 0 || group.Arrivals != nil {
			continue
		}
		about := slices.ContainsFunc(group.Ops, func(k workload.OpKind) bool { return k.Whole() == s.Primary })
		if about || s.Primary == "" {
			return g
		}
	}
	return -1
}

// Steps returns the steps of the run, with the plan's rates and restarts. Those of a search are
// decided while it runs.
func (p *Plan) Steps() []workload.Step { return p.Restart.Within(p.rated(), p.Rate) }

// stepNames returns the names of steps of a kind, each once.
func stepNames(steps []workload.Step, kind func(s *workload.Step) bool) (names []string) {
	for i := range steps {
		if s := &steps[i]; kind(s) && !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

func anyStep(*workload.Step) bool { return true }

// rated returns the steps of the run, with the plan's rates.
func (p *Plan) rated() (out []workload.Step) {
	steps := p.Run.Steps()
	switch {
	case p.Find != nil:
		return searched(steps)
	case p.Rate == nil:
		return steps
	}
	several := map[string]bool{} // the names of steps that are repeated per rate
	for i := range steps {
		s := &steps[i]
		if OpenGroup(s) < 0 {
			out = append(out, *s)
			continue
		}
		if len(p.Rate.At) < 2 {
			out = append(out, withArrivals(s, p.Rate.schedule(s.Seconds)))
			continue
		}
		several[s.Name] = true
		for _, rate := range p.Rate.At {
			at := AtRate(s, rate, &p.Rate.Like)
			if several[s.Before] {
				at.Before = rateName(s.Before, rate)
			}
			out = append(out, at)
		}
	}
	return out
}

// schedule returns the arrivals of a step of the given length.
func (r *Rate) schedule(seconds float64) *pace.Arrivals {
	a := r.Like
	switch {
	case len(r.Ramp) == 2:
		a.Segments = []pace.Segment{{Seconds: seconds, From: r.Ramp[0], To: r.Ramp[1]}}
	case len(r.Steps) > 0:
		for _, v := range r.Steps {
			a.Segments = append(a.Segments, pace.Segment{Seconds: seconds / float64(len(r.Steps)), From: v, To: v})
		}
	default:
		a.Segments = []pace.Segment{{Seconds: seconds, From: r.At[0], To: r.At[0]}}
	}
	return &a
}

// AtRate returns a step with this arrival rate, with the kind of arrivals and
// the queue of like, under a separate name.
func AtRate(s *workload.Step, rate float64, like *pace.Arrivals) workload.Step {
	a := *like
	a.Segments = []pace.Segment{{Seconds: s.Seconds, From: rate, To: rate}}
	out := withArrivals(s, &a)
	out.Name, out.Before = rateName(s.Name, rate), ""
	if out.Base == "" {
		out.Base = s.Name
	}
	out.Axes = append(slices.Clone(s.Axes), workload.Axis{Name: "rate", Value: rate})
	return out
}

// searched returns the steps; those that a search begins with are judged by its answer.
func searched(steps []workload.Step) []workload.Step {
	out := slices.Clone(steps)
	for i := range out {
		if OpenGroup(&out[i]) >= 0 {
			out[i].Judged = []string{metric.HighestRate}
		}
	}
	return out
}

// promised returns the metrics that judge a step when operations arrive at a rate, which
// is the same for all targets: latency instead of throughput. The probes of a search are
// not judged, only its answer is.
func promised(judged []string) (out []string) {
	for _, name := range judged {
		switch name {
		case metric.RowsPerS:
			name = metric.ResponseP99US
		case metric.HighestRate:
			continue
		}
		if !slices.Contains(out, name) && (name != metric.ServiceP99US || !slices.Contains(out, metric.ResponseP99US)) {
			out = append(out, name)
		}
	}
	return out
}

func rateName(step string, rate float64) string {
	return step + "@" + strconv.FormatFloat(rate, 'f', -1, 64)
}

// WithoutRate returns the name of the plan's step for one that was made of it at a rate, else the name itself.
func WithoutRate(step string) string {
	if i := strings.LastIndex(step, "@"); i >= 0 {
		return step[:i]
	}
	return step
}

func withArrivals(s *workload.Step, a *pace.Arrivals) workload.Step {
	out := *s
	out.Groups, out.Judged = slices.Clone(s.Groups), promised(s.Judged)
	out.Groups[OpenGroup(s)].Arrivals = a
	return out
}

// Within returns the steps with those in which the engine restarts.
func (r *Restart) Within(steps []workload.Step, rate *Rate) (out []workload.Step) {
	before := slices.Clone(r.Before)
	if rate != nil {
		for _, name := range r.Before {
			for _, at := range rate.At {
				before = append(before, rateName(name, at))
			}
		}
	}
	for i := range steps {
		if name := steps[i].Name; slices.Contains(before, name) {
			out = append(out, workload.RestartStep("restart."+name, r.Caches))
		}
		out = append(out, steps[i])
	}
	return out
}
