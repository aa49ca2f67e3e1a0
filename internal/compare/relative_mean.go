package compare

import (
	"fmt"
	"math"
	"slices"

	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Mean is the geometric mean of a target's ratios in a group of tests, so that
// 2 and ½ make 1, and the mean of a over b is one over that of b over a.
type Mean struct {
	// Ratio is NaN if no test counts. Low and High are the bounds of its 95 %
	// interval; NaN if they are unknown, with the reason in Why.
	Ratio, Low, High float64
	Why              string
	Tests            int      // how many tests it covers
	Left             []string // the tests that were left out
}

const (
	resamples = 2000 // how often trials are drawn for an interval
	resampled = 6    // pairs of trials needed for resampling
)

// means returns the means of all targets.
func (r *Relative) means(rows []RelativeRow) []Mean {
	out := make([]Mean, len(r.Targets))
	for i := range r.Targets {
		out[i] = r.mean(rows, i)
	}
	return out
}

func (r *Relative) mean(rows []RelativeRow, i int) Mean {
	nan := math.NaN()
	m := Mean{Ratio: nan, Low: nan, High: nan}
	var counted []RelativeRow
	logs := 0.0
	for _, row := range rows {
		if c := &row.Cells[i]; c.Counts() {
			counted = append(counted, row)
			logs += math.Log(c.Ratio)
		} else {
			m.Left = append(m.Left, row.Step.Name)
		}
	}
	m.Tests = len(counted)
	if m.Tests == 0 {
		m.Why = "no test counts"
		return m
	}
	m.Ratio = math.Exp(logs / float64(m.Tests))
	if i == 0 {
		m.Why = "the base is 1 by definition"
		return m
	}
	interval, reason := meanInterval(r.Targets[0], r.Targets[i], counted, i)
	if m.Why = reason; reason == "" {
		// As for single ratios, the mean shown is that of the medians shown, and the
		// interval is extended to include it.
		m.Low, m.High = min(math.Exp(interval.Low), m.Ratio), max(math.Exp(interval.High), m.Ratio)
	}
	return m
}

// meanInterval returns the interval of the logarithm of a mean, resampling
// whole trials with all their tests: a good or bad day affects all tests of a
// trial. Trials that ran side by side are compared one to one.
func meanInterval(base, t *Target, rows []RelativeRow, i int) (stat.Interval, string) {
	a, b := byTrial(base, rows, 0), byTrial(t, rows, i)
	var x, y [][]float64
	var trials []*result.Trial
	beside(base.Trials, t.Trials, func(i, j int) bool {
		known := a[i] != nil && b[j] != nil
		if known {
			x, y, trials = append(x, a[i]), append(y, b[j]), append(trials, base.Trials[i])
		}
		return known
	})
	var interval stat.Interval
	unit := UnitOf(base.Trials, t.Trials)
	switch {
	case unit != TrialUnit:
		u, v, design := unit.Means(meanLogs(x), trials), unit.Means(meanLogs(y), trials), stat.Grouped
		if unit.partners(base.Trials, t.Trials) == nil {
			u, v, design = unit.meanLogs(a, base.Trials), unit.meanLogs(b, t.Trials), stat.Apart
		}
		if n := min(len(u), len(v)); n < LeastTrials {
			return interval, fmt.Sprintf("%d of at least %d %ss ran all these tests: nothing is known about noise", n,
				LeastTrials, unit)
		}
		interval = stat.Decide(u, v, design, confidence).Interval
	case len(x) >= resampled:
		interval = stat.PairedBootstrap(len(x), resamples, 1, confidence, func(pick []int) float64 {
			return meanOfMedians(y, pick) - meanOfMedians(x, pick)
		})
	case len(x) >= LeastTrials: // too few to draw from
		interval = stat.Decide(meanLogs(x), meanLogs(y), designOf(base.Trials, len(x)), confidence).Interval
	default:
		lacks := func(v []float64) bool { return v == nil }
		x, y = slices.DeleteFunc(a, lacks), slices.DeleteFunc(b, lacks)
		if n := min(len(x), len(y)); n < LeastTrials {
			return interval, fmt.Sprintf("%d of at least %d trials of all these tests: nothing is known about noise", n,
				LeastTrials)
		}
		interval = stat.Decide(meanLogs(x), meanLogs(y), stat.Apart, confidence).Interval
	}
	if math.IsInf(interval.Low, 0) || math.IsInf(interval.High, 0) || math.IsNaN(interval.Low+interval.High) {
		return interval, "the trials are too few for bounds"
	}
	return interval, ""
}

// byTrial returns the logarithms of a target's values: for each of its trials those
// of all tests; nil for a trial that lacks one.
func byTrial(t *Target, rows []RelativeRow, i int) [][]float64 {
	out := make([][]float64, len(t.Trials))
	for n, trial := range t.Trials {
		var values []float64
		for _, row := range rows {
			c := &row.Cells[i]
			if k := slices.Index(c.Trials, trial); k >= 0 && c.Rows[k].Value > 0 {
				values = append(values, math.Log(c.Rows[k].Value))
			}
		}
		if len(values) == len(rows) {
			out[n] = values
		}
	}
	return out
}

// meanLogs returns the mean over the tests for each trial.
// meanLogs returns the means of units over their trials that have values.
func (u Unit) meanLogs(values [][]float64, trials []*result.Trial) []float64 {
	var known [][]float64
	var owners []*result.Trial
	for i, v := range values {
		if v != nil {
			known, owners = append(known, v), append(owners, trials[i])
		}
	}
	return u.Means(meanLogs(known), owners)
}

func meanLogs(trials [][]float64) []float64 {
	out := make([]float64, len(trials))
	for i, v := range trials {
		for _, x := range v {
			out[i] += x / float64(len(v))
		}
	}
	return out
}

// meanOfMedians returns the mean over the tests of the medians over the trials picked.
func meanOfMedians(trials [][]float64, pick []int) float64 {
	tests := len(trials[0])
	values := make([]float64, len(pick))
	sum := 0.0
	for k := range tests {
		for n, i := range pick {
			values[n] = trials[i][k]
		}
		sum += stat.Median(values)
	}
	return sum / float64(tests)
}
