package compare

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// Key returns the key of a metric's number for an operation kind: its throughput,
// its latency, a cost per unit of it, or else the number of the step. If a cost
// is unknown, the metric that replaces it is used.
func (s *Step) Key(name, op string) (Key, bool) {
	switch m := metric.ByName(name); {
	case m == nil:
		return Key{}, false
	case m.Family == metric.Throughput:
		return s.Find(name, func(k Key) bool { return op != "" && k.Op == op })
	case m.Family == metric.Service || m.Family == metric.Response:
		return s.Latency(op, m.Quantile)
	case m.Family == metric.Stalls:
		return s.stalls(name, op)
	case m.Family == metric.Failures:
		return s.About(name)
	}
	for _, fits := range []func(Key) bool{func(k Key) bool { return k.PerOf(op) }, func(Key) bool { return true }} {
		if k, ok := s.Find(name, fits); ok {
			return k, true
		}
	}
	if m := metric.StandIn(name); m != nil {
		return s.Key(m.Name, op)
	}
	return Key{}, false
}

// Own returns the key of a metric's number for the subject of the step: its primary
// operation, or the writing operation for metrics of writes.
func (s *Step) Own(name string) (Key, bool) { return s.Key(name, s.subject(name)) }

// Rate returns the key of an operation kind's throughput.
func (s *Step) Rate(op string) (Key, bool) { return s.Key(metric.RowsPerS, op) }

// Latency returns the key of an operation kind's latency: the response time if a rate was
// promised, else the service time.
func (s *Step) Latency(op string, q metric.Quantile) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	response, service := metric.Latency(metric.Response, q).Name, metric.Latency(metric.Service, q).Name
	for _, name := range []string{response, service} {
		if k, ok := s.Find(name, func(k Key) bool { return k.Op == op }); ok {
			return k, true
		}
	}
	// A group of a single kind has only the numbers of that kind, none of the whole.
	kinds := slices.DeleteFunc(s.Keys(response, service), func(k Key) bool { return k.Group != op })
	if len(kinds) > 0 && kinds[0].Op == kinds[len(kinds)-1].Op {
		return kinds[0], true
	}
	return Key{}, false
}

// stalls returns the key of a number of stalls, or that of the operation's group if the
// whole step has no such number.
func (s *Step) stalls(name, op string) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	if k, ok := s.Find(name, func(k Key) bool { return k.Op == op || k.Group == op }); ok {
		return k, true
	}
	return s.Find(name, func(Key) bool { return true })
}

// subject returns the operation kind that a metric is about: the primary one, or the
// writing one for metrics of writes.
func (s *Step) subject(name string) string {
	if m := metric.ByName(name); m != nil && m.Per == metric.PerWritten {
		return s.WritesPer
	}
	return s.Primary
}

// About returns the key of a metric for the step's subject: of its primary
// operation or per unit of it (of the writing operation for metrics of writes),
// or of the step as a whole. "" is the primary operation's throughput. If there
// is no such number, ok is false, and the key serves to ask why.
func (s *Step) About(name string) (k Key, ok bool) {
	name = cmp.Or(name, metric.RowsPerS)
	op := s.subject(name)
	for _, fits := range []func(Key) bool{
		func(k Key) bool { return k.About(op) },
		func(k Key) bool { return k.Group == "" && k.Op == "" && (k.Per == "" || k.Per == "step") },
	} {
		if k, ok := s.Find(name, fits); ok {
			return k, true
		}
	}
	// The number may belong to a group of clients: to the primary operation's group, or to
	// the only one that has it. Among several none is right.
	keys := s.Keys(name)
	own := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.Group != op })
	switch {
	case len(own) == 1:
		return own[0], true
	case len(keys) == 1:
		return keys[0], true
	}
	return Key{Op: op, Metric: name}, false
}

// Asked returns the keys of the numbers that the question is about.
func (s *Step) Asked() []Key {
	x := s.index()
	return slices.Clip(x.headline[:x.asked])
}

// Headline returns the keys of the numbers that describe a step: those asked about,
// then the other headline metrics. A step that warms up has none, nor has a probe of
// a search.
func (s *Step) Headline() []Key { return slices.Clip(s.index().headline) }

func (s *Step) headline() []Key {
	if s.Warmup || IsProbe(s) {
		return nil
	}
	names := quantity.Texts(metric.Headlines(metric.Judged), func(m *metric.Metric) string { return m.Name })
	return s.sampled(s.own(names))
}

// own returns the keys of metrics about the step's subject, if it has them.
func (s *Step) own(metrics []string) (out []Key) {
	for _, name := range metrics {
		if k, ok := s.Own(name); ok {
			out = AppendNew(out, k)
		}
	}
	return out
}

// sampled returns the keys without percentiles that have too few samples on every target.
func (s *Step) sampled(keys []Key) []Key {
	return slices.DeleteFunc(keys, func(k Key) bool {
		known := func(t *Target) bool { return s.number(t, k).known() }
		m := metric.ByName(k.Metric)
		return m != nil && m.Quantile != "" && !slices.ContainsFunc(s.campaign.Targets, known)
	})
}

// Capacity returns the key of a target's capacity in a step: its highest rate if one was
// searched for, else the throughput.
func Capacity(s *Step) (Key, bool) {
	if k, ok := s.Own(metric.HighestRate); ok {
		return k, true
	}
	return s.Rate(s.Primary)
}

// Goal returns the key of the step's main number: the capacity or, if a rate was promised
// and none searched for, the latency.
func Goal(s *Step) (Key, bool) {
	k, ok := Capacity(s)
	if PrimaryRated(s) && k.Metric != metric.HighestRate {
		return s.Latency(s.Primary, "p99")
	}
	return k, ok
}

// PrimaryRated reports whether a rate was promised for the primary operation: its
// throughput is then not the targets' capacity.
func PrimaryRated(s *Step) bool {
	return slices.ContainsFunc(s.Groups(), func(g result.Group) bool {
		return g.Rate > 0 && (g.Name == s.Primary || slices.Contains(g.Ops, s.Primary))
	})
}

// PrimaryLatency returns the key of the latency of the primary operation or, for a load
// made by a different program, of the only operation that has one.
func PrimaryLatency(s *Step, q metric.Quantile) (Key, bool) {
	if k, ok := s.Latency(s.Primary, q); ok {
		return k, true
	}
	var ops []string
	for _, k := range s.AllKeys() {
		if metric.IsLatency(k.Metric) && k.Op != "" {
			ops = AppendNew(ops, k.Op)
		}
	}
	if len(ops) != 1 {
		return Key{}, false
	}
	return s.Latency(ops[0], q)
}

// Within returns half the 95 % interval of the mean rate within the runs of a target, as a share:
// that of the step's primary operation. It is NaN if it is unknown.
func Within(s *Step, t *Target) float64 {
	for _, g := range s.Groups() {
		if g.Name == s.Primary || slices.Contains(g.Ops, s.Primary) {
			if n := s.number(t, Key{Group: g.Name, Metric: metric.IntervalOpsError}); n.Missing == "" {
				return n.Value
			}
		}
	}
	return math.NaN()
}

// LastWith returns the last step in which all targets have a metric's number; nil if no
// step has.
func (c *Campaign) LastWith(name string) *Step {
	for _, s := range slices.Backward(c.Steps) {
		k, ok := s.Own(name)
		missing := func(t *Target) bool { return s.number(t, k).Missing != "" }
		if ok && !IsProbe(s) && !slices.ContainsFunc(c.Targets, missing) {
			return s
		}
	}
	return nil
}
