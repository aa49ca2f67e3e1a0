package account

import (
	"cmp"
	"math"
	"slices"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
	"rumbench/workload/pace"
)

// Group is a group of clients, with its plan and its results.
type Group struct {
	*workload.Group
	Did *hist.Group
	// Of a paced or open group: how many operations its schedule, continued
	// without end, starts before the actual end, and before the planned end of the
	// work or time.
	due, dueInPlan int64
	Intervals      []Interval // of the window, with the operations due in them
}

// Interval is a stretch of the window with the operations due in it.
type Interval struct {
	hist.Rate
	Length  float64 // seconds
	Due     int64   // operations due before it, of a group with a rate
	Arrived float64 // operations that arrived in it, at an open group
}

// NewInterval returns an interval by its end and length in seconds.
func NewInterval(end, length, units float64) Interval {
	return Interval{Rate: hist.Rate{From: end - length, To: end, Units: units, Ops: units}, Length: length}
}

// PerSec returns the rate of the interval in units per second.
func (i *Interval) PerSec() float64 { return i.Units / i.Length }

// Groups returns the groups of a step; seed is that of their schedules.
func Groups(step *workload.Step, work []hist.Group, seed uint64) (out []*Group) {
	for g := range work {
		out = append(out, NewGroup(&step.Groups[g], &work[g], workload.GroupSeed(seed, g)))
	}
	return out
}

// NewGroup replays the schedules of a group, which follow from its seed, to
// find when operations were due.
func NewGroup(group *workload.Group, work *hist.Group, seed uint64) *Group {
	g := &Group{Group: group, Did: work}
	for _, r := range work.Rates {
		g.Intervals = append(g.Intervals, Interval{Rate: r, Length: r.To - r.From})
	}
	switch {
	case work.Arrivals != nil:
		g.arrived(seed)
	case group.Rate > 0:
		for i := range group.Clients {
			if s, err := group.Schedule(seed, i); err == nil { // it was made before
				g.addDue(s)
			}
		}
	}
	return g
}

func duration(seconds float64) time.Duration { return time.Duration(math.Round(seconds * 1e9)) }

// arrived counts the arrivals in each interval.
func (g *Group) arrived(seed uint64) {
	g.due, g.dueInPlan = g.Did.Arrivals.Offered, g.Did.Arrivals.Offered
	s, err := g.Arrivals.Schedule(seed)
	if err != nil {
		return // it was made before
	}
	n, next := int64(0), s.Next()
	before := func(seconds float64) int64 {
		for t := duration(seconds); next < t && n < g.due; next = s.Next() {
			n++
		}
		return n
	}
	for i := range g.Intervals {
		r := &g.Intervals[i]
		since := before(r.From)
		r.Arrived = float64(before(r.To) - since)
	}
}

// addDue counts the operations that a client's schedule had due.
func (g *Group) addDue(s *pace.Schedule) {
	k, n := 0, int64(0) // how many of the client's operations precede next
	capped := func() int64 {
		if g.Work > 0 {
			return min(n, g.Work)
		}
		return n
	}
	for next := s.Next(); next < max(g.Did.End, g.Did.Plan); n, next = n+1, s.Next() {
		for ; k < len(g.Intervals) && duration(g.Intervals[k].From) <= next; k++ {
			g.Intervals[k].Due += capped()
		}
		if next < g.Did.End {
			g.due++
		}
		if next < g.Did.Plan && (g.Work == 0 || n < g.Work) {
			g.dueInPlan++
		}
	}
	for ; k < len(g.Intervals); k++ {
		g.Intervals[k].Due += capped()
	}
}

// within returns the intervals that lie in the group's own time.
func (g *Group) within() []Interval {
	n, end := len(g.Intervals), g.Did.End.Seconds()
	for n > 0 && g.Intervals[n-1].To-end > g.Intervals[n-1].Length/10 {
		n--
	}
	return g.Intervals[:n]
}

// enoughOps is how many operations of each client an interval needs to be
// judged; shorter neighbours are joined.
const enoughOps = 10

// coarse returns the intervals within the group's time, joined until each is long
// enough for enoughOps operations of a client at its rate.
func (g *Group) coarse(perSec float64) []Interval {
	return Join(g.within(), 0.99*enoughOps/perSec) // intervals are never exactly as long as requested
}

