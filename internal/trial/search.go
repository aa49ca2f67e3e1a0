package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/workload"
)

// search looks for the highest rate at which a step keeps the plan's promise.
// The step itself has just run in a closed loop: its rate is the upper limit.
// Each probe is a step of its own.
func (t *trial) search(ctx context.Context, step *workload.Step) error {
	p := &prober{Find: t.Plan.Find, trial: t, step: *step, group: plan.OpenGroup(step)}
	if p.Seconds > 0 {
		p.step.Seconds = p.Seconds
	}
	s := &search{grid: grid{t.Plan.Find}, probe: p.probe}
	ceiling := 0.0
	for k, kind := range step.Groups[p.group].Ops {
		if !kind.Upkeep {
			ceiling += float64(t.driven.Groups[p.group].Kinds[k].Ops) / t.driven.Window.Seconds()
		}
	}
	at := len(t.res.Steps) - 1
	if ceiling == 0 {
		t.res.Steps[at].Warnings = append(t.res.Steps[at].Warnings, metric.Warn(metric.NoRateSearched, nil))
		return t.save()
	}
	if err := s.run(ctx, ceiling); err != nil {
		return err
	}
	s.conclude(&t.res.Steps[at], t.all(step.Name), step.Groups[p.group].Name, p.step.Seconds, ceiling)
	t.Progress(eventOf(PhaseFound, t.res.Steps[at]))
	return t.save()
}

// PhaseFound is the end of a search for a rate, see Event.Is.
const PhaseFound = "found"

// search is a search for a rate.
type search struct {
	grid
	probe  func(ctx context.Context, rate float64) (probe, error)
	probes []probe // in the order in which they were made
}

// probe is a rate that was tried.
type probe struct {
	at    int // its number
	rate  float64
	took  time.Duration // the percentile that the promise is about
	n     int64         // operations behind the percentile
	broke string        // why the promise was not kept; "" if it was
}

// run tries rates until two neighbouring rates are found of which the lower
// keeps the promise and the higher breaks it.
func (s *search) run(ctx context.Context, ceiling float64) error {
	high := s.nearest(ceiling) + 1 // assumed to break it
	if s.To > 0 {
		high = s.last()
		if kept, err := s.try(ctx, high); kept || err != nil {
			return err
		}
	}
	low, known := s.least(high), false
	if s.From > 0 {
		kept, err := s.try(ctx, low)
		if !kept || err != nil {
			return err
		}
		known = true
	}
	for high-low > 1 || !known {
		next := (low + high) / 2
		if !known { // from above, so that the first probes are not too slow to be meaningful
			next = max(low, high-s.halving())
		}
		kept, err := s.try(ctx, next)
		switch {
		case err != nil:
			return err
		case kept:
			low, known = next, true
		case next == low:
			return nil
		default:
			high = next
		}
	}
	return nil
}

// try makes a probe.
func (s *search) try(ctx context.Context, at int) (kept bool, err error) {
	p, err := s.probe(ctx, s.rate(at))
	if err != nil {
		return false, err
	}
	p.at = at
	s.probes = append(s.probes, p)
	return p.broke == "", nil
}

// prober makes the probes of a step.
type prober struct {
	*plan.Find
	trial *trial
	step  workload.Step
	group int
}

// probe runs the step at a rate.
func (r *prober) probe(ctx context.Context, rate float64) (probe, error) {
	p := probe{rate: rate}
	step := plan.AtRate(&r.step, rate, &r.Like)
	if err := r.trial.runStep(ctx, &step); err != nil {
		return p, err
	}
	out := &r.trial.res.Steps[len(r.trial.res.Steps)-1]
	r.judge(&p, &step, out)
	if p.broke == "" {
		out.Note(fmt.Sprintf("%s was kept: %s", r.Promise, shown(p.took)))
	} else {
		out.Note(r.Promise + " was not kept: " + p.broke)
	}
	return p, nil
}

// judge decides whether a probe kept the promise. Operations that had arrived
// and were not done count with the time they had waited by then, and those
// given up as infinite.
func (r *prober) judge(p *probe, step *workload.Step, out *result.Step) {
	res := &r.trial.driven.Groups[r.group]
	all := hist.NewDist()
	for k := range res.Kinds {
		if step.Groups[r.group].Ops[k].Upkeep {
			continue
		}
		all.Merge(res.Kinds[k].Response)
		for range res.Kinds[k].GivenUp {
			all.Record(endless)
		}
	}
	all.Merge(res.Undone)
	p.took, p.n = time.Duration(all.Percentile(r.Percentile)), all.Count()
	if r.Percentile == 100 {
		p.took = time.Duration(all.Max())
	}
	sla := out.Groups[r.group].SLA
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
func (s *search) conclude(out *result.Step, b account.Builder, group string, seconds, ceiling float64) {
	slices.SortFunc(s.probes, func(a, b probe) int { return a.at - b.at })
	var tried []string
	var best, lowest *probe // the best that kept it, and the lowest above that broke it
	for i := range s.probes {
		p := &s.probes[i]
		if p.broke == "" {
			best, lowest = p, nil
			tried = append(tried, fmt.Sprintf("%.10g/s %s", p.rate, shown(p.took)))
			continue
		}
		if lowest == nil {
			lowest = p
		}
		tried = append(tried, fmt.Sprintf("%.10g/s broke it (%s)", p.rate, p.broke))
	}
	found := &result.Search{Promise: s.Promise, Capped: s.To > 0, How: &result.SearchPlan{
		Precision: s.Precision, From: s.From, To: s.To, Seconds: seconds, Arrivals: string(s.Like.Kind), Queue: s.Like.Queue}}
	if best != nil {
		found.Kept, found.Took = best.rate, best.took.Seconds()*1e3
	}
	if lowest != nil {
		found.Broke, found.Why = lowest.rate, lowest.broke
	}
	out.Search = found
	text := found.String()
	if lowest == nil && !found.Capped {
		text += fmt.Sprintf("; without a rate the clients did %.0f/s, and more was not tried", ceiling)
	}
	out.Note(text + ". Tried: " + strings.Join(tried, ", "))
	var highest float64
	if best != nil {
		highest = best.rate
		b.Warnings = s.unsure(best)
	}
	b.Put("highest_rate", highest, account.Of(group, ""), account.Count(int64(len(s.probes))), account.Warned(b.Warnings...))
	out.Take(&b.Sheet)
}

// unsure returns warnings that limit trust in the answer: too few operations
// for the percentile, or response times near the limit that fell though the
// rate rose.
func (s *search) unsure(best *probe) (out []metric.Warning) {
	if beyond := float64(best.n) * (1 - s.Percentile/100); s.Percentile < 100 && beyond < 10 {
		out = append(out, metric.Warn(metric.FewBeyond, metric.Values{"promise": s.Promise, "rate": best.rate, "n": float64(best.n), "beyond": beyond}))
	}
	for i := 1; i < len(s.probes); i++ {
		a, b := &s.probes[i-1], &s.probes[i]
		if b.broke == "" && (a.broke != "" || a.took > s.Below/2 && a.took > b.took*5/4) {
			out = append(out, metric.Warn(metric.NotMonotone, metric.Values{"lower": shown(a.took), "lower_rate": a.rate, "upper": shown(b.took), "upper_rate": b.rate}))
		}
	}
	return out
}
