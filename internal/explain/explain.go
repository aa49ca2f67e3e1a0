package explain

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Explanation explains why the numbers of two targets differ.
type Explanation struct {
	Base, New *compare.Target
	Steps     []*Step              // that the comparison judges, in their order
	Differ    []compare.Difference // settings, versions and parameters: the causes of causes are among them
	// Randomized: the trials of the two alternated, so that nothing but Differ could act on one
	// side only.
	Randomized bool

	judgement *compare.Judgement
}

// Explain explains a judgement. Steps that only warm up or settle are left out.
func Explain(c *compare.Campaign, j *compare.Judgement) *Explanation {
	e := &Explanation{Base: j.Base, New: j.New, Differ: compare.Apart(j.Base, j.New),
		Randomized: compare.Randomized(j.Base, j.New), judgement: j}
	for _, s := range c.Steps {
		if s.Warmup || s.Primary == "" || compare.IsProbe(s) || len(s.Runs[j.Base]) == 0 || len(s.Runs[j.New]) == 0 {
			continue
		}
		e.Steps = append(e.Steps, e.step(s))
	}
	return e
}

func (e *Explanation) step(s *compare.Step) *Step {
	a, b, design := s.Paired(e.Base, e.New)
	out := &Step{Of: s, differ: e.Differ, single: e.Single(), design: design}
	out.Base, out.New = newSide(out, e.Base, a), newSide(out, e.New, b)
	out.moves = out.moved()
	if k, ok := s.Rate(s.Primary); ok {
		out.Rate = e.judgement.Effect(s, k)
	}
	if k, ok := s.Own(metric.WriteKB); ok {
		out.Writes = e.judgement.Effect(s, k)
	}
	if sum, reason := out.throughput(design); sum != nil {
		out.Sums = append(out.Sums, sum)
	} else {
		out.Why = reason
	}
	for _, k := range costsOf(s) {
		if sum := out.cost(e.judgement.Effect(s, k), design); sum != nil {
			out.Sums = append(out.Sums, sum)
		}
	}
	out.correct()
	out.Notes, out.Predicted = out.notes(), out.predict()
	for _, sum := range out.Sums {
		sum.name(out)
	}
	out.Sums = slices.DeleteFunc(out.Sums, (*Sum).repeats)
	slices.SortStableFunc(out.Sums, func(a, b *Sum) int { return cmp.Compare(b.weight(), a.weight()) })
	return out
}

// costs are the costs that are explained, in the order of their sentences.
var costs = []string{metric.CPUUS, metric.ReadKB, metric.WriteKB, metric.SpaceAmplification}

// costsOf returns the keys of a step's costs.
func costsOf(s *compare.Step) (out []compare.Key) {
	for _, name := range costs {
		if k, ok := s.Own(name); ok {
			out = append(out, k)
		}
	}
	return out
}

// throughput explains the rate of the step's primary operation: by the time of the processors if they limit both
// sides, or nothing else is known, else by the time of the clients. If other programs used much of the processors,
// their time explains nothing. Without a sum it returns the reason.
func (s *Step) throughput(design stat.Design) (*Sum, string) {
	switch e := s.Rate; {
	case e == nil:
		return nil, "its rate was not measured"
	case e.Why != "" && e.Verdict == "":
		return nil, e.Why
	case rated(&s.Base) || rated(&s.New):
		return nil, "a rate was promised: there is no throughput to explain, only costs and response times"
	}
	void := s.shared() > mostShared
	clients := func() *Sum {
		return s.sum(s.Rate, Time, design, (*run).time, func(r *run, x sheet) sheet { return r.split(x, true) })
	}
	processors := func() *Sum {
		if void || unequal(s.Base.processors(), s.New.processors(), 0.05) {
			return nil
		}
		return s.sum(s.Rate, Processors, design, (*run).processors, func(r *run, x sheet) sheet { return r.split(x, false) })
	}
	first, second := clients, processors
	if s.Base.Limit == ByProcessors && s.New.Limit == ByProcessors {
		first, second = processors, clients
	}
	for _, split := range []func() *Sum{first, second} {
		if sum := split(); sum != nil {
			return sum, ""
		}
	}
	switch seconds := min(s.Base.seconds(), s.New.seconds()); {
	case void:
		return nil, "other programs had much of the processors: rates are not explained"
	case seconds < shortStep:
		return nil, "a step of " + quantity.Micros(seconds*1e6) +
			" is too short to measure the time of the processors and the sessions"
	}
	return nil, "neither the processors' time nor the clients' is known"
}

// rated reports whether the primary operation's group promises a rate.
func rated(s *Side) bool {
	return slices.ContainsFunc(s.runs, func(r run) bool {
		return slices.ContainsFunc(r.Groups, func(g result.Group) bool {
			_, does := g.Units[r.Primary]
			return does && (g.Promised(r.Primary) > 0 || g.Open)
		})
	})
}

// shortStep is the length in seconds below which the kernel's and the samples' counts are too few.
const shortStep = 1

func (s *Step) cost(e *compare.Effect, design stat.Design) *Sum {
	if e == nil || e.Verdict == "" {
		return nil
	}
	own := e.New.Key // of the metric that replaces it, if other programs disturbed the device
	how := splits[own.Metric]
	if how.split == nil {
		return nil
	}
	return s.sum(e, how.by, design, func(r *run) sheet { return how.split(r, own) },
		func(r *run, x sheet) sheet { return r.split(x, false) })
}

