package account

import (
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// Step holds everything known about a step; it makes the step's rows.
type Step struct {
	Builder
	Of      *workload.Step
	Seconds float64 // the length of the window
	Groups  []*Group
	// Results: the engine returns the rows that were stored.
	Results bool
	// ErrorsAllowed is the share of operations that may fail.
	ErrorsAllowed float64
	// Calibrating: the clients are measured on the null engine.
	Calibrating bool
	// Calibrated are the rows of the step in which the clients were calibrated,
	// and Earlier the preceding steps.
	Calibrated []metric.Row
	Earlier    []Earlier
	// Owing: steps before these had put off writes that are not among theirs.
	Owing bool
	// Start is how it began, if the engine had restarted before it; nil for other steps.
	Start *Start
	// Observed holds the counts taken around the step; nil if there are none.
	*Observed
}

// Earlier is a preceding step.
type Earlier struct {
	Name, Primary, WritesPer string
	Complete                 bool
	Restart                  bool            // the engine restarted in it
	Caches                   workload.Caches // of a restart in it or before it; "": there was none
	Rows                     []metric.Row
}

// Operations adds all numbers of a step with clients.
func (s *Step) Operations() {
	s.addPromises()
	s.addErrors()
	var disturbed []metric.Warning
	c := &costing{Step: s}
	if s.Observed != nil && !s.Calibrating {
		s.Sessions.correct(s.Seconds)
		c.costs = s.figures()
		c.markDeferred()
		disturbed = slices.Concat(c.noteAlone(), c.judgeSources(), (&waiting{c}).judgeClient(), c.judgeCycles(),
			c.judgeDebt(), c.judgeMachine(), judgeAway(c))
	}
	for _, g := range s.Groups {
		w := disturbed
		if !g.Paced() {
			w = append(slices.Clone(w), s.besideMissed()...) // paced writers have their own promises
		}
		if !s.Calibrating {
			w = append(slices.Clone(w), g.judgeCourse(&s.Builder)...)
		}
		s.addGroup(g, w)
		s.addParts(g, w)
		s.addUndone(g)
		s.addArrivals(g)
		s.addFairness(g)
		s.markEarly(g)
	}
	s.addBefore()
	for _, g := range s.Groups {
		if spans, found := g.Stalls(); found {
			s.addStalls(g.Name, spans, len(g.Intervals))
		}
	}
	s.Put(metric.DurationS, s.Seconds)
	switch {
	case s.Calibrating:
		c.addClientCost()
	case s.Observed != nil:
		c.addCosts()
		c.addCounters()
		addMachines(c)
		c.addWarmUp()
		(&waiting{c}).addWaits()
	}
}

// addPromises judges the groups that have a rate, or serve arrivals.
func (s *Step) addPromises() {
	for _, g := range s.Groups {
		if g.Paced() {
			s.Promise(g.Name, g.Judge())
		}
	}
}

// besideMissed returns warnings for the groups of a step with a missed promise.
func (s *Step) besideMissed() []metric.Warning {
	for _, g := range s.Groups {
		if p := metric.SLAOf(s.Rows, g.Name); p != nil && !p.Met && g.Arrivals == nil {
			return []metric.Warning{metric.Warn(remark.BesideMissed, nil)}
		}
	}
	return nil
}

// addGroup adds rates and latencies of a group: of each operation kind, and of
// the whole if several kinds are varieties of one.
func (s *Step) addGroup(g *Group, w []metric.Warning) {
	wholes, finds := map[string]*hist.Sums{}, map[string]workload.Finds{}
	var order []string
	for k := range g.Did.Kinds {
		kind, done := &g.Ops[k], &g.Did.Kinds[k]
		if kind.Upkeep && done.Ops == 0 {
			continue // there was none to do
		}
		s.addKind(g.Name, kind.Name, kind.Finds, g.withUndone(kind.Name, *done), w)
		s.addRules(g.Name, kind, done)
		text := kind.Whole()
		if kind.Upkeep || text == kind.Name {
			continue
		}
		if wholes[text] == nil {
			sums := hist.NewSums(hist.Shape{Paced: done.Response != nil, Attempts: done.Attempt != nil})
			wholes[text] = &sums
			order = append(order, text)
		}
		wholes[text].Merge(done)
		finds[text] = max(finds[text], kind.Finds)
	}
	for _, total := range order {
		s.addKind(g.Name, total, finds[total], g.withUndone(total, *wholes[total]), w)
	}
	s.Steadiness(g.Name, g.rates(), Warned(w...))
}

// markEarly marks the rates of a group that had done its work long before the step ended,
// as other groups had not: they are lower bounds.
func (s *Step) markEarly(g *Group) {
	const early = 0.9
	end := g.Did.End.Seconds()
	if g.Work == 0 || g.Paced() || end >= early*s.Seconds {
		return
	}
	w := s.Warn(remark.DoneEarly, metric.Values{"group": g.Name, "end": end, "seconds": s.Seconds})
	for i := range s.Rows {
		if r := &s.Rows[i]; r.Group == g.Name && metric.FamilyOf(r.Metric) == metric.Throughput && r.Unit == "1/s" {
			r.Warnings = append(r.Warnings, w)
			r.Mark()
		}
	}
}

func (s *Step) addKind(group, op string, finds workload.Finds, d *hist.Sums, w []metric.Warning) {
	subject := Of(group, op)
	s.Put(metric.Rows, float64(d.Rows), subject, Count(d.Ops))
	warned := Warned(append(slices.Clone(w), s.addFound(group, op, finds, &d.Counts)...)...)
	s.perSecond(metric.OpsPerS, d.Ops, subject, warned)
	s.perSecond(metric.RowsPerS, d.Rows, subject, warned)
	s.addStatements(subject, &d.Counts, warned)
	s.addAttempts(subject, &d.Counts)
	s.addFailed(subject, d.Failed)
	if d.Response != nil {
		s.Latency("response", group, op, TimesOf(d.Response), warned)
	}
	if d.Ops == 0 {
		return
	}
	s.Latency("service", group, op, TimesOf(d.Service), warned)
	if d.Attempt != nil {
		s.Put(metric.AttemptTotalS, (d.Attempt.Total()+float64(d.KeptTime))/1e9, subject, Count(d.Ops), warned)
	}
	if d.Attempt != nil && d.Attempts > d.Ops {
		s.Latency("attempt", group, op, TimesOf(d.Attempt), warned)
	}
	if d.Lateness != nil && d.Lateness.Count() > 0 {
		n := Count(d.Lateness.Count())
		s.Put(metric.LatenessP99US, micros(d.Lateness.Percentile(99)), subject, n)
		s.Put(metric.LatenessMaxUS, micros(d.Lateness.Max()), subject, n)
	}
}

// perSecond adds a rate over the window.
func (s *Step) perSecond(name string, n int64, extra ...With) {
	s.Rate(name, float64(n), s.Seconds, extra...)
}

// addParts adds the latencies of the statements in operations.
func (s *Step) addParts(g *Group, w []metric.Warning) {
	for i, d := range g.Did.Parts {
		if d.Count() > 0 {
			s.perSecond(metric.StatementsPerS, d.Count(), Of(g.Name, g.Parts[i]), Warned(w...))
			s.Latency("statement", g.Name, g.Parts[i], TimesOf(d), Warned(w...))
		}
	}
}

// addBefore compares a step with the same step before the data was changed:
// this shows the cost of the change most clearly.
func (s *Step) addBefore() {
	var caches workload.Caches
	if s.Start != nil {
		caches = s.Start.Caches
	}
	for i := range s.Earlier {
		e := &s.Earlier[i]
		if s.Of.Before == "" || e.Name != s.Of.Before || !e.Complete || e.Caches != caches {
			continue
		}
		then, now := metric.Find(e.Rows, metric.RowsPerS, s.Of.Primary, ""),
			metric.Find(s.Rows, metric.RowsPerS, s.Of.Primary, "")
		if then != nil && now != nil && then.Value > 0 {
			s.Put(metric.RelativeToBefore, now.Value/then.Value, Of(now.Group, now.Op), Count(now.N), Warned(then.Warnings...),
				Warned(now.Warnings...))
		}
	}
}

// warnResponses adds a warning to a group's response times.
func (s *Step) warnResponses(group string, w metric.Warning) {
	for i := range s.Rows {
		if row := &s.Rows[i]; row.Group == group && strings.HasPrefix(row.Metric, "response_") {
			row.Warnings = append(row.Warnings, w)
		}
	}
}
