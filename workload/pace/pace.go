// Package pace computes intended start times: of the operations of a client with a rate,
// or of those that arrive at an open system. It is pure: it reads no clock, never sleeps,
// and knows nothing of the operations. A schedule never skips late starts; its caller
// compares it with a clock.
package pace

import (
	"fmt"
	"math"
	"time"

	"rumbench/internal/text/quantity"
)

// Kind is the shape of a schedule.
type Kind string

// The schedule shapes.
const (
	Even    Kind = "even"    // one start every 1/rate seconds
	Poisson Kind = "poisson" // exponentially distributed gaps with mean 1/rate
	Burst   Kind = "burst"   // all starts of a second at its beginning
)

// Kinds lists the shapes.
func Kinds() []string { return []string{string(Even), string(Poisson), string(Burst)} }

// Fastest is the greatest rate, in starts per second. No engine does as many; to walk more
// starts would take longer than the window.
const Fastest = 1e7

// Never is the start that a schedule returns when no further start follows, because its
// rate stays 0.
const Never = time.Duration(math.MaxInt64)

// Schedule yields the intended starts of successive operations, as offsets from the start
// of the window. They never decrease.
//
// The expected number of starts up to a time is the integral of the rate. An even
// schedule has start i when the integral reaches i; a Poisson schedule has it when the
// integral reaches the sum of i+1 draws of a standard exponential distribution, which
// makes it a Poisson process of that rate.
type Schedule struct {
	kind     Kind
	seed     uint64
	i        int64
	phase    float64
	sum      float64 // of the draws of a Poisson schedule
	segments []Segment
	// begin is the start of the first segment, and before the number of starts expected
	// until then.
	begin, before float64
}

// New returns a schedule of rate starts per second. The phase in [0,1) shifts an
// even schedule by that share of a gap, so that clients do not start together;
// seed makes a Poisson schedule repeatable.
func New(kind Kind, rate, phase float64, seed uint64) (*Schedule, error) {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("rate must be positive and finite, not %v", rate)
	}
	if phase < 0 || phase >= 1 {
		return nil, fmt.Errorf("phase must be in [0,1), not %v", phase)
	}
	return newSchedule(kind, Constant(kind, rate).Segments, phase, seed)
}

func newSchedule(kind Kind, segments []Segment, phase float64, seed uint64) (*Schedule, error) {
	switch kind {
	case Even, "":
	case Burst, Poisson:
		phase = 0
	default:
		return nil, fmt.Errorf("unknown schedule %q", kind)
	}
	return &Schedule{kind: kind, seed: seed, phase: phase, segments: segments}, nil
}

// Next returns the intended start of the next operation.
func (s *Schedule) Next() time.Duration {
	i := s.i
	s.i++
	if s.kind == Poisson {
		s.sum += exponential(s.seed, uint64(i))
		return quantity.AsDuration(s.when(s.sum))
	}
	t := s.when(float64(i) + s.phase)
	if s.kind == Burst {
		// Start i is in the same second as in an even schedule, so that any rate is
		// exact, including rates below one.
		t = math.Floor(t)
	}
	return quantity.AsDuration(t)
}

// when returns the time at which n starts are expected; n does not decrease.
func (s *Schedule) when(n float64) float64 {
	for len(s.segments) > 1 && n >= s.before+s.segments[0].total() {
		s.before += s.segments[0].total()
		s.begin += s.segments[0].Seconds
		s.segments = s.segments[1:]
	}
	g := s.segments[0]
	n -= s.before
	switch {
	case n < g.total():
		return s.begin + g.when(n)
	case g.To == 0:
		return math.Inf(1)
	case g.From == g.To:
		return s.begin + n/g.To
	}
	return s.begin + g.Seconds + (n-g.total())/g.To
}

// exponential returns draw i of a standard exponential distribution.
func exponential(seed, i uint64) float64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15 // splitmix64
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	u := (float64(z>>11) + 0.5) / (1 << 53) // never 0
	return -math.Log(u)
}
