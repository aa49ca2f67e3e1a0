// Package pace says when operation i of a client should start. It is pure: it
// reads no clock and never sleeps, and it knows nothing of what the operations
// do. A schedule never forgives lateness; that is the business of whoever
// compares it with a clock.
package pace

import (
	"fmt"
	"math"
	"time"
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

// Schedule yields the intended starts of successive operations, as offsets
// from the start of the window. They never decrease.
type Schedule struct {
	kind Kind
	rate float64
	seed uint64
	i    int64
	last float64 // seconds, of a Poisson schedule
}

// New makes a schedule of rate starts a second. The phase in [0,1) moves an
// even schedule by that share of a gap, so that clients do not start together;
// seed makes a Poisson schedule repeatable.
func New(kind Kind, rate, phase float64, seed uint64) (*Schedule, error) {
	if !(rate > 0) || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("rate must be positive, not %v", rate)
	}
	if phase < 0 || phase >= 1 {
		return nil, fmt.Errorf("phase must be in [0,1), not %v", phase)
	}
	s := &Schedule{kind: kind, rate: rate, seed: seed}
	switch kind {
	case Even, "":
		s.last = phase / rate
	case Burst, Poisson:
	default:
		return nil, fmt.Errorf("unknown schedule %q", kind)
	}
	return s, nil
}

// Next is the intended start of the next operation.
func (s *Schedule) Next() time.Duration {
	i := s.i
	s.i++
	switch s.kind {
	case Poisson:
		s.last += exponential(s.seed, uint64(i)) / s.rate
		return seconds(s.last)
	case Burst:
		// Start i belongs to the second in which an even schedule would have
		// it, so that any rate, also below one, is held exactly.
		return seconds(math.Floor(float64(i) / s.rate))
	}
	return seconds(s.last + float64(i)/s.rate)
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// exponential is draw i of a standard exponential distribution.
func exponential(seed, i uint64) float64 {
	z := seed + (i+1)*0x9e3779b97f4a7c15 // splitmix64
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	u := (float64(z>>11) + 0.5) / (1 << 53) // never 0
	return -math.Log(u)
}
