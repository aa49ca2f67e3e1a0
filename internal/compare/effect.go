package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// Verdict is the judgement of a difference in a word.
type Verdict string

// The verdicts. A number that is missing, not comparable, or of a metric
// without a better direction has none.
const (
	Better   Verdict = "better"   // significantly different, in the metric's good direction
	Worse    Verdict = "worse"    // significantly different, in its bad direction
	Same     Verdict = "same"     // equivalent: no farther apart than the margin
	Unclear  Verdict = "unclear"  // more trials may decide
	Unstable Verdict = "unstable" // the trials of one side contradict each other: find out why before running more
)

// Verdicts are all verdicts.
var Verdicts = []Verdict{Better, Worse, Same, Unclear, Unstable}

// Alpha is the chance of any false “better” or “worse” among the numbers asked about
// of two targets that are equal: one false alarm in twenty comparisons.
const Alpha = 0.05

// bounds are the differences that matter, as shares; see [result.Question]. With all,
// every proven difference matters in a direction without a bound, unless it is
// negligible.
type bounds struct {
	worse, better, same float64
	all                 bool
}

// floor returns the smallest difference that matters in a direction.
func (b bounds) floor(d Verdict) float64 {
	if d == Worse {
		return b.worse
	}
	return b.better
}

// unsaid reports whether a difference matters because its direction has no bound although
// the other direction has one.
func (b bounds) unsaid(d Verdict, ratio float64) bool {
	const tiny = 0.01
	return b.all && b.floor(d) == 0 && b.worse+b.better > 0 && math.Abs(ratio-1) > tiny
}

const (
	// unsteady is the relative standard deviation of one side's trials above which
	// more trials would not decide an open verdict.
	unsteady = 0.20
	// neutral is the largest distance of a ratio from 1 that is not notable.
	neutral = 0.05
)

// Effect is the difference of a number between two targets. It has many fields: the
// numbers tested, the test, and its result.
type Effect struct {
	Base, New *Number
	// Ratio is New.Value ÷ Base.Value, or with Groups the ratio of the means of those, with the bounds of
	// its 95 % interval; NaN if it has no meaning, or the trials are too few for bounds.
	Ratio, Low, High float64
	// Pairs is the number of trials compared one to one because they ran side by side; 0
	// if the sides ran separately.
	Pairs int
	// Unit is what counts once. Groups is the number of machines or of loads that have trials of both, and Pairs too
	// if they ran side by side; else it is that of the side that has fewer. It is 0 if each trial counts.
	Unit   Unit
	Groups int

	beside bool      // trials ran side by side, even if too few to be compared in pairs
	Test   stat.Test // the test that compared them
	// P is the p-value, and Adjusted the p-value corrected for the other numbers
	// judged with it; NaN if nothing could be tested.
	P, Adjusted float64
	Verdict     Verdict
	Why         string // the verdict's reason in words
	// For is the metric replaced by that of the engine's own processes, because other
	// programs used the device; usually "".
	For string

	guarded bool       // the rank tests do not detect the difference
	shift   float64    // the tested difference: of logarithms, or of the numbers themselves
	noise   stat.Noise // of the logarithms; unknown if there are zeros
	family  int        // the number of numbers that it is corrected for; 0 without a bound on any false alarm
}

// Notable returns the direction, Better or Worse, of a difference of more than 5 %, significant or
// not, whose own interval excludes equality; "" if it is not notable or unknown. With too few trials
// for an interval it must exceed twice the trials' own variation, where that is known: too few machines or loads
// have none. Where zeros leave neither, it must be significant.
func (e *Effect) Notable() Verdict {
	m := metric.ByName(e.New.Metric)
	if e.Verdict == "" || m == nil || e.bounded() {
		return ""
	}
	smaller := min(math.Abs(e.New.Value), math.Abs(e.Base.Value))
	shift := e.New.Value - e.Base.Value
	apart := math.Abs(shift) / smaller
	if e.Groups > 0 && e.Ratio > 0 {
		shift, apart = e.Ratio-1, max(e.Ratio, 1/e.Ratio)-1 // the means may differ otherwise than the medians
	}
	notable := e.Low > 1 || e.High < 1
	switch {
	case e.TooFew() && e.Groups > 0:
		return ""
	case smaller == 0 || !e.TooFew() && math.IsNaN(e.Low):
		notable = e.Sure()
	case e.TooFew():
		notable = apart > 2*e.Variation()
	}
	if !(apart > neutral) || !notable {
		return ""
	}
	return direction(m, shift)
}

