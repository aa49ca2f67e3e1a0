package trial

import (
	"fmt"
	"math"
	"slices"

	"rumbench/engine"
	"rumbench/internal/drive"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/workload"
)

// rows turns what was measured in a step into the rows of its result.
type rows struct {
	*trial
	step   *workload.Step
	out    *result.Step
	res    *drive.Result // nil for a settle step
	config *drive.Config
	window *window
	// What all sources counted, differenced once; see inWindow and withSync.
	ran, whole []result.CounterChange
	unknown    []metric.Warning // the sources of which whole knows nothing
}

// inWindow is what all sources counted in the window.
func (r *rows) inWindow() []result.CounterChange {
	if r.ran == nil {
		r.ran, _ = changes(r.window.before, r.window.after)
	}
	return r.ran
}

// withSync is what they counted until everything dirty was synced after it.
func (r *rows) withSync() []result.CounterChange {
	if r.whole == nil {
		r.whole, r.unknown = changes(r.window.before, r.window.drained)
	}
	return r.whole
}

// put adds a row about the whole step, unless the number is not known.
func (r *rows) put(name string, value float64, more ...func(*metric.Row)) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	row := metric.Row{Target: r.Target.Name, Trial: r.Trial, Step: r.step.Name, Metric: name, Value: value}
	m := metric.ByName(name)
	if m == nil {
		panic("metric " + name + " is not in the list of metrics") // a bug that any test finds
	}
	row.Unit = m.Unit
	for _, f := range more {
		f(&row)
	}
	r.out.Rows = append(r.out.Rows, row)
}

func of(group, op string) func(*metric.Row) {
	return func(row *metric.Row) { row.Group, row.Op = group, op }
}

func count(n int64) func(*metric.Row) { return func(row *metric.Row) { row.N = n } }

func source(s string) func(*metric.Row) { return func(row *metric.Row) { row.Source = s } }

func warnings(w []metric.Warning) func(*metric.Row) {
	return func(row *metric.Row) { row.Warnings = append(row.Warnings, w...) }
}

// add adds everything that a step with clients tells.
func (r *rows) add() {
	r.addPromises()
	r.addErrors()
	var all []cost
	var neighbours []metric.Warning
	if !r.trial.Calibrate {
		all = r.costs()
		r.markDeferred(all)
		neighbours = append(noteAlone(r.out, r.window), r.doubtSources(all)...)
		neighbours = append(neighbours, r.judgeClient()...)
	}
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		w := neighbours
		if !r.config.Paced(group) {
			w = append(slices.Clone(w), r.doubts()...) // writers with a rate are doubted by their own figures
		}
		r.addGroup(g, group, w)
		r.addParts(g, group, w)
		r.addUndone(group, &r.res.Groups[g])
		r.addArrivals(g, group)
		r.addFairness(g, group)
	}
	r.addBefore()
	r.addStalls()
	r.put("duration_s", r.res.Window.Seconds())
	if r.trial.Calibrate {
		r.addClientCost()
		return
	}
	r.addCosts(all)
	r.addCounters()
	r.addWaits()
}

// addPromises judges the groups that have a rate, or serve arrivals.
func (r *rows) addPromises() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		if !r.config.Paced(group) {
			continue
		}
		p := r.res.Judge(g, group)
		sla := &metric.SLA{Target: p.Target, Achieved: p.Achieved, Intervals: p.Intervals, Share: p.Share, Worst: p.Worst, Backlog: p.Backlog,
			Met: p.Met, Strict: p.Strict, Saturated: p.Saturated}
		if p.Intervals == 0 {
			sla.Share, sla.Worst = 0, 0 // not known; JSON has no word for it
		}
		for k := range r.res.Groups[g].Kinds {
			if l := r.res.Groups[g].Kinds[k].Lateness; l != nil {
				sla.MaxLateness = max(sla.MaxLateness, float64(l.Max())/1e9)
			}
		}
		r.out.Groups[g].SLA = sla
		r.addPromise(group, p)
	}
}

