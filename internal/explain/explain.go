package explain

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"rumbench/internal/account"
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

// Step is the explanation of a step. Its sums are in the order of their differences.
type Step struct {
	Of        *compare.Step
	Base, New Side
	Notes     []Note // that go before the sums
	Sums      []*Sum
	Predicted []Prediction    // the costs that the structures should have
	Rate      *compare.Effect // of the throughput; nil if it was not compared
	Writes    *compare.Effect // of the KB written; nil if they were not
	Ways      []string        // what else a unit needs more of where it takes longer, in words
	Against   []string        // what it needs less of there
	Why       string          // the reason if throughput is not explained; "" if it is
}

// Side is the common data of a step's runs on a target.
type Side struct {
	Target *compare.Target
	runs   []run
	Limit  Limit
}

// Sum is a number of a step on two targets, and the items of its difference.
type Sum struct {
	*compare.Effect
	Metric string // of the headline
	Of     Ledger
	Total  Contribution // Item is ""; Log is that of the ratio
	Causes []Cause      // the greatest first; the unexplained part is not among them
	Rest   Contribution // the part that no proven item with a name accounts for

	data sample
}

// Explain explains a judgement. Steps that only warm up or settle are left out.
func Explain(c *compare.Campaign, j *compare.Judgement) *Explanation {
	e := &Explanation{Base: j.Base, New: j.New, Differ: compare.Apart(j.Base, j.New),
		Randomized: compare.Randomized(j.Base, j.New), judgement: j}
	for _, s := range c.Steps {
		if s.Warmup || s.Primary == "" || compare.IsProbe(s) || len(s.Runs[j.Base]) == 0 || len(s.Runs[j.New]) == 0 {
			continue
		}
		e.Steps = append(e.Steps, e.step(j, s))
	}
	return e
}

func (e *Explanation) step(j *compare.Judgement, s *compare.Step) *Step {
	a, b, design := s.Paired(j.Base, j.New)
	out := &Step{Of: s, Base: newSide(j.Base, a), New: newSide(j.New, b)}
	v := &view{out, e.Differ}
	if k, ok := s.Rate(s.Primary); ok {
		out.Rate = j.Effect(s, k)
	}
	if k, ok := s.Own(metric.WriteKB); ok {
		out.Writes = j.Effect(s, k)
	}
	if sum, reason := out.throughput(v, design); sum != nil {
		out.Sums = append(out.Sums, sum)
	} else {
		out.Why = reason
	}
	for _, name := range costs {
		if k, ok := s.Own(name); ok {
			if sum := out.cost(j, k, design); sum != nil {
				out.Sums = append(out.Sums, sum)
			}
		}
	}
	out.correct()
	out.Notes, out.Predicted = out.notes(), out.predict()
	for _, sum := range out.Sums {
		sum.name(v)
	}
	out.Ways, out.Against = otherWays(v)
	out.Sums = slices.DeleteFunc(out.Sums, (*Sum).repeats)
	slices.SortStableFunc(out.Sums, func(a, b *Sum) int { return cmp.Compare(b.weight(), a.weight()) })
	return out
}

// costs are the costs that are explained, in the order of their sentences.
var costs = []string{metric.CPUUS, metric.ReadKB, metric.WriteKB, metric.SpaceAmplification}

func trialsOf(runs []run) (out []*result.Trial) {
	for _, r := range runs {
		out = append(out, r.trial)
	}
	return out
}

func newSide(t *compare.Target, runs []compare.Run) Side {
	s := Side{Target: t}
	for _, r := range runs {
		s.runs = append(s.runs, newRun(r))
	}
	s.Limit = limitOf(s.runs)
	return s
}

// throughput explains the rate of the step's primary operation by the ledger that speaking
// chooses.
func (s *Step) throughput(v *view, design stat.Design) (*Sum, string) {
	e := s.Rate
	switch {
	case e == nil:
		return nil, "its rate was not measured"
	case e.Why != "" && e.Verdict == "":
		return nil, e.Why
	case s.Base.rated() || s.New.rated():
		return nil, "a rate was promised: there is no throughput to explain, only costs and response times"
	}
	return s.speaking(v, design)
}

