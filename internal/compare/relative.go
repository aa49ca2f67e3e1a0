package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rumbench/internal/metric"
	"rumbench/internal/result"
	"rumbench/internal/stat"
)

// Relative is a table of one number in all tests: each target's value and its
// ratio to the base's.
type Relative struct {
	Targets []*Target // the base first, then in the campaign's order
	// Metric is the number's metric; nil for the throughput of each test's primary
	// operation.
	Metric *metric.Metric
	Groups []RelativeGroup // only groups that have tests
	// Unlike are the differences between the work of each target and the base's,
	// because of which its ratios do not count; as Targets.
	Unlike [][]string
	// Durability is the durability of each target, if they differ.
	Durability string
	// Compatible: values were rounded before they were divided.
	Compatible bool
}

// Base returns the target that all others are compared with.
func (r *Relative) Base() *Target { return r.Targets[0] }

// Empty reports whether no target has the number in any test.
func (r *Relative) Empty() bool { return !r.Any(func(c *RelativeCell) bool { return c.Missing == "" }) }

// Any reports whether any cell of the table satisfies is.
func (r *Relative) Any(is func(*RelativeCell) bool) bool {
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			if slices.ContainsFunc(row.Cells, func(c RelativeCell) bool { return is(&c) }) {
				return true
			}
		}
	}
	return false
}

// RelativeGroup are the tests of a group with the means over them.
type RelativeGroup struct {
	Group Group
	Rows  []RelativeRow
	Means []Mean // as Targets; nil if no mean is taken
}

// RelativeRow is a test.
type RelativeRow struct {
	Step  *Step
	Cells []RelativeCell // as Targets
}

// RelativeCell is a target's number in a test.
type RelativeCell struct {
	Number
	// Ratio is the value ÷ the base's value; NaN if it has no meaning, with the
	// reason in Why.
	Ratio float64
	Why   string
	// Refusals are the reasons why the number cannot be compared, though it may have
	// a ratio.
	Refusals []string
	// Effect is the judgement of the difference; nil for the base, and if neither
	// has the number.
	Effect *Effect

	// Apart is the reason if it is not compared; "" if it is.
	Apart string
}

// Verdict returns the verdict on the difference; "" if there is none.
func (c *RelativeCell) Verdict() Verdict {
	if c.Effect == nil || len(c.Refusals) > 0 {
		return ""
	}
	return c.Effect.Verdict
}

// RelativeOptions select the contents of a relative table.
type RelativeOptions struct {
	Base   *Target // nil: the first
	Metric string  // "": the throughput of the primary operation
	// Key returns a step's number that is shown instead; nil: that of Metric.
	Key func(*Step) (Key, bool)
	// Round returns the value of a number to divide; nil: the full one. Published
	// tables divide the values that they print. NaN: there is none.
	Round func(Number) float64
}

// Relative returns the table. Tests are matched by name and included even if a
// target did not reach them. Steps without a primary operation are included
// only if they have the metric.
func (c *Campaign) Relative(o RelativeOptions) *Relative {
	base := o.Base
	if base == nil {
		base = c.Targets[0]
	}
	r := &Relative{Targets: c.From(base), Metric: metric.ByName(o.Metric), Durability: c.Durability(),
		Compatible: o.Round != nil}
	judged := make([]*Judgement, len(r.Targets)) // the base's is nil
	r.Unlike = make([][]string, len(r.Targets))
	for i, t := range r.Targets[1:] {
		judged[i+1], r.Unlike[i+1] = c.Judge(base, t), Unlike(base, t)
	}
	for _, g := range Groups() {
		rg := RelativeGroup{Group: g}
		for _, s := range c.Steps {
			if GroupOf(s) == g {
				rg.add(r, s, judged, o)
			}
		}
		if len(rg.Rows) == 0 {
			continue
		}
		if g.hasMean() {
			rg.Means = r.means(rg.Rows)
		}
		r.Groups = append(r.Groups, rg)
	}
	return r
}

func (g *RelativeGroup) add(r *Relative, s *Step, judged []*Judgement, o RelativeOptions) {
	k, ok := s.About(o.Metric)
	if o.Key != nil {
		k, ok = o.Key(s)
	}
	if !ok && s.Primary == "" {
		return // the test has neither a primary operation nor this number
	}
	row, base := RelativeRow{Step: s}, r.Targets[0]
	for i, t := range r.Targets {
		e := s.ratio(base, t, k)
		cell := RelativeCell{Number: *e.New, Ratio: e.Ratio, Refusals: s.Refusals(t), Apart: s.unlike(base, t, &e)}
		if few := cell.Few(); few != "" {
			cell.Refusals = slices.Insert(cell.Refusals, 0, few)
		}
		if cell.Missing == "" && cell.Disturbed() {
			cell.Refusals = AppendNew(cell.Refusals, "disturbed")
		}
		if unlike := s.Unlike(base, t); len(r.Unlike[i]) > 0 {
			cell.Refusals = AppendNew(cell.Refusals, "other work") // the details are in Unlike, per target
		} else if unlike != "" {
			cell.Refusals = AppendNew(cell.Refusals, unlike)
		}
		if i > 0 && len(row.Cells[0].Refusals) > 0 {
			cell.Refusals = AppendNew(cell.Refusals, base.Name+": "+row.Cells[0].Refusals[0])
		}
		if judged[i] != nil {
			cell.Effect = judged[i].Effect(s, k)
		}
		if reason := Unfit(cell.Effect); reason != "" && cell.Missing == "" && len(cell.Refusals) == 0 {
			cell.Refusals = []string{notCompared}
		}
		cell.compare(s.unfit(base, t, &e), e, o.Round)
		if i == 0 && cell.Missing == "" {
			cell.Ratio, cell.Why = 1, ""
		}
		row.Cells = append(row.Cells, cell)
	}
	g.Rows = append(g.Rows, row)
}

// compare sets the reason if there is no ratio, or else rounds its numbers.
func (c *RelativeCell) compare(unfit string, e Effect, round func(Number) float64) {
	switch {
	case c.Missing != "":
		c.Why = c.Missing
	case e.Base.Missing != "":
		c.Why = "there is nothing to compare with: " + e.Base.Missing
	case math.IsNaN(c.Ratio):
		c.Why = cmp.Or(e.Why, unfit, "the base has 0")
	case round != nil && round(*e.Base) == 0: // two numbers that print as 0 have no ratio
		c.Ratio, c.Why = math.NaN(), "the base has 0"
	case round != nil:
		c.Ratio = round(*e.New) / round(*e.Base)
	}
}

const notCompared = "not compared"

// Reasons are the refusals with all that is known of them.
func (c *RelativeCell) Reasons() []string {
	if slices.Equal(c.Refusals, []string{notCompared}) {
		return []string{notCompared + ", as " + Unfit(c.Effect)}
	}
	return c.Refusals
}

// Counts reports whether the ratio is part of means: it is known, not 0, and
// both sides are comparable.
func (c *RelativeCell) Counts() bool {
	return c.Ratio > 0 && len(c.Refusals) == 0
}

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
		found := a[i] != nil && b[j] != nil
		if found {
			x, y, trials = append(x, a[i]), append(y, b[j]), append(trials, base.Trials[i])
		}
		return found
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

// meanLogs returns the mean over the tests for each trial.
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
