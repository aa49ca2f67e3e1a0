package trial

import (
	"math"

	"rumbench/internal/hist"
	"rumbench/internal/metric"
	"rumbench/workload"
)

// Of the rows that operations look for so many may not be there without a word,
// and so many before the step's numbers cannot be compared with others.
const (
	shortAllowed = 0.01
	shortRefused = 0.10
)

// addFound adds how many rows an operation kind has found and had to find. The
// words are for its rates and times if too many were not there.
func (r *rows) addFound(group, op string, finds workload.Finds, c *hist.Counts) (doubts []metric.Warning) {
	if finds == workload.FindsNothing || c.Ops == 0 || !r.keepsRows() {
		return nil
	}
	at, by, each := of(group, op), source("client"), func(row *metric.Row) { row.Per = op }
	found, expected := float64(c.Found)/float64(c.Ops), float64(c.Expected)/float64(c.Ops)
	r.put("rows_found", found, at, by, count(c.Ops), each)
	if c.Expected == 0 {
		return nil // it is not known
	}
	r.put("rows_expected", expected, at, by, count(c.Ops), each)
	r.put("found_share", float64(c.Found)/float64(c.Expected), at, by, count(c.Expected))
	short := shortfall(finds, c)
	if short <= shortAllowed {
		return nil
	}
	values := metric.Values{"found": found, "expected": expected, "op": op}
	if short > shortRefused && !metric.Has(r.out.Warnings, metric.TooFewRows) {
		r.out.Warnings = append(r.out.Warnings, metric.Warn(metric.TooFewRows, metric.Values{"group": group, "found": found, "expected": expected, "op": op}))
	}
	return []metric.Warning{metric.Warn(metric.RowsMissing, values)}
}

// shortfall is the share of the rows that were not found. Where their number
// varies from one operation to the next it is what chance does not explain: four
// standard deviations of a count are left out.
func shortfall(finds workload.Finds, c *hist.Counts) float64 {
	expected := float64(c.Expected)
	short := expected - float64(c.Found)
	if finds == workload.FindsOnAverage {
		short -= 4 * math.Sqrt(expected)
	}
	return short / expected
}
