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
func (c *Campaign) Judge(base, other *Target) *Judgement {
	return c.judge(base, other, func(x *keyIndex) []Key { return x.judged })
}

// JudgeHeadline compares the headline numbers only, with the same verdicts as
// Judge, because they are corrected separately from the others.
func (c *Campaign) JudgeHeadline(base, other *Target) *Judgement {
	return c.judge(base, other, func(x *keyIndex) []Key { return x.headline })
}

func (c *Campaign) judge(base, other *Target, keys func(*keyIndex) []Key) *Judgement {
	j := &Judgement{Base: base, New: other, Question: c.Question, byKey: make(map[*Step][]Item, len(c.Steps))}
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
			j.Items = append(j.Items, Item{s, i < x.asked, i < len(x.headline), s.effect(base, other, k), c.bounds(i < x.asked)})
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
	if i, known := s.index().at[k]; known && i < len(j.byKey[s]) {
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