// Bounded returns how a ratio of which one number is only a lower bound is limited: "at least",
// "at most", or "" if it is not.
func (e *Effect) Bounded() string {
	switch {
	case !e.bounded(), e.Base.AtLeast() && e.New.AtLeast():
		return ""
	case e.New.AtLeast():
		return "at least"
	}
	return "at most"
}

// bounded reports whether the order of the two numbers is unknown, because the
// lesser is only a lower bound.
func (e *Effect) bounded() bool {
	return e.Base.AtLeast() && (e.Base.Value < e.New.Value || e.shift > 0) || e.New.AtLeast() &&
		(e.New.Value < e.Base.Value || e.shift < 0)
}

// Metric returns the name of the requested metric; see For.
func (e *Effect) Metric() string { return cmp.Or(e.For, e.New.Metric) }

// Sure reports whether the difference is significant.
func (e *Effect) Sure() bool { return e.Verdict == Better || e.Verdict == Worse }

// Unfit returns why the two numbers are not compared, "" if they are.
func Unfit(e *Effect) string {
	if e == nil || e.Verdict != "" {
		return ""
	}
	return e.Why
}

// ratio returns the ratio of two numbers, or why they have none.
func (s *Step) ratio(base, t *Target, k Key) Effect {
	nan := math.NaN()
	e := Effect{Base: s.number(base, k), New: s.number(t, k), Ratio: nan, Low: nan, High: nan, P: nan, Adjusted: nan,
		Unit: TrialUnit, noise: stat.Noise{Pairs: nan, Apart: nan}}
	if e.Why = cmp.Or(e.Base.unknown(), e.New.unknown(), s.unlike(base, t, &e)); e.Why == "" {
		if r, ok := e.New.Over(*e.Base); ok {
			e.Ratio = r
			if r, ok := ratioOfGroups(e.Base, e.New); ok {
				e.Ratio = r
			}
		}
	}
	return e
}

// effect measures the difference without judging it.
func (s *Step) effect(base, t *Target, k Key) Effect {
	e := s.ratio(base, t, k)
	if e.Base.Disturbed() || e.New.Disturbed() {
		s.substitute(&e, base, t)
	}
	if e.Why == "" {
		e.Why = s.unfit(base, t, &e)
	}
	if e.Why != "" {
		return e
	}
	a, b := pairs(e.Base, e.New)
	e.Pairs, e.beside = len(a), len(a) > 0
	c := grouped(e.Base, e.New)
	if e.Unit = c.Unit; c.Unit != TrialUnit {
		if a, b = c.a, c.b; len(a) == 0 {
			e.Why = fmt.Sprintf("no %s has trials of both", c.Unit)
			return e
		}
		if e.Groups, e.Pairs = min(len(a), len(b)), 0; c.paired {
			e.Pairs = len(a)
		}
	} else if e.Pairs < LeastTrials {
		e.Pairs, a, b = 0, e.Base.Values(), e.New.Values()
	}
	e.test(a, b)
	return e
}

// substitute compares the bytes that the engine's own processes read or wrote instead of
// those of the device, if other programs used the device.
func (s *Step) substitute(e *Effect, base, t *Target) {
	if k, ok := Undisturbed(s, e.New.Key, base, t); ok && k != e.New.Key {
		own := s.ratio(base, t, k)
		own.For = e.New.Metric
		*e = own
	}
}