func (r *rows) addPromise(group *workload.Group, p drive.Promise) {
	at := of(group.Name, "")
	r.put("sla_target", p.Target, at)
	r.put("sla_share", p.Share, at)
	r.put("sla_met", yesNo(p.Met), at)
	r.put("saturated", yesNo(p.Saturated), at)
	if !p.Met {
		r.out.Warnings = append(r.out.Warnings, metric.Warn(metric.SLAMissed, metric.Values{"group": group.Name, "target": p.Target, "achieved": p.Achieved}))
	}
	if p.Saturated {
		r.out.Warnings = append(r.out.Warnings, metric.Warn(metric.Saturated, metric.Values{"group": group.Name}))
	}
}

func yesNo(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// doubts are the reasons why groups beside a missed promise cannot be compared.
func (r *rows) doubts() []metric.Warning {
	for _, g := range r.out.Groups {
		if g.SLA != nil && !g.SLA.Met && !g.Open {
			return []metric.Warning{metric.Warn(metric.BesideMissed, nil)}
		}
	}
	return nil
}

// addGroup adds rates and latencies of a group: of each operation kind, and of
// the whole where several kinds are varieties of one.
func (r *rows) addGroup(g int, group *workload.Group, w []metric.Warning) {
	res := &r.res.Groups[g]
	wholes, finds := map[string]*hist.Sums{}, map[string]workload.Finds{}
	var order []string
	for k := range res.Kinds {
		kind := &group.Ops[k]
		if kind.Upkeep && res.Kinds[k].Ops == 0 {
			continue // there was no occasion for it
		}
		r.addKind(group.Name, kind.Name, kind.Finds, withUndone(group, res, kind.Name, res.Kinds[k]), w)
		whole := kind.Whole()
		if kind.Upkeep || whole == kind.Name {
			continue
		}
		if wholes[whole] == nil {
			s := hist.NewSums(hist.Shape{Paced: res.Kinds[k].Response != nil, Attempts: res.Kinds[k].Attempt != nil})
			wholes[whole] = &s
			order = append(order, whole)
		}
		wholes[whole].Merge(&res.Kinds[k])
		finds[whole] = max(finds[whole], kind.Finds)
	}
	for _, whole := range order {
		r.addKind(group.Name, whole, finds[whole], withUndone(group, res, whole, *wholes[whole]), w)
	}
	perSec := r.res.IntervalRates(g, r.config.Rate(group))
	for _, p := range []float64{50, 95, 99} {
		if v, ok := stat.Reached(perSec, p); ok {
			r.put(fmt.Sprintf("interval_ops_p%.0f", p), v, of(group.Name, ""), count(int64(len(perSec))), warnings(w))
		}
	}
}

var percentiles = []struct {
	name string
	p    float64
}{{"p50_us", 50}, {"p95_us", 95}, {"p99_us", 99}, {"p999_us", 99.9}}

func (r *rows) addKind(group, op string, finds workload.Finds, s *hist.Sums, w []metric.Warning) {
	at := of(group, op)
	seconds := r.res.Window.Seconds()
	r.put("rows", float64(s.Rows), at, count(s.Ops))
	doubt := warnings(append(slices.Clone(w), r.addFound(group, op, finds, &s.Counts)...))
	if seconds > 0 {
		r.put("ops_per_s", float64(s.Ops)/seconds, at, count(s.Ops), doubt)
		r.put("rows_per_s", float64(s.Rows)/seconds, at, count(s.Rows), doubt)
	}
	r.addStatements(group, op, &s.Counts, doubt)
	r.addAttempts(group, op, &s.Counts)
	r.addFailed(group, op, s.Failed)
	if s.Response != nil && s.Response.Count() > 0 {
		r.addLatency("response", group, op, s.Response, doubt)
	}
	if s.Ops == 0 {
		return
	}
	r.addLatency("service", group, op, s.Service, doubt)
	if s.Attempt != nil {
		r.put("attempt_total_s", (s.Attempt.Total()+float64(s.KeptTime))/1e9, at, count(s.Ops), doubt)
	}
	if s.Attempt != nil && s.Attempts > s.Ops {
		r.addLatency("attempt", group, op, s.Attempt, doubt)
	}
	if s.Lateness != nil {
		n := count(s.Lateness.Count())
		r.put("lateness_p99_us", micros(s.Lateness.Percentile(99)), at, n)
		r.put("lateness_max_us", micros(s.Lateness.Max()), at, n)
	}
}

func (r *rows) addLatency(measure, group, op string, d *hist.Dist, doubt func(*metric.Row)) {
	at, n := of(group, op), count(d.Count())
	for _, p := range percentiles {
		r.put(measure+"_"+p.name, micros(d.Percentile(p.p)), at, n, doubt)
	}
	over := func(row *metric.Row) {
		if d.Overflow() > 0 {
			row.Warnings = append(row.Warnings, metric.Untyped(fmt.Sprintf("%d latencies above an hour", d.Overflow())))
		}
	}
	r.put(measure+"_max_us", micros(d.Max()), at, n, doubt, over)
	if measure == "service" || measure == "response" {
		r.put(measure+"_min_us", micros(d.Least()), at, n, doubt)
	}
	if measure != "attempt" {
		r.put(measure+"_total_s", d.Total()/1e9, at, n, doubt)
	}
	c := metric.Curve{Group: group, Op: op, Measure: measure, Count: d.Count(), Overflow: d.Overflow()}
	for _, p := range d.Curve() {
		c.Points = append(c.Points, [2]float64{p[0], p[1] / perMicro})
	}
	r.out.Curves = append(r.out.Curves, c)
}

// addStalls adds the stalls of every group.
func (r *rows) addStalls() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		spans, known := r.res.Stalls(g, r.config.Rate(group))
		if !known {
			continue
		}
		var total, longest float64
		for _, s := range spans {
			from, to := s.From.Seconds(), s.To.Seconds()
			total += to - from
			longest = max(longest, to-from)
			r.out.Stalls = append(r.out.Stalls, metric.Span{Group: group.Name, From: from, To: to})
		}
		at, n := of(group.Name, ""), count(int64(len(r.res.Groups[g].Rates)))
		r.put("stalls", float64(len(spans)), at, n)
		r.put("stall_s", total, at, n)
		r.put("stall_longest_s", longest, at, n)
	}
}

