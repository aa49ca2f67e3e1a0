package compare

import (
	"fmt"
	"math"

	"rumbench/internal/result"
)

// highestRate is the metric of a search's answer.
const highestRate = "highest_rate"

// searches returns the searches that found a number.
func (n *Number) searches() (out []*result.Search) {
	if n.Metric != highestRate {
		return nil
	}
	for _, s := range n.steps {
		if s.Search != nil {
			out = append(out, s.Search)
		}
	}
	return out
}

// unlikeSearches returns why the answers of two searches are not compared:
// their questions differ, or one ended without an answer.
func unlikeSearches(base, of *Number) string {
	var first *result.Search
	for _, n := range [...]*Number{base, of} {
		for _, s := range n.searches() {
			if first == nil {
				first = s
			}
			if why := first.Differs(s); why != "" {
				return "other work: " + why
			}
			if math.IsInf(s.Gap(), 1) {
				return fmt.Sprintf("the search ended at its upper limit, %.10g/s", s.Kept)
			}
		}
	}
	return ""
}

// searched reports whether the numbers are answers of searches.
func (e *Effect) searched() bool { return e.New.Metric == highestRate }

// gap returns the greatest share by which a search of the number may have
// missed the highest rate.
func (n *Number) gap() (gap float64) {
	for _, s := range n.searches() {
		gap = max(gap, s.Gap())
	}
	return gap
}

// widen makes the interval of a ratio of two searches at least as wide as the
// searches are precise: each found a rate that keeps its promise, and the next
// one that it tried breaks it.
func (e *Effect) widen() {
	low, high := 1+e.Base.gap(), 1+e.New.gap()
	e.Low, e.High = e.Low/low, e.High*high
}
