package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/stat"
)

// number is a number for people.
type number struct{ compare.Number }

// number looks a key up on a target.
func (s *step) number(t *target, k key) number { return number{s.Number(t, k)} }

// numberOf is a number that no rows are behind.
func numberOf(metric string, value float64, unit string) number {
	return number{compare.Number{Key: key{Metric: metric}, Value: value, Unit: unit}}
}

// whole is the number rounded for display, with what it is instead of a
// percentile of too few samples.
func (n number) whole() string {
	if few := n.Few(); few != "" {
		return n.String() + ", " + few
	}
	return n.String()
}

// positions are where the number's rows stand on the page.
func (c *campaign) positions(n number) string {
	at := make([]int, len(n.Rows))
	for i, r := range n.Rows {
		at[i] = c.at[r]
	}
	return strings.Trim(fmt.Sprint(at), "[]")
}

// over is n ÷ base; ok is false where it has no meaning.
func (n number) over(base number) (float64, bool) { return n.Over(base.Number) }

// hover is the number in full, for who wants to know.
func (n number) hover() string {
	if n.Missing != "" {
		return n.Missing
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s = %s", n.Metric, full(n.Value))
	if n.Unit != "" && n.Unit != "bool" && n.Unit != "ratio" {
		b.WriteString(" " + n.Unit)
	}
	if n.Per != "" {
		b.WriteString(" per " + n.Per)
	}
	if few := n.Few(); few != "" {
		p, _, _ := metric.Percentile(n.Metric)
		fmt.Fprintf(&b, ": %s samples, as a percentile of %g takes %d", few, p, metric.LeastSamples(p))
	}
	if len(n.Rows) > 1 {
		fmt.Fprintf(&b, "; median of %d trials, from %s to %s", len(n.Rows), full(n.Low), full(n.High))
		if i := stat.MedianInterval(n.Values(), 0.95); !math.IsInf(i.Low, 0) && !math.IsInf(i.High, 0) && len(n.Rows) > 5 {
			fmt.Fprintf(&b, ", 95 %% interval %s to %s", full(i.Low), full(i.High))
		}
	}
	if n.Count > 0 {
		fmt.Fprintf(&b, "; made of %s", grouped(float64(n.Count)))
	}
	if n.Source != "" {
		b.WriteString("; source: " + n.Source)
	}
	for _, w := range metric.Texts(n.Warnings) {
		b.WriteString("; ⚠ " + w)
	}
	return b.String()
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}
