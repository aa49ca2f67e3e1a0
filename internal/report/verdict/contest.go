package verdict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Campaign is a campaign whose targets sentences compare.
type Campaign struct {
	*compare.Campaign
	Judged func(base, t *compare.Target) *compare.Judgement // in the headline numbers
	Full   func(base, t *compare.Target) *compare.Judgement // in all numbers; nil: others have no ratio
	Narrow bool                                             // only numbers that are asked about are reported
}

// Contest is a comparison of the targets in a number of a step: of the best with each
// other target, or of two with the base.
type Contest struct {
	Subject *compare.Target // nil if nothing can be compared
	Others  []*compare.Target
	Refused []string // targets that are not compared, with the reasons

	c *Campaign
	s *compare.Step
	k compare.Key
}

// Contest returns the comparison in a number.
func (c *Campaign) Contest(s *compare.Step, k compare.Key) Contest {
	x := Contest{c: c, s: s, k: k}
	var ranked []*compare.Target
	for _, t := range c.Targets {
		n, refusals, reason := s.Number(t, k), s.Refusals(t), ""
		switch {
		case n.Missing != "":
			reason = "no result"
		case k.Metric == metric.HighestRate && n.Value == 0:
			reason = "no rate that was tried kept the promise"
		case len(refusals) > 0:
			reason = refusals[0]
		case len(ranked) > 0:
			reason = s.Unlike(ranked[0], t)
		}
		if reason != "" {
			x.Refused = append(x.Refused, t.Name+" ("+reason+")")
		} else {
			ranked = append(ranked, t)
		}
	}
	order := BestFirst(k.Metric)
	slices.SortStableFunc(ranked, func(a, b *compare.Target) int {
		return order(s.Number(a, k).Value, s.Number(b, k).Value)
	})
	if len(c.Targets) == 2 && len(ranked) == 2 {
		ranked = []*compare.Target{c.Targets[1], c.Targets[0]}
	}
	if len(ranked) > 0 {
		x.Subject, x.Others = ranked[0], ranked[1:]
	}
	return x
}

// BestFirst returns the order of a metric's values; if no direction is better, the
// least is first.
func BestFirst(name string) func(a, b float64) int {
	if m := metric.ByName(name); m != nil && m.Better == metric.Higher {
		return func(a, b float64) int { return cmp.Compare(b, a) }
	}
	return cmp.Compare[float64]
}

// Notable reports whether any target is notably far from the subject, proven or not.
func (x *Contest) Notable() bool {
	const notable = 1.10
	return slices.ContainsFunc(x.Others, func(t *compare.Target) bool {
		r, ok := x.s.Number(x.Subject, x.k).Over(x.s.Number(t, x.k))
		return !ok || max(r, 1/r) >= notable
	})
}

// against returns the subject's ratio to another target, and its effect; nil if it was not judged.
func (x *Contest) against(t *compare.Target) (text string, e *compare.Effect) {
	e = x.c.Judged(t, x.Subject).Effect(x.s, x.k)
	ratio := Ratio(e, x.s.Number(x.Subject, x.k), x.s.Number(t, x.k))
	if text = t.Name; !math.IsNaN(ratio) && (e == nil || informative(e)) {
		text = quantity.Times(ratio) + " " + text + "’s"
	}
	if e != nil {
		text += interval(e)
	}
	return text, e
}

// results returns the subject's comparisons with the others, the proven ones first. Of few trials
// it reports what was seen, and how much that varied within a run.
func (x *Contest) results() string {
	const named = 4 // others are counted
	lists := map[string][]string{notCompared: x.Refused}
	for _, t := range x.Others {
		part, e := x.against(t)
		which := standing(e)
		switch which {
		case equivalent:
			part = t.Name
		case notCompared:
			part = t.Name + " (" + compare.Unfit(e) + ")"
		}
		lists[which] = append(lists[which], part)
	}
	var parts []string
	for _, list := range []struct{ word, lead, end string }{
		{seen, "", x.few()}, {proven, proven + " ", ""}, {likely, likely, ""},
		{equivalent, fmt.Sprintf("%s within %g %% to ", equivalent, 100*x.c.Question.Margin()), ""},
		{notProven, notProven + ": ", ""}, {notCompared, notCompared + ": ", ""},
	} {
		all := lists[list.word]
		if n := len(all) - named; n > 0 {
			all = append(all[:named:named], fmt.Sprintf("%d more", n))
		}
		if len(all) > 0 {
			parts = append(parts, list.lead+quantity.Joined(all)+list.end)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// undecided reports whether the subject was compared with others, and nothing follows from any comparison.
func (x *Contest) undecided() bool {
	return len(x.Others) > 0 && len(x.Refused) == 0 && !slices.ContainsFunc(x.Others, func(t *compare.Target) bool {
		e := x.c.Judged(t, x.Subject).Effect(x.s, x.k)
		return e == nil || standing(e) != notProven
	})
}

// standing returns what is known of a difference, in a word.
func standing(e *compare.Effect) string {
	switch {
	case e == nil:
		return notProven
	case compare.Unfit(e) != "":
		return notCompared
	case e.TooFew() && !(e.Low <= 1 && 1 <= e.High):
		return seen
	case word(e.Verdict) == notProven && e.Likely() != "":
		return likely
	}
	return word(e.Verdict)
}

// few returns the number of trials in brackets, and how much the ratios vary within the runs if that
// is one.
func (x *Contest) few() string {
	for _, t := range x.Others {
		if e := x.c.Judged(t, x.Subject).Effect(x.s, x.k); e != nil && e.Groups > 0 {
			return " (" + quantity.Count(e.Groups, string(e.Unit)) + ")"
		}
	}
	targets := append([]*compare.Target{x.Subject}, x.Others...)
	count := func(t *compare.Target) int { return len(x.s.Used(t)) } // fewer than trials where data were loaded once
	fewest := slices.MinFunc(targets, func(a, b *compare.Target) int { return cmp.Compare(count(a), count(b)) })
	text := quantity.Count(count(fewest), "trial")
	if count(fewest) == 1 {
		text = "one trial"
	}
	if slices.ContainsFunc(targets, func(t *compare.Target) bool { return count(t) > count(fewest) }) {
		return " (" + text + " of " + fewest.Name + ")"
	}
	within := 0.0
	for _, t := range x.Others {
		within = max(within, math.Hypot(compare.Within(x.s, x.Subject), compare.Within(x.s, t))) // NaN: unknown
	}
	text += " each"
	if count(fewest) == 1 && within > 0 {
		text += "; within the run ±" + quantity.RoughShare(within)
	}
	return " (" + text + ")"
}
