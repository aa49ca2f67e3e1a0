package drive

import (
	"context"
	"time"

	"rumbench/internal/hist"
)

// gather collects what the recorders hold, interval by interval.
type gather struct {
	totals []GroupResult
	now    []GroupInterval
	last   time.Duration // end of the interval before
}

func (g *gather) addGroup(kinds, clients int, paced bool) {
	g.totals = append(g.totals, GroupResult{Kinds: hist.NewSums(kinds, paced)})
	g.now = append(g.now, GroupInterval{Kinds: hist.NewSums(kinds, paced), Clients: make([]int64, clients)})
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
		ops, errs := l.rec.Take(r.now[l.at].Kinds)
		r.now[l.at].Clients[l.seat] = ops
		total := &r.totals[l.at]
		for _, e := range errs {
			r.now[l.at].Errors += e.Count
			total.addError(e)
		}
	}
	iv := &Interval{From: r.last, To: to, Groups: r.now}
	length := to - r.last
	r.last = to
	for g := range r.now {
		total := &r.totals[g]
		var rows, ops int64
		for k := range r.now[g].Kinds {
			total.Kinds[k].Merge(&r.now[g].Kinds[k])
			if !r.Step.Groups[g].Ops[k].Upkeep {
				rows += r.now[g].Kinds[k].Rows
				ops += r.now[g].Kinds[k].Ops
			}
		}
		// A short rest at the end has too few operations for a rate.
		if length >= r.Interval/2 {
			total.Rates = append(total.Rates, Rate{From: iv.From, To: to, PerSec: float64(rows) / length.Seconds(), Ops: ops})
		}
	}
	if r.OnInterval != nil && length > 0 {
		r.OnInterval(iv)
	}
	for g := range r.now {
		r.now[g].reset()
	}
}

func (g *GroupInterval) reset() {
	for k := range g.Kinds {
		g.Kinds[k].Reset()
	}
	g.Errors = 0
}

func (g *GroupResult) addError(e hist.ErrorCount) {
	for i := range g.Errors {
		if g.Errors[i].Class == e.Class {
			g.Errors[i].Count += e.Count
			return
		}
	}
	g.Errors = append(g.Errors, e)
}

// window is the time from the barrier to the end of the last operation.
func (r *stepRun) window() (end time.Duration) {
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
		if l.schedule != nil {
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
		if r.Rate(&r.Step.Groups[g]) > 0 {
			r.addDue(g, group)
		}
	}
	return out
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
