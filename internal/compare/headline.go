package compare

import (
	"slices"
	"strings"

	"rumbench/internal/metric"
)

// Rate returns the key of an operation kind's throughput.
func (s *stepKeys) Rate(op string) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	return s.Find("rows_per_s", func(k Key) bool { return k.Op == op })
}

// Latency returns the key of an operation kind's latency: the response time where a
// rate was promised, else the service time.
func (s *stepKeys) Latency(op string, q metric.Quantile) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	of := func(k Key) bool { return k.Op == op }
	response, service := metric.Latency(metric.Response, q).Name, metric.Latency(metric.Service, q).Name
	for _, name := range []string{response, service} {
		if k, ok := s.Find(name, of); ok {
			return k, true
		}
	}
	// A group of one kind only has no numbers of the whole beside those of the kind.
	var kinds []Key
	for _, k := range s.Keys(response, service) {
		if k.Group == op {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) > 0 && kinds[0].Op == kinds[len(kinds)-1].Op {
		return kinds[0], true
	}
	return Key{}, false
}

// Cost returns the key of a metric per unit of an operation kind. The denominators
// are called after their kind: "insert row" of "insert", "query" of "query".
func (s *stepKeys) Cost(metric, op string) (Key, bool) {
	if op != "" {
		of := func(k Key) bool { return k.Per == op || strings.HasPrefix(k.Per, op+" ") }
		if k, ok := s.Find(metric, of); ok {
			return k, true
		}
	}
	return s.Find(metric, func(Key) bool { return true })
}

// Stalls returns the key of the stalled seconds, of the primary operation's group
// where the whole step has no such number.
func (s *stepKeys) Stalls() (Key, bool) {
	if s.Primary == "" {
		return Key{}, false
	}
	if k, ok := s.Find("stall_s", func(k Key) bool { return k.Op == s.Primary || k.Group == s.Primary }); ok {
		return k, true
	}
	return s.Find("stall_s", func(Key) bool { return true })
}

// Reads returns the key of what was read from storage per unit: by the device, or
// where no device could be watched, by the process.
func (s *stepKeys) Reads() (Key, bool) { return s.costs("read_kb") }

// Writes returns the key of what was written to storage per unit of the writing
// kind: by the device, or where no device could be watched, by the process.
func (s *stepKeys) Writes() (Key, bool) { return s.costs("write_kb") }

// CPU returns the key of the CPU time per unit: of the engine and its clients
// together, or if the engine's processes could not be watched, of the whole
// host.
func (s *stepKeys) CPU() (Key, bool) { return s.costs("cpu_us") }

// costs returns the key of a headline per unit of what the step is about, or of the
// metric that stands in for it.
func (s *stepKeys) costs(headline string) (Key, bool) {
	op := s.subject(headline)
	if k, ok := s.Cost(headline, op); ok {
		return k, true
	}
	if m := metric.StandIn(headline); m != nil {
		return s.Cost(m.Name, op)
	}
	return Key{}, false
}

// subject returns the operation kind that a metric is about: the primary one, or for
// what is written the writing one.
func (s *stepKeys) subject(name string) string {
	if m := metric.ByName(name); m != nil && m.Per == metric.PerWritten {
		return s.WritesPer
	}
	return s.Primary
}

// sampled reports whether a percentile is one on any target.
func (s *stepKeys) sampled(k Key) bool {
	return slices.ContainsFunc(s.campaign.Targets, func(t *Target) bool {
		return s.number(t, k).known()
	})
}

// Headline returns the keys on which a step is judged: those of the metrics that are
// headlines. A step that warms up has none.
func (s *stepKeys) Headline() []Key { return slices.Clip(s.index().headline) }

func (s *stepKeys) headline() (out []Key) {
	if s.Warmup {
		return nil
	}
	for _, m := range metric.Headlines(metric.Judged) {
		k, ok := s.headlineOf(m)
		if ok && (m.Quantile == "" || s.sampled(k)) && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	return out
}

func (s *stepKeys) headlineOf(m *metric.Metric) (Key, bool) {
	switch m.Family {
	case metric.Throughput:
		return s.Find(m.Name, func(k Key) bool { return s.Primary != "" && k.Op == s.Primary })
	case metric.Service:
		return s.Latency(s.Primary, m.Quantile)
	}
	return s.costs(m.Name)
}