// rated reports whether the primary operation's group promises a rate.
func (s *Side) rated() bool {
	return slices.ContainsFunc(s.runs, func(r run) bool {
		return slices.ContainsFunc(r.Groups, func(g result.Group) bool {
			_, does := g.Units[r.Primary]
			return does && (g.Promised(r.Primary) > 0 || g.Open)
		})
	})
}

// speaking chooses the ledger: that of the processors if they limit both sides, else the
// one whose slack accounts for least. If other programs used much of the processors, the
// processors' ledger explains nothing.
func (s *Step) speaking(v *view, design stat.Design) (*Sum, string) {
	e := s.Rate
	var found []*Sum
	void := max(s.Base.shared(), s.New.shared()) > mostShared
	if !void && !apart(s.Base.processors(), s.New.processors(), 0.05) {
		if sum := s.sum(e, Processors, design, -1, (*run).processors); sum != nil {
			found = append(found, sum)
		}
	}
	serial := func(s *Side) bool { return !slices.ContainsFunc(s.runs, func(r run) bool { return !r.serial() }) }
	for _, l := range []struct {
		ledger Ledger
		split  func(*run) sheet
	}{{Sessions, (*run).sessions}, {Threads, (*run).threads}, {Device, (*run).device}} {
		if l.ledger == Device && !serial(&s.Base) && !serial(&s.New) {
			continue
		}
		if sum := s.sum(e, l.ledger, design, -1, l.split); sum != nil {
			found = append(found, sum)
		}
	}
	if limit := s.ceiling(); limit != Unlimited {
		sum := s.sum(e, Ceiling, design, 1, func(r *run) sheet { return r.ceiling(limit) })
		if sum != nil && s.Base.Limit == s.New.Limit {
			return sum, ""
		}
		if sum != nil {
			found = append(found, sum)
		}
	}
	switch {
	case len(found) == 0 && void:
		return nil, "other programs had much of the processors: rates are not explained"
	case len(found) == 0 && min(s.Base.seconds(), s.New.seconds()) < shortStep:
		return nil, "a step of " + quantity.Micros(min(s.Base.seconds(), s.New.seconds())*1e6) +
			" is too short to measure the time of the processors and the sessions"
	case len(found) == 0:
		return nil, "neither the processors' time nor the sessions' is known"
	case !void && s.Base.Limit == ByProcessors && s.New.Limit == ByProcessors && found[0].Of == Processors:
		return found[0], ""
	}
	return slices.MinFunc(found, func(a, b *Sum) int { return cmp.Compare(a.slack(v), b.slack(v)) }), ""
}

// shortStep is the length in seconds below which the kernel's and the samples' counts are too few.
const shortStep = 1

// slack returns the share of the difference in items that explain nothing: idle processors,
// and sessions that are in a statement, unless more is known of that.
func (s *Sum) slack(v *view) (sum float64) {
	for _, c := range s.Causes {
		if c.Item.is(inside) {
			v.explain(s, &c)
		}
		if c.Item != Rest && c.Item.is(slack) || c.Item.is(inside) && c.Rule.place() {
			sum += math.Abs(c.Log)
		}
	}
	return sum
}

func (s *Step) cost(j *compare.Judgement, k compare.Key, design stat.Design) *Sum {
	e := j.Effect(s.Of, k)
	if e == nil || e.Verdict == "" {
		return nil
	}
	own := e.New.Key // of the metric that replaces it, if other programs disturbed the device
	how := splits[own.Metric]
	if how.split == nil {
		return nil
	}
	return s.sum(e, how.by, design, 1, func(r *run) sheet { return how.split(r, own) })
}

