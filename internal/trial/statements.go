package trial

import (
	"fmt"
	"math"
	"strings"

	"rumbench/engine"
	"rumbench/internal/hist"
	"rumbench/internal/result"
	"rumbench/workload"
)

// addErrors counts failed attempts; too many failed operations make the step
// invalid.
func (r *rows) addErrors() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		res := &r.res.Groups[g]
		var failed, broken, done int64
		var words []string
		for _, e := range res.Errors {
			failed += e.Count
			if !yields(group, engine.Class(e.Class)) {
				broken += e.Count
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
			done += res.Kinds[k].Ops
			broken += res.Kinds[k].GivenUp
		}
		r.put("errors", float64(failed), of(group.Name, ""), count(failed+done), warnings(words))
		if failed > 0 {
			r.doubtErrors(group, failed, broken, done, words)
		}
	}
}

// yields tells whether errors of a class are part of the load: the group was
// told what to do about them. Operations that it gave up are counted apart.
func yields(g *workload.Group, c engine.Class) bool {
	return g.Retry != workload.Retry{} && (c.Yields() || c == engine.Duplicate)
}

func (r *rows) doubtErrors(group *workload.Group, failed, broken, done int64, words []string) {
	text := fmt.Sprintf("group %s: %d failed operations: %s", group.Name, failed, strings.Join(words, "; "))
	if broken == 0 {
		r.out.Notes = append(r.out.Notes, text+"; all were tried again")
		return
	}
	r.out.Warnings = append(r.out.Warnings, text)
	if share := float64(broken) / float64(broken+done); share > r.Plan.ErrorsAllowed {
		r.out.Status = result.Invalid
		r.out.Warnings = append([]string{fmt.Sprintf("%.3g %% of the operations of group %s failed, %.3g %% are allowed (errors_allowed)", 100*share, group.Name, 100*r.Plan.ErrorsAllowed)}, r.out.Warnings...)
	}
}

// addStatements adds how many statements an operation kind executed, where
// that was counted.
func (r *rows) addStatements(group, op string, c *hist.Counts, doubt func(*result.Row)) {
	seconds := r.res.Window.Seconds()
	if c.Statements() == 0 || seconds <= 0 {
		return
	}
	at := of(group, op)
	for _, s := range []struct {
		metric string
		n      int64
	}{{"queries_per_s", c.Statements()}, {"reads_per_s", c.Reads}, {"writes_per_s", c.Writes}, {"others_per_s", c.Others}} {
		r.put(s.metric, float64(s.n)/seconds, at, count(s.n), doubt)
	}
}

// addAttempts adds what was tried in vain.
func (r *rows) addAttempts(group, op string, c *hist.Counts) {
	if c.Attempts == c.Ops {
		return
	}
	at, n := of(group, op), count(c.Ops)
	r.put("attempts", float64(c.Attempts), at, n)
	r.put("retries", float64(c.Retries), at, n)
	r.put("given_up", float64(c.GivenUp), at, n)
	if c.Statements()+c.Wasted > 0 {
		r.put("wasted_statements", float64(c.Wasted), at, count(c.Statements()+c.Wasted))
	}
}

// addParts adds the latencies of the statements that operations are made of.
func (r *rows) addParts(g int, group *workload.Group, w []string) {
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
	r.put("abandoned", float64(a.Abandoned.Count()), at, n)
	r.put("queue_max", float64(a.Longest), at, n)
	if a.Shed > 0 {
		r.out.Warnings = append(r.out.Warnings, fmt.Sprintf("group %s: of %d operations that arrived %d were shed, as more than %d waited", group.Name, a.Offered, a.Shed, group.Arrivals.Queue))
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
