package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// searches returns the searches that found a number.
func (n *Number) searches() (out []*result.Search) {
	if n.Metric != metric.HighestRate {
		return nil
	}
	for _, s := range n.steps {
		if s.Search != nil {
			out = append(out, s.Search)
		}
	}
	return out
}

// IsProbe reports whether a step is a probe of a search: its numbers are part of
// how the search found its answer, and are not judged.
func IsProbe(s *Step) bool {
	if !slices.ContainsFunc(s.Axes, func(a result.Axis) bool { return a.Name == "rate" }) {
		return false
	}
	return slices.ContainsFunc(s.campaign.Steps, func(o *Step) bool {
		return strings.HasPrefix(s.Name, o.Name+"@") && searched(o)
	})
}

// Uncounted reports whether none of the step's runs counts in its search.
func Uncounted(s *Step) bool {
	return !slices.ContainsFunc(s.campaign.Targets, func(t *Target) bool {
		return slices.ContainsFunc(s.Runs[t], func(r Run) bool { return !r.Step.Uncounted })
	})
}

// searched reports whether a rate was searched for in a step.
func searched(s *Step) bool {
	return slices.ContainsFunc(s.campaign.Targets, func(t *Target) bool {
		return slices.ContainsFunc(s.Runs[t], func(r Run) bool { return r.Step.Search != nil })
	})
}

// unlikeSearches returns why the answers of two searches are not compared:
// their questions differ, or one ended without an answer.
func unlikeSearches(base, otherNumber *Number) string {
	var first *result.Search
	for _, n := range [...]*Number{base, otherNumber} {
		for _, s := range n.searches() {
			if first == nil {
				first = s
			}
			if reason := first.Differs(s); reason != "" {
				return "other work: " + reason
			}
			if _, high := s.Interval(); math.IsInf(high, 1) {
				return fmt.Sprintf("the search ended at its upper limit, %.10g/s", s.Kept)
			}
			if s.Kept == 0 {
				return "a search found no rate that keeps the promise"
			}
		}
	}
	return ""
}

// gaps returns the factors by which the highest rates may, at most, be below and
// above the rates that the searches of the number found.
func (n *Number) gaps() (below, above float64) {
	below, above = 1, 1
	for _, s := range n.searches() {
		if low, high := s.Interval(); s.Kept > 0 {
			below, above = max(below, s.Kept/low), max(above, high/s.Kept)
		}
	}
	return below, above
}

// precision returns the width of the searches' intervals, as a share.
func (n *Number) precision() float64 {
	below, above := n.gaps()
	return below*above - 1
}
