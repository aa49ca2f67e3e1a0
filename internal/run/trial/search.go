package trial

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/run/ratesearch"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// search looks for the highest rate at which a step keeps the plan's promise.
// The step itself has just run in a closed loop; the answer lies near its rate.
// Each probe is a separate step.
func (t *trial) search(ctx context.Context, step *workload.Step) error {
	out := &t.res.Steps[len(t.res.Steps)-1]
	p := &prober{Find: t.Plan.Find, trial: t, step: *step, group: plan.OpenGroup(step), made: map[float64][]probe{}}
	closed, took := p.closedLoop()
	lowest := p.LeastRate(step.Seconds)
	switch {
	case closed == 0:
		out.Warnings = append(out.Warnings, metric.Warn(remark.NoRateSearched, nil))
		return t.save()
	case closed < lowest:
		usual := p.Length(math.Inf(1), step.Seconds)
		out.Warnings = append(out.Warnings, metric.Warn(remark.ProbesTooShort,
			metric.Values{"promise": p.Words(), "closed": closed, "usual": usual,
				"seconds": math.Ceil(2 * usual * lowest / closed)}))
		return t.save()
	}
	s := ratesearch.New(ratesearch.Plan{Precision: p.Precision, From: p.From, Lowest: lowest, To: p.To, Closed: closed,
		Ease: float64(p.Below) / float64(took)})
	for rate, ok := s.Next(); ok; rate, ok = s.Next() {
		pr, err := p.probe(ctx, rate)
		if err != nil {
			return err
		}
		pr.counts = s.Add(rate, pr.broke == "", pr.disturbed)
		p.note(&pr)
		p.made[rate] = append(p.made[rate], pr)
	}
	answer := s.Answer()
	if err := p.hold(ctx, &answer); err != nil {
		return err
	}
	// The probes have been added to the steps since then.
	out = &t.res.Steps[slices.IndexFunc(t.res.Steps, func(o result.Step) bool { return o.Name == step.Name })]
	p.conclude(out, answer, closed)
	t.Progress(eventOf(PhaseFound, *out))
	return t.save()
}

// PhaseProbed is the end of a probe; its last note states whether the promise was
// kept. PhaseFound is the end of a search, see Event.Is.
const PhaseProbed, PhaseFound = "probed", "found"

// prober makes the probes of a step.
type prober struct {
	*plan.Find
	trial   *trial
	step    workload.Step
	group   int
	made    map[float64][]probe // by rate
	held    float64             // the rate that was held; 0: none
	heldFor float64             // for how many seconds
	doubt   []metric.Warning    // about holding it
}

// probe is a probe of a rate.
type probe struct {
	rate      float64
	took      time.Duration // the percentile that the promise is about
	n         int64         // operations behind the percentile
	broke     string        // why the promise was not kept; "" if it was
	disturbed bool          // by other programs
	counts    bool
	holds     bool // of the answer, for long
	// credit is the growth of the engine's debt, nil if it reports none, and short says which of the engine's
	// cycles it was too short for.
	credit *metric.Row
	short  []metric.Warning
}

// closedLoop returns the rate of the closed loop that has just run, and the
// promised percentile of its service times.
func (r *prober) closedLoop() (rate float64, took time.Duration) {
	dist := hist.NewDist()
	for k, kind := range r.trial.driven.Groups[r.group].Kinds {
		if !r.step.Groups[r.group].Ops[k].Upkeep {
			dist.Merge(kind.Service)
		}
	}
	return float64(dist.Count()) / r.trial.driven.Window.Seconds(), r.promised(dist)
}

// promised returns the promised percentile of response or service times.
func (r *prober) promised(dist *hist.Dist) time.Duration {
	if r.Percentile == 100 {
		return time.Duration(dist.Max())
	}
	return time.Duration(dist.Percentile(r.Percentile))
}

