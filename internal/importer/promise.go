package importer

import (
	"math"

	"rumbench/internal/account"
	"rumbench/internal/metric"
)

// addArrivals adds the rate that the only group was asked for, and, of a complete run,
// whether it was held. Arrivals are random, and their number is unknown: three standard
// deviations fewer than the rate asks for are allowed.
func addArrivals(r *run, rate, done float64, complete bool) {
	g := &r.step.Groups[0]
	if g.Rate, g.Pace = rate, "poisson"; !complete {
		return
	}
	expected := rate * r.step.Seconds
	p := account.Promise{Target: rate, Done: done, Due: expected - 3*math.Sqrt(expected), Seconds: r.step.Seconds,
		Grain: float64(g.Clients)}
	met, at := 1.0, account.Of(g.Name, "")
	if sla := p.Judge(); !sla.Met {
		met = 0
		r.step.Warnings = append(r.step.Warnings, metric.Warn(metric.SLAMissed,
			metric.Values{"group": g.Name, "target": rate, "achieved": sla.Achieved}))
	}
	r.put(metric.SLATarget, rate, at)
	r.put(metric.SLAMet, met, at)
}

// addPromise judges whether the writers kept their promised rate, from the counts
// at the ends of intervals. Lateness is the time since the last row done by then
// was due.
func (b *ibRun) addPromise(kind int) {
	target := b.pace * float64(len(b.clients))
	p := account.Promise{Target: target, Grain: b.perOp * float64(len(b.clients)),
		Intervals: account.Join(b.merged(kind, b.clients), b.shortest())}
	var late float64
	for _, c := range b.clients {
		end := c.end()
		if end == nil {
			continue // it only built indexes
		}
		planned := end.end
		if n, ok := positive(c.options["max_rows"]); ok && n > 0 {
			planned = min(planned, n/b.pace)
		}
		p.Done += end.kinds[kind].total
		p.Due += b.pace * end.end
		p.Backlog += max(0, b.pace*planned-doneBy(c, kind, planned))
		lateness := func(r *ibRow) float64 { return max(0, r.end-r.kinds[kind].total/b.pace) }
		for i := range c.items {
			late = max(late, lateness(&c.items[i]))
		}
		p.Behind = p.Behind || account.Growing(lateness(&c.items[len(c.items)/2]), lateness(end), end.end)
	}
	p.Seconds = p.Due / target
	sla := p.Judge()
	sla.MaxLateness = late
	b.build(func(out *account.Builder) { out.Promise(ibKinds[kind].op, sla) })
}

// doneBy returns the number of operations that a client had completed by a time,
// according to its intervals.
func doneBy(c *ibench, kind int, t float64) (n float64) {
	for i := range c.items {
		if c.items[i].end <= t {
			n = c.items[i].kinds[kind].total
		}
	}
	return n
}

// shortest returns the shortest period, in seconds, over which a rate can be
// judged: ten commits of each client.
func (b *ibRun) shortest() float64 { return 10 * max(b.perOp, 1) / b.pace }
