package account

import (
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
)

// heldShare is the share of a promised rate that counts as holding it.
const heldShare = 0.95

// HeldAverage applies the rule of the published tables: the average reaches 95 % of
// the target, both as C's printf rounds them to whole numbers: ties to even.
func HeldAverage(achieved, target float64) bool {
	return math.RoundToEven(achieved) >= math.RoundToEven(heldShare*target)
}

// Promise holds the figures by which a promised rate is judged.
type Promise struct {
	Target    float64 // units a second
	Done, Due float64 // units, over the time of the group
	Seconds   float64 // that time
	Grain     float64 // units that may be in flight at the end of an interval: an operation of each client
	Backlog   float64 // units due by the planned end but not done by then
	Behind    bool    // lateness kept growing
	// Intervals are judged one by one; the target of an open group is its
	// arrivals.
	Intervals []Interval
	Open      bool
}

// Judge returns how well the promise was kept. One operation of each client may
// be in flight at the end, and a random schedule may have had less due than its
// rate; neither breaks a promise.
func (p *Promise) Judge() *metric.SLA {
	s := &metric.SLA{Target: p.Target, Backlog: p.Backlog}
	if p.Seconds == 0 {
		return s // it has no length
	}
	s.Achieved = p.Done / p.Seconds
	s.Met = HeldAverage(s.Achieved+p.Grain/p.Seconds, min(p.Target, p.Due/p.Seconds))
	s.Saturated = !s.Met && p.Behind
	if s.Intervals = len(p.Intervals); s.Intervals == 0 {
		return s
	}
	held := 0
	s.Worst = math.Inf(1)
	for _, r := range p.Intervals {
		target, done := p.Target, r.PerSec()
		if p.Open {
			target, done = r.Arrived/r.Length, r.Ops/r.Length
		}
		if done+p.Grain/r.Length >= heldShare*target {
			held++
		}
		s.Worst = min(s.Worst, done)
	}
	s.Share = float64(held) / float64(s.Intervals)
	return s
}

// Judge judges a paced or open group over its own time, to the end of its last
// operation. The units of an open group are operations, as these are what
// arrives.
func (g *Group) Judge() *metric.SLA {
	perOp := float64(max(1, g.RowsPerOp))
	p := Promise{Seconds: g.Did.End.Seconds(), Open: g.Rate == 0}
	if p.Open {
		perOp = 1
	}
	if p.Seconds == 0 {
		return p.Judge()
	}
	for k := range g.Did.Kinds {
		switch sums := &g.Did.Kinds[k]; {
		case g.Ops[k].Upkeep:
		case p.Open:
			p.Done += float64(sums.Ops)
		default:
			p.Done += float64(sums.Rows)
		}
	}
	p.Due = float64(g.due) * perOp
	p.Grain = perOp * float64(g.Clients)
	p.Backlog = float64(max(0, g.dueInPlan-g.Did.InPlan)) * perOp
	if p.Target = g.Rate * perOp * float64(g.Clients); p.Open {
		p.Target = p.Due / p.Seconds
	}
	p.Intervals = g.coarse(p.Target / perOp / float64(g.Clients))
	shed := g.Did.Arrivals != nil && g.Did.Arrivals.Shed > 0 // which keeps lateness from growing
	p.Behind = shed
	for _, l := range g.Did.Lateness {
		p.Behind = p.Behind || Growing(l.Half.Seconds(), l.End.Seconds(), p.Seconds)
	}
	sla := p.Judge()
	for k := range g.Did.Kinds {
		if l := g.Did.Kinds[k].Lateness; l != nil {
			sla.MaxLateness = max(sla.MaxLateness, float64(l.Max())/1e9)
		}
	}
	return sla
}

// Growing reports whether lateness keeps growing: it was greater at the end
// than halfway, and more than a twentieth of the whole time. A client that
// catches up after a stall is not saturated.
func Growing(half, end, window float64) bool { return end > window/20 && end > half }

// Promise adds the rows and warnings of a promised rate.
func (b *Builder) Promise(group string, s *metric.SLA) {
	subject := Of(group, "")
	b.Put(metric.SLATarget, s.Target, subject)
	if s.Intervals > 0 {
		b.Put(metric.SLAShare, s.Share, subject, Count(int64(s.Intervals)))
		b.Put(metric.SLAWorst, s.Worst, subject)
	}
	b.Put(metric.SLAMet, yesNo(s.Met), subject)
	b.Put(metric.SaturatedFlag, yesNo(s.Saturated), subject)
	b.Put(metric.SLAAchieved, s.Achieved, subject)
	b.Put(metric.SLABacklog, s.Backlog, subject)
	b.Put(metric.SLALatenessS, s.MaxLateness, subject)
	if !s.Met {
		b.Warn(remark.SLAMissed, metric.Values{"group": group, "target": s.Target, "achieved": s.Achieved})
	}
	if s.Saturated {
		b.Warn(remark.Saturated, metric.Values{"group": group})
	}
}