// probe runs the step at a rate.
func (r *prober) probe(ctx context.Context, rate float64) (probe, error) {
	p := probe{rate: rate}
	subject, like, n := r.step, r.Like, len(r.made[rate])
	subject.Seconds, like.Draw = r.Length(rate, r.step.Seconds), uint64(n)
	step := plan.AtRate(&subject, rate, &like)
	if n > 0 {
		step.Name += fmt.Sprintf("#%d", n+1)
	}
	return p, r.run(ctx, &p, &step)
}

// run runs a probe, which begins without put-off work.
func (r *prober) run(ctx context.Context, p *probe, step *workload.Step) error {
	if r.Credit < 1 && !onlyReads(step) {
		r.trial.lastWindow = nil // what this writes belongs to no step
		if _, err := r.trial.db.Settle(ctx); err != nil {
			return fmt.Errorf("settle before a probe: %w", err)
		}
	}
	if err := r.trial.runStep(ctx, step); err != nil {
		return err
	}
	out := &r.trial.res.Steps[len(r.trial.res.Steps)-1]
	r.judge(p, step, out)
	p.disturbed = disturbed(out)
	p.short = withCode(out.Warnings, remark.ShortCycle)
	return nil
}

// The answer is held at a rate below it, and if that fails at lower ones.
const (
	heldShare = 0.95
	lower     = 0.9
	mostHolds = 4
)

// hold runs the step for long just below the highest rate, to see that its probes were long enough,
// and lowers the answer if it does not keep the promise there. If other programs disturbed all tries, that is said.
func (r *prober) hold(ctx context.Context, a *ratesearch.Answer) error {
	seconds := r.Holds(r.step.Seconds)
	if seconds == 0 || a.Kept == 0 {
		return nil
	}
	return r.tryHolds(a, func(try int, p *probe) (float64, error) {
		subject, like := r.step, r.Like
		subject.Seconds, like.Draw = max(seconds, r.Length(p.rate, r.step.Seconds)), uint64(ratesearch.Most+try)
		step := plan.AtRate(&subject, p.rate, &like)
		if step.Name += "#held"; try > 0 {
			step.Name += strconv.Itoa(try + 1)
		}
		if err := r.run(ctx, p, &step); err != nil {
			return 0, err
		}
		p.counts = p.broke == "" || !p.disturbed
		r.note(p)
		return subject.Seconds, nil
	})
}

// tryHolds is hold with a function that makes a probe and returns how long it took.
func (r *prober) tryHolds(a *ratesearch.Answer, hold func(try int, p *probe) (float64, error)) error {
	kept, rate := a.Kept, a.Kept*heldShare
	for try := range mostHolds {
		p := probe{rate: rate, counts: true, holds: true}
		took, err := hold(try, &p)
		if err != nil {
			return err
		}
		r.made[rate] = append(r.made[rate], p)
		if p.broke == "" {
			r.held, r.heldFor = rate, took
			if rate < kept*heldShare {
				a.Kept, a.Low = rate, rate
			}
			return nil
		}
		broke := p.broke
		if !p.counts {
			broke += ", beside other programs"
		}
		if len(r.doubt) == 0 && (p.counts || try == mostHolds-1) {
			r.doubt = append(r.doubt, metric.Warn(remark.NotHeld, metric.Values{"promise": r.Words(), "kept": kept,
				"probe": r.Length(kept, r.step.Seconds), "seconds": took, "rate": rate, "broke": broke}))
		}
		if !p.counts {
			continue // at the same rate again
		}
		a.Kept, a.Low, a.Broke, a.High = 0, 0, rate, rate
		rate *= lower
	}
	return nil
}

// withCode returns the warnings of a code.
func withCode(list []metric.Warning, code metric.Code) []metric.Warning {
	return slices.DeleteFunc(slices.Clone(list), func(w metric.Warning) bool { return w.Code != code })
}

