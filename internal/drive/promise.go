package drive

import (
	"math"
	"time"

	"rumbench/workload"
)

// HeldShare is the share of a promised rate that counts as holding it.
const HeldShare = 0.95

// Promise is how a group did that has a rate, or serves arrivals. Of an open
// group units are operations: these are what arrives.
type Promise struct {
	Target    float64 // units a second of the whole group; of an open group what was offered on average
	Achieved  float64
	Intervals int     // how many stretches were judged
	Share     float64 // of the intervals, how many reached HeldShare of the target; NaN without intervals
	Worst     float64 // units a second in the worst interval; NaN without intervals
	Backlog   float64 // units due by the planned end but not done by then
	Met       bool
	Strict    bool // every interval reached HeldShare
	Saturated bool
}

// HeldAverage is the rule of the published tables: the average reaches 95 % of
// the target, rounded to a whole number.
func HeldAverage(achieved, target float64) bool {
	return math.Round(achieved) >= math.Round(HeldShare*target)
}

// Judge judges a group with a rate over its own time: to the end of its last
// operation. One operation of each client may be on its way when the time is
// over, and a random schedule may have asked for less than its rate says;
// neither breaks a promise.
func (r *Result) Judge(g int, group *workload.Group) Promise {
	res := &r.Groups[g]
	var done int64 // units
	for k := range res.Kinds {
		switch {
		case group.Ops[k].Upkeep:
		case group.Rate == 0:
			done += res.Kinds[k].Ops
		default:
			done += res.Kinds[k].Rows
		}
	}
	perOp := unitsPerOp(group)
	seconds := res.End.Seconds()
	if seconds == 0 {
		return Promise{Share: math.NaN(), Worst: math.NaN()} // it ended before it began
	}
	p := Promise{
		Target:   group.Rate * perOp * float64(group.Clients),
		Achieved: float64(done) / seconds,
		Backlog:  float64(max(0, res.DueInPlan-res.InPlan)) * perOp,
		Share:    math.NaN(),
		Worst:    math.NaN(),
	}
	due := float64(res.Due) * perOp / seconds
	if group.Rate == 0 {
		p.Target = due
	}
	grain := perOp * float64(group.Clients) / seconds
	p.Met = HeldAverage(p.Achieved+grain, min(p.Target, due))
	p.judgeIntervals(res.within(), group)
	shed := res.Arrivals != nil && res.Arrivals.Shed > 0 // so that no lateness could grow
	p.Saturated = !p.Met && (shed || growing(res.Lateness, res.End))
	return p
}

// unitsPerOp is how many units of a promise an operation is.
func unitsPerOp(g *workload.Group) float64 {
	if g.Rate == 0 {
		return 1
	}
	return float64(max(1, g.RowsPerOp))
}

// within are the intervals that lie in the group's own time.
func (g *GroupResult) within() []Rate {
	n := len(g.Rates)
	for n > 0 && g.Rates[n-1].To-g.End > (g.Rates[n-1].To-g.Rates[n-1].From)/10 {
		n--
	}
	return g.Rates[:n]
}

// enoughOps is how many operations of each client an interval must hold to be
// judged; with fewer, neighbours are judged together.
const enoughOps = 10

// judgeIntervals allows for the grain of the schedule: one operation of each
// client that ends just beyond an interval is not a promise broken.
func (p *Promise) judgeIntervals(rates []Rate, group *workload.Group) {
	perOp := unitsPerOp(group)
	rates = coarse(rates, p.Target/perOp/float64(group.Clients))
	if len(rates) == 0 {
		return
	}
	held := 0
	p.Worst = math.Inf(1)
	for _, r := range rates {
		seconds := (r.To - r.From).Seconds()
		target, done := p.Target, r.PerSec
		if group.Rate == 0 {
			target, done = float64(r.Arrived)/seconds, float64(r.Ops)/seconds
		}
		if done+perOp*float64(group.Clients)/seconds >= HeldShare*target {
			held++
		}
		p.Worst = min(p.Worst, done)
	}
	p.Intervals = len(rates)
	p.Share = float64(held) / float64(len(rates))
	p.Strict = held == len(rates)
}

// coarse joins neighbouring intervals until each is long enough for enoughOps
// operations of a client at its rate. A rest at the end is left out.
func coarse(rates []Rate, perSec float64) (out []Rate) {
	for len(rates) > 0 {
		sum := Rate{From: rates[0].From}
		var units float64
		n := 0
		for enough := false; !enough; n++ {
			if n == len(rates) {
				return out
			}
			r := rates[n]
			units += r.PerSec * (r.To - r.From).Seconds()
			sum.Ops += r.Ops
			sum.Arrived += r.Arrived
			sum.To = r.To
			// Intervals are never exactly as long as asked for.
			enough = (sum.To-sum.From).Seconds()*perSec >= 0.99*enoughOps
		}
		sum.PerSec = units / (sum.To - sum.From).Seconds()
		out = append(out, sum)
		rates = rates[n:]
	}
	return out
}

// growing tells whether lateness grows without end: it was greater at the end
// than halfway, and by then more than a twentieth of the whole time. A client
// that catches up after a stall is not saturated.
func growing(late []Late, window time.Duration) bool {
	for _, l := range late {
		if l.End > window/20 && l.End > l.Half {
			return true
		}
	}
	return false
}
