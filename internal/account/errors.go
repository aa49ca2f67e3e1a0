package account

import (
	"fmt"
	"math"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// addErrors counts failed attempts; too many failed operations make the step
// invalid.
func (s *Step) addErrors() {
	for _, g := range s.Groups {
		var f failures
		var words []string
		var warned []metric.Warning
		for _, e := range g.Did.Errors {
			f.failed += e.Count
			if !yields(g.Group, engine.Class(e.Class)) {
				f.broken += e.Count
			}
			op, class := "", e.Class
			if e.Kind >= 0 {
				op = g.Ops[e.Kind].Name
			}
			if op != "" && len(g.Ops) > 1 {
				class += " (" + op + ")"
			}
			w := metric.Warn(remark.Failed, metric.Values{"n": float64(e.Count), "class": class, "first": e.First})
			words, warned = append(words, w.Text), append(warned, w)
			s.Put(metric.ErrorsOf(e.Class), float64(e.Count), Of(g.Name, op))
		}
		for k := range g.Did.Kinds {
			sums := &g.Did.Kinds[k]
			f.done += sums.Ops
			if g.Retry.Policy != workload.RetryNone { // the policy expects these errors
				f.broken += sums.GivenUp
			}
			f.givenUp += sums.GivenUp
			f.unfinished += sums.Unfinished
		}
		s.Put(metric.Errors, float64(f.failed), Of(g.Name, ""), Count(f.failed+f.done), Warned(warned...))
		if f.failed > 0 {
			s.judgeErrors(g.Name, f, strings.Join(words, "; "))
		}
	}
}

// yields reports whether errors of a class are part of the load: the group
// retries or gives up. Operations given up are counted separately.
func yields(g *workload.Group, c engine.Class) bool {
	return g.Retry != workload.Retry{} && (c.Yields() || c == engine.Duplicate)
}

// failures counts a group's failed attempts, and its operations done, given up,
// unfinished at the end, and failed against the plan.
type failures struct{ failed, broken, done, unfinished, givenUp int64 }

func (s *Step) judgeErrors(group string, f failures, words string) {
	values := metric.Values{"group": group, "n": float64(f.failed), "errors": words}
	failed := metric.Warn(remark.FailedOperations, values)
	switch {
	case f.broken == 0 && f.givenUp > 0:
		values[metric.GivenUpOps] = float64(f.givenUp)
		s.Warn(remark.OperationsGivenUp, values)
		return
	case f.broken == 0 && f.unfinished == 0:
		s.note("%s; all were tried again", failed)
		return
	case f.broken == 0:
		s.note("%s; %d were unfinished when the step ended, all others were tried again", failed, f.unfinished)
		return
	}
	s.Warnings = append(s.Warnings, failed)
	if share := float64(f.broken) / float64(f.broken+f.done); share > s.ErrorsAllowed {
		s.Refuse(metric.Warn(remark.ErrorsAboveAllowed,
			metric.Values{"share": 100 * share, "group": group, "allowed": 100 * s.ErrorsAllowed}))
	}
}

// addStatements adds how many statements an operation kind executed, if they
// were counted.
func (s *Step) addStatements(subject With, c *hist.Counts, warned With) {
	if c.Statements() == 0 {
		return
	}
	s.perSecond(metric.QueriesPerS, c.Statements(), subject, warned)
	s.perSecond(metric.ReadsPerS, c.Reads, subject, warned)
	s.perSecond(metric.WritesPerS, c.Writes, subject, warned)
	s.perSecond(metric.OthersPerS, c.Others, subject, warned)
}

// addAttempts adds the attempts that did not succeed.
func (s *Step) addAttempts(subject With, c *hist.Counts) {
	if c.Attempts == c.Ops && c.Unfinished == 0 {
		return
	}
	n := Count(c.Ops)
	s.Put(metric.Attempts, float64(c.Attempts), subject, n)
	s.Put(metric.Retries, float64(c.Retries), subject, n)
	s.Put(metric.GivenUpOps, float64(c.GivenUp), subject, n)
	s.Put(metric.Unfinished, float64(c.Unfinished), subject, n)
	if c.Statements()+c.Wasted > 0 {
		s.Put(metric.WastedStatements, float64(c.Wasted), subject, Count(c.Statements()+c.Wasted))
	}
}

// addFailed adds how long operations were tried before they were given up.
func (s *Step) addFailed(subject With, d *hist.Dist) {
	if d == nil || d.Count() == 0 {
		return
	}
	n := Count(d.Count())
	s.Put(metric.FailedP50US, micros(d.Percentile(50)), subject, n)
	s.Put(metric.FailedP99US, micros(d.Percentile(99)), subject, n)
	s.Put(metric.FailedMaxUS, micros(d.Max()), subject, n)
}

// addArrivals adds the numbers of operations that arrived at an open group,
// were shed or queued.
func (s *Step) addArrivals(g *Group) {
	a := g.Did.Arrivals
	if a == nil {
		return
	}
	subject, n := Of(g.Name, ""), Count(a.Offered)
	s.Put(metric.OfferedPerS, float64(a.Offered)/g.Did.End.Seconds(), subject, n)
	s.Put(metric.ShedOps, float64(a.Shed), subject, n)
	s.Put(metric.QueueMax, float64(a.Longest), subject, n)
	if a.Shed > 0 {
		values := metric.Values{"offered": float64(a.Offered), "shed": float64(a.Shed)}
		s.warnResponses(g.Name, metric.Warn(remark.ShedUntimed, values))
		s.Warn(remark.Shed, metric.Values{"group": g.Name, "offered": float64(a.Offered), "shed": float64(a.Shed),
			"queue": float64(g.Arrivals.Queue)})
	}
}

// addFairness adds how evenly the operations of a group are spread over its
// clients.
func (s *Step) addFairness(g *Group) {
	done := g.Did.Done
	if len(done) < 2 || g.Work > 0 { // each had the same amount of work
		return
	}
	var sum, squares float64
	for _, n := range done {
		sum += float64(n)
	}
	mean := sum / float64(len(done))
	for _, n := range done {
		squares += (float64(n) - mean) * (float64(n) - mean)
	}
	subject, n := Of(g.Name, ""), Count(int64(len(done)))
	s.Put(metric.FairnessOpsMean, mean, subject, n)
	s.Put(metric.FairnessOpsStddev, math.Sqrt(squares/float64(len(done))), subject, n)
}

// UndoneAs returns the operation kind that due but undone operations count for:
// their variety is unknown.
func UndoneAs(g *workload.Group) string { return g.Ops[0].Whole() }

// withUndone returns the sums of a kind with operations that were not done
// among the response times, which are at least their ages at the end.
func (g *Group) withUndone(op string, s hist.Sums) *hist.Sums {
	if s.Response == nil || g.Did.Undone == nil || op != UndoneAs(g.Group) {
		return &s
	}
	dist := hist.NewDist()
	dist.Merge(s.Response)
	dist.Merge(g.Did.Undone)
	s.Response = dist
	return &s
}

// addUndone adds how many operations of a group were due but not done at the
// end, and warns that response times are too short. One operation in flight per
// client, no older than the durations of others, is normal.
func (s *Step) addUndone(g *Group) {
	ages := g.Did.Undone
	if ages == nil || g.Did.Arrivals == nil && ages.Count() == 0 {
		return
	}
	due, longest := ages.Count(), int64(0)
	for k := range g.Did.Kinds {
		if sums := &g.Did.Kinds[k]; !g.Ops[k].Upkeep {
			due += sums.Ops + sums.GivenUp
			longest = max(longest, sums.Response.Max())
		}
	}
	s.Put(metric.Abandoned, float64(ages.Count()), Of(g.Name, ""), Count(due))
	if ages.Count() <= int64(g.Clients) && ages.Max() <= longest {
		return
	}
	under := ""
	if len(g.Ops) > 1 {
		under = fmt.Sprintf(" under %s", UndoneAs(g.Group))
	}
	s.warnResponses(g.Name, metric.Warn(remark.NotDone,
		metric.Values{"n": float64(ages.Count()), "due": float64(due), "under": under}))
}
