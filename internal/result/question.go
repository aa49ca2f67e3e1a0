package result

import (
	"fmt"
	"math"
	"reflect"
)

// Question is the question that a comparison answers: which numbers of which steps,
// and how great a difference matters. Verdicts on these numbers are corrected for
// each other and for no others. The zero value asks about the workload's subject,
// see [Step.Judged].
type Question struct {
	Steps   []string `json:"steps,omitempty"`   // by name; nil: those that the workload is about
	Metrics []string `json:"metrics,omitempty"` // by name; nil: those that the workload judges the steps by
	// WorseBy and BetterBy are the smallest differences that matter in either direction,
	// as shares: 0.05 is 5 %. Smaller ones are neither “worse” nor “better”. 0: any
	// difference matters.
	WorseBy  float64 `json:"worse_by,omitempty"`
	BetterBy float64 `json:"better_by,omitempty"`
	// Within is how far apart numbers may be and still be called the same, as a share;
	// 0: up to the smallest difference that matters, or 1 % if any difference matters.
	Within float64 `json:"equivalent_within,omitempty"`
}

// ValidDifference reports whether a share may be a difference that matters.
func ValidDifference(share float64) bool { return share > 0 && share < 1 }

// usualMargin is how far apart numbers are that count as equal.
const usualMargin = 0.01

// usualDifference is a difference that most people want to find.
const usualDifference = 0.05

// Margin returns how far a ratio may be from 1 and still be called the same.
func (q *Question) Margin() float64 {
	if q.Within > 0 {
		return q.Within
	}
	return q.threshold(usualMargin)
}

// Contradiction returns why the differences of a question contradict each other; "" if
// they do not.
func (q *Question) Contradiction() string {
	for _, d := range []float64{q.WorseBy, q.BetterBy} {
		if d > 0 && q.Within > d {
			return fmt.Sprintf("a difference of %g %% would matter and be called equivalent", 100*d)
		}
	}
	return ""
}

// Smallest returns the smallest difference that a comparison should find.
func (q *Question) Smallest() float64 {
	if d := q.threshold(0); d > 0 {
		return d
	}
	if q.Within > 0 {
		return q.Within
	}
	return usualDifference
}

// threshold returns the least difference that matters, or otherwise if any
// does.
func (q *Question) threshold(otherwise float64) float64 {
	lowest := math.Inf(1)
	for _, d := range []float64{q.WorseBy, q.BetterBy} {
		if d > 0 {
			lowest = min(lowest, d)
		}
	}
	if math.IsInf(lowest, 1) {
		return otherwise
	}
	return lowest
}

// Declared reports whether the question has any content.
func (q *Question) Declared() bool { return !q.Same(&Question{}) }

// Same reports whether two questions are the same.
func (q *Question) Same(o *Question) bool { return reflect.DeepEqual(q, o) }
