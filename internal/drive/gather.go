package drive

import (
	"context"
	"time"

	"rumbench/internal/hist"
)

// gather collects what the recorders hold, interval by interval.
type gather struct {
	totals     []GroupResult
	now        []GroupInterval
	collectors []*hist.Collector
	queued     []Queue       // of each group until the interval before
	last       time.Duration // end of the interval before
}

func (g *gather) addGroup(s hist.Shape, clients int) {
	g.totals = append(g.totals, GroupResult{Totals: hist.NewTotals(s)})
	g.now = append(g.now, GroupInterval{Totals: hist.NewTotals(s), Clients: make([]int64, clients)})
	g.collectors = append(g.collectors, hist.NewCollector(s))
	g.queued = append(g.queued, Queue{})
}

// collect takes an interval at every tick, and the rest when all clients have
// finished.
func (r *stepRun) collect(finished <-chan struct{}) {
	tick := time.NewTicker(r.Interval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.take(time.Since(r.base))
		case <-finished:
			// The last interval ends with the last operation.
			r.take(max(r.window(), r.last))
			return
		}
	}
}

// take moves what the clients recorded into the totals.
func (r *stepRun) take(to time.Duration) {
	for _, l := range r.loops {
		now := &r.now[l.at]
		ops, errs := r.collectors[l.at].Take(l.rec, &now.Totals)
		now.Clients[l.seat] = ops
		now.Oldest = max(now.Oldest, l.inFlight(to))
		for _, e := range errs {
			now.Errors += e.Count
			r.totals[l.at].addError(e)
		}
	}
	iv := &Interval{From: r.last, To: to, Groups: r.now}
	for g := range r.now {
		r.takeQueue(g, to)
		r.addUp(g, iv)
	}
	if r.OnInterval != nil && to > r.last {
		r.OnInterval(iv)
	}
	r.last = to
	for g := range r.now {
		r.now[g].reset()
	}
}

// takeQueue tells how the arrivals of an open group stand.
func (r *stepRun) takeQueue(g int, to time.Duration) {
	q := r.queues[g]
	if q == nil {
		return
	}
	arrived, shed, waiting := q.at(min(to, r.limit()-1)) // what would have come later is of no concern
	before := &r.queued[g]
	total := Queue{Offered: arrived, Shed: shed, Waiting: waiting, Started: arrived - shed - waiting}
	r.now[g].Queue = &Queue{Offered: arrived - before.Offered, Started: total.Started - before.Started, Shed: shed - before.Shed, Waiting: waiting}
	*before = total
}

// addUp adds an interval of a group to its totals.
func (r *stepRun) addUp(g int, iv *Interval) {
	now, total := &r.now[g], &r.totals[g]
	var rows, ops int64
	for k := range now.Kinds {
		if !r.Step.Groups[g].Ops[k].Upkeep {
			rows += now.Kinds[k].Rows
			ops += now.Kinds[k].Ops
		}
	}
	total.Merge(&now.Totals)
	// A short rest at the end has too few operations for a rate.
	if length := iv.To - iv.From; length >= r.Interval/2 {
		total.Rates = append(total.Rates, Rate{From: iv.From, To: iv.To, PerSec: float64(rows) / length.Seconds(), Ops: ops, Oldest: now.Oldest})
	}
}

func (g *GroupInterval) reset() {
	g.Totals.Reset()
	g.Errors, g.Oldest, g.Queue = 0, 0, nil
}

func (g *GroupResult) addError(e hist.ErrorCount) {
	for i := range g.Errors {
		if g.Errors[i].Class == e.Class && g.Errors[i].Kind == e.Kind {
			g.Errors[i].Count += e.Count
			return
		}
	}
	g.Errors = append(g.Errors, e)
}

// window is the time from the barrier to the end of the last attempt; of a step
// that its time ended, at least that time, though a pause was the last of it.
func (r *stepRun) window() (end time.Duration) {
	if limit := r.limit(); limit > 0 && r.stopped >= limit {
		end = limit
	}
	for _, l := range r.loops {
		end = max(end, l.end)
	}
	return end
}

func (r *stepRun) result(ctx context.Context) *Result {
	out := &Result{Start: r.base, Window: r.window(), Groups: r.totals, Ended: context.Cause(ctx)}
	for _, l := range r.loops {
		total := &out.Groups[l.at]
		total.CPU += l.cpu
		total.End = max(total.End, l.end)
		total.Done = append(total.Done, l.done)
		if r.Paced(l.group) {
			total.Lateness = append(total.Lateness, l.late)
			total.InPlan += l.inPlan
		}
	}
	if out.Ended != nil { // the time in which nothing was completed any more belongs to it
		out.Window = max(out.Window, r.stopped)
	}
	for g := range out.Groups {
		group := &out.Groups[g]
		// A group that hung to the end had that time too.
		group.End = max(group.End, min(r.limit(), out.Window))
		if out.Ended != nil {
			group.End = out.Window
		}
		switch {
		case r.queues[g] != nil:
			r.addArrivals(g, group)
		case r.Paced(&r.Step.Groups[g]):
			r.addDue(g, group)
		}
	}
	r.addUndone(out)
	return out
}

// addArrivals tells what became of the operations that arrived at a group, and
// how many were due when.
func (r *stepRun) addArrivals(g int, out *GroupResult) {
	end := r.end()
	out.End = max(out.End, end)
	q := r.queues[g]
	offered, shed, _ := q.at(end - 1)
	out.Arrivals = &Arrivals{Offered: offered, Shed: shed, Longest: q.greatest}
	times := []time.Duration{}
	for _, rate := range out.Rates {
		times = append(times, min(rate.From, end), min(rate.To, end))
	}
	due, err := before(r.Step.Groups[g].Arrivals, r.arrivalSeed(g), times)
	if err != nil {
		return // it was made before
	}
	for i := range out.Rates {
		out.Rates[i].Due, out.Rates[i].Arrived = due[2*i], due[2*i+1]-due[2*i]
	}
	out.Due, out.DueInPlan = offered, offered
}

// addDue walks the schedules of a group's clients once more, to know how many
// operations were due when.
func (r *stepRun) addDue(g int, out *GroupResult) {
	plan := r.plan(&r.Step.Groups[g])
	for i := range r.Clients[g] {
		s, err := r.newSchedule(g, i)
		if err != nil {
			return // it was made before
		}
		work := r.Step.Groups[g].Work
		k := 0
		n := int64(0) // how many of the client's come before next
		for next := s.Next(); next < max(out.End, plan); n, next = n+1, s.Next() {
			for k < len(out.Rates) && out.Rates[k].From <= next {
				out.Rates[k].Due += capped(n, work)
				k++
			}
			if next < out.End {
				out.Due++
			}
			if next < plan && (work == 0 || n < work) {
				out.DueInPlan++
			}
		}
		for ; k < len(out.Rates); k++ {
			out.Rates[k].Due += capped(n, work)
		}
	}
}

func capped(n, limit int64) int64 {
	if limit > 0 {
		return min(n, limit)
	}
	return n
}
