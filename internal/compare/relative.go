package compare

import (
	"cmp"
	"math"
	"slices"

	"rumbench/internal/metric"
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