// sum splits a number of all runs; nil if that is not possible in each of them.
func (s *Step) sum(e *compare.Effect, ledger Ledger, design stat.Design, sign float64, split func(*run) sheet) *Sum {
	data := sample{design: design, factors: ledger == Factors || ledger == Ceiling,
		parts: ledger == Parts, sign: sign}
	for _, side := range []struct {
		runs []run
		dst  *[]sheet
	}{{s.Base.runs, &data.base}, {s.New.runs, &data.other}} {
		for i := range side.runs {
			x := split(&side.runs[i])
			if !usable(x, ledger) {
				return nil
			}
			*side.dst = append(*side.dst, x)
		}
	}
	if data.unit = e.Unit; e.Groups > 0 {
		data.trials = [2][]*result.Trial{trialsOf(s.Base.runs), trialsOf(s.New.runs)}
		if design == stat.Grouped { // run by run
			data.trials[1] = data.trials[0]
		}
	}
	data.alike()
	if ledger == Sessions || ledger == Threads {
		data.clients = [2][]float64{clientsOf(s.Base.runs), clientsOf(s.New.runs)}
		if slices.Equal(data.clients[0], data.clients[1]) {
			data.clients = [2][]float64{}
		}
	}
	if data.uneven() {
		return nil
	}
	if trivial(e) || data.empty() {
		return nil
	}
	out := &Sum{Effect: e, Metric: e.Metric(), Of: ledger, Total: data.totalLog(), data: data}
	out.Total.agreed = out.Total.agreed && e.Sure() // the comparison decides which differences are proven
	for _, item := range data.items() {
		c := Cause{Contribution: data.contribution(item), Share: math.NaN(), ShareLow: math.NaN(), ShareHigh: math.NaN()}
		if c.Base == 0 && c.New == 0 {
			continue
		}
		if out.Total.Proven() {
			c.Share, c.ShareLow, c.ShareHigh = data.share(item)
		}
		out.Causes = append(out.Causes, c)
	}
	return out
}

func (s *Sum) throughput() bool { return metric.FamilyOf(s.Metric) == metric.Throughput }

// clientsOf returns the number of clients in closed loops of each run.
func clientsOf(runs []run) (out []float64) {
	for i := range runs {
		out = append(out, float64(runs[i].clients()))
	}
	return out
}

// littleKB is an amount per unit that is negligible.
const littleKB = 0.05

// trivial reports whether a negligible number of bytes is read or written per unit.
func trivial(e *compare.Effect) bool {
	m := metric.ByName(e.Metric())
	return m != nil && m.Unit == "KB" && max(e.Base.Value, e.New.Value) < littleKB
}

// usable reports whether a number could be split.
func usable(x sheet, ledger Ledger) bool {
	if len(x) == 0 || !(x.total() > 0) || math.IsInf(x.total(), 0) {
		return false
	}
	return ledger != Factors && ledger != Ceiling ||
		!slices.ContainsFunc(x, func(e entry) bool { return !(e.value > 0) || math.IsInf(e.value, 0) })
}

// correct adjusts the p-values of all items of the step that could be named as causes.
func (s *Step) correct() {
	var p []float64
	var items []*Contribution
	for _, sum := range s.Sums {
		for i := range sum.Causes {
			if c := &sum.Causes[i].Contribution; sum.asks(c) {
				items = append(items, c)
				p = append(p, c.P)
			}
		}
	}
	for i, v := range stat.Holm(p) {
		items[i].Adjusted = v
	}
}

// asks reports whether an item poses a question. It does not if it is no cause, is too
// small to be named or is the same in all runs, or if the throughput that it would explain
// is not proven to differ: then no answer can be wrong.
func (s *Sum) asks(c *Contribution) bool {
	small := !s.data.factors && c.Item != Clients && max(c.Base, c.New) < leastLog*s.data.scale()
	constant := c.Low == 0 && c.High == 0
	return !c.Item.is(slack) && !small && !constant && (!s.throughput() || s.Total.Proven())
}

// repeats reports whether the causes only repeat the number itself: that more CPU is needed
// because more CPU is needed.
func (s *Sum) repeats() bool {
	return len(s.Causes) == 1 && s.Causes[0].Rule.place()
}

// weight is the sort key of a step's sums: throughput counts twice, unproven sums count
// little.
func (s *Sum) weight() float64 {
	w := math.Abs(s.Total.Log)
	if s.throughput() {
		w *= 2
	}
	if !s.Total.Proven() && !slices.ContainsFunc(s.Causes, func(c Cause) bool { return c.Proven() }) {
		w /= 100
	}
	return w
}

// name gives the causes their rules and sentences, sorts them, and computes the rest.
func (s *Sum) name(v *view) {
	var known []Item
	for i := range s.Causes {
		c := &s.Causes[i]
		v.explain(s, c)
		if c.Proven() {
			known = append(known, c.Item)
		}
	}
	s.Rest = s.data.without(known)
	s.Rest.Item = Rest
	slices.SortStableFunc(s.Causes, func(a, b Cause) int { return cmp.Compare(math.Abs(b.Log), math.Abs(a.Log)) })
}

