package verdict

import (
	"cmp"
	"fmt"
	"math"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/text/quantity"
)

// Subject names a number and its step for people.
func Subject(it *compare.Item) string {
	k := it.New.Key
	text := ""
	switch m := metric.ByName(k.Metric); {
	case m == nil:
		text = Name(k)
	case k.Metric == metric.RowsPerS:
		text = cmp.Or(k.Op, "overall") + " throughput"
	case m.Quantile != "":
		text = fmt.Sprintf("%s of %s %s time", m.Quantile, cmp.Or(k.Op, "all"), m.Family)
	case k.Per != "" && k.Per != "step":
		text = m.Label + " per " + k.Per
	default:
		text = m.Label
	}
	if it.For != "" {
		text += " (the process's own, as other programs used the device)"
	}
	return it.Step.Name + " " + text
}

// Guess returns a number with its ratio and interval, if these are informative.
func Guess(it *compare.Item) string {
	if !informative(&it.Effect) {
		return Subject(it) + " undecided"
	}
	return Subject(it) + " " + times(&it.Effect) + interval(&it.Effect)
}

// informative reports whether something follows from a ratio: it is known to be one of few trials, or has an interval
// that is not useless.
func informative(e *compare.Effect) bool {
	return e.Sure() || e.Notable() != "" || e.TooFew() || e.High < useless*e.Low || e.Verdict == compare.Same
}

// times returns a ratio, or the two numbers if it has no meaning, as if one of them is zero.
func times(e *compare.Effect) string {
	if math.IsNaN(e.Ratio) {
		return Number{*e.New}.Whole() + " instead of " + Number{*e.Base}.Whole()
	}
	return quantity.Times(e.Ratio)
}
