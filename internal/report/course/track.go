// Package course turns the lines of a trial's series into the course of each step: what was
// done in each stretch of time, when checkpoints were, and rare operations.
package course

import (
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// The quantities that series contain as growth of a counter.
const (
	DeviceWritten = iota
	DeviceRead
	EngineCPU
	ClientCPU
	quantities
)

// counters are the sources of the quantities.
var counters = [quantities]struct{ source, name string }{
	{"device", "device.write_bytes"}, {"device", "device.read_bytes"}, {"process", "process.cpu_ns"},
	{"client", "client.cpu_ns"},
}

// Quantity is a number of a point; NaN is unknown.
type Quantity func(t *Track, p *Point) float64

// Along returns a quantity at each point of a track.
func (t *Track) Along(q Quantity) (out []float64) {
	for i := range t.Points {
		out = append(out, q(t, &t.Points[i]))
	}
	return out
}

// Growth returns the growth of a counter per second, in a unit.
func Growth(counter int, unit float64) Quantity {
	return func(_ *Track, p *Point) float64 { return p.Rate(counter) / unit }
}

// RowsPerSecond is the rate of the primary operation.
func RowsPerSecond(t *Track, p *Point) float64 { return t.PerSecond(p, p.Rows) }

// Positive returns a number of a point that is unknown if it is 0, in a unit.
func Positive(value func(*Point) float64, unit float64) Quantity {
	return func(_ *Track, p *Point) float64 {
		if v := value(p); v > 0 {
			return v / unit
		}
		return math.NaN()
	}
}

// PerSecond returns a sum of a point ÷ the time observed; NaN if that is less than half of the
// point's width, as may be at the end: it is too short for a rate.
func (t *Track) PerSecond(p *Point, sum float64) float64 {
	if p.OpsTime < t.Width/2 {
		return math.NaN()
	}
	return sum / p.OpsTime
}

// Sources are the sources of series that a track reads, with the values it needs, in the form
// of result.ReadSeries.
var Sources = sources()

func sources() []string {
	out := []string{"ops", "engine:" + engine.CheckpointAge, "engine:" + engine.DirtyBytes}
	for _, c := range counters {
		out = append(out, c.source+":"+c.name)
	}
	return out
}

// Point is the data on one stretch of time. Rates are sums ÷ the time observed; 0 seconds
// observed means unknown, not idle.
type Point struct {
	OpsTime, Rows, Writes  float64
	P99, Max               float64 // µs; the highest of the operation kinds, of response times where a rate was promised
	ServiceP50, ServiceP99 float64 // µs; the highest of the operation kinds
	Errors                 float64 // of all operations
	growth, time           [quantities]float64
	// The rows if all clients had done as much as the slowest, or the fastest, of each interval; and the
	// number of rows for which this is known.
	Low, High, Spread float64
}

// Rate returns the growth of a quantity per second; NaN if it is unknown.
func (p *Point) Rate(quantity int) float64 {
	return account.PerSecond(p.growth[quantity], p.time[quantity])
}

func (p *Point) merge(o Point) {
	for _, sum := range [][2]*float64{{&p.OpsTime, &o.OpsTime}, {&p.Rows, &o.Rows}, {&p.Writes, &o.Writes},
		{&p.Errors, &o.Errors}, {&p.Low, &o.Low}, {&p.High, &o.High}, {&p.Spread, &o.Spread}} {
		*sum[0] += *sum[1]
	}
	p.P99, p.Max = max(p.P99, o.P99), max(p.Max, o.Max)
	p.ServiceP50, p.ServiceP99 = max(p.ServiceP50, o.ServiceP50), max(p.ServiceP99, o.ServiceP99)
	for i := range p.growth {
		p.growth[i] += o.growth[i]
		p.time[i] += o.time[i]
	}
}

// Track is a run's line over time. Its points double their width whenever there would be too
// many, which bounds memory.
type Track struct {
	Width  float64 // seconds
	Points []Point
	Events []Event
	Marks  Marks
	Apart  bool // the client is a separate process

	limit           int // points
	primary, writes func(group, op string) bool
	lastOps         float64 // end of the last interval seen
	last            [quantities]float64
	shares          map[string]portion // of the clients of each group
}

// New returns a track whose points have a width in seconds at first, and are at most limit. It
// is about the primary operation of a step, and the writes next to it.
func New(width float64, limit int, primary, writes func(group, op string) bool) *Track {
	return &Track{Width: width, limit: limit, primary: primary, writes: writes, shares: map[string]portion{}}
}

// KindsOf returns which lines belong to an operation kind. A whole like "query" has no lines of
// its own: it is all operations of the group of that name.
func KindsOf(kind string, groups []result.Group) func(group, op string) bool {
	for _, g := range groups {
		if slices.Contains(g.Ops, kind) {
			return func(_, op string) bool { return op == kind }
		}
	}
	return func(group, _ string) bool { return group == kind && kind != "" }
}

// Event is a rare operation that changes the work of others.
type Event struct {
	Op string
	At float64
}

// Marks are the times of checkpoints, if the engine's counters show them.
type Marks struct {
	Times []float64 // at most MostMarks
	Count int
	last  float64
	known bool
}

// MostMarks is the number of checkpoints of a target that can be distinguished in a drawing.
const MostMarks = 60

// A checkpoint shows as a drop of the data that recovery would have to read, or of the data
// still to be written: by at least this share and this many bytes. A checkpoint that is spread
// over time drops little more than the share.
const (
	markPart  = 1.0 / 3
	markBytes = 1 << 20
)

func (m *Marks) add(at, value float64) {
	if m.known && m.last-value >= max(markPart*m.last, markBytes) {
		if m.Count++; m.Count <= MostMarks {
			m.Times = append(m.Times, at)
		}
	}
	m.last, m.known = value, true
}

// Add adds a line. It does nothing on the nil track of a step that is not shown.
func (t *Track) Add(l *result.Line) {
	if t == nil {
		return
	}
	switch l.Source {
	case "ops":
		t.addOps(l)
	case "engine":
		v, ok := sum(l.V, engine.CheckpointAge)
		if !ok {
			v, ok = sum(l.V, engine.DirtyBytes)
		}
		if ok {
			t.Marks.add(l.T, v)
		}
	}
	for i, c := range counters {
		if c.source != l.Source {
			continue
		}
		if v, ok := sum(l.V, c.name); ok {
			p := t.at(l)
			p.growth[i] += v
			p.time[i] += newTime(&t.last[i], l)
		}
	}
}

func (t *Track) addOps(l *result.Line) {
	if len(l.Clients) > 1 {
		t.shares[l.Group] = portionOf(l)
	}
	if l.Event && len(t.Events) < MostMarks {
		t.Events = append(t.Events, Event{l.Op, l.T - l.DT/2})
	}
	if l.Errors > 0 { // of the whole group, in its first line
		t.at(l).Errors += float64(l.Errors)
	}
	if l.Upkeep {
		return // not a drawn quantity
	}
	p := t.at(l)
	p.OpsTime += newTime(&t.lastOps, l)
	if t.writes(l.Group, l.Op) {
		p.Writes += float64(l.Rows)
	}
	if !t.primary(l.Group, l.Op) {
		return
	}
	rows := float64(l.Rows)
	p.Rows += rows
	if s := t.shares[l.Group]; s.at == l.T {
		p.Low, p.High, p.Spread = p.Low+rows*s.low, p.High+rows*s.high, p.Spread+rows
	}
	p.ServiceP50, p.ServiceP99 = max(p.ServiceP50, l.P50), max(p.ServiceP99, l.P99)
	p99, limit := l.P99, l.Max
	if l.ResponseMax > 0 {
		p99, limit = l.ResponseP99, l.ResponseMax
	}
	if p.Max = max(p.Max, limit); l.Ops >= metric.LeastSamples(99) {
		p.P99 = max(p.P99, p99)
	}
}

// portion is the work of the slowest and the fastest client of an interval, times the number of
// clients.
type portion struct{ at, low, high float64 }

// portionOf returns the clients' portions of their group's work, which only the group's first
// line of each interval has.
func portionOf(l *result.Line) portion {
	var total int64
	for _, n := range l.Clients {
		total += n
	}
	if total == 0 {
		return portion{} // nothing was done: the rates are 0 anyway
	}
	part := func(n int64) float64 { return float64(n) * float64(len(l.Clients)) / float64(total) }
	return portion{l.T, part(slices.Min(l.Clients)), part(slices.Max(l.Clients))}
}

// newTime returns the length of the line's interval the first time it is seen, then 0: a source
// may write several lines for an interval.
func newTime(last *float64, l *result.Line) float64 {
	if *last == l.T {
		return 0
	}
	*last = l.T
	return l.DT
}

// at returns the point that contains the middle of the line's interval.
func (t *Track) at(l *result.Line) *Point {
	middle := max(0, l.T-l.DT/2)
	for int(middle/t.Width) >= t.limit {
		t.Fold()
	}
	i := int(middle / t.Width)
	for len(t.Points) <= i {
		t.Points = append(t.Points, Point{})
	}
	return &t.Points[i]
}

// Fold joins neighbours, so that every point is twice as wide.
func (t *Track) Fold() {
	t.Width *= 2
	half := t.Points[:0]
	for i := 0; i < len(t.Points); i += 2 {
		p := t.Points[i]
		if i+1 < len(t.Points) {
			p.merge(t.Points[i+1])
		}
		half = append(half, p)
	}
	t.Points = half
}

// SameWidth folds tracks until all have the width of the longest.
func SameWidth(tracks []*Track) {
	var width float64
	for _, t := range tracks {
		if t != nil {
			width = max(width, t.Width)
		}
	}
	for _, t := range tracks {
		for t != nil && t.Width < width {
			t.Fold()
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
