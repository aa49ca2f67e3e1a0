package trial

import (
	"fmt"
	"math"
	"strings"

	"rumbench/engine"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/workload"
)

// addErrors counts failed attempts; too many failed operations make the step
// invalid.
func (r *rows) addErrors() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		res := &r.res.Groups[g]
		var f failures
		var words []string
		for _, e := range res.Errors {
			f.failed += e.Count
			if !yields(group, engine.Class(e.Class)) {
				f.broken += e.Count
			}
			op, class := "", e.Class
			if e.Kind >= 0 {
				op = group.Ops[e.Kind].Name
			}
			if op != "" && len(group.Ops) > 1 {
				class += " (" + op + ")"
			}
			words = append(words, fmt.Sprintf("%d × %s, first: %s", e.Count, class, e.First))
			r.put("errors_"+strings.ReplaceAll(e.Class, " ", "_"), float64(e.Count), of(group.Name, op))
		}
		for k := range res.Kinds {
			f.done += res.Kinds[k].Ops
			if group.Retry.Policy != workload.RetryNone { // which asks for it
				f.broken += res.Kinds[k].GivenUp
			}
			f.givenUp += res.Kinds[k].GivenUp
			f.unfinished += res.Kinds[k].Unfinished
		}
		r.put("errors", float64(f.failed), of(group.Name, ""), count(f.failed+f.done), warnings(metric.UntypedAll(words)))
		if f.failed > 0 {
			r.doubtErrors(group, f, words)
		}
	}
}

// yields tells whether errors of a class are part of the load: the group was
// told what to do about them. Operations that it gave up are counted apart.
func yields(g *workload.Group, c engine.Class) bool {
	return g.Retry != workload.Retry{} && (c.Yields() || c == engine.Duplicate)
}

// failures are what became of a group's operations: attempts that failed, and
// operations done, given up, unfinished at the end, and failed against the plan.
type failures struct{ failed, broken, done, unfinished, givenUp int64 }

func (r *rows) doubtErrors(group *workload.Group, f failures, words []string) {
	text := fmt.Sprintf("group %s: %d failed operations: %s", group.Name, f.failed, strings.Join(words, "; "))
	switch {
	case f.broken == 0 && f.givenUp > 0:
		r.out.Warnings = append(r.out.Warnings, metric.Untyped(fmt.Sprintf("%s; %d were given up, as retry: none asks, and are in no rate and no service time", text, f.givenUp)))
		return
	case f.broken == 0 && f.unfinished == 0:
		r.out.Note(text + "; all were tried again")
		return
	case f.broken == 0:
		r.out.Note(fmt.Sprintf("%s; %d were unfinished when the step ended, all others were tried again", text, f.unfinished))
		return
	}
	r.out.Warnings = append(r.out.Warnings, metric.Untyped(text))
	if share := float64(f.broken) / float64(f.broken+f.done); share > r.Plan.ErrorsAllowed {
		r.out.Status = result.Invalid
		r.out.Warnings = append([]metric.Warning{metric.Warn(metric.ErrorsAboveAllowed, metric.Values{"share": 100 * share, "group": group.Name, "allowed": 100 * r.Plan.ErrorsAllowed})}, r.out.Warnings...)
	}
}

// addStatements adds how many statements an operation kind executed, where
// that was counted.
func (r *rows) addStatements(group, op string, c *hist.Counts, doubts ...func(*metric.Row)) {
	seconds := r.res.Window.Seconds()
	if c.Statements() == 0 || seconds <= 0 {
		return
	}
	at := of(group, op)
	for _, s := range []struct {
		metric string
		n      int64
	}{{"queries_per_s", c.Statements()}, {"reads_per_s", c.Reads}, {"writes_per_s", c.Writes}, {"others_per_s", c.Others}} {
		r.put(s.metric, float64(s.n)/seconds, append([]func(*metric.Row){at, count(s.n)}, doubts...)...)
	}
}

// addAttempts adds what was tried in vain.
func (r *rows) addAttempts(group, op string, c *hist.Counts) {
	if c.Attempts == c.Ops && c.Unfinished == 0 {
		return
	}
	at, n := of(group, op), count(c.Ops)
	r.put("attempts", float64(c.Attempts), at, n)
	r.put("retries", float64(c.Retries), at, n)
	r.put("given_up", float64(c.GivenUp), at, n)
	r.put("unfinished", float64(c.Unfinished), at, n)
	if c.Statements()+c.Wasted > 0 {
		r.put("wasted_statements", float64(c.Wasted), at, count(c.Statements()+c.Wasted))
	}
}

// addFailed adds for how long operations were tried that were given up.
func (r *rows) addFailed(group, op string, d *hist.Dist) {
	if d == nil || d.Count() == 0 {
		return
	}
	at, n := of(group, op), count(d.Count())
	r.put("failed_p50_us", micros(d.Percentile(50)), at, n)
	r.put("failed_p99_us", micros(d.Percentile(99)), at, n)
	r.put("failed_max_us", micros(d.Max()), at, n)
}

// addParts adds the latencies of the statements that operations are made of.
func (r *rows) addParts(g int, group *workload.Group, w []metric.Warning) {
	doubt := warnings(w)
	for i, d := range r.res.Groups[g].Parts {
		if d.Count() == 0 {
			continue
		}
		r.put("statements_per_s", float64(d.Count())/r.res.Window.Seconds(), of(group.Name, group.Parts[i]), count(d.Count()), doubt)
		r.addLatency("statement", group.Name, group.Parts[i], d, doubt)
	}
}

// addArrivals adds what became of the operations that arrived at an open group.
func (r *rows) addArrivals(g int, group *workload.Group) {
	a := r.res.Groups[g].Arrivals
	if a == nil {
		return
	}
	at, n := of(group.Name, ""), count(a.Offered)
	r.put("offered_per_s", float64(a.Offered)/r.res.Groups[g].End.Seconds(), at, n)
	r.put("shed", float64(a.Shed), at, n)
	r.put("queue_max", float64(a.Longest), at, n)
	if a.Shed > 0 {
		r.doubtResponses(group, fmt.Sprintf("of %d operations that arrived %d were shed: these are in no response time", a.Offered, a.Shed))
		r.out.Warnings = append(r.out.Warnings, metric.Untyped(fmt.Sprintf("group %s: of %d operations that arrived %d were shed, as more than %d waited", group.Name, a.Offered, a.Shed, group.Arrivals.Queue)))
	}
}

// doubtResponses says of a group's response times in what they are too short.
func (r *rows) doubtResponses(group *workload.Group, why string) {
	for i := range r.out.Rows {
		if row := &r.out.Rows[i]; row.Group == group.Name && strings.HasPrefix(row.Metric, "response_") {
			row.Warnings = append(row.Warnings, metric.Untyped(why))
		}
	}
}

// addFairness adds how the operations of a group are spread over its clients.
func (r *rows) addFairness(g int, group *workload.Group) {
	done := r.res.Groups[g].Done
	if len(done) < 2 || group.Work > 0 { // each was to do the same
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
	at, n := of(group.Name, ""), count(int64(len(done)))
	r.put("fairness_ops_mean", mean, at, n)
	r.put("fairness_ops_stddev", math.Sqrt(squares/float64(len(done))), at, n)
}
