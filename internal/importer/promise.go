package importer

import (
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// held is the share of a promised rate that counts as holding it.
const held = 0.95

// addPromise judges whether the writers held their rate, by the rules for
// measured runs, from the counts at the ends of intervals. Lateness is how long
// ago the last row that was done by then had been due.
func (b *ibRun) addPromise(k ibKind, g *result.Group) {
	var done, due, backlog float64
	var late float64
	growing := false
	for _, c := range b.clients {
		end := &c.rows[len(c.rows)-1]
		planned := end.end
		if n, ok := positive(c.options["max_rows"]); ok && n > 0 {
			planned = min(planned, n/b.pace)
		}
		done += k.total(end)
		due += b.pace * end.end
		backlog += max(0, b.pace*planned-doneBy(c, k, planned))
		worst := 0.0
		lateness := func(r *ibRow) float64 { return max(0, r.end-k.total(r)/b.pace) }
		for i := range c.rows {
			worst = max(worst, lateness(&c.rows[i]))
		}
		late = max(late, worst)
		growing = growing || lateness(end) > lateness(&c.rows[len(c.rows)/2]) && lateness(end) > end.end/20
	}
	grain := b.perOp * float64(len(b.clients)) // a commit of each client may be on its way
	target := b.pace * float64(len(b.clients))
	sla := &metric.SLA{Target: target, Achieved: target * done / due, Backlog: backlog, MaxLateness: late}
	sla.Met = math.Round(done+grain) >= math.Round(held*due)
	sla.Saturated = !sla.Met && growing
	b.addShare(k, sla, grain)
	g.SLA = sla
	at := of(k.op, "")
	b.put("sla_target", target, at)
	b.put("sla_met", yesNo(sla.Met), at)
	b.put("saturated", yesNo(sla.Saturated), at)
	if sla.Intervals > 0 {
		b.put("sla_share", sla.Share, at, count(int64(sla.Intervals)))
	}
	if !sla.Met {
		b.step.Warnings = append(b.step.Warnings, metric.Warn(metric.SLAMissed, metric.Values{"group": k.op, "target": sla.Target, "achieved": sla.Achieved}))
	}
}

// doneBy is what a client had done at a time, as far as its intervals tell.
func doneBy(c *ibench, k ibKind, t float64) (n float64) {
	for i := range c.rows {
		if c.rows[i].end <= t {
			n = k.total(&c.rows[i])
		}
	}
	return n
}

// addShare adds in how many stretches the rate was held. A stretch is as many
// intervals as it takes for ten commits of each client.
func (b *ibRun) addShare(k ibKind, sla *metric.SLA, grain float64) {
	sla.Worst = math.Inf(1)
	sla.Strict = true
	reached := 0
	for _, s := range joined(b.all(k), b.shortest()) {
		sla.Intervals++
		sla.Worst = min(sla.Worst, s.units/s.length)
		if s.units+grain >= held*sla.Target*s.length {
			reached++
		} else {
			sla.Strict = false
		}
	}
	if sla.Intervals == 0 {
		sla.Worst, sla.Strict = 0, false // it was too short; JSON has no word for unknown
		return
	}
	sla.Share = float64(reached) / float64(sla.Intervals)
}

// shortest is the length of a stretch in which a rate can be judged, in
// seconds: ten commits of each client.
func (b *ibRun) shortest() float64 { return 10 * max(b.perOp, 1) / b.pace }

// joined puts neighbouring intervals together until they are long enough. A
// rest at the end is left out.
func joined(intervals []slice, shortest float64) (out []slice) {
	var s slice
	for _, i := range intervals {
		s.units, s.length, s.end = s.units+i.units, s.length+i.length, i.end
		if s.length >= shortest {
			out = append(out, s)
			s = slice{}
		}
	}
	return out
}

// all are the intervals of all clients, also where percentiles are of one.
func (b *ibRun) all(k ibKind) []slice {
	whole := *b
	whole.o = &Options{}
	return whole.merged(k)
}

func yesNo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