// note adds to a probe's step the result of the probe.
func (r *prober) note(p *probe) {
	text := r.Words() + " was not kept: " + p.broke
	if p.broke == "" {
		text = fmt.Sprintf("%s was kept: %s", r.Words(), shown(p.took))
	}
	if !p.counts {
		text += "; it does not count, as other programs disturbed it"
	}
	step := &r.trial.res.Steps[len(r.trial.res.Steps)-1]
	step.Uncounted = !p.counts
	step.Note(text)
	r.trial.Progress(eventOf(PhaseProbed, *step))
}

// disturbed reports whether other programs used so much of the processors, or of
// the device, that operations may have waited for them.
func disturbed(s *result.Step) bool {
	const much = 1 // MB a second
	return slices.ContainsFunc(s.Rows, func(row metric.Row) bool {
		return slices.ContainsFunc(row.Warnings, func(w metric.Warning) bool {
			foreign, _ := w.Values["others"].(float64)
			return w.Code == remark.ProcessorsShared || w.Code == remark.Disturbed && foreign > much*s.Seconds
		})
	})
}

// judge decides whether a probe kept the promise. Operations that had arrived
// and were not done count with the time they had waited by then, and those
// given up as infinite.
func (r *prober) judge(p *probe, step *workload.Step, out *result.Step) {
	res := &r.trial.driven.Groups[r.group]
	dist := hist.NewDist()
	for k := range res.Kinds {
		if step.Groups[r.group].Ops[k].Upkeep {
			continue
		}
		dist.Merge(res.Kinds[k].Response)
		for range res.Kinds[k].GivenUp {
			dist.Record(endless)
		}
	}
	dist.Merge(res.Undone)
	p.took, p.n = r.promised(dist), dist.Count()
	p.credit = out.Find(metric.DebtGrowthShare, "", "")
	sla := out.Promise(out.Groups[r.group].Name)
	switch {
	case out.Status != result.Complete:
		p.broke = "the step is " + string(out.Status)
	case p.n == 0:
		p.broke = "nothing arrived"
	case res.Arrivals.Shed > 0:
		p.broke = fmt.Sprintf("%d operations were shed", res.Arrivals.Shed)
	case !sla.Met:
		p.broke = fmt.Sprintf("of %.0f/s only %.0f/s were done", sla.Target, sla.Achieved)
	case p.took >= r.Below:
		p.broke = r.measure() + " " + shown(p.took)
	case p.credit != nil && p.credit.Value > r.Credit && r.Credit < 1:
		p.broke = fmt.Sprintf("on credit: the work put off grew by %.0f %% of what was written", 100*p.credit.Value)
	}
}

const endless = int64(2 * hist.Longest)

// measure returns the promised measure: "p99".
func (r *prober) measure() string {
	name, _, _ := strings.Cut(r.Promise, "_")
	return name
}

func shown(d time.Duration) string {
	if d >= hist.Longest {
		return "endless"
	}
	return result.Millis(d.Seconds() * 1e3)
}

// conclude adds the answer to the closed-loop step.
func (r *prober) conclude(out *result.Step, a ratesearch.Answer, closed float64) {
	usual := r.Length(math.Inf(1), r.step.Seconds)
	found := &result.Search{Promise: r.Promise, Capped: r.To > 0, Kept: a.Kept, Broke: a.Broke, Low: a.Low,
		Probes: a.Probes, Disturbed: a.Disturbed, Closed: closed,
		How: result.SearchPlan{Precision: r.Precision, From: r.From, To: r.To, Seconds: usual,
			Arrivals: string(r.Like.Kind), Queue: r.Like.Queue, LeadIn: r.Like.LeadIn,
			Credit: r.Credit, Hold: r.Holds(r.step.Seconds)}}
	if r.held > 0 {
		found.Held, found.HeldSeconds = r.held, r.heldFor
	}
	if !math.IsInf(a.High, 1) {
		found.High = a.High
	}
	for _, p := range r.made[a.Kept] {
		if p.broke == "" {
			found.Took = max(found.Took, p.took.Seconds()*1e3)
		}
	}
	for _, p := range r.support(a) {
		if p.credit != nil && r.Credit < 1 {
			found.Grown = new(max(p.credit.Value, *cmp.Or(found.Grown, &p.credit.Value)))
		}
	}
	for _, p := range r.made[a.Broke] {
		if p.broke != "" && p.counts {
			found.Why = p.broke
		}
	}
	if a.Kept == 0 && r.calm() == 0 {
		found.Why += "; that is not measurable here: other programs disturbed every probe"
	}
	out.Search = found
	out.Note(found.String() + ". Tried: " + strings.Join(r.tried(), ", "))
	b := r.trial.builder(out.Name)
	warnings := r.unsure(a)
	b.Put(metric.HighestRate, a.Kept, account.Of(out.Groups[r.group].Name, ""), account.Count(int64(a.Probes)),
		account.Warned(warnings...))
	b.Warnings = warnings
	out.Take(&b.Sheet)
}

