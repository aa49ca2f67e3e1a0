// Package verdict describes in words how targets compare: whether a difference is proven, and how
// large it is, for pages, summaries, comparisons and gates. It formats the numbers, has signs for
// the verdicts, and writes judgements as text, Markdown, JSON and in Go's benchmark format.
package verdict

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

// Number is a number that formats itself.
type Number struct{ compare.Number }

// String returns the number rounded for display.
func (n Number) String() string {
	if n.Missing != "" {
		return quantity.Unknown
	}
	switch {
	case metric.IsLatency(n.Metric):
		return quantity.Micros(n.Value)
	case n.Unit == "B":
		return quantity.BytesAs(n.Value, quantity.Digits)
	case n.Unit == "count" && n.Per == "", n.Unit == "s":
		return quantity.Amount(n.Value)
	case n.Unit == "bool":
		return map[bool]string{true: "yes", false: "no"}[n.Value != 0]
	}
	return quantity.Digits(n.Value)
}

// Of returns a number without rows.
func Of(metric string, value float64, unit string) Number {
	return Number{compare.Number{Key: compare.Key{Metric: metric}, Value: value, Unit: unit}}
}

// Whole returns the number rounded for display; a percentile of too few samples
// is labelled as their maximum.
func (n Number) Whole() string {
	if few := n.Few(); few != "" {
		return n.String() + ", " + few
	}
	return n.String()
}

// Hover returns the number in full, for a tooltip.
func (n Number) Hover() string {
	if n.Missing != "" {
		return n.Missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s", n.Metric, quantity.Full(n.Value))
	if n.Unit != "" && n.Unit != "bool" && n.Unit != "ratio" {
		b.WriteString(" " + n.Unit)
	}
	if n.Per != "" {
		b.WriteString(" per " + n.Per)
	}
	if few := n.Few(); few != "" {
		fmt.Fprintf(&b, ": %s samples, as %s", few, metric.Needs(n.Metric))
	}
	if len(n.Rows) > 1 {
		fmt.Fprintf(&b, "; median of %d trials, from %s to %s", len(n.Rows), quantity.Full(n.Low), quantity.Full(n.High))
		if i := stat.MedianInterval(n.Values(), 0.95); !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0) && len(n.Rows) > 5 {
			fmt.Fprintf(&b, ", 95 %% interval %s to %s", quantity.Full(i.Low), quantity.Full(i.High))
		}
	}
	if n.Count > 0 {
		fmt.Fprintf(&b, "; made of %s", quantity.Whole(float64(n.Count)))
	}
	if n.Source != "" {
		b.WriteString("; source: " + n.Source)
	}
	for _, w := range metric.Texts(n.Warnings) {
		b.WriteString("; ⚠ " + w)
	}
	return b.String()
}

// Name names a number as “rows_per_s insert” or “write_kb per insert row”.
func Name(k compare.Key) string {
	name := k.Metric
	switch {
	case k.Per != "":
		name += " per " + k.Per
	case k.Op != "":
		name += " " + k.Op
	}
	if k.Group != "" && k.Group != k.Op {
		name += " (group " + k.Group + ")"
	}
	return name
}

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
