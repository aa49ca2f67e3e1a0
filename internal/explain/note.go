package explain

import (
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// Note is what a reader must know of a step beside its causes.
type Note struct {
	Rule     Rule
	Sentence string
}

// First reports whether the note limits what can be said of causes.
func (n Note) First() bool { return slices.Contains([]int{1, 2, 23}, n.Rule.Number) }

// notes returns what limits what can be said of a step.
func (s *Step) notes() (out []Note) {
	note := func(number int, e Evidence, format string, args ...any) {
		out = append(out, Note{Rule{number, e}, fmt.Sprintf(format, args...)})
	}
	sides := []*Side{&s.Base, &s.New}
	for _, side := range sides {
		if share := side.shared(); share > mostShared {
			note(1, Law, "other programs had %s of the processors beside %s, which explain no rates then", quantity.RoughShare(share), side.Target.Name)
		}
		if side.Limit == ByClient {
			note(2, Law, "on %s this measures the client: it was the bottleneck", side.Target.Name)
		}
	}
	if k, ok := s.Of.Own("cpu_us"); ok {
		for _, side := range sides {
			misses, reads := side.per("cache_misses", "", k), side.per("device_reads", "", k)
			if misses > few && reads < alike*misses {
				note(21, Pattern, "the page cache answers most of what the cache of %s misses: the data is cached twice", side.Target.Name)
			}
		}
	}
	for _, side := range sides {
		const pauses = 0.01
		if share := side.metric("client_gc_pause_ms") / 1e3 / side.seconds(); side.embedded() && share > pauses {
			note(26, Accounted, "garbage collection paused engine and client for %s of the time on %s", quantity.RoughShare(share), side.Target.Name)
		}
	}
	for _, of := range []struct{ gauge, name string }{{engine.CompactionDebt, "compaction debt"}, {engine.DirtyBytes, "dirty pages"}} {
		base, new := s.Base.start(of.gauge), s.New.start(of.gauge)
		size := max(s.Base.metric("db_bytes"), s.New.metric("db_bytes"))
		if max(base, new) > alike*size && apart(base, new, 1) {
			note(23, Pattern, "the targets did not begin alike: %s of %s", instead(bytes, base, new), of.name)
		}
	}
	if k, ok := s.Of.Own("write_kb"); ok {
		base, new := s.Base.per("deferred_kb", "", k), s.New.per("deferred_kb", "", k)
		written := max(s.Base.per("write_kb", "", k), s.New.per("write_kb", "", k))
		if math.Abs(new-base) > alike*written {
			more := s.New.Target.Name
			if base > new {
				more = s.Base.Target.Name
			}
			note(22, Accounted, "%s puts off %s more of its writes per %s than the other", more, kb(math.Abs(new-base)), k.Per)
		}
	}
	return out
}

// alike is how far two states may be apart, as a share, to be called alike.
const alike = 0.10

func bytes(v float64) string { return quantity.BytesAs(v, quantity.Digits) }

// start returns the mean of a gauge before the step: at the end of the one before it in
// each trial.
func (s *Side) start(gauge string) (sum float64) {
	for i := range s.runs {
		if before := s.runs[i].before(); before != nil {
			v, _ := account.Gauge(before.Counters, gauge)
			sum += v / float64(len(s.runs))
		}
	}
	return sum
}

// seconds returns the mean length of the step.
func (s *Side) seconds() (sum float64) {
	for i := range s.runs {
		sum += s.runs[i].Seconds / float64(len(s.runs))
	}
	return sum
}

func (s *Side) embedded() bool { return len(s.runs) > 0 && s.runs[0].trial.Hosting == result.Embedded }

// before returns the step before the run's; nil if it is the first.
func (r *run) before() *result.Step {
	for i := range r.trial.Steps {
		if &r.trial.Steps[i] == r.Step && i > 0 {
			return &r.trial.Steps[i-1]
		}
	}
	return nil
}

// metric returns the mean of a number of the whole step.
func (s *Side) metric(name string) (sum float64) {
	for i := range s.runs {
		for _, row := range s.runs[i].Rows {
			if row.Metric == name && row.Group == "" && row.Op == "" {
				sum += row.Value / float64(len(s.runs))
			}
		}
	}
	return sum
}
