// Package forecast estimates how long a campaign takes: from the parameters of
// its plan if these fix a length, and from trials of the same plan that have
// ended. Other lengths are unknown; nothing is guessed from other plans or
// engines.
package forecast

import (
	"math"
	"slices"
	"strings"
	"time"

	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/ratesearch"
	"rumbench/internal/text/quantity"
	"rumbench/workload"
)

// Part is a step of a trial, with the probes of the search that follows it.
type Part struct {
	Name   string
	Length Span
	Probes int // at most; 0: nothing is searched for
}

// Trial is the forecast of a trial.
type Trial struct {
	Start Span // until the first step
	Parts []Part
}

// Length returns how long the trial takes.
func (t Trial) Length() Span { return t.Left(-1, 0) }

// Beside returns the forecast of two trials at the same time, which begin each
// step together.
func (t Trial) Beside(o Trial) Trial {
	t.Start, t.Parts = t.Start.Beside(o.Start), slices.Clone(t.Parts)
	for i := range t.Parts {
		t.Parts[i].Length = t.Parts[i].Length.Beside(o.Parts[i].Length)
	}
	return t
}

// Left returns how much of the trial is left when a part, from 0, has run for
// some time; -1 is the time before the first.
func (t Trial) Left(part int, spent time.Duration) (left Span) {
	if part < 0 {
		left = t.Start.Minus(spent)
	}
	for i := max(0, part); i < len(t.Parts); i++ {
		length := t.Parts[i].Length
		if i == part {
			length = length.Minus(spent)
		}
		left = left.Plus(length)
	}
	return left
}

// Part returns the number of the part that a step of a trial belongs to, from 0;
// -1 if there is none. A probe belongs to the step that it searches for.
func (t Trial) Part(step string) int {
	best := -1
	for i := range t.Parts {
		name := t.Parts[i].Name
		if name == step {
			return i
		}
		// Names of steps may have an @ themselves: the longest is meant.
		if t.Parts[i].Probes > 0 && strings.HasPrefix(step, name+"@") && (best < 0 || len(name) > len(t.Parts[best].Name)) {
			best = i
		}
	}
	return best
}

// Place is the position of a campaign when a trial begins.
type Place struct {
	Number, Of int  // the trial's number, from 1, and how many there are
	Duet       bool // it runs at the same time as another, and is the second of the two
	Trial      Trial
	After      Span // of all that follows the trial
}

// Left returns how much of the campaign is left, see [Trial.Left].
func (p *Place) Left(part int, spent time.Duration) Span {
	return p.Trial.Left(part, spent).Plus(p.After)
}

// Forecast is the forecast of a plan.
type Forecast struct {
	plan    *plan.Plan
	parts   []Part
	earlier *Earlier
	ended   map[string][]lengths // of this campaign's trials that have ended, by target
}

// New returns the forecast of a plan, with the lengths from an earlier run of
// it; nil if there was none.
func New(p *plan.Plan, earlier *Earlier) *Forecast {
	return &Forecast{p, partsOf(p), earlier, map[string][]lengths{}}
}

// Earlier returns the run that the forecast is from; nil if there is none.
func (f *Forecast) Earlier() *Earlier { return f.earlier }

// Add adds a trial of this campaign that has ended.
func (f *Forecast) Add(t *result.Trial) {
	if l, ok := lengthsOf(f.parts, t); ok {
		f.ended[t.Target] = append(f.ended[t.Target], l)
	}
}

