package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
)

// Steps in which the same is found share a paragraph.

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
	if s.effect(throughput) != nil && s.limited() != "" {
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
	var known []signature
	for _, s := range e.Steps {
		g := s.signature()
		i := slices.Index(known, g)
		if i < 0 {
			i, known, out = len(known), append(known, g), append(out, Paragraph{})
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

// weight is the median difference of the steps × their number.
func (p *Paragraph) weight() float64 {
	var w []float64
	for _, s := range p.Steps {
		if len(s.Sums) > 0 {
			w = append(w, s.Sums[0].weight())
		}
	}
	if len(w) == 0 {
		return 0
	}
	slices.Sort(w)
	return w[len(w)/2] * float64(len(p.Steps))
}
