package drive

import (
	"context"
	"slices"
	"time"

	"rumbench/internal/stat/hist"
)

// gather collects the recorders' data, interval by interval.
type gather struct {
	totals     []hist.Group
	now        []GroupInterval
	collectors []*hist.Collector
	queued     []hist.Queue  // of each group, up to the previous interval
	last       time.Duration // end of the previous interval
}

func (g *gather) addGroup(s hist.Shape, clients int) {
	g.totals = append(g.totals, hist.Group{Totals: hist.NewTotals(s)})
	g.now = append(g.now, GroupInterval{Totals: hist.NewTotals(s), Clients: make([]int64, clients)})
	g.collectors = append(g.collectors, hist.NewCollector(s))
	g.queued = append(g.queued, hist.Queue{})
}

// collect takes an interval at every tick, and a last one when all clients have
// finished.
func (r *stepRun) collect(finished <-chan struct{}) {
	tick := time.NewTimer(time.Until(r.base.Add(r.Interval)))
	defer tick.Stop()
	lengthens := r.lengthens()
	for running := true; running; {
		select {
		case <-tick.C:
			passed := time.Since(r.base) / r.Interval
			tick.Reset(time.Until(r.base.Add((passed + 1) * r.Interval))) // the same instants in all processes
			if r.running.Load() > 0 {
				r.take(time.Since(r.base))
				if lengthens {
					r.prolong(time.Since(r.base))
				}
			}
		case <-finished:
			running = false
		}
	}
	r.take(max(r.window(), r.last)) // the last interval ends with the last operation
}

// take moves the clients' records into the totals.
func (r *stepRun) take(end time.Duration) {
	for _, l := range r.loops {
		now := &r.now[l.at]
		ops, errs := r.collectors[l.at].Take(l.rec, &now.Totals)
		now.Clients[l.seat] = ops
		now.Oldest = max(now.Oldest, l.inFlight(end))
		for _, e := range errs {
			now.Errors += e.Count
			r.totals[l.at].Errors.Add(e)
		}
	}
	if end <= r.last && r.recorded() {
		end = time.Since(r.base) // an operation that ended before the last tick and was recorded after it
	}
	iv := &Interval{From: r.last, To: end, Groups: r.now}
	for g := range r.now {
		r.takeQueue(g, end)
		r.addUp(g, iv)
	}
	if r.OnInterval != nil && end > r.last {
		r.OnInterval(iv)
	}
	r.last = end
	for g := range r.now {
		now := &r.now[g]
		now.Reset()
		now.Errors, now.Oldest, now.Queue = 0, 0, nil
	}
}

// recorded reports whether the clients recorded anything since the last interval.
func (r *stepRun) recorded() bool {
	return slices.ContainsFunc(r.now, func(g GroupInterval) bool {
		return g.Errors > 0 || slices.ContainsFunc(g.Clients, func(ops int64) bool { return ops > 0 })
	})
}

// takeQueue records the state of the arrivals of an open group.
func (r *stepRun) takeQueue(g int, end time.Duration) {
	q := r.queues[g]
	if q == nil {
		return
	}
	arrived, shed, waiting := q.at(min(end, r.limit()-1)) // later arrivals do not count
	previousQueue := &r.queued[g]
	total := hist.Queue{Offered: arrived, Shed: shed, Waiting: waiting, Started: arrived - shed - waiting}
	r.now[g].Queue = &hist.Queue{Offered: arrived - previousQueue.Offered, Started: total.Started - previousQueue.Started,
		Shed: shed - previousQueue.Shed, Waiting: waiting}
	*previousQueue = total
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
	// A short last interval has too few operations for a rate.
	if length := iv.To - iv.From; length >= r.Interval/2 {
		total.Rates = append(total.Rates, hist.Rate{
			From: iv.From.Seconds(), To: iv.To.Seconds(), Units: float64(rows), Ops: float64(ops), Oldest: now.Oldest.Seconds(),
		})
	}
}

// window returns the time from the barrier to the end of the last attempt. A step
// that ended by its time limit has at least that time, even if it ended in a pause.
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
	out := &Result{Window: r.window(), Groups: r.totals, Late: r.opening, Ended: context.Cause(ctx)}
	for g := range out.Groups {
		seats := len(r.Clients[g])
		out.Groups[g].Done = make([]int64, seats)
		if r.Step.Groups[g].Paced() {
			out.Groups[g].Lateness = make([]hist.Late, seats)
		}
	}
	for _, l := range r.loops {
		total := &out.Groups[l.at]
		total.CPU += l.cpu
		total.End = max(total.End, l.end)
		total.Done[l.seat] = l.done
		if l.group.Rate > 0 {
			total.Plan = l.group.Plan(r.limit())
		}
		if l.group.Paced() {
			total.Lateness[l.seat] = l.late
			total.InPlan += l.inPlan
		}
	}
	if out.Ended != nil { // includes the time without completed operations
		out.Window = max(out.Window, r.stopped)
	}
	for g := range out.Groups {
		group := &out.Groups[g]
		group.Gaps = r.gaps[g].spans
		// A group that hung until the end has that time too.
		group.End = max(group.End, min(r.limit(), out.Window))
		if out.Ended != nil {
			group.End = out.Window
		}
		if q := r.queues[g]; q != nil {
			end := r.end()
			group.End = max(group.End, end)
			offered, shed, _ := q.at(end - 1)
			group.Arrivals = &hist.Arrivals{Offered: offered, Shed: shed, Longest: q.greatest}
		}
	}
	r.addUndone(out)
	return out
}