// Join joins neighbouring intervals until each has the shortest length in
// seconds. A remainder at the end is left out.
func Join(intervals []Interval, shortest float64) (out []Interval) {
	var sum Interval
	begun := false
	for _, r := range intervals {
		if !begun {
			sum, begun = Interval{Rate: hist.Rate{From: r.From}}, true
		}
		sum.To = r.To
		sum.Units += r.Units
		sum.Length += r.Length
		sum.Ops += r.Ops
		sum.Arrived += r.Arrived
		if sum.Length >= shortest {
			out, begun = append(out, sum), false
		}
	}
	return out
}

// fewOps is the number of operations in a median interval below which its rate
// reflects single operations, and an empty one means nothing: an index build is
// one operation over many intervals.
const fewOps = 3

// rates returns the units per second, and the operations, of intervals.
func rates(intervals []Interval) (perSec, ops []float64) {
	for i := range intervals {
		perSec, ops = append(perSec, intervals[i].PerSec()), append(ops, intervals[i].Ops)
	}
	return perSec, ops
}

// Rates returns the units per second of intervals; none if a median interval
// has too few operations for a rate.
func Rates(intervals []Interval) []float64 {
	perSec, ops := rates(intervals)
	if len(intervals) == 0 || stat.Median(ops) < fewOps {
		return nil
	}
	return perSec
}

// rates returns the rates of the group's intervals, joined if a promised rate
// has few operations in one.
func (g *Group) rates() []float64 {
	rate := g.Rate
	if g.Did.Arrivals != nil {
		rate = float64(g.due) / g.Did.End.Seconds() / float64(g.Clients)
	}
	if rate > 0 {
		return Rates(g.coarse(rate))
	}
	return Rates(g.Intervals)
}

// Stalls returns the spans in which a group stalled: gaps as long as an interval, and
// stalled intervals, with the bounds of the gaps in them. In a closed loop an interval is
// stalled if nothing was completed, or less than a tenth of the median. With a rate,
// nothing may have been due in an interval, so it is stalled only if nothing was
// completed although an operation was due since before it began; with arrivals, although
// one was in flight since before it began. found is false if intervals are too short for
// the group's operations.
func (g *Group) Stalls() (spans []metric.Span, found bool) {
	intervals := g.Intervals
	if len(intervals) == 0 {
		return nil, false
	}
	var runs []stat.Run
	switch {
	case g.Did.Arrivals != nil:
		intervals = g.within()
		runs = stat.Runs(len(intervals), func(i int) bool {
			r := &intervals[i]
			return r.Ops == 0 && r.Oldest >= r.Length
		})
	case g.Rate > 0:
		intervals = g.within()
		done := 0.0
		runs = stat.Runs(len(intervals), func(i int) bool {
			r := &intervals[i]
			stalled := r.Ops == 0 && done < float64(r.Due)
			done += r.Ops
			return stalled
		})
	default:
		rates := g.rates()
		if len(rates) == 0 {
			return nil, false
		}
		runs = stat.Stalls(rates)
	}
	return g.exact(spansOf(g.Name, intervals, runs)), true
}

// exact gives stalled intervals the bounds of the gaps in them, and adds the other gaps as
// long as an interval, unless operations are usually as long. Intervals that gaps leave
// partly unexplained are slow throughout.
func (g *Group) exact(spans []metric.Span) []metric.Span {
	const explained = 0.9
	for i := range spans {
		s, bounds, covered := &spans[i], metric.Span{From: math.Inf(1)}, 0.0
		for _, gap := range g.Did.Gaps {
			if part := min(gap.To, s.To) - max(gap.From, s.From); part > 0 {
				bounds.From, bounds.To, covered = min(bounds.From, gap.From), gap.To, covered+part
			}
		}
		switch {
		case covered >= explained*(s.To-s.From):
			s.From, s.To = bounds.From, bounds.To
		case covered > 0:
			s.From, s.To = min(s.From, bounds.From), max(s.To, bounds.To)
		}
	}
	usual := len(Rates(g.Intervals)) > 0
	for _, gap := range g.Did.Gaps {
		noted := func(s metric.Span) bool { return gap.From < s.To && s.From < gap.To }
		if usual && gap.To-gap.From >= g.Intervals[0].Length && !slices.ContainsFunc(spans, noted) {
			spans = append(spans, metric.Span{Group: g.Name, From: gap.From, To: gap.To})
		}
	}
	slices.SortFunc(spans, func(a, b metric.Span) int { return cmp.Compare(a.From, b.From) })
	return spans
}

func spansOf(group string, intervals []Interval, runs []stat.Run) (out []metric.Span) {
	for _, run := range runs {
		out = append(out, metric.Span{Group: group, From: intervals[run.From].From, To: intervals[run.To-1].To})
	}
	return out
}
