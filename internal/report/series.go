package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/result"
)

// maxPoints is how many points a line over time has at most: more than a
// screen can show, and little enough that a day's report stays small.
const maxPoints = 600

// point is what is known about one stretch of time. Sums and the time that
// they were observed for make rates; 0 seconds observed is unknown, not idle.
type point struct {
	opsTime, rows, writes float64
	p99, max              float64 // µs; the highest of the operation kinds
	devTime, devBytes     float64
	cpuTime, cpuNS        float64
}

func (p *point) merge(o point) {
	p.opsTime += o.opsTime
	p.rows += o.rows
	p.writes += o.writes
	p.p99, p.max = max(p.p99, o.p99), max(p.max, o.max)
	p.devTime += o.devTime
	p.devBytes += o.devBytes
	p.cpuTime += o.cpuTime
	p.cpuNS += o.cpuNS
}

// track is one run's line over time. Its points double their width whenever
// there would be too many, so its memory is bounded however long the run was.
type track struct {
	width   float64 // seconds
	points  []point
	primary func(group, op string) bool
	writes  func(group, op string) bool
	last    [3]float64 // end of the last interval seen of: operations, device, process
}

// The sources whose time is counted once an interval, however many lines they have.
const (
	sawOps = iota
	sawDevice
	sawProcess
)

// readSeries streams the series of the runs that stand for their targets.
func readSeries(c *campaign) (map[*step][]*track, error) {
	all := map[*step][]*track{}
	byTrial := map[*result.Trial]map[string]*track{}
	for _, s := range c.steps {
		all[s] = make([]*track, len(c.Targets))
		for _, t := range c.Targets {
			r := s.Leader(t)
			if r == nil || c.series[r.Trial] == nil {
				continue
			}
			all[s][t.Index] = newTrack(s, r)
			if byTrial[r.Trial] == nil {
				byTrial[r.Trial] = map[string]*track{}
			}
			byTrial[r.Trial][s.Name] = all[s][t.Index]
		}
	}
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			tracks := byTrial[trial]
			if tracks == nil {
				continue
			}
			if err := c.series[trial](func(l result.Line) error { tracks[l.Step].add(&l); return nil }); err != nil {
				return nil, fmt.Errorf("series of %s, trial %d: %w", t.Name, trial.Trial, err)
			}
		}
	}
	for _, tracks := range all {
		sameWidth(tracks)
	}
	return all, nil
}

func newTrack(s *step, r *run) *track {
	width := r.Trial.Interval
	if width <= 0 {
		width = 1
	}
	return &track{width: width, primary: kindsOf(s.Primary, r.Step.Groups), writes: kindsOf(s.WritesPer, r.Step.Groups)}
}

// Sources are the sources of series that the report reads.
var Sources = []string{"ops", "device", "process"}

// kindsOf tells which lines are of an operation kind. A whole like "query" has
// no lines of its own: it is what the clients of the group with its name do.
func kindsOf(kind string, groups []result.Group) func(group, op string) bool {
	for _, g := range groups {
		if slices.Contains(g.Ops, kind) {
			return func(_, op string) bool { return op == kind }
		}
	}
	return func(group, _ string) bool { return group == kind && kind != "" }
}

// add takes a line in. It does nothing on the nil track of a step that is not shown.
func (t *track) add(l *result.Line) {
	if t == nil {
		return
	}
	switch l.Source {
	case "ops":
		t.addOps(l)
	case "device":
		if bytes, ok := sum(l.V, "device.write_bytes"); ok {
			p := t.at(l)
			p.devBytes += bytes
			p.devTime += t.newTime(sawDevice, l)
		}
	case "process":
		if ns, ok := sum(l.V, "process.cpu_ns"); ok {
			p := t.at(l)
			p.cpuNS += ns
			p.cpuTime += t.newTime(sawProcess, l)
		}
	}
}

func (t *track) addOps(l *result.Line) {
	if l.Upkeep {
		return // nobody asked for it
	}
	p := t.at(l)
	p.opsTime += t.newTime(sawOps, l)
	if t.writes(l.Group, l.Op) {
		p.writes += float64(l.Rows)
	}
	if !t.primary(l.Group, l.Op) {
		return
	}
	p.rows += float64(l.Rows)
	if l.ResponseMx > 0 {
		p.p99, p.max = max(p.p99, l.ResponseP9), max(p.max, l.ResponseMx)
	} else {
		p.p99, p.max = max(p.p99, l.P99), max(p.max, l.Max)
	}
}

// newTime is the length of the line's interval, the first time it is seen.
func (t *track) newTime(source int, l *result.Line) float64 {
	if t.last[source] == l.T {
		return 0
	}
	t.last[source] = l.T
	return l.DT
}

// at is the point that holds the middle of the line's interval.
func (t *track) at(l *result.Line) *point {
	middle := max(0, l.T-l.DT/2)
	for int(middle/t.width) >= maxPoints {
		t.fold()
	}
	i := int(middle / t.width)
	for len(t.points) <= i {
		t.points = append(t.points, point{})
	}
	return &t.points[i]
}

// fold joins neighbours, so that every point is twice as wide.
func (t *track) fold() {
	t.width *= 2
	half := t.points[:0]
	for i := 0; i < len(t.points); i += 2 {
		p := t.points[i]
		if i+1 < len(t.points) {
			p.merge(t.points[i+1])
		}
		half = append(half, p)
	}
	t.points = half
}

// sameWidth folds tracks until all have the width of the longest.
func sameWidth(tracks []*track) {
	var width float64
	for _, t := range tracks {
		if t != nil {
			width = max(width, t.width)
		}
	}
	for _, t := range tracks {
		for t != nil && t.width < width {
			t.fold()
		}
	}
}

// sum adds the values of a name over its labels.
func sum(v map[string]float64, name string) (total float64, ok bool) {
	for k, x := range v {
		if k == name || strings.HasPrefix(k, name) && k[len(name)] == '{' {
			total += x
			ok = true
		}
	}
	return total, ok
}
