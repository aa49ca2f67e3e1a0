package pace

import (
	"fmt"
	"math"
)

// Arrivals is the arrival process of an open system: operations arrive whether or not
// earlier ones are done.
type Arrivals struct {
	Kind Kind
	// Segments are consecutive; after the last segment, its final rate continues.
	Segments []Segment
	// Queue is the maximum number of operations that wait for a free client; beyond it
	// the oldest are shed and counted. 0: no limit.
	Queue int64
	// LeadIn is the number of seconds in which operations arrive, at the first rate,
	// before measurement begins: connections and caches warm up in this time.
	LeadIn float64
	// Draw distinguishes random schedules of the same seed.
	Draw uint64
}

// Segment is a period in which the rate changes linearly from From to To.
type Segment struct {
	Seconds float64 `json:"seconds"`
	From    float64 `json:"from_per_s"` // in operations
	To      float64 `json:"to_per_s"`
}

// Constant returns arrivals at a constant rate in operations per second.
func Constant(kind Kind, rate float64) *Arrivals {
	return &Arrivals{Kind: kind, Segments: []Segment{{Seconds: 1, From: rate, To: rate}}}
}

// Schedule returns the schedule of the arrivals. The seed makes a Poisson
// schedule repeatable.
func (a *Arrivals) Schedule(seed uint64) (*Schedule, error) {
	if len(a.Segments) == 0 {
		return nil, fmt.Errorf("arrivals have no segment")
	}
	sum := 0.0
	for _, s := range a.Segments {
		if !(s.Seconds > 0) || math.IsInf(s.Seconds, 0) {
			return nil, fmt.Errorf("the length of a segment must be positive and finite, not %v s", s.Seconds)
		}
		if !(s.From >= 0 && s.To >= 0) || math.IsInf(s.From+s.To, 0) {
			return nil, fmt.Errorf("arrival rates must be at least 0 and finite, not %v to %v", s.From, s.To)
		}
		sum += s.total()
	}
	if sum == 0 {
		return nil, fmt.Errorf("all arrival rates are 0")
	}
	return newSchedule(a.Kind, a.Segments, 0, seed+a.Draw)
}

// Until returns the mean number of operations that arrive in the first seconds.
func (a *Arrivals) Until(seconds float64) (n float64) {
	for _, s := range a.Segments {
		if seconds < s.Seconds {
			return n + s.From*seconds + (s.To-s.From)*seconds*seconds/(2*s.Seconds)
		}
		n += s.total()
		seconds -= s.Seconds
	}
	if last := len(a.Segments) - 1; last >= 0 {
		n += seconds * a.Segments[last].To
	}
	return n
}

// total returns the mean number of operations that arrive in the segment.
func (s Segment) total() float64 { return (s.From + s.To) / 2 * s.Seconds }

// when returns the time in seconds from the start of the segment to its n-th arrival: the
// t with From·t + (To−From)·t²/(2·Seconds) = n, solved in the form that loses no
// precision if the rate hardly changes.
func (s Segment) when(n float64) float64 {
	if n <= 0 {
		return 0
	}
	slope := (s.To - s.From) / s.Seconds
	return 2 * n / (s.From + math.Sqrt(max(s.From*s.From+2*n*slope, 0)))
}
