package compare

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
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

// Rule is how verdicts are reached.
type Rule struct {
	// Alpha is the chance of any false “better” or “worse” among the headline
	// metrics of two targets that are equal.
	Alpha float64
	// Margin is how far a ratio may be from 1 and still be called the same.
	Margin float64
}

// DefaultRule returns the rule of all reports: one false alarm in twenty
// comparisons of two targets, and equivalence within 1 %.
func DefaultRule() Rule { return Rule{Alpha: 0.05, Margin: 0.01} }

// LeastTrials is the number of trials of each side below which nothing is
// proven.
const LeastTrials = 3

const (
	// ranksDecide is the number of pairs from which a rank test can reach 5 %,
	// so that it must agree; ranksDecideApart is the number on each side.
	ranksDecide, ranksDecideApart = 6, 5
	// unsteady is the relative standard deviation of one side's trials above which
	// more trials would not decide an open verdict.
	unsteady = 0.20
	// neutral is how far a ratio may be from 1 without being notable.
	neutral = 0.05
)

// Effect is how a number of one target differs from that of another.
type Effect struct {
	Base, New *Number
	// Ratio is New.Value ÷ Base.Value with the bounds of its 95 % interval; NaN if
	// it has no meaning, or the trials are too few for bounds.
	Ratio, Low, High float64
	// Pairs is how many trials were compared one to one because they ran side by
	// side; 0 if the sides ran separately.
	Pairs int
	// SD is the standard deviation of the pairs' log ratios, or what it would be;
	// NaN if unknown.
	SD float64
	// P is the p-value, and Adjusted the p-value corrected for the other numbers
	// judged with it; NaN if nothing could be tested.
	P, Adjusted float64
	Verdict     Verdict
	Why         string // the verdict's reason in words

	guarded bool    // the rank test does not see the difference
	shift   float64 // the tested difference: of logarithms, or of the numbers themselves
}

// Notable returns the direction, Better or Worse, of a difference greater than
// 5 % and than twice the trials' own variation, significant or not; "" if it is
// not notable or unknown.
func (e *Effect) Notable() Verdict {
	m := metric.ByName(e.New.Metric)
	if e.Verdict == "" || m == nil || e.bounded() {
		return ""
	}
	apart := math.Abs(e.New.Value - e.Base.Value)
	if apart <= max(neutral, 2*e.Variation())*math.Abs(e.Base.Value) {
		return ""
	}
	return direction(m, e.New.Value-e.Base.Value)
}

// bounded reports whether the order of the two numbers is unknown, because the
// lesser is only a lower bound.
func (e *Effect) bounded() bool {
	return e.Base.AtLeast() && (e.Base.Value < e.New.Value || e.shift > 0) || e.New.AtLeast() && (e.New.Value < e.Base.Value || e.shift < 0)
}

// Metric returns the name of the metric.
func (e *Effect) Metric() string { return e.New.Metric }

// Sure reports whether the difference is significant.
func (e *Effect) Sure() bool { return e.Verdict == Better || e.Verdict == Worse }

// ratio returns the ratio of two numbers, or why they have none.
func (s *Step) ratio(base, t *Target, k Key) Effect {
	nan := math.NaN()
	e := Effect{Base: s.number(base, k), New: s.number(t, k), Ratio: nan, Low: nan, High: nan, SD: nan, P: nan, Adjusted: nan}
	if e.Why = cmp.Or(e.Base.unknown(), e.New.unknown(), s.unlike(base, t, &e)); e.Why == "" {
		if r, ok := e.New.Over(*e.Base); ok {
			e.Ratio = r
		}
	}
	return e
}

// effect measures the difference without judging it.
func (s *Step) effect(base, t *Target, k Key) Effect {
	e := s.ratio(base, t, k)
	if e.Why == "" {
		e.Why = s.unfit(base, t, &e)
	}
	if e.Why != "" {
		return e
	}
	a, b := pairs(e.Base, e.New)
	e.Pairs = len(a)
	if e.Pairs < LeastTrials {
		e.Pairs, a, b = 0, e.Base.Values(), e.New.Values()
	}
	e.test(a, b)
	return e
}