// sum splits a number of all runs, and the CPU time in it by subsystem; nil if that is not possible in each of them.
func (s *Step) sum(e *compare.Effect, ledger Ledger, design stat.Design, split func(*run) sheet,
	further func(*run, sheet) sheet) *Sum {
	data := &sample{ledger: ledger, design: design, unit: e.Unit}
	data.parts = &sample{ledger: ledger, design: design, unit: e.Unit, whole: data}
	for i, sheets := range []*[]sheet{&data.base, &data.other} {
		parts := []*[]sheet{&data.parts.base, &data.parts.other}[i]
		for _, r := range s.sides()[i].runs {
			x := split(&r)
			if !x.usable(ledger) {
				return nil
			}
			*sheets, *parts = append(*sheets, x), append(*parts, further(&r, x))
			if e.Groups > 0 {
				data.trials[i] = append(data.trials[i], r.trial)
			}
		}
	}
	if design == stat.Grouped { // run by run
		data.trials[1] = data.trials[0]
	}
	data.align()
	if data.parts.trials = data.trials; !data.complete() {
		data.parts = nil
	}
	if base, other := s.Base.clients(), s.New.clients(); ledger == Time && !slices.Equal(base, other) {
		data.clients = [2][]float64{base, other}
	}
	if data.uneven() || trivial(e) || data.empty() {
		return nil
	}
	out := &Sum{Effect: e, Metric: e.Metric(), Of: ledger, Total: data.totalLog(), data: data}
	out.Total.agreed = out.Total.agreed && e.Sure() // the comparison decides which differences are proven
	out.Causes = out.causesOf(data)
	return out
}

// causesOf tests the items of a sample.
func (s *Sum) causesOf(data *sample) (out []Cause) {
	for _, item := range data.items() {
		c := Cause{Contribution: data.contribution(item), format: s.formatOf(item),
			Share: math.NaN(), ShareLow: math.NaN(), ShareHigh: math.NaN()}
		if c.Base == 0 && c.New == 0 {
			continue
		}
		if total := s.Total.Log; s.Total.Proven() {
			a, b := c.bounds[0]/total, c.bounds[1]/total
			c.Share, c.ShareLow, c.ShareHigh = c.Log/total, min(a, b), max(a, b)
		}
		out = append(out, c)
	}
	return out
}

// formatOf returns how an item's values are written.
func (s *Sum) formatOf(item Item) func(float64) string {
	switch format := items[item].format; {
	case format != nil:
		return format
	case s.timed():
		return quantity.Micros
	case s.Of == Parts && s.Metric == metric.SpaceAmplification:
		return quantity.Times
	case s.Of == Parts:
		return kb
	}
	return quantity.Thousandths
}

// trivial reports whether a negligible number of bytes is read or written per unit.
func trivial(e *compare.Effect) bool {
	m := metric.ByName(e.Metric())
	return m != nil && m.Unit == "KB" && max(e.Base.Value, e.New.Value) < littleKB
}

// correct adjusts the p-values of all items of the step that could be named as causes.
func (s *Step) correct() {
	var all []*Contribution
	for _, sum := range s.Sums {
		all = append(all, sum.asked(sum.Causes)...)
	}
	adjust(all)
}

// asked returns the causes that pose a question. They do not if they are no cause, too small to be named or the same
// in all runs, or if the throughput that they would explain is not proven to differ: then no answer can be wrong.
func (s *Sum) asked(causes []Cause) (out []*Contribution) {
	for i := range causes {
		c := &causes[i].Contribution
		small := !s.Of.product() && c.Item != Clients && max(c.Base, c.New) < leastLog*s.data.scale()
		constant := c.Low == 0 && c.High == 0
		if !c.Item.slack() && !small && !constant && (!s.throughput() || s.Total.Proven()) {
			out = append(out, c)
		}
	}
	return out
}

// adjust corrects the p-values of items that are tested together.
func adjust(list []*Contribution) {
	for i, v := range stat.Holm(stat.Values(list, func(c *Contribution) float64 { return c.P })) {
		list[i].Adjusted = v
	}
}

// name splits proven CPU time by subsystem, gives the causes their drivers and sentences, sorts them, and computes the
// rest.
func (s *Sum) name(step *Step) {
	s.splitCPU()
	var proven []Item
	for i := range s.Causes {
		c := &s.Causes[i]
		step.explain(c)
		if c.Proven() {
			proven = append(proven, c.Item)
		}
	}
	s.Rest = s.data.exclude(proven)
	s.Rest.Item = Rest
	slices.SortStableFunc(s.Causes, func(a, b Cause) int { return cmp.Compare(math.Abs(b.Log), math.Abs(a.Log)) })
}

// splitCPU replaces proven CPU time by its subsystems, if one of them is proven to differ.
func (s *Sum) splitCPU() {
	at := slices.IndexFunc(s.Causes, func(c Cause) bool { return c.Item == Running && c.Proven() })
	if at < 0 || s.data.parts == nil {
		return
	}
	parts := s.causesOf(s.data.parts)
	adjust(s.asked(parts))
	if slices.ContainsFunc(parts, func(c Cause) bool { return c.Proven() }) {
		s.Causes = slices.Replace(s.Causes, at, at+1, parts...)
	}
}

// Differs reports whether any number is proven to differ.
func (e *Explanation) Differs() bool {
	sure := func(sum *Sum) bool { return sum.Sure() }
	return slices.ContainsFunc(e.Steps, func(s *Step) bool { return s.find(sure) != nil })
}

// Judged reports whether anything could be judged.
func (e *Explanation) Judged() bool {
	return slices.ContainsFunc(e.Steps, func(s *Step) bool { return len(s.Sums) > 0 || len(s.Notes) > 0 })
}
