package divided

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/internal/stat/hist"
	"rumbench/internal/text/escape"
)

// What a machine reports is compared with what it was asked for, with the time that has passed, and with itself,
// before it is added to what others did. What no rumbench sends, or what cannot be true, loses the machine.

const (
	clockSlack     = time.Second // and a 500th: by which a load may have taken longer on another machine's clock
	longestText    = 2000        // characters
	mostProcessors = 1 << 13     // of a kernel
)

// line returns a text of another machine as one line.
func line(text string) string { return escape.Clip(escape.Line(text), longestText) }

// doubt is why a report cannot be true; "": it can.
type doubt string

// unless notes the first reason: what does not hold.
func (d *doubt) unless(sound bool, format string, args ...any) {
	if *d == "" && !sound {
		*d = doubt(fmt.Sprintf(format, args...))
	}
}

// prepared checks what a part has prepared for a step.
func (t *Task) prepared(p *Prepared) (d doubt) {
	if p != nil {
		d.unless(!slices.Contains(p.Ops, nil) && len(p.Statements) <= len(t.Numbers.Groups) && len(p.Dealt) <= longestText,
			"it prepared %d operations for %d groups", len(p.Ops), len(p.Statements))
	}
	return d
}

// interval checks the interval of a part that follows an instant of a load, which has run so long at most.
func (n *Numbers) interval(iv *Interval, previous, longest time.Duration) (d doubt) {
	if iv == nil || len(iv.Machines) != 1 || len(iv.Groups) != len(n.Groups) {
		return "an interval is of another load"
	}
	d.unless(previous <= iv.From && iv.From < iv.To && iv.To <= longest,
		"an interval is from %v to %v, after %v and before %v", iv.From, iv.To, previous, longest)
	for i := range iv.Groups {
		g, planned := &iv.Groups[i], &n.Groups[i]
		ops, upkeep := d.totals(&g.Totals, planned, longest)
		d.unless(len(g.Clients) == planned.Clients && sum(g.Clients) == ops+upkeep, "%d clients did %d operations, of %d",
			len(g.Clients), sum(g.Clients), ops+upkeep)
		d.unless(g.Errors >= 0 && 0 <= g.Oldest && g.Oldest <= longest, "it had %d errors, and an operation was %v old",
			g.Errors, g.Oldest)
		q := g.Queue
		d.unless(q == nil || min(q.Offered, q.Shed, q.Waiting) >= 0, "operations arrived: %+v", q)
	}
	d.use(&iv.Machines[0].Use, longest)
	return d
}

// outcome checks what a part did in a load, which has run so long at most.
func (n *Numbers) outcome(o *Outcome, longest time.Duration) (d doubt) {
	if o == nil || o.Result == nil || len(o.Reports) != 1 || len(o.Result.Groups) != len(n.Groups) {
		return "its result is that of another load"
	}
	r, u := o.Result, &o.Reports[0].UseTotal
	d.unless(min(r.Window, r.Late, o.Lag) >= 0 && max(r.Window, r.Late) <= longest && o.Lag <= time.Minute,
		"its clients began %v late and worked for %v, of %v", r.Late, r.Window, longest)
	for i := range r.Groups {
		d.group(&r.Groups[i], &n.Groups[i], longest, n.Interval)
	}
	d.unless(min(u.MinTrip, u.Trip) >= 0 && math.Abs(u.Processors) <= mostProcessors, "it has %g processors, and round "+
		"trips of %v", u.Processors, u.Trip)
	d.use(&u.Use, longest)
	return d
}

func (d *doubt) use(u *observe.Use, longest time.Duration) {
	d.unless(min(u.CPU, u.Queue) >= 0 && u.CPU <= mostProcessors*longest &&
		math.Abs(u.Busy) <= 1 && math.Abs(u.Net) <= 1e6, "its clients needed %+v", *u)
}