// unknown returns why there is no number, or not the percentile that it should be.
func (n *Number) unknown() string {
	few := n.Few()
	if n.Missing != "" || few == "" {
		return n.Missing
	}
	return few + ": " + metric.Needs(n.Metric)
}

// unlike returns why two numbers are of different work or promises.
func (s *Step) unlike(base, t *Target, e *Effect) string {
	if why := s.Unlike(base, t); why != "" {
		return why
	}
	return unlikeSearches(e.Base, e.New)
}

// unfit returns why two numbers cannot be judged, "" if they can.
func (s *Step) unfit(base, t *Target, e *Effect) string {
	for _, n := range [...]struct {
		*Number
		of *Target
	}{{e.Base, base}, {e.New, t}} {
		switch refusals := s.seenOn(n.of).refusals; {
		case len(refusals) > 0:
			return n.of.Name + ": " + refusals[0]
		case n.Disturbed():
			return n.of.Name + ": disturbed, what other programs did may be in the number"
		}
	}
	return e.New.unlike(*e.Base)
}

// pairs returns the values of trials that ran side by side.
func pairs(base, of *Number) (a, b []float64) {
	beside(base.Trials, of.Trials, func(i, j int) bool {
		together := ranTogether(base.steps[i]) && ranTogether(of.steps[j])
		if together {
			a, b = append(a, base.Rows[i].Value), append(b, of.Rows[j].Value)
		}
		return together
	})
	return a, b
}

// beside calls pair with the indexes of trials that ran side by side, until it
// accepts one for each of a.
func beside(a, b []*result.Trial, pair func(i, j int) bool) {
	for i, t := range a {
		for j, u := range b {
			if sideBySide(t, u) && pair(i, j) {
				break
			}
		}
	}
}

// sideBySide reports whether two trials are of one block of one campaign.
func sideBySide(t, u *result.Trial) bool {
	return t.Trial == u.Trial && t.Order == u.Order && (t.Order == "interleaved" || t.Order == "duet") &&
		t.Resumed == u.Resumed && filepath.Dir(t.Dir) == filepath.Dir(u.Dir)
}

// Beside reports whether any trials of two targets ran side by side.
func Beside(a, b *Target) (any bool) {
	beside(a.Trials, b.Trials, func(int, int) bool {
		any = true
		return true
	})
	return any
}

// mostAlone is the share of its time that a step of a duet may run alone and
// still form a pair: one of the two always ends first.
const mostAlone = 0.5

// ranTogether reports whether a step of a duet ran beside that of the other trial
// for most of its time.
func ranTogether(s *result.Step) bool { return s.Alone <= mostAlone*s.Seconds }

// test tests a against b: on a logarithmic scale, as noise is proportional, or
// on the numbers themselves if there are zeros.
func (e *Effect) test(a, b []float64) {
	if len(a) < 2 || len(b) < 2 {
		return
	}
	logs := slices.Min(a) > 0 && slices.Min(b) > 0
	if logs {
		a, b = logarithms(a), logarithms(b)
	}
	var shift stat.Interval
	if e.Pairs > 0 {
		shift = e.testPairs(differences(a, b))
	} else {
		shift = e.testApart(a, b)
	}
	e.shift = shift.Value
	if !logs {
		e.SD = math.NaN()
		return
	}
	// The interval is of the mean or median difference; the ratio shown is that of
	// the medians shown, so the interval is extended to include it.
	e.Low, e.High = min(math.Exp(shift.Low), e.Ratio), max(math.Exp(shift.High), e.Ratio)
	e.widen()
}

func (e *Effect) testPairs(d []float64) stat.Interval {
	e.SD = stat.Deviation(d)
	if e.SD == 0 {
		return e.exact(d[0], len(d))
	}
	p, shift := stat.PairedT(d, confidence)
	e.P = p
	if len(d) >= ranksDecide {
		shift = stat.HodgesLehmannPaired(d, confidence)
		e.guarded = !(stat.Wilcoxon(d) < 1-confidence) || holdsZero(shift)
	}
	return shift
}

