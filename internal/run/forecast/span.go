package forecast

import (
	"math"
	"time"

	"rumbench/internal/text/quantity"
)

// Span is how long something takes: between two lengths, which are equal if it
// is known.
type Span struct{ Least, Most time.Duration }

// Endless is the Most of a Span if only the least is known.
const Endless = time.Duration(math.MaxInt64)

// Exactly returns the span of a known length.
func Exactly(d time.Duration) Span { return Span{d, d} }

// AtLeast returns a span with only the least known.
func AtLeast(d time.Duration) Span { return Span{d, Endless} }

// Bounded reports whether the span has an end.
func (s Span) Bounded() bool { return s.Most < Endless }

// Plus returns the span of both, one after the other.
func (s Span) Plus(o Span) Span {
	return Span{sum(s.Least, o.Least), sum(s.Most, o.Most)}
}

func sum(a, b time.Duration) time.Duration {
	if a >= Endless-b {
		return Endless
	}
	return a + b
}

// Minus returns the rest of the span after some time.
func (s Span) Minus(spent time.Duration) Span {
	s.Least = max(0, s.Least-spent)
	if s.Bounded() {
		s.Most = max(0, s.Most-spent)
	}
	return s
}

// Beside returns the span of two at the same time.
func (s Span) Beside(o Span) Span { return Span{max(s.Least, o.Least), max(s.Most, o.Most)} }

// within returns the span, ended by a limit.
func (s Span) within(limit time.Duration) Span {
	return Span{min(s.Least, limit), min(s.Most, limit)}
}

// String returns "about 23 min", "12 min to 40 min", "at most 40 min", "at least 12
// min", or "an unknown time".
func (s Span) String() string {
	low, high := quantity.Length(s.Least), quantity.Length(s.Most)
	switch {
	case !s.Bounded() && s.Least == 0:
		return "an unknown time"
	case !s.Bounded():
		return "at least " + low
	case low == high:
		return "about " + high
	case s.Least < s.Most/10:
		return "at most " + high
	}
	return low + " to " + high
}
