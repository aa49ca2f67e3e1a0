package account

import (
	"math"
	"slices"

	"rumbench/internal/metric"
)

// PerSecond returns a count ÷ the length of its window in seconds; NaN, which no row
// holds, if the length is unknown.
func PerSecond(n, seconds float64) float64 { return quotient(n, seconds) }

// PerUnit returns a cost ÷ the units done for it; NaN if there are none.
func PerUnit(cost, units float64) float64 { return quotient(cost, units) }

func quotient(v, by float64) float64 {
	if by <= 0 {
		return math.NaN()
	}
	return v / by
}

// MicrosOfSeconds returns a time in µs, the unit of latencies and CPU times.
func MicrosOfSeconds(s float64) float64 { return s * 1e6 }

// MicrosOfMillis returns a time in µs, the unit of latencies and CPU times.
func MicrosOfMillis(ms float64) float64 { return ms * 1e3 }

// UnitsDone returns how many units of an operation kind were done in a window; 0 if
// that is unknown.
func UnitsDone(rows []metric.Row, op string, seconds float64) float64 {
	if op == "" {
		return 0
	}
	if r := metric.Find(rows, metric.Rows, op, ""); r != nil {
		return r.Value
	}
	if r := metric.Find(rows, metric.RowsPerS, op, ""); r != nil {
		return r.Value * seconds
	}
	return 0
}

// PerOperation returns a count ÷ the operations completed, whose rate is done.
// A count that is recorded only in case of errors is without if there were
// none.
func PerOperation(count, done, errors *metric.Row, without float64) (v float64, ok bool) {
	switch {
	case done == nil || done.N == 0:
		return 0, false
	case count != nil:
		return count.Value / float64(done.N), true
	}
	return without, errors != nil && errors.Value == 0
}

// Spent is how a group's clients spent their time, in seconds: on operations, on
// their attempts that succeeded, and on one statement of these.
type Spent struct{ Service, Attempts, Statement float64 }

// SpentBy sums up the operations of a group and one of their statements. single
// reports whether a row belongs to a single operation kind. Files of builds
// that did not distinguish attempts have these times only if nothing failed.
func SpentBy(rows []metric.Row, group, statement string, single func(*metric.Row) bool) (t Spent) {
	failed := false
	for i := range rows {
		row := &rows[i]
		switch {
		case row.Group != group:
		case row.Metric == metric.StatementTotalS && row.Op == statement:
			t.Statement = row.Value
		case row.Metric == metric.Attempts:
			failed = true
		case row.Metric == metric.ServiceTotalS && single(row):
			t.Service += row.Value
		case row.Metric == metric.AttemptTotalS && single(row):
			t.Attempts += row.Value
		}
	}
	if t.Attempts == 0 && !failed {
		t.Attempts = t.Service
	}
	return t
}

// Failures are the failed attempts at a step's operations.
type Failures struct {
	Attempts, Failed, GivenUp float64
	Classes                   []metric.Row // by class, the most frequent first
}

// FailuresIn counts by operation kind, without counting varieties of a kind twice.
func FailuresIn(rows []metric.Row, single func(*metric.Row) bool) (f Failures) {
	type kind struct{ group, op string }
	tried := map[kind]float64{}
	for i := range rows {
		row := &rows[i]
		subject := kind{row.Group, row.Op}
		_, found := tried[subject]
		switch own := single(row); {
		case metric.FamilyOf(row.Metric) == metric.ErrorClass && (own || row.Op == ""):
			f.Add(Failures{Failed: row.Value, Classes: []metric.Row{*row}})
		case own && row.Metric == metric.Attempts:
			tried[subject] = row.Value
		case own && row.Metric == metric.OpsPerS && !found:
			tried[subject] = float64(row.N) // unless some failed
		case own && row.Metric == metric.GivenUpOps:
			f.GivenUp += row.Value
		}
	}
	for _, n := range tried {
		f.Attempts += n
	}
	return f
}

// Add adds other failures.
func (f *Failures) Add(extra Failures) {
	f.Attempts, f.Failed, f.GivenUp = f.Attempts+extra.Attempts, f.Failed+extra.Failed, f.GivenUp+extra.GivenUp
	for _, row := range extra.Classes {
		if k := slices.IndexFunc(f.Classes, func(c metric.Row) bool { return c.Metric == row.Metric }); k >= 0 {
			f.Classes[k].Value += row.Value
		} else {
			f.Classes = append(f.Classes, row)
		}
	}
	slices.SortStableFunc(f.Classes, func(a, b metric.Row) int { return int(b.Value - a.Value) })
}

// Share returns the share of attempts that failed.
func (f Failures) Share() float64 {
	if f.Attempts == 0 {
		return 0
	}
	return f.Failed / f.Attempts
}
