package verdict

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/text/quantity"
)

// Passage is whether a gate lets a comparison pass.
type Passage int

// The passages, the worst last.
const (
	Passed    Passage = iota
	Undecided         // something cannot be judged
	Stopped           // a regression
)

// Gate is the result of a gate on the question of a judgement.
type Gate struct {
	Passage
	Text  string   // the answer
	Lines []string // a number each
}

// GateOf judges the question of a judgement as a gate. A strict gate also stops numbers
// that do not exclude a regression.
func GateOf(j *compare.Judgement, strict bool) (g Gate) {
	found := j.Outcome()
	list := func(finding string, items []*compare.Item, text func(*compare.Item) string) {
		for _, it := range items {
			g.Lines = append(g.Lines, fmt.Sprintf("%s: %s in %s", finding, Pair(j.Base, j.New), text(it)))
		}
	}
	list("regression", found.Worse, Guess)
	if strict {
		list("not excluded", found.Open, Guess)
	}
	list("not judged", found.Blind, func(it *compare.Item) string { return Subject(it) + ": " + it.Why })
	matters := 100 * compare.Matters(&j.Question)
	if !strict {
		list("not judged", found.Weak, func(it *compare.Item) string {
			return fmt.Sprintf("%s: %.3g %% matters, and that would not be seen", Guess(it), matters) + limit(it.Detectable())
		})
	}
	switch {
	case len(found.Worse) > 0:
		g.Passage, g.Text = Stopped, "a regression is proven in "+quantity.Count(len(found.Worse), "number")
	case strict && len(found.Open) > 0:
		g.Passage, g.Text = Stopped, "a regression is not excluded in "+quantity.Count(len(found.Open), "number")
	case len(found.Blind)+len(found.Weak) > 0:
		g.Passage, g.Text = Undecided, quantity.Count(len(found.Blind)+len(found.Weak), "number")+" cannot be judged"
	case found.Judged == 0:
		g.Passage, g.Text = Undecided, "nothing that is asked about was measured"
	case strict:
		g.Text = fmt.Sprintf("a regression of %g %% is excluded in all numbers asked about", matters)
	default:
		g.Text = "no regression is proven"
	}
	return g
}

// limit says what trials could see at least.
func limit(detectable float64) string {
	if math.IsNaN(detectable) {
		return ""
	}
	return ", as differences below " + DetectableText(detectable) + " may stay unseen"
}

// Conditions judges conditions on comparisons as a gate, in the named steps or in all.
func Conditions(conditions []*compare.Gate, list []*compare.Judgement, steps []string) (g Gate, err error) {
	var holds, blind []string
	for _, one := range conditions {
		if err := one.Check(list...); err != nil {
			return g, err
		}
		judged, before := 0, len(blind)
		for _, c := range list {
			found, err := one.Find(c, steps)
			if err != nil {
				return g, err
			}
			judged += found.Judged
			place := fmt.Sprintf("%s: %s in ", one, Pair(c.Base, c.New))
			for i := range found.True {
				holds = append(holds, place+FindingText(&found.True[i]))
			}
			for _, text := range found.Blind {
				blind = append(blind, place+text)
			}
		}
		if judged == 0 && len(blind) == before {
			blind = append(blind, fmt.Sprintf("%s: its metrics are not known on both sides of any step", one))
		}
	}
	g.Lines = slices.Concat(holds, blind)
	switch {
	case len(holds) > 0:
		g.Passage, g.Text = Stopped, "a condition holds in "+quantity.Count(len(holds), "place")
	case len(blind) > 0:
		g.Passage, g.Text = Undecided, "a condition cannot be judged in "+quantity.Count(len(blind), "place")
	}
	return g, nil
}