// calm returns how many probes no other programs disturbed.
func (r *prober) calm() (n int) {
	for _, probes := range r.made {
		for _, p := range probes {
			if !p.disturbed {
				n++
			}
		}
	}
	return n
}

// support returns the probes that the answer rests on: those of its rate that kept the promise, and the
// one in which it was held.
func (r *prober) support(a ratesearch.Answer) (out []probe) {
	for _, p := range slices.Concat(r.made[a.Kept], r.made[r.held]) {
		if p.broke == "" && (p.holds || p.rate == a.Kept) {
			out = append(out, p)
		}
	}
	return out
}

// tried returns the results of the probes, by rate.
func (r *prober) tried() (out []string) {
	for _, rate := range slices.Sorted(maps.Keys(r.made)) {
		var each []string
		for _, p := range r.made[rate] {
			text := shown(p.took)
			if p.broke != "" {
				text = "broke it (" + p.broke + ")"
			}
			if !p.counts {
				text = "disturbed"
			}
			each = append(each, text)
		}
		out = append(out, fmt.Sprintf("%.10g/s %s", rate, strings.Join(each, " and ")))
	}
	return out
}

// owes reports whether the engine reports the work that it puts off.
func (r *prober) owes() bool {
	return slices.ContainsFunc(r.trial.res.Steps, func(s result.Step) bool {
		return s.Find(metric.DebtGrowthShare, "", "") != nil
	})
}

// unsure returns warnings that limit trust in the answer.
func (r *prober) unsure(a ratesearch.Answer) (out []metric.Warning) {
	if !a.Precise {
		wide := "open"
		if a.Low > 0 && !math.IsInf(a.High, 1) {
			wide = fmt.Sprintf("%.2g %%", 100*(a.High/a.Low-1))
		}
		out = append(out, metric.Warn(remark.SearchWide, metric.Values{"width": wide, "precision": 100 * r.Precision}))
	}
	if out = append(out, r.doubt...); r.Credit < 1 && !onlyReads(&r.step) && !r.owes() {
		out = append(out, metric.Warn(remark.DebtUnknown, nil))
	}
	if list := r.support(a); len(list) > 0 {
		out = append(out, list[len(list)-1].short...)
	}
	probes, spoiled, repeated := 0, 0, 0 // those that hold the answer are among them
	for _, collected := range r.made {
		for _, p := range collected {
			probes++
			if p.disturbed && p.broke != "" {
				spoiled++
			}
			if !p.counts {
				repeated++
			}
		}
	}
	if spoiled > 0 {
		out = append(out, metric.Warn(remark.ProbesDisturbed, metric.Values{"n": float64(spoiled),
			"probes": float64(probes), "repeated": float64(repeated), "counted": float64(spoiled - repeated)}))
	}
	for _, p := range r.made[a.Kept] {
		if beyond := float64(p.n) * (1 - r.Percentile/100); r.Percentile < 100 && p.broke == "" && beyond < 9.5 {
			return append(out, metric.Warn(remark.FewBeyond,
				metric.Values{"promise": r.Words(), "rate": a.Kept, "n": float64(p.n), "beyond": beyond}))
		}
	}
	return out
}
