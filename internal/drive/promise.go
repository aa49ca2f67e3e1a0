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

// judgeIntervals allows for the grain of the schedule: in an interval with few
// operations, one that ends just beyond it is not a promise broken.
func (p *Promise) judgeIntervals(rates []Rate, group *workload.Group) {
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