// Trial returns the forecast of a trial of a target, by its number from 1: later ones may begin with a copy
// of the data that earlier ones have loaded.
func (f *Forecast) Trial(target string, number int) Trial {
	seen := f.ended[target]
	if len(seen) == 0 && f.earlier != nil {
		seen = f.earlier.lengths[target]
	}
	start := f.plan.Start
	copies := start.Loaded() && (!f.plan.Loads(target) || number > start.Loads || len(f.ended[target]) >= start.Loads)
	t := Trial{Parts: f.partsOf(target)}
	loading := 0
	if start.Loaded() {
		loading = len(f.plan.Loading())
	}
	alike := slices.DeleteFunc(slices.Clone(seen), func(l lengths) bool { return l.copied != copies })
	if len(alike) > 0 {
		t.Start = Exactly(median(alike, func(l lengths) time.Duration { return l.start }))
	}
	for i := range t.Parts {
		ran := seen
		if i < loading {
			ran = alike
		}
		switch {
		case copies && i < loading:
			t.Parts[i].Length = Exactly(0)
		case len(ran) > 0:
			t.Parts[i].Length = Exactly(median(ran, func(l lengths) time.Duration { return l.parts[i] }))
		}
	}
	return t
}

// Trials returns how long trials of a campaign take, after it has run for some
// time, with the pauses between them.
func (f *Forecast) Trials(entries []result.Entry, spent time.Duration) (span Span) {
	for i := 0; i < len(entries); i++ {
		e := entries[i]
		t := f.Trial(e.Target, e.Trial)
		if f.plan.Order == plan.Duet && i+1 < len(entries) && entries[i+1].Trial == e.Trial {
			i++
			t = t.Beside(f.Trial(entries[i].Target, entries[i].Trial))
		}
		length := t.Length().Plus(Exactly(f.plan.Between.Rest))
		if stop := &f.plan.Stop; stop.Precision > 0 && e.Trial > stop.MinTrials {
			length.Least = 0
		}
		span = span.Plus(length)
	}
	if budget := f.plan.Stop.Budget; budget > 0 {
		span = span.within(max(0, budget-spent))
	}
	return span
}

// Campaign returns how long a campaign of these trials takes.
func (f *Forecast) Campaign(entries []result.Entry) Span {
	span := f.Trials(entries, 0)
	if len(entries) > 0 && !f.plan.Between.Trim {
		span = span.Minus(f.plan.Between.Rest) // which is between trials
	}
	if f.plan.Calibrate && f.earlier != nil {
		span = span.Plus(Exactly(f.earlier.client))
	}
	return span
}

// partsOf returns the parts of a trial of a target. The target may have its own
// parameters.
func (f *Forecast) partsOf(target string) []Part {
	for i := range f.plan.Targets {
		if t := &f.plan.Targets[i]; t.Name == target && len(t.Own) > 0 {
			return partsOf(f.plan.For(t))
		}
	}
	return slices.Clone(f.parts)
}

// partsOf returns the parts that follow from the parameters of a plan.
func partsOf(p *plan.Plan) (out []Part) {
	steps := p.Steps()
	for i := range steps {
		s := &steps[i]
		part := Part{Name: s.Name, Length: planned(s)}
		if p.Until > 0 && plan.OpenGroup(s) >= 0 { // until it is steady
			part.Length = part.Length.Plus(Span{0, quantity.AsDuration(s.Seconds * (p.Until - 1))})
		}
		if p.Find != nil && plan.OpenGroup(s) >= 0 {
			part.Probes = ratesearch.Most
			probe := p.Find.Length(math.Inf(1), s.Seconds) + p.Find.Like.LeadIn
			held := p.Find.Holds(s.Seconds)
			part.Length = part.Length.Plus(Span{quantity.AsDuration(held),
				quantity.AsDuration(probe*float64(part.Probes) + 2*held)})
		}
		out = append(out, part)
	}
	return out
}

// planned returns how long a step takes according to its parameters. It takes
// longer if a rate is not reached.
func planned(s *workload.Step) Span {
	if s.Settle != nil && s.Settle.Floor > 0 {
		return Exactly(s.Settle.Floor)
	}
	lead := 0.0
	for i := range s.Groups {
		if a := s.Groups[i].Arrivals; a != nil {
			lead = max(lead, a.LeadIn)
		}
	}
	length := quantity.AsDuration(s.Planned() + lead)
	if length == 0 || s.Seconds == 0 &&
		slices.ContainsFunc(s.Groups, func(g workload.Group) bool { return g.Work > 0 && g.Rate == 0 }) {
		return AtLeast(length)
	}
	return Exactly(length)
}