// addClientCost adds what the clients' own threads took, per unit; only on the
// null engine, where they do nothing else.
func (r *rows) addClientCost() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		op, unit := group.Ops[0].Whole(), group.Ops[0].Unit
		for _, k := range group.Ops {
			if k.Whole() == r.step.Primary { // what else the group does is by the way
				op, unit = k.Whole(), k.Unit
			}
		}
		units := r.units(r.res.Totals(), group.Name, op)
		if units == 0 {
			continue
		}
		r.put("client_cpu_us", micros(r.res.Groups[g].CPU.Nanoseconds())/float64(units), of(group.Name, op), count(units),
			source("null engine"), func(row *metric.Row) { row.Per = per(op, unit) })
	}
}

// per names a denominator: "insert row"; "query", where unit and kind are the same.
func per(op, unit string) string {
	if op == unit {
		return op
	}
	return op + " " + unit
}

// addSettle adds what a settle step tells.
func (r *rows) addSettle() {
	r.put("duration_s", r.window.length.Seconds())
	whole := func(row *metric.Row) { row.Per = "step" }
	all := r.costs()
	r.doubtSources(all)
	noteAlone(r.out, r.window)
	for _, c := range all {
		r.put(c.metric, c.value, whole, c.mark)
	}
	r.addSettled(all)
	r.addDebts()
	r.addCounters()
}

// counterOf finds a counter's growth in a window; ok is false if it is not known.
func counterOf(points []result.CounterChange, name string) (float64, bool) {
	sum, found := 0.0, false
	for _, p := range points {
		if p.Name == name && p.Kind == engine.Counter {
			sum += p.Value
			found = true
		}
	}
	return sum, found
}
