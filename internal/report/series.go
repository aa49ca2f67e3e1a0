package report

import (
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// A line over time has at most maxPoints points: more than a screen can show,
// but few enough to keep a day's report small. Many lines share allPoints, but
// none gets fewer than minPoints.
const (
	maxPoints = 600
	minPoints = 64
	allPoints = 5_000
)

// The quantities that series contain as growth of a counter.
const (
	devWritten = iota
	devRead
	engineCPU
	clientCPU
	quantities
)

// counters are the sources of the quantities.
var counters = [quantities]struct{ source, name string }{
	{"device", "device.write_bytes"}, {"device", "device.read_bytes"}, {"process", "process.cpu_ns"},
	{"client", "client.cpu_ns"},
}

// point is the data on one stretch of time. Rates are sums ÷ the time observed;
// 0 seconds observed means unknown, not idle.
type point struct {
	opsTime, rows, writes float64
	p99, highest          float64 // µs; the highest of the operation kinds
	growth, time          [quantities]float64
	// The rows if all clients had done as much as the slowest, or the fastest,
	// of each interval; and the number of rows for which this is known.
	low, high, spread float64
}

func (p *point) merge(o point) {
	p.opsTime += o.opsTime
	p.rows += o.rows
	p.writes += o.writes
	p.p99, p.highest = max(p.p99, o.p99), max(p.highest, o.highest)
	for i := range p.growth {
		p.growth[i] += o.growth[i]
		p.time[i] += o.time[i]
	}
	p.low, p.high, p.spread = p.low+o.low, p.high+o.high, p.spread+o.spread
}

// track is one run's line over time. Its points double their width whenever
// there would be too many, which bounds memory.
type track struct {
	width   float64 // seconds
	limit   int     // points
	points  []point
	primary func(group, op string) bool
	writes  func(group, op string) bool
	apart   bool // the client is a separate process
	lastOps float64
	last    [quantities]float64 // end of the last interval seen
	shares  map[string]portion  // of the clients of each group
	marks   marks
	events  []event
}

// event is a rare operation that changes the work of others.
type event struct {
	op string
	at float64
}

// portion is the work of the slowest and the fastest client of an interval,
// times the number of clients.
type portion struct{ at, low, high float64 }

// marks are the times of checkpoints, if the engine's counters show them.
type marks struct {
	times []float64 // at most mostMarks
	count int
	last  float64
	known bool
}

// mostMarks is the number of checkpoints of a target that can be distinguished
// in a drawing.
const mostMarks = 60

// A checkpoint shows as a drop of the data that recovery would have to read, or
// of the data still to be written: by at least this share and this many bytes.
// A checkpoint that is spread over time drops little more than the share.
const (
	markPart  = 1.0 / 3
	markBytes = 1 << 20
)

func (m *marks) add(at, value float64) {
	if m.known && m.last-value >= max(markPart*m.last, markBytes) {
		if m.count++; m.count <= mostMarks {
			m.times = append(m.times, at)
		}
	}
	m.last, m.known = value, true
}

// readSeries streams the series of the runs that represent their targets. A trial whose series cannot be read has a
// warning, and no charts.
func readSeries(c *campaign) map[*step][]*track {
	limit := max(minPoints, min(maxPoints, allPoints/(len(c.steps)*len(c.Targets)+1)))
	all := map[*step][]*track{}
	for _, s := range c.steps {
		all[s] = make([]*track, len(c.Targets))
	}
	var trials []*result.Trial
	var byTrial []map[string]*track // by step
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			tracks := map[string]*track{}
			for _, s := range c.steps {
				if r := s.Leader(t); r != nil && r.Trial == trial && c.series[trial] != nil {
					tracks[s.Name] = newTrack(s, r, limit)
					all[s][t.Index] = tracks[s.Name]
				}
			}
			if len(tracks) > 0 {
				trials, byTrial = append(trials, trial), append(byTrial, tracks)
			}
		}
	}
	var readers errgroup.Group
	readers.SetLimit(runtime.GOMAXPROCS(0))
	unread := make([]error, len(trials))
	for i, t := range trials {
		readers.Go(func() error {
			unread[i] = c.series[t](func(l result.Line) error { byTrial[i][l.Step].add(&l); return nil })
			return nil
		})
	}
	_ = readers.Wait() // none fails
	for i, t := range trials {
		if unread[i] == nil {
			continue
		}
		_, reason, _ := strings.Cut(unread[i].Error(), ": ") // without the path
		t.Warnings = metric.AppendNew(t.Warnings, metric.Untyped("its intervals are not shown: "+reason))
		for s := range all {
			if tr := slices.Index(all[s], byTrial[i][s.Name]); tr >= 0 {
				all[s][tr] = nil
			}
		}
	}
	for _, tracks := range all {
		sameWidth(tracks)
	}
	return all
}

