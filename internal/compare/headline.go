package compare

import (
	"slices"
	"strings"
)

// Rate is the key of an operation kind's throughput.
func (s *Step) Rate(op string) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	return s.Find("rows_per_s", func(k Key) bool { return k.Op == op })
}

// Latency is the key of an operation kind's latency: the response time where a
// rate was promised, else the service time. What is "p99" or "max".
func (s *Step) Latency(op, what string) (Key, bool) {
	if op == "" {
		return Key{}, false
	}
	of := func(k Key) bool { return k.Op == op }
	if k, ok := s.Find("response_"+what+"_us", of); ok {
		return k, true
	}
	if k, ok := s.Find("service_"+what+"_us", of); ok {
		return k, true
	}
	// A group of one kind only has no numbers of the whole beside those of the kind.
	var kinds []Key
	for _, k := range s.Keys("response_"+what+"_us", "service_"+what+"_us") {
		if k.Group == op {
			kinds = append(kinds, k)
		}
	}
	if len(kinds) > 0 && kinds[0].Op == kinds[len(kinds)-1].Op {
		return kinds[0], true
	}
	return Key{}, false
}

// Cost is the key of a metric per unit of an operation kind. The denominators
// are called after their kind: "insert row" of "insert", "query" of "query".
func (s *Step) Cost(metric, op string) (Key, bool) {
	if op != "" {
		of := func(k Key) bool { return k.Per == op || strings.HasPrefix(k.Per, op+" ") }
		if k, ok := s.Find(metric, of); ok {
			return k, true
		}
	}
	return s.Find(metric, func(Key) bool { return true })
}

// Stalls is the key of the stalled seconds, of the primary operation's group
// where the whole step has no such number.
func (s *Step) Stalls() (Key, bool) {
	if s.Primary == "" {
		return Key{}, false
	}
	if k, ok := s.Find("stall_s", func(k Key) bool { return k.Op == s.Primary || k.Group == s.Primary }); ok {
		return k, true
	}
	return s.Find("stall_s", func(Key) bool { return true })
}

// Reads is the key of what was read from storage per unit: by the device, or
// where no device could be watched, by the process.
func (s *Step) Reads() (Key, bool) {
	if k, ok := s.Cost("read_kb", s.Primary); ok {
		return k, true
	}
	return s.Cost("process_read_kb", s.Primary)
}

// Writes is the key of what was written to storage per unit of the writing
// kind: by the device, or where no device could be watched, by the process.
func (s *Step) Writes() (Key, bool) {
	if k, ok := s.Cost("write_kb", s.WritesPer); ok {
		return k, true
	}
	return s.Cost("process_write_kb", s.WritesPer)
}

// CPU is the key of the CPU time per unit: of the engine and its clients
// together, or where the engine's processes could not be watched, of the whole
// host.
func (s *Step) CPU() (Key, bool) {
	if k, ok := s.Cost("cpu_us", s.Primary); ok {
		return k, true
	}
	return s.Cost("host_cpu_us", s.Primary)
}

// sampled tells whether a percentile is one on any target.
func (s *Step) sampled(k Key) bool {
	return slices.ContainsFunc(s.campaign.Targets, func(t *Target) bool {
		return s.number(t, k).known()
	})
}

// Headline are the keys on which a step is judged: throughput and p99 of its
// primary operation, CPU, reads and writes per unit, and the space taken per byte
// of live data. They are few, because every further one makes all of them harder to prove. A step
// that warms up has none.
func (s *Step) Headline() []Key { return slices.Clip(s.index().headline) }

func (s *Step) headline() []Key {
	if s.Warmup {
		return nil
	}
	var out []Key
	add := func(k Key, ok bool) {
		if ok && !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	add(s.Rate(s.Primary))
	if k, ok := s.Latency(s.Primary, "p99"); ok && s.sampled(k) {
		add(k, ok)
	}
	add(s.CPU())
	add(s.Reads())
	add(s.Writes())
	add(s.Cost("space_amplification", ""))
	return out
}