// group checks what clients of a group did.
func (d *doubt) group(g *hist.Group, planned *Group, longest, interval time.Duration) {
	ops, _ := d.totals(&g.Totals, planned, longest)
	d.unless(max(len(g.Done), len(g.Lateness)) <= planned.Clients && sum(g.Done) == ops,
		"%d clients did %d operations, of %d", len(g.Done), sum(g.Done), ops)
	d.unless(min(g.CPU, g.End, g.Plan) >= 0 && g.End <= longest && 0 <= g.InPlan && g.InPlan <= ops,
		"its clients used %v of CPU time and ended after %v", g.CPU, g.End)
	a := g.Arrivals
	d.unless((a == nil) == (planned.Arrivals == nil) && (g.Undone != nil) == planned.Shape.Paced,
		"arrivals lack, or are too many")
	d.unless(a == nil || 0 <= min(a.Shed, a.Longest) && a.Shed <= a.Offered && float64(a.Offered) < math.MaxInt32*1e6,
		"operations arrived: %+v", a)
	end, counted := 0.0, 0.0
	for _, r := range g.Rates {
		counted += r.Ops
		d.unless(end <= r.From && r.From+interval.Seconds()*0.49 <= r.To && r.To <= longest.Seconds() &&
			min(r.Units, r.Ops, r.Oldest) >= 0 && r.Units < math.MaxInt64 && counted <= float64(ops)+0.5,
			"of %d operations %g were done by %g s: %+v", ops, counted, r.To, r)
		end = r.To
	}
	d.unless(len(g.Gaps) <= int(2*longest/interval)+1, "it completed nothing %d times", len(g.Gaps))
	for _, gap := range g.Gaps { // in the order in which clients have noticed them
		d.unless(0 <= gap.From && gap.From < gap.To && gap.To <= longest.Seconds(), "it completed nothing in %+v", gap)
	}
	for i := range g.Errors {
		e := &g.Errors[i]
		e.Class, e.First = line(e.Class), line(e.First)
		d.unless(-1 <= e.Kind && e.Kind < len(planned.Kinds) && 0 <= e.Count && e.Count <= math.MaxInt32*1e6 &&
			metric.ByName(metric.ErrorsOf(e.Class)) != nil, "it had %d errors %q of operation %d", e.Count, e.Class, e.Kind)
	}
}

// totals checks operations and their times, and returns how many there were, those of upkeep apart.
func (d *doubt) totals(t *hist.Totals, planned *Group, longest time.Duration) (ops, upkeep int64) {
	if len(t.Kinds) != len(planned.Kinds) || len(t.Parts) != planned.Shape.Parts || slices.Contains(t.Parts, nil) {
		d.unless(false, "it did %d kinds of operations with %d parts", len(t.Kinds), len(t.Parts))
		return 0, 0
	}
	limit := result.Fastest * float64(planned.Clients+1) * longest.Seconds()
	for i := range t.Kinds {
		k := &t.Kinds[i]
		c := &k.Counts
		counts := []int64{c.Ops, c.Rows, c.Expected, c.Found, c.Reads, c.Writes, c.Others, c.Attempts, c.Retries, c.GivenUp,
			c.Unfinished, c.Wasted}
		d.unless(min(slices.Min(counts), c.Bytes, c.UnfinishedTime, c.KeptTime) >= 0 &&
			float64(slices.Max(counts)) <= limit && max(c.Ops, c.Retries) <= c.Attempts &&
			max(c.Bytes, c.UnfinishedTime, c.KeptTime) < math.MaxInt64>>10, "%d clients did %+v", planned.Clients, *c)
		for _, times := range []struct {
			*hist.Dist
			wanted bool
			count  int64
		}{{k.Service, true, c.Ops}, {k.Response, planned.Shape.Paced, c.Ops}, {k.Lateness, planned.Shape.Paced, c.Ops},
			{k.Attempt, planned.Shape.Attempts, c.Ops}, {k.Failed, planned.Shape.Attempts, c.GivenUp}} {
			d.unless((times.Dist != nil) == times.wanted, "it lacks times, or has others")
			d.unless(times.Dist == nil || times.Count() == times.count && times.Max() <= int64(longest),
				"its times are not of %d operations, or too long", times.count)
		}
		if planned.Kinds[i].Upkeep {
			upkeep += c.Ops
		} else {
			ops += c.Ops
		}
	}
	return ops, upkeep
}

// sum returns the sum of counts; -1: one is negative, or it is too large.
func sum(counts []int64) (total int64) {
	for _, n := range counts {
		if total += n; min(n, total) < 0 {
			return -1
		}
	}
	return total
}