// Undisturbed returns the key to use when comparing a number of some targets: the key
// itself or, if other programs used the device, the key of the reads or writes of the
// engine's own processes.
//
// Processes cannot have written more than the device did, with or without other programs.
// If their number is greater, the kernel counted more than they wrote, see
// docs/method.md, and the number is not usable.
func Undisturbed(s *Step, k Key, targets ...*Target) (own Key, ok bool) {
	disturbed := func(k Key) bool {
		return slices.ContainsFunc(targets, func(t *Target) bool { return s.number(t, k).Disturbed() })
	}
	if !disturbed(k) {
		return k, true
	}
	m := metric.StandIn(k.Metric)
	if m == nil || m.Family != metric.Storage {
		return k, false
	}
	own = k
	own.Metric = m.Name
	impossible := func(t *Target) bool {
		const rounding = 1.02
		n, device := s.number(t, own), s.number(t, k)
		return n.Missing != "" || device.Missing != "" || n.Value > device.Value*rounding
	}
	if disturbed(own) || slices.ContainsFunc(targets, impossible) {
		return k, false
	}
	return own, true
}

// unknown returns the reason if there is no number, or not the requested percentile.
func (n *Number) unknown() string {
	few := n.Few()
	if n.Missing != "" || few == "" {
		return n.Missing
	}
	return few + ": " + metric.Needs(n.Metric)
}

// unlike returns why two numbers describe different work or promises.
func (s *Step) unlike(base, t *Target, e *Effect) string {
	if reason := s.Unlike(base, t); reason != "" {
		return reason
	}
	return unlikeSearches(e.Base, e.New)
}

// unfit returns the reason if two numbers cannot be judged, "" if they can.
func (s *Step) unfit(base, t *Target, e *Effect) string {
	for _, n := range [...]struct {
		*Number
		other *Target
	}{{e.Base, base}, {e.New, t}} {
		switch refusals := s.seenOn(n.other).refusals; {
		case len(refusals) > 0:
			return n.other.Name + ": " + refusals[0].Short
		case n.Disturbed():
			return n.other.Name + ": disturbed, what other programs did may be in the number"
		}
	}
	reason := cmp.Or(e.New.unlike(*e.Base), memoryApart(s, base, t, e.New.Key))
	if reason == "" && isSpeed(e.New.Key) {
		reason = OthersApart(s, base, t)
	}
	return reason
}

// test tests a against b: on a logarithmic scale, as noise is proportional, or
// on the numbers themselves if there are zeros.
func (e *Effect) test(a, b []float64) {
	logs := len(a) > 0 && len(b) > 0 && slices.Min(a) > 0 && slices.Min(b) > 0
	if logs {
		a, b = logarithms(a), logarithms(b)
	}
	design := designOf(e.Base.Trials, e.Pairs)
	if e.Groups > 0 && e.Pairs > 0 {
		design = stat.Grouped
	}
	d := stat.Decide(a, b, design, confidence)
	e.P, e.Test, e.guarded, e.shift = d.P, d.Test, !d.Agreed, d.Interval.Value
	if !logs {
		return
	}
	e.noise = d.Noise
	// The interval is that of the mean or median difference; the ratio shown is that of
	// the medians shown, so the interval is extended to include it.
	e.Low, e.High = min(math.Exp(d.Interval.Low), e.Ratio), max(math.Exp(d.Interval.High), e.Ratio)
	e.widen()
}

// confidence is the confidence level of the intervals shown.
const confidence = 0.95

// trials returns the number of trials of the side that has fewer, or of the units that count once each.
func (e *Effect) trials() int { return cmp.Or(e.Groups, min(len(e.Base.Rows), len(e.New.Rows))) }

// TooFew reports whether there are too few trials to prove anything.
func (e *Effect) TooFew() bool { return e.trials() < LeastTrials }

// tooFew returns the number of trials, in words, if they prove nothing, else "".
func (e *Effect) tooFew() string {
	if n := e.trials(); n < LeastTrials {
		return fmt.Sprintf("%d of at least %d %ss", n, LeastTrials, e.Unit)
	}
	return ""
}

