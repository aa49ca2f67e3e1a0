package compare

import (
	"cmp"
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Judgement is the comparison of two targets in all their numbers.
type Judgement struct {
	Base, New *Target
	Question  result.Question
	// Items are the effects of the numbers of all steps, in the order of the
	// steps; in a step those asked about come first, then the rest of the headline.
	Items []Item
	byKey map[*Step][]Item // those of a step
}

// Item is the effect of a number in a step.
type Item struct {
	Step     *Step
	Asked    bool // the question is about it
	Headline bool // one of the few numbers that describe a step; all asked about are
	Effect
	bounds bounds
}

// Judge compares all numbers of two targets. The numbers asked about are judged
// together, so that the chance of any false alarm among them is alpha (Holm), and so
// are the other headline numbers; among the many others the expected share of false
// claims is at most alpha (Benjamini and Hochberg). Warm-up steps are left out.
func (c *Campaign) Judge(base, otherTarget *Target) *Judgement {
	return c.judge(base, otherTarget, func(x *keyIndex) []Key { return x.judged })
}

// JudgeHeadline compares the headline numbers only, with the same verdicts as
// Judge, because they are corrected separately from the others.
func (c *Campaign) JudgeHeadline(base, otherTarget *Target) *Judgement {
	return c.judge(base, otherTarget, func(x *keyIndex) []Key { return x.headline })
}

func (c *Campaign) judge(base, otherTarget *Target, keys func(*keyIndex) []Key) *Judgement {
	j := &Judgement{Base: base, New: otherTarget, Question: c.Question, byKey: make(map[*Step][]Item, len(c.Steps))}
	all := 0
	for _, s := range c.Steps {
		all += len(keys(s.index()))
	}
	j.Items = make([]Item, 0, all)
	for _, s := range c.Steps {
		if s.Warmup {
			continue
		}
		x, first := s.index(), len(j.Items)
		for i, k := range keys(x) {
			j.Items = append(j.Items, Item{s, i < x.asked, i < len(x.headline), s.effect(base, otherTarget, k),
				c.bounds(i < x.asked)})
		}
		j.byKey[s] = j.Items[first:]
	}
	j.correct(func(it *Item) bool { return it.Asked }, stat.Holm)
	j.correct(func(it *Item) bool { return it.Headline && !it.Asked }, stat.Holm)
	j.correct(func(it *Item) bool { return !it.Headline }, stat.BenjaminiHochberg)
	for _, items := range j.byKey {
		align(items)
	}
	for i := range j.Items {
		j.Items[i].judge(j.Items[i].bounds)
	}
	return j
}

// bounds returns the differences that matter: those of the question for the numbers
// asked about, and any for other numbers.
func (c *Campaign) bounds(asked bool) bounds {
	q := result.Question{}
	if asked {
		q = c.Question
	}
	return bounds{worse: q.WorseBy, better: q.BetterBy, same: q.Margin(), all: q.Within == 0}
}

// align gives numbers of a step that are equivalent to a headline number, such
// as operations and rows per second, the verdict of that number: one fact must
// not have two verdicts.
func align(items []Item) {
	for i := range items {
		it := &items[i]
		if it.Headline || math.IsNaN(it.P) {
			continue
		}
		for k := 0; items[k].Headline; k++ {
			if h := &items[k]; near(h.P, it.P) && near(h.noise.Apart, it.noise.Apart) {
				it.Adjusted, it.bounds, it.family = h.Adjusted, h.bounds, h.family
				break
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) }

// correct adjusts the p-values of a family.
func (j *Judgement) correct(in func(*Item) bool, adjust func([]float64) []float64) {
	var family []*Item
	var p []float64
	for i := range j.Items {
		if it := &j.Items[i]; in(it) && !math.IsNaN(it.P) {
			family, p = append(family, it), append(p, it.P)
		}
	}
	for i, adjusted := range adjust(p) {
		it := family[i]
		if it.Adjusted = adjusted; it.Headline {
			it.family = len(p)
		}
	}
}

// Effect returns the effect of a key in a step; nil if neither target has the
// number.
func (j *Judgement) Effect(s *Step, k Key) *Effect {
	if it := j.Item(s, k); it != nil {
		return &it.Effect
	}
	return nil
}

// Item is like Effect.
func (j *Judgement) Item(s *Step, k Key) *Item {
	if i, found := s.index().at[k]; found && i < len(j.byKey[s]) {
		return &j.byKey[s][i]
	}
	return nil
}

const (
	// power is the chance of finding a difference with the number of trials that
	// Needed returns.
	power = 0.9
	// MostTrials is the greatest number of trials that is recommended. More trials than
	// that are not worth the time.
	MostTrials = 30
)

// Needed returns the number of trials needed to detect a relative difference such as
// 0.05, with the correction for all numbers judged with it; 0 if more than MostTrials
// are, or the noise is unknown.
func (e *Effect) Needed(difference float64) int {
	if e.trials() < LeastTrials || e.family == 0 {
		return 0
	}
	return e.noise.Trials(math.Log1p(difference), Alpha/float64(e.family), power, MostTrials)
}

// Detectable returns the smallest relative difference, such as 0.03, that the
// existing trials find with the same chance; NaN if the noise is unknown.
func (e *Effect) Detectable() float64 {
	trials := cmp.Or(e.Pairs, e.trials())
	if trials < LeastTrials || e.family == 0 {
		return math.NaN()
	}
	return math.Expm1(e.noise.Detectable(trials, Alpha/float64(e.family), power))
}

// Likely is Notable of a difference that there is evidence of: its own interval excludes equality.
func (e *Effect) Likely() Verdict {
	if e.TooFew() && !(e.Low > 1 || e.High < 1) {
		return ""
	}
	return e.Notable()
}

// Outlook is the effort needed to decide an open number.
type Outlook struct {
	Difference float64 // the relative difference to detect
	Seen       bool    // it is the observed one, not the smallest that matters
	Trials     int     // needed to detect it; 0: more than MostTrials, or unknown
	Have       int     // existing trials
	Detectable float64 // the smallest difference that these trials detect; NaN if unknown
}

// Outlook returns the trials needed to detect the observed difference, or the smallest
// that matters if the observed one is smaller. It is empty if more trials would not
// decide: for numbers that are lower bounds, and if trials contradict each other.
func (j *Judgement) Outlook(e *Effect) Outlook {
	o := Outlook{Difference: j.Question.Smallest(), Have: e.trials(), Detectable: e.Detectable()}
	if e.Verdict == Unstable || e.Base.AtLeast() || e.New.AtLeast() {
		o.Detectable = math.NaN()
		return o
	}
	if seen := math.Expm1(math.Abs(math.Log(e.Ratio))); e.Ratio > 0 && e.Notable() != "" && seen > o.Difference {
		o.Difference, o.Seen = seen, true
	}
	o.Trials = e.Needed(o.Difference)
	return o
}

// Excluded reports whether a regression that matters is excluded: the whole interval
// lies on this side of it. matters is the smallest such difference, as a share.
func (e *Effect) Excluded(matters float64) bool {
	m := metric.ByName(e.Metric())
	switch {
	case e.Verdict == "" || m == nil || e.tooFew() != "" || e.bounded():
		return false
	case e.still(), e.Verdict == Better:
		return true
	case math.IsNaN(e.Low):
		return false
	case m.Better == metric.Higher:
		return e.Low > 1-matters
	}
	return e.High < 1+matters
}

// Precise reports whether the numbers that the campaign's question asks about are known so well
// that the 95 % interval of every target against the first is no wider than precision to either
// side. It also returns the width of the least precise number, and its name and step. A number of
// yet unknown precision is infinitely imprecise; one that cannot be compared is left out, and if
// none can be compared it is never enough.
//
// The width is judged, never the verdict: stopping as soon as there is a difference would find
// differences where there are none.
func Precise(trials []*result.Trial, precision float64) (enough bool, worst float64, number string) {
	c := New(trials)
	judged := 0
	for _, t := range c.Targets[min(1, len(c.Targets)):] {
		for _, s := range c.Steps {
			for _, k := range s.asked() {
				e := s.effect(c.Targets[0], t, k)
				if e.Why != "" {
					continue // more trials would not make it comparable
				}
				judged++
				if w := e.halfWidth(); w > worst {
					worst, number = w, k.Metric+" of "+s.Name
				}
			}
		}
	}
	return judged > 0 && worst <= precision, worst, number
}

// halfWidth returns the largest error of the ratio to either side, as a share.
func (e *Effect) halfWidth() float64 {
	switch {
	case e.still():
		return 0
	case math.IsNaN(e.Low) || math.IsNaN(e.High) || e.trials() < LeastTrials:
		return math.Inf(1)
	case e.Low <= 0:
		return math.Inf(1)
	}
	return math.Sqrt(e.High/e.Low) - 1
}

// Tested returns the number of tested numbers among those asked about: their verdicts
// are corrected for it.
func (j *Judgement) Tested() (n int) {
	for i := range j.Items {
		if it := &j.Items[i]; it.Asked && !math.IsNaN(it.P) {
			n++
		}
	}
	return n
}

// Outcome is the result of a gate on the question of a judgement.
type Outcome struct {
	Worse []*Item // proven to be worse, and observed to be worse by a difference that matters
	Open  []*Item // not worse, but a regression is not excluded either
	Blind []*Item // numbers that at least one of the two has and that could not be judged, with the reason in Why
	Weak  []*Item // of Open: a regression that matters would not have been seen either
	// Judged is the number of judged numbers.
	Judged int
}

// Matters returns the smallest regression that matters to a question; 0 if it is not
// set.
func Matters(q *result.Question) float64 { return cmp.Or(q.WorseBy, q.Within) }

// sees reports whether a regression of this share would be seen. Of a rate it is a smaller factor than of a cost.
func (it *Item) sees(matters float64) bool {
	if m := metric.ByName(it.Metric()); m.Better == metric.Higher {
		matters = 1/(1-min(matters, 1)) - 1
	}
	return it.Detectable() <= matters
}

// Outcome judges the numbers asked about as a gate does. Numbers that neither target
// has are left out, unless the question names them.
func (j *Judgement) Outcome() (out Outcome) {
	matters := Matters(&j.Question)
	for i := range j.Items {
		it := &j.Items[i]
		switch {
		case !it.Asked || it.Base.Missing != "" && it.New.Missing != "" && !j.Question.Declared():
		case it.Verdict == "" || it.tooFew() != "":
			out.Blind = append(out.Blind, it)
		default:
			out.Judged++
			if it.Verdict == Worse {
				out.Worse = append(out.Worse, it)
			} else if !it.Excluded(matters) {
				out.Open = append(out.Open, it)
				if matters > 0 && !it.sees(matters) {
					out.Weak = append(out.Weak, it)
				}
			}
		}
	}
	return out
}
