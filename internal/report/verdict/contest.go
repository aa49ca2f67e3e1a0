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
}

// Contest is a comparison of the targets in a number of a step: of the best with each
// other target, or of two with the base.
type Contest struct {
	Subject *compare.Target // nil if nothing can be compared
	Others  []*compare.Target
	Refused []string // targets that are not compared, with the reasons

	c     *Campaign
	s     *compare.Step
	k     compare.Key
	asked compare.Key // of the headline number: k, or the number that k replaces
}

// Contest returns the comparison in a number.
func (c *Campaign) Contest(s *compare.Step, k compare.Key) Contest {
	x := Contest{c: c, s: s, k: k, asked: k}
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
		slices.SortFunc(ranked, func(a, b *compare.Target) int { return b.Index - a.Index })
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

// against returns the subject's ratio to another target, and the verdict on it.
func (x *Contest) against(t *compare.Target) (text string, v compare.Verdict) {
	e := x.c.Judged(t, x.Subject).Effect(x.s, x.asked)
	if e != nil && e.New.Key != x.k {
		e = nil // of other numbers than these
	}
	ratio := Ratio(e, x.s.Number(x.Subject, x.k), x.s.Number(t, x.k))
	if text = t.Name; !math.IsNaN(ratio) {
		text = quantity.Times(ratio) + " " + text + "’s"
	}
	if e != nil {
		text, v = text+interval(e), e.Verdict
	}
	return text, v
}

// results returns the subject's comparisons with the others, the proven ones first, and
// the trials that would prove the difference if there is only one other.
func (x *Contest) results() string {
	const named = 4 // others are counted
	lists := map[string][]string{"": x.Refused}
	for _, t := range x.Others {
		part, v := x.against(t)
		if v == compare.Same {
			part = t.Name
		}
		lists[word(v)] = append(lists[word(v)], part)
	}
	var parts []string
	for _, list := range []struct{ word, lead string }{
		{proven, proven + " "}, {equivalent, equivalent + " to "}, {notProven, notProven + ": "}, {"", "not compared: "},
	} {
		all := lists[list.word]
		if n := len(all) - named; n > 0 {
			all = append(all[:named:named], fmt.Sprintf("%d more", n))
		}
		if len(all) > 0 {
			parts = append(parts, list.lead+quantity.Joined(all))
		}
	}
	if len(x.Others) == 1 && lists[notProven] != nil {
		j := x.c.Judged(x.Others[0], x.Subject)
		if e := j.Effect(x.s, x.k); e != nil && outlook(j, e) != "" {
			parts = append(parts, outlook(j, e))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, "; ")
}

// cost compares the targets in a cost; "" if they hardly differ.
func (x *Contest) cost(name string) string {
	if len(x.Others) == 0 {
		return ""
	}
	other := x.Others[0]
	if base := x.c.Targets[0]; slices.Contains(x.Others, base) {
		other = base
	}
	part, v := x.against(other)
	mine, theirs := x.s.Number(x.Subject, x.k), x.s.Number(other, x.k)
	if mine.AtLeast() && mine.Value <= theirs.Value || theirs.AtLeast() && theirs.Value <= mine.Value {
		return "" // unknown which is less
	}
	const level = 1.05 // ratios that are not proven count as none up to it
	r, ok := mine.Over(theirs)
	if !ok || word(v) != proven && max(r, 1/r) < level {
		return ""
	}
	switch {
	case mine.Value == 0:
		return fmt.Sprintf("no %s: %s", name, x.Subject.Name)
	case len(x.c.Targets) == 2:
		return fmt.Sprintf("%s: %s, %s", name, part, word(v))
	}
	return fmt.Sprintf("least %s: %s, %s, %s", name, x.Subject.Name, part, word(v))
}
