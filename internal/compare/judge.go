package compare

import (
	"math"

	"rumbench/internal/stat"
)

// Judgement is the comparison of two targets in all their numbers.
type Judgement struct {
	Base, New *Target
	Rule      Rule
	// Items are the effects of the numbers of all steps, in the order of the
	// steps; in a step the headline comes first.
	Items  []Item
	of     map[*Step][]Item // those of a step
	tested int              // headline numbers that were tested
}

// Item is the effect of a number in a step.
type Item struct {
	Step     *Step
	Headline bool // one of the few numbers that a step is judged on
	Effect
}

// Judge compares all numbers of two targets. The headline numbers are judged
// together, so that the chance of any false alarm among them is the rule's
// alpha (Holm); among the many others the expected share of false claims is at
// most alpha (Benjamini and Hochberg). Warm-up steps are left out.
func (c *Campaign) Judge(base, of *Target, r Rule) *Judgement {
	return c.judge(base, of, r, func(x *keyIndex) []Key { return x.judged })
}

// JudgeHeadline compares the headline numbers only, with the same verdicts as
// Judge, because they are corrected separately from the others.
func (c *Campaign) JudgeHeadline(base, of *Target, r Rule) *Judgement {
	return c.judge(base, of, r, func(x *keyIndex) []Key { return x.headline })
}

func (c *Campaign) judge(base, of *Target, r Rule, keys func(*keyIndex) []Key) *Judgement {
	j := &Judgement{Base: base, New: of, Rule: r, of: make(map[*Step][]Item, len(c.Steps))}
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
			j.Items = append(j.Items, Item{s, i < len(x.headline), s.effect(base, of, k)})
		}
		j.of[s] = j.Items[first:]
	}
	j.correct(true, stat.Holm)
	j.correct(false, stat.BenjaminiHochberg)
	for _, items := range j.of {
		align(items)
	}
	for i := range j.Items {
		j.Items[i].judge(r)
	}
	return j
}

// align gives numbers of a step that are equivalent to a headline number, such
// as operations and rows per second, its adjusted p-value: one fact must not
// have two verdicts.
func align(items []Item) {
	for i := range items {
		it := &items[i]
		if it.Headline || math.IsNaN(it.P) {
			continue
		}
		for k := 0; items[k].Headline; k++ {
			if h := &items[k]; near(h.P, it.P) && near(h.SD, it.SD) {
				it.Adjusted = max(it.Adjusted, h.Adjusted)
			}
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(a) }

// correct adjusts the p-values of one of the two families.
func (j *Judgement) correct(headline bool, adjust func([]float64) []float64) {
	var family []*Item
	var p []float64
	for i := range j.Items {
		if it := &j.Items[i]; it.Headline == headline && !math.IsNaN(it.P) {
			family, p = append(family, it), append(p, it.P)
		}
	}
	if headline {
		j.tested = len(p)
	}
	for i, adjusted := range adjust(p) {
		family[i].Adjusted = adjusted
	}
}

// Effect returns the effect of a key in a step; nil if neither target has the
// number.
func (j *Judgement) Effect(s *Step, k Key) *Effect {
	if i, known := s.index().at[k]; known && i < len(j.of[s]) {
		return &j.of[s][i].Effect
	}
	return nil
}

// power is the chance of finding a difference with the number of trials that
// Needed returns.
const power = 0.9

// Needed returns how many trials are needed to find a relative difference such
// as 0.03 in a headline number, with the correction for all of them; 0 if the
// noise is unknown.
func (j *Judgement) Needed(e *Effect, difference float64) int {
	if math.IsNaN(e.SD) {
		return 0
	}
	n := stat.TrialsNeeded(e.SD, math.Log1p(difference), j.Rule.Alpha/float64(max(1, j.tested)), power)
	if j.tested < fewNumbers && n >= ranksDecide && n < ranksDecide+2 {
		return ranksDecide + 2
	}
	return n
}

// fewNumbers is the number of headline numbers below which the rank test, which
// must agree, is what decides: with six or seven pairs it then requires all to
// have the same direction, and misses differences that the t test finds.
const fewNumbers = 10

// Detectable returns the smallest relative difference, such as 0.03, that the
// existing trials find with the same chance; NaN if the noise is unknown.
func (j *Judgement) Detectable(e *Effect) float64 {
	trials := e.Pairs
	if trials == 0 {
		trials = e.trials()
	}
	if math.IsNaN(e.SD) || trials < LeastTrials {
		return math.NaN()
	}
	return math.Expm1(stat.Detectable(e.SD, trials, j.Rule.Alpha/float64(max(1, j.tested)), power))
}