// judge sets the verdict once Adjusted is known.
func (e *Effect) judge(b bounds) {
	m := metric.ByName(e.New.Metric)
	few := e.tooFew()
	sure := e.Adjusted < Alpha && !e.guarded
	switch {
	case e.Why != "" || m == nil || m.Better == "":
		return
	case few != "":
		e.Verdict, e.Why = Unclear, few+": nothing is known about noise"
	case e.bounded():
		e.Verdict, e.Why = Unclear, "the lesser number is only a lower bound"
	case e.within(b.same) && (e.Base.AtLeast() || e.New.AtLeast()):
		e.Verdict, e.Why = Unclear, "they are as great, and one is only a lower bound"
	case sure && e.Base.little() && e.New.little() && !e.within(b.same):
		e.Verdict, e.Why = Unclear, fmt.Sprintf("neither is more than %d KB in all: too little to be judged", metric.LittleIO)
	case sure && !e.searched() && b.unsaid(direction(m, e.shift), e.Ratio):
		e.matters(direction(m, e.shift), b)
	case e.within(b.same):
		e.Verdict, e.Why = Same, fmt.Sprintf("the interval lies within ±%g %%", 100*b.same)
	case sure && e.searched() && e.Low <= 1 && 1 <= e.High:
		e.Verdict, e.Why = Unclear, fmt.Sprintf("the searches are precise to %.2g %%",
			100*max(e.Base.precision(), e.New.precision()))
	case sure:
		e.matters(direction(m, e.shift), b)
	case e.Variation() > unsteady:
		e.Verdict, e.Why = Unstable, fmt.Sprintf("the trials of one side differ by a standard deviation of %.0f %%",
			100*e.Variation())
	case e.guarded:
		e.Verdict, e.Why = Unclear, "the rank test does not see a difference"
	default:
		e.Verdict, e.Why = Unclear, "the difference may be chance"
	}
}

// matters sets the verdict on a significant difference: it is better or worse only if the
// observed difference is large enough to matter.
func (e *Effect) matters(d Verdict, b bounds) {
	lowest := b.floor(d)
	const rounding = 1e-9 // 0.9 is 10 % less
	if math.Abs(e.Ratio-1) < lowest-rounding {
		e.Verdict, e.Why = Unclear, fmt.Sprintf("%s, but whether by %g %% is open", d, 100*lowest)
		return
	}
	e.Verdict, e.Why = d, "statistically significant"
}

// within reports whether the whole interval lies within the margin.
func (e *Effect) within(margin float64) bool {
	return e.still() || stat.Equivalent(stat.Interval{Low: e.Low, High: e.High}, 1-margin, 1+margin)
}

// still reports whether all values are 0.
func (e *Effect) still() bool {
	return e.Base.Low == 0 && e.Base.High == 0 && e.New.Low == 0 && e.New.High == 0
}

// Noise returns the standard deviation of the ratio of two trials, as a share; NaN if
// it is unknown.
func (e *Effect) Noise() float64 {
	if e.Pairs > 0 {
		return e.noise.Pairs
	}
	return e.noise.Apart
}

// Variation returns the greater of the two sides' relative standard deviations, between trials of one
// machine; 0 if a side has only one trial.
func (e *Effect) Variation() float64 {
	var v float64
	for _, n := range [...]*Number{e.Base, e.New} {
		if n.Value != 0 && len(n.Rows) > 1 {
			v = max(v, n.deviation())
		}
	}
	return v
}

// direction returns the verdict that a shift implies.
func direction(m *metric.Metric, shift float64) Verdict {
	if (shift > 0) == (m.Better == metric.Higher) {
		return Better
	}
	return Worse
}

// searched reports whether the numbers are answers of searches.
func (e *Effect) searched() bool { return e.New.Metric == metric.HighestRate }

// widen makes the interval of a ratio of two searches at least as wide as the
// intervals of the rates that they found.
func (e *Effect) widen() {
	baseBelow, baseAbove := e.Base.gaps()
	newBelow, newAbove := e.New.gaps()
	e.Low, e.High = e.Low/(newBelow*baseAbove), e.High*newAbove*baseBelow
}
