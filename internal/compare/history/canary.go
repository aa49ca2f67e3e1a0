package history

import (
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// coincidence is the greatest p of a change of the canary: of 5 runs against 5, all of one exceed the other.
const coincidence = 0.01

// slack is how much a number may change more than the machine, on the scale of logarithms, and be
// explained by it: both vary.
const slack = 1.2

// machineSpeed returns the change of the machine's own speed between the points of two levels; nil if
// there was none, or it came earlier or later.
func machineSpeed(before, since []Point) (found *compare.Pace) {
	for _, load := range compare.CanaryLoads() {
		a, b := canaries(load, before), canaries(load, since)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		limit := load.Level
		if min(len(a), len(b)) < leastLevel {
			limit = load.One
		}
		ratio := stat.Median(b) / stat.Median(a)
		if !compare.Beyond(ratio, limit) || !coincide(a, b) {
			continue
		}
		p := &compare.Pace{Load: load.Name, Ratio: ratio}
		if found == nil || math.Abs(p.Slower()) > math.Abs(found.Slower()) {
			found = p
		}
	}
	return found
}

// coincide reports whether values change where the second list begins: one run off, as the place of a
// change is no better known. Of lists too short for a test, all values of one exceed all of the other.
func coincide(a, b []float64) bool {
	if min(len(a), len(b)) < leastLevel {
		return slices.Max(a) < slices.Min(b) || slices.Max(b) < slices.Min(a)
	}
	position, _ := split(slices.Concat(a, b))
	return position >= len(a)-1 && position <= len(a)+1 && stat.MannWhitney(a, b) <= coincidence
}

func canaries(load compare.CanaryLoad, points []Point) (out []float64) {
	for _, p := range points {
		if v, ok := load.Time(p.trials...); ok {
			out = append(out, v)
		}
	}
	return out
}

// setSpeed sets the change of the machine's speed at a change between two levels. What it explains has
// no verdict: it is about the machine.
func (s *Series) setSpeed(c *Change, start, end int) {
	p := machineSpeed(s.Points[start:c.At], s.Points[c.At:end])
	if p == nil {
		return
	}
	c.Speed = &Speed{Pace: *p}
	if slower, ok := s.slower(c); ok && slower*p.Slower() > 0 && math.Abs(slower) <= slack*math.Abs(p.Slower()) {
		c.Speed.Explains, c.Verdict = true, ""
	}
}

// slower returns the logarithm of how much longer work takes after a change; false for numbers that do
// not depend on the machine's speed, such as KB.
func (s *Series) slower(c *Change) (float64, bool) {
	if c.Ratio == nil || *c.Ratio <= 0 {
		return 0, false
	}
	switch l := math.Log(*c.Ratio); {
	case s.Unit == "1/s":
		return -l, true
	case metric.IsLatency(s.Metric) || s.Unit == "µs" || s.Unit == "s":
		return l, true
	}
	return 0, false
}

// oddSpeed returns how the machine's own speed before the trials of a run differed from that before the
// others; nil if it did not, or the other way than the run's rates did.
func oddSpeed(o *Odd, s *Series) (found *compare.Pace) {
	position := slices.IndexFunc(s.Points, func(p Point) bool { return p.Dir == o.Dir })
	others := slices.Delete(slices.Clone(s.Points), position, position+1)
	if p := machineSpeed(others, s.Points[position:position+1]); p != nil && p.Slower() > 0 == (o.Ratio < 1) {
		return p
	}
	return nil
}
