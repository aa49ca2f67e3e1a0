package account

import (
	"math"

	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/stat/hist"
	"rumbench/workload"
)

// Shares of rows not found: from the first on there is a warning, from the
// second on the step's numbers are not compared.
const (
	shortAllowed = 0.01
	shortRefused = 0.10
)

// addFound adds how many rows an operation kind found and had to find. It
// returns warnings for the kind's rates and times if too many were not found.
func (s *Step) addFound(group, op string, finds workload.Finds, c *hist.Counts) []metric.Warning {
	if finds == workload.FindsNothing || c.Ops == 0 || !s.Results {
		return nil
	}
	subject, by, each := Of(group, op), Source("client"), Per(op)
	found, expected := float64(c.Found)/float64(c.Ops), float64(c.Expected)/float64(c.Ops)
	s.Put(metric.RowsFound, found, subject, by, Count(c.Ops), each)
	if c.Expected == 0 {
		return nil // unknown
	}
	s.Put(metric.RowsExpected, expected, subject, by, Count(c.Ops), each)
	s.Put(metric.FoundShare, float64(c.Found)/float64(c.Expected), subject, by, Count(c.Expected))
	short := shortfall(finds, c)
	if short <= shortAllowed {
		return nil
	}
	if short > shortRefused && !metric.Has(s.Warnings, remark.TooFewRows) {
		s.Warn(remark.TooFewRows, metric.Values{"group": group, "op": op, "found": found, "expected": expected})
	}
	return []metric.Warning{metric.Warn(remark.RowsMissing, metric.Values{"op": op, "found": found, "expected": expected})}
}

// shortfall returns the share of rows that were not found. If their number
// varies between operations, only the part beyond chance counts: four standard
// deviations of a count are subtracted.
func shortfall(finds workload.Finds, c *hist.Counts) float64 {
	expected := float64(c.Expected)
	short := expected - float64(c.Found)
	if finds == workload.FindsOnAverage {
		short -= 4 * math.Sqrt(expected)
	}
	return short / expected
}