func newTrack(s *step, r *run, limit int) *track {
	width := r.Trial.Interval
	if width <= 0 {
		width = 1
	}
	return &track{
		width: width, limit: limit, primary: KindsOf(s.Primary, r.Step.Groups), writes: KindsOf(s.WritesPer, r.Step.Groups),
		apart: r.Trial.Hosting == result.Server, shares: map[string]portion{},
	}
}

// Sources are the sources of series that the report reads, with the values it
// needs, in the form of result.ReadSeries.
var Sources = sources()

func sources() []string {
	out := []string{"ops", "engine:" + engine.CheckpointAge, "engine:" + engine.DirtyBytes}
	for _, c := range counters {
		out = append(out, c.source+":"+c.name)
	}
	return out
}

// KindsOf returns which lines belong to an operation kind. A whole like "query"
// has no lines of its own: it is all operations of the group of that name.
func KindsOf(kind string, groups []result.Group) func(group, op string) bool {
	for _, g := range groups {
		if slices.Contains(g.Ops, kind) {
			return func(_, op string) bool { return op == kind }
		}
	}
	return func(group, _ string) bool { return group == kind && kind != "" }
}

// add adds a line. It does nothing on the nil track of a step that is not
// shown.
func (t *track) add(l *result.Line) {
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
			t.marks.add(l.T, v)
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

func (t *track) addOps(l *result.Line) {
	if len(l.Clients) > 1 {
		t.shares[l.Group] = portionOf(l)
	}
	if l.Event && len(t.events) < mostMarks {
		t.events = append(t.events, event{l.Op, l.T - l.DT/2})
	}
	if l.Upkeep {
		return // not a drawn quantity
	}
	p := t.at(l)
	p.opsTime += newTime(&t.lastOps, l)
	if t.writes(l.Group, l.Op) {
		p.writes += float64(l.Rows)
	}
	if !t.primary(l.Group, l.Op) {
		return
	}
	rows := float64(l.Rows)
	p.rows += rows
	if s := t.shares[l.Group]; s.at == l.T {
		p.low, p.high, p.spread = p.low+rows*s.low, p.high+rows*s.high, p.spread+rows
	}
	p99, limit := l.P99, l.Max
	if l.ResponseMax > 0 {
		p99, limit = l.ResponseP99, l.ResponseMax
	}
	if p.highest = max(p.highest, limit); l.Ops >= metric.LeastSamples(99) {
		p.p99 = max(p.p99, p99)
	}
}

// portionOf returns the clients' portions of their group's work, which only the
// group's first line of each interval has.
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

// newTime returns the length of the line's interval the first time it is seen,
// then 0: a source may write several lines for an interval.
func newTime(last *float64, l *result.Line) float64 {
	if *last == l.T {
		return 0
	}
	*last = l.T
	return l.DT
}

// at returns the point that contains the middle of the line's interval.
func (t *track) at(l *result.Line) *point {
	middle := max(0, l.T-l.DT/2)
	for int(middle/t.width) >= t.limit {
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