// Unexplained returns the part of the sum's difference that no proven item accounts for:
// negative if that part works against the difference, NaN if the difference is not proven.
func (s *Sum) Unexplained() float64 {
	if !s.Total.Proven() {
		return math.NaN()
	}
	return s.Rest.Log / s.Total.Log
}

// Named returns the causes that are proven, the greatest first.
func (s *Sum) Named() (out []Cause) {
	for _, c := range s.Causes {
		if c.Proven() {
			out = append(out, c)
		}
	}
	return out
}

// dozes reports whether sessions spend much of their time asleep or waiting for devices,
// which the kernel does not distinguish.
func (s *Side) dozes() bool {
	return len(s.runs) > 0 && !slices.ContainsFunc(s.runs, func(r run) bool {
		x := r.threads()
		return !(x.find(Item(account.ThreadAsleepOrIO)).value > much*x.total())
	})
}

// mostShared is the share of the processors that other programs may have had.
const mostShared = 0.10

// shared returns the share of the processors that other programs used.
func (s *Side) shared() float64 {
	return s.mean(func(r *run) float64 {
		x := r.processors()
		if x == nil {
			return 0
		}
		return (x.find(Others).value + x.find(Steal).value) / x.total()
	})
}

// processors returns the number of processors, by their time.
func (s *Side) processors() float64 {
	return s.mean(func(r *run) float64 { return r.processors().total() * r.units / (r.Seconds * 1e6) })
}

// foreign reports whether a number may include what other programs did.
func (s *Step) foreign(k compare.Key) bool {
	return s.Of.Number(s.Base.Target, k).Disturbed() || s.Of.Number(s.New.Target, k).Disturbed()
}

// mean is a mean over the runs of a side; NaN if it is unknown in one.
func (s *Side) mean(value func(*run) float64) (sum float64) {
	for i := range s.runs {
		sum += value(&s.runs[i]) / float64(len(s.runs))
	}
	return sum
}

// per returns the mean of a metric's rows over a side's runs, per the unit of the key; NaN
// if a run has none, or one that other programs disturbed.
func (s *Side) per(name, op string, like compare.Key) float64 {
	return s.mean(func(r *run) float64 {
		if row := metric.Find(r.Rows, name, op, like.Per); row != nil && !row.Disturbed {
			return row.Value
		}
		return math.NaN()
	})
}

// growth returns the mean growth of a counter per primary unit.
func (s *Side) growth(name string) (sum float64, ok bool) {
	for i := range s.runs {
		if strings.HasPrefix(name, "device.") && s.runs[i].disturbed() {
			return 0, false // what other programs read and wrote is in it
		}
		v, known := account.Counter(s.runs[i].Counters, name)
		if !known || s.runs[i].units <= 0 {
			return 0, false
		}
		sum += v / s.runs[i].units / float64(len(s.runs))
	}
	return sum, len(s.runs) > 0
}

// ByCPU reports whether the first proven cause of a step is the CPU that the engine uses,
// which a profile shows in more detail.
func (e *Explanation) ByCPU() bool {
	return slices.ContainsFunc(e.Steps, func(s *Step) bool {
		if len(s.Sums) == 0 || !s.Sums[0].Sure() {
			return false
		}
		named := s.Sums[0].Named()
		return len(named) > 0 && named[0].Item.is(served, behind)
	})
}

// Differs reports whether any number is proven to differ.
func (e *Explanation) Differs() bool {
	return slices.ContainsFunc(e.Steps,
		func(s *Step) bool { return slices.ContainsFunc(s.Sums, func(s *Sum) bool { return s.Sure() }) })
}

// Explains reports whether any number could be split, or one thing is the cause by design.
func (e *Explanation) Explains() bool {
	return e.Single() && !e.unlikeEngines() || slices.ContainsFunc(e.Steps, func(s *Step) bool { return len(s.Sums) > 0 })
}

// Judged reports whether anything could be judged.
func (e *Explanation) Judged() bool {
	return slices.ContainsFunc(e.Steps, func(s *Step) bool { return len(s.Sums) > 0 || len(s.Notes) > 0 })
}
