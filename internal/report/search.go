package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// answer is the result of a search for a rate on a target: the median of
// several trials.
type answer struct {
	*result.Search
	target *target
	trials int
	low    float64 // rates found, in any trial
	high   float64
	// warnings are the warnings on the rate found.
	warnings []metric.Warning
}

// answersOf returns the answers of a step, the highest rate first; none if
// there was no search.
func answersOf(s *step) (out []answer) {
	for _, t := range s.c.Targets {
		var found []*result.Search
		for _, r := range s.Used(t) {
			if r.Step.Search != nil {
				found = append(found, r.Step.Search)
			}
		}
		if len(found) == 0 {
			continue
		}
		slices.SortStableFunc(found, func(a, b *result.Search) int { return cmp.Compare(a.Kept, b.Kept) })
		a := answer{Search: found[(len(found)-1)/2], target: t, trials: len(found), low: found[0].Kept,
			high: found[len(found)-1].Kept}
		for _, k := range s.Keys(metric.HighestRate) {
			a.warnings = append(a.warnings, s.number(t, k).Warnings...)
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b answer) int { return cmp.Compare(b.Kept, a.Kept) })
	return out
}

// String returns a target's answer.
func (a answer) String() string { return a.target.Name + ": " + a.Search.String() + a.span() }

// span returns the range of the other trials.
func (a answer) span() string {
	if a.trials == 1 {
		return ""
	}
	return fmt.Sprintf(" (%d trials: %s to %s)", a.trials, quantity.Amount(a.low), quantity.Amount(a.high))
}

// searchSentence returns the targets' answers; "" if there was no search.
func searchSentence(s *step) string {
	answers := answersOf(s)
	if len(answers) == 0 {
		return ""
	}
	caution := ""
	if slices.ContainsFunc(answers, func(a answer) bool { return len(a.warnings) > 0 }) {
		caution = " ⚠ The search has warnings: read them first."
	}
	if len(answers) == 1 {
		return answers[0].String() + "." + caution
	}
	if slices.ContainsFunc(answers[1:], func(a answer) bool { return answers[0].Differs(a.Search) != "" }) {
		apart := quantity.Texts(answers, answer.String)
		return strings.Join(apart, "; ") + ". The searches differ, and are not compared." + caution
	}
	var parts, never []string
	for _, a := range answers {
		if a.Kept == 0 {
			never = append(never, fmt.Sprintf("%s (lowest %s/s: %s)", a.target.Name, quantity.Amount(a.Broke), a.Why))
		} else {
			parts = append(parts, fmt.Sprintf("%s on %s%s", a.Rate(), a.target.Name, a.span()))
		}
	}
	return strings.Join(nonEmpty(listing("the highest rate with "+answers[0].Words()+": ", parts, ""),
		listing("no rate that was tried kept "+answers[0].Words()+" in most of its probes on ", never, "")), "; ") +
		"." + caution
}