func (e *Effect) testApart(a, b []float64) stat.Interval {
	e.SD = math.Hypot(stat.Deviation(a), stat.Deviation(b))
	if e.SD == 0 {
		return e.exact(b[0]-a[0], min(len(a), len(b)))
	}
	p, shift := stat.Welch(a, b, confidence)
	e.P = p
	if min(len(a), len(b)) >= ranksDecideApart {
		shift = stat.HodgesLehmann(a, b, confidence)
		e.guarded = !(stat.MannWhitney(a, b) < 1-confidence) || holdsZero(shift)
	}
	return shift
}

// holdsZero reports whether an interval of shifts contains 0. With ties its
// bound may be 0 although the test is significant.
func holdsZero(i stat.Interval) bool { return i.Low <= 0 && 0 <= i.High }

// confidence is the confidence level of the intervals shown.
const confidence = 0.95

// exact returns the interval if all trials of a side gave the same number: a
// size that does not depend on chance.
func (e *Effect) exact(shift float64, trials int) stat.Interval {
	switch {
	case shift == 0:
		e.P = 1
	case trials >= LeastTrials:
		e.P = 0
	}
	return stat.Interval{Value: shift, Low: shift, High: shift, Confidence: confidence}
}

// trials returns the number of trials of the side that has fewer.
func (e *Effect) trials() int { return min(len(e.Base.Rows), len(e.New.Rows)) }

// tooFew returns how many trials there are if they prove nothing, else "".
func (e *Effect) tooFew() string {
	if n := e.trials(); n < LeastTrials {
		return fmt.Sprintf("%d of at least %d trials", n, LeastTrials)
	}
	return ""
}

// judge sets the verdict once Adjusted is known.
func (e *Effect) judge(r Rule) {
	m := metric.ByName(e.New.Metric)
	few := e.tooFew()
	switch {
	case e.Why != "" || m == nil || m.Better == "":
		return
	case few != "":
		e.Verdict, e.Why = Unclear, few+": nothing is known about noise"
	case e.bounded():
		e.Verdict, e.Why = Unclear, "the lesser number is only a lower bound"
	case e.within(r.Margin) && (e.Base.AtLeast() || e.New.AtLeast()):
		e.Verdict, e.Why = Unclear, "they are as great, and one is only a lower bound"
	case e.within(r.Margin):
		e.Verdict, e.Why = Same, fmt.Sprintf("the interval lies within ±%g %%", 100*r.Margin)
	case e.Adjusted < r.Alpha && !e.guarded && e.searched() && e.Low <= 1 && 1 <= e.High:
		e.Verdict, e.Why = Unclear, fmt.Sprintf("the searches are precise to %.2g %%", 100*max(e.Base.precision(), e.New.precision()))
	case e.Adjusted < r.Alpha && !e.guarded:
		e.Verdict, e.Why = direction(m, e.shift), "statistically significant"
	case e.Variation() > unsteady:
		e.Verdict, e.Why = Unstable, fmt.Sprintf("the trials of one side differ by a standard deviation of %.0f %%", 100*e.Variation())
	case e.guarded:
		e.Verdict, e.Why = Unclear, "the rank test does not see a difference"
	default:
		e.Verdict, e.Why = Unclear, "the difference may be chance"
	}
}

// within reports whether the whole interval lies within the margin.
func (e *Effect) within(margin float64) bool {
	if e.Base.Low == 0 && e.Base.High == 0 && e.New.Low == 0 && e.New.High == 0 {
		return true // all values are 0
	}
	return stat.Equivalent(stat.Interval{Low: e.Low, High: e.High}, 1-margin, 1/(1-margin))
}

// Variation returns the greater of the two sides' relative standard deviations;
// 0 if a side has only one trial.
func (e *Effect) Variation() float64 {
	var v float64
	for _, n := range [...]*Number{e.Base, e.New} {
		if n.Value != 0 && len(n.Rows) > 1 {
			v = max(v, stat.Deviation(n.Values())/math.Abs(n.Value))
		}
	}
	return v
}

// direction returns what a shift means.
func direction(m *metric.Metric, shift float64) Verdict {
	if (shift > 0) == (m.Better == metric.Higher) {
		return Better
	}
	return Worse
}

func logarithms(v []float64) []float64 {
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = math.Log(x)
	}
	return out
}

func differences(a, b []float64) []float64 {
	out := make([]float64, len(a))
	for i := range a {
		out[i] = b[i] - a[i]
	}
	return out
}
