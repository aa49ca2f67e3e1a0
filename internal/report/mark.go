package report

import (
	"cmp"
	"fmt"
	"math"

	"rumbench/internal/compare"
)

// mark is a verdict beside a number: a class for its colour and a sign, which
// says the same without colour.
type mark struct{ class, sign string }

// marks are the signs of the verdicts. What looks different but is not proven
// has hollow ones.
var (
	surelyBetter = mark{"better", "▲"}
	surelyWorse  = mark{"worse", "▼"}
	maybeBetter  = mark{"better unsure", "△"}
	maybeWorse   = mark{"worse unsure", "▽"}
	surelySame   = mark{"same", "="}
	unclear      = mark{"unclear", "?"}
	unstable     = mark{"unstable", "~"}
)

// howMarked explains the signs.
const howMarked = "▲ surely better, ▼ surely worse, = surely within 1 %; △ ▽ look better or worse by more than 5 % and twice the trials' variation, but are not proven; ? may be chance; ~ the trials contradict each other."

// judged is the judgement of two targets, made when it is asked for.
func (c *campaign) judged(base, t *target) *compare.Judgement {
	pair := [2]*target{base, t}
	if c.judgements[pair] == nil {
		c.judgements[pair] = c.Judge(base, t, compare.DefaultRule())
	}
	return c.judgements[pair]
}

// headlines is the judgement of the headline numbers of two targets.
func (c *campaign) headlines(base, t *target) *compare.Judgement {
	pair := [2]*target{base, t}
	if c.judgements[pair] == nil && c.quick[pair] == nil {
		c.quick[pair] = c.JudgeHeadline(base, t, compare.DefaultRule())
	}
	return cmp.Or(c.judgements[pair], c.quick[pair])
}

// effect is how a number of a target differs from the base's; nil where there
// is nothing to compare.
func (s *step) effect(t, base *target, k key) *compare.Effect {
	if t == base {
		return nil
	}
	return s.judged(base, t).Effect(s.Step, k)
}

// markOf is the mark of an effect; none where nothing can be said.
func markOf(e *compare.Effect) mark {
	switch e.Verdict {
	case compare.Better:
		return surelyBetter
	case compare.Worse:
		return surelyWorse
	case compare.Same:
		return surelySame
	case "":
		return mark{}
	}
	switch e.Notable() {
	case compare.Better:
		return maybeBetter
	case compare.Worse:
		return maybeWorse
	}
	if e.Verdict == compare.Unstable {
		return unstable
	}
	return unclear
}

// inWords is an effect for who wants to know.
func inWords(e *compare.Effect, base string) string {
	text := ""
	if !math.IsNaN(e.Ratio) {
		text = times(e.Ratio) + " " + base
		if !math.IsNaN(e.Low) && !math.IsInf(e.Low, 0) && !math.IsInf(e.High, 0) {
			text += fmt.Sprintf(" (95 %% interval %s to %s)", times(e.Low), times(e.High))
		}
	}
	if e.Verdict != "" {
		if text != "" {
			text += ": "
		}
		text += string(e.Verdict) + ", " + e.Why
	}
	return text
}
