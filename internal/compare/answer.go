package compare

import (
	"cmp"
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

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
