package pace

import (
	"fmt"
	"math"
)

// Arrivals is the schedule of an open system: how many operations arrive over
// time, whatever becomes of those before.
type Arrivals struct {
	Kind Kind
	// Segments follow each other; the rate of the last one's end goes on.
	Segments []Segment
	// Queue is how many operations may wait for a free client; of more the
	// oldest are shed, which is counted. 0: any number.
	Queue int64
}

// Segment is a stretch of time in which the rate goes evenly from one to another.
type Segment struct {
	Seconds  float64
	From, To float64 // operations a second
}

// Constant are arrivals at one rate, in operations a second.
func Constant(kind Kind, rate float64) *Arrivals {
	return &Arrivals{Kind: kind, Segments: []Segment{{Seconds: 1, From: rate, To: rate}}}
}

// Schedule is the schedule of the arrivals. The seed makes a Poisson schedule
// repeatable.
func (a *Arrivals) Schedule(seed uint64) (*Schedule, error) {
	if len(a.Segments) == 0 {
		return nil, fmt.Errorf("arrivals need a segment")
	}
	sum := 0.0
	for _, s := range a.Segments {
		if !(s.Seconds > 0) || math.IsInf(s.Seconds, 0) {
			return nil, fmt.Errorf("a segment of arrivals must take some seconds, not %v", s.Seconds)
		}
		if !(s.From >= 0 && s.To >= 0) || math.IsInf(s.From+s.To, 0) {
			return nil, fmt.Errorf("arrivals must be at least 0 a second, not %v to %v", s.From, s.To)
		}
		sum += s.total()
	}
	if sum == 0 {
		return nil, fmt.Errorf("nothing arrives: all rates are 0")
	}
	return newSchedule(a.Kind, a.Segments, 0, seed)
}

// Until is how many operations arrive in the first seconds, on average.
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

// total is how many operations arrive in the segment.
func (s Segment) total() float64 { return (s.From + s.To) / 2 * s.Seconds }

// when is how many seconds after the segment's beginning n more operations have
// arrived: the t with From·t + (To−From)·t²/(2·Seconds) = n, solved for t in the
// form that loses no digits where the rate hardly changes.
func (s Segment) when(n float64) float64 {
	if n <= 0 {
		return 0
	}
	slope := (s.To - s.From) / s.Seconds
	return 2 * n / (s.From + math.Sqrt(max(s.From*s.From+2*n*slope, 0)))
}
