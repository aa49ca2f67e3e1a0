package drive

import (
	"math"
	"time"

	"rumbench/workload"
)

// HeldShare is the share of a promised rate that counts as holding it.
const HeldShare = 0.95

// Promise is how a group with a rate did.
type Promise struct {
	Target    float64 // units a second of the whole group
	Achieved  float64
	Share     float64 // of the intervals, how many reached HeldShare of the target; NaN without intervals
	Worst     float64 // units a second in the worst interval; NaN without intervals
	Backlog   float64 // units due at the end but not done
	Met       bool
	Strict    bool // every interval reached HeldShare
	Saturated bool
}

// HeldAverage is the rule of the published tables: the average reaches 95 % of
// the target, rounded to a whole number.
func HeldAverage(achieved, target float64) bool {
	return math.Round(achieved) >= math.Round(HeldShare*target)
}

// Judge judges a group with a rate. Where everything was done that the schedule
// asked for, but for one operation of each client that may be on its way, the
// promise was kept even if the average of a short window says otherwise: a
// window of a second may hold few operations, or none.
func (r *Result) Judge(g int, group *workload.Group) Promise {
	res := &r.Groups[g]
	var rows, ops int64
	for k := range res.Kinds {
		if !group.Ops[k].Upkeep {
			rows += res.Kinds[k].Rows
			ops += res.Kinds[k].Ops
		}
	}
	missing := max(0, res.Due-ops)
	p := Promise{
		Target:   group.Rate * float64(group.RowsPerOp) * float64(group.Clients),
		Achieved: float64(rows) / r.Window.Seconds(),
		Backlog:  float64(missing * group.RowsPerOp),
		Share:    math.NaN(),
		Worst:    math.NaN(),
	}
	p.Met = HeldAverage(p.Achieved, p.Target) || missing <= int64(group.Clients) && !growing(res.Lateness, r.Window)
	p.judgeIntervals(res.Rates, group)
	p.Saturated = !p.Met && growing(res.Lateness, r.Window)
	return p
}

// enoughOps is how many operations an interval must hold to be judged; with
// fewer, neighbours are judged together.
const enoughOps = 10

// judgeIntervals allows for the grain of the schedule: one operation that ends
// just beyond an interval is not a promise broken.
func (p *Promise) judgeIntervals(rates []Rate, group *workload.Group) {
	rates = coarse(rates, group.Rate*float64(group.Clients))
	if len(rates) == 0 {
		return
	}
	held := 0
	p.Worst = math.Inf(1)
	for _, r := range rates {
		grain := float64(group.RowsPerOp) * float64(group.Clients) / (r.To - r.From).Seconds()
		if r.PerSec >= HeldShare*p.Target || r.PerSec+grain >= p.Target {
			held++
		}
		p.Worst = min(p.Worst, r.PerSec)
	}
	p.Share = float64(held) / float64(len(rates))
	p.Strict = held == len(rates)
}

// coarse joins neighbouring intervals until each is long enough for enoughOps
// operations at the rate. A rest at the end is left out.
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
