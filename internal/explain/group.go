package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Steps in which the same is found share a paragraph.

// Paragraph explains steps with the same findings. Its lines are about throughput, then
// about a cost each, and last about the warnings.
type Paragraph struct {
	Steps []*Step
	Lines []Line

	led  bool // the lead reports the effect on the throughput
	last *Step
}

// Line explains a number's difference.
type Line struct {
	Effects []*compare.Effect // in the steps; none for predictions and notes
	Causes  string
}

// signature holds the common properties of a paragraph's steps.
type signature struct {
	access      compare.Group
	unit        string
	asked       bool
	direction   int // of the throughput
	base, other Limit
	causes      string // the first cause of the throughput, the signs of costs, and the rules of notes that limit them
}

func (s *Step) signature() signature {
	g := signature{access: compare.GroupOf(s.Of), unit: s.Of.Primary, asked: s.asked()}
	if e := s.effect(throughput); e != nil && math.Abs(math.Log(e.Ratio)) >= worthALine && (e.Sure() || e.TooFew()) {
		g.direction = cmp.Compare(e.Ratio, 1)
	}
	if s.effect(throughput) != nil && limited(s) != "" {
		g.base, g.other = s.Base.Limit, s.New.Limit
	}
	for _, sum := range s.Sums {
		switch named := sum.supporting(); {
		case sum.throughput() && len(named) > 0:
			g.causes += fmt.Sprintln(sum.Metric, named[0].Rule, named[0].Item, named[0].Log < 0)
		case sum.Sure() && sum.Metric != metric.SpaceAmplification:
			g.causes += fmt.Sprintln(sum.Metric, sum.Verdict)
		}
	}
	for _, n := range s.Notes {
		if n.First() && n.Rule != RuleOthers {
			g.causes += fmt.Sprintln(n.Rule)
		}
	}
	return g
}

// groups returns the steps in groups with the same findings: those that the question is about
// first, in their order, then those that differ most.
func (e *Explanation) groups() (out []Paragraph) {
	var signatures []signature
	for _, s := range e.Steps {
		g := s.signature()
		i := slices.Index(signatures, g)
		if i < 0 {
			i, signatures, out = len(signatures), append(signatures, g), append(out, Paragraph{})
		}
		out[i].Steps = append(out[i].Steps, s)
	}
	slices.SortStableFunc(out, func(a, b Paragraph) int {
		if a, b := a.place(), b.place(); a != b || a == 0 {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(b.weight(), a.weight())
	})
	return out
}

// place is the place of the paragraph: 0 if the question is about a step of it, 1 if its steps
// test access to rows, 2 for others, such as loads.
func (p *Paragraph) place() int {
	switch {
	case slices.ContainsFunc(p.Steps, (*Step).asked):
		return 0
	case compare.GroupOf(p.Steps[0].Of) == compare.Other:
		return 2
	}
	return 1
}

// weight is the sum of the steps' differences.
func (p *Paragraph) weight() (w float64) {
	for _, s := range p.Steps {
		if len(s.Sums) > 0 {
			w += s.Sums[0].weight()
		}
	}
	return w
}

// subjectOf returns the step that the first sentence is about: one that the question is about,
// and whose throughput is proven to differ, if there is such; nil if no step's throughput is known.
func subjectOf(groups []Paragraph) *Step {
	rank := func(s *Step) (n int) {
		if s.asked() {
			n++
		}
		if s.effect(throughput).Sure() {
			n += 2
		}
		return n
	}
	var found *Step
	for _, p := range groups {
		for _, s := range p.Steps {
			if s.effect(throughput) != nil && (found == nil || rank(s) > rank(found)) {
				found = s
			}
		}
	}
	return found
}

// limited returns what limits the two; "" if that says nothing about the difference.
func limited(s *Step) string {
	if !s.Rate.Sure() || s.shared() > mostShared {
		return ""
	}
	text := s.describe(func(s *Side) bool { return s.Limit != Unlimited },
		func(s *Side) string { return fmt.Sprintf("%s is limited by %s", name(s), s.Limit) })
	switch {
	case text == "":
		return ""
	case s.Base.Limit == s.New.Limit:
		text = fmt.Sprintf("both are limited by %s", s.Base.Limit)
	}
	return quantity.Capital(text) + "."
}

// worthALine is the logarithm of a ratio below which a number is not explained in words,
// unless nothing in the step differs more.
const worthALine = 0.1
