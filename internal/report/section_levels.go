package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// leastLevels is the number of levels from which a curve says more than a ratio.
const leastLevels = 3

// overLevels returns the numbers asked about as a knob that is a number increases over the targets, such
// as their memory: a section for each knob.
func overLevels(v *campaign) (out []page.Section) {
	var knobs []string
	families := map[string][]compare.Family{}
	for _, f := range v.Families() {
		if len(f.Targets) >= leastLevels && numbered(f) {
			knobs = compare.AppendNew(knobs, f.Knob)
			families[f.Knob] = append(families[f.Knob], f)
		}
	}
	for _, knob := range knobs {
		sec := page.Section{ID: "by-" + slug(knob), Title: "By " + knob, Nav: "by " + knob, Class: "sweep"}
		about := "A point is the median of a target's trials, its whisker goes from the least to the greatest of them. " +
			"A ring: the number is not comparable there."
		sec.Blocks = append(sec.Blocks, page.Prose("about", about), familyLegend(families[knob]))
		n := page.NewNotes(sec.ID)
		for _, s := range v.steps {
			if len(s.Asked()) == 0 {
				continue
			}
			if plots := drawn(0, levelCurves(s, knob, families[knob])...); len(plots) > 0 {
				sec.Blocks = append(sec.Blocks, page.Plots{Title: s.Name, Plots: plots})
			}
			sec.Blocks = append(sec.Blocks, levelsOf(s, families[knob], n)...)
		}
		if len(sec.Blocks) > 2 {
			out = append(out, withBlocks(sec, nil, n))
		}
	}
	return out
}

// numbered reports whether a family's knob is a number on each of its targets.
func numbered(f compare.Family) bool {
	return !slices.ContainsFunc(f.Targets, func(t *target) bool { _, ok := levelOf(f, t); return !ok })
}

// levelOf returns the value of a family's knob on a target, if it is a number.
func levelOf(f compare.Family, t *target) (float64, bool) {
	if n, err := quantity.ParseSize(f.Value(t)); err == nil {
		return float64(n), true
	}
	v, err := strconv.ParseFloat(f.Value(t), 64)
	return v, err == nil
}

// familyLegend names each family.
func familyLegend(families []compare.Family) page.Legend {
	l := page.Legend{Class: "small"}
	for _, f := range families {
		l.Keys = append(l.Keys, page.Key{Series: f.Targets[0].Index, Name: familyName(f)})
	}
	return l
}

// familyName returns what the names of a family's targets begin with.
func familyName(f compare.Family) string {
	name := f.Targets[0].Name
	for _, t := range f.Targets {
		for !strings.HasPrefix(t.Name, name) {
			name = name[:len(name)-1]
		}
	}
	return cmp.Or(strings.TrimRight(name, "-_.0123456789"), f.Targets[0].Trials[0].Engine)
}

// ladder is the families of a knob that is a number, into which all targets of a campaign fall: each a
// target at several levels.
func (c *campaign) ladder() (out []compare.Family) {
	var placed []*target
	for _, f := range view.Filter(c.Families(), numbered) {
		if len(out) == 0 || f.Knob == out[0].Knob {
			out, placed = append(out, f), compare.AppendNew(placed, f.Targets...)
		}
	}
	if len(placed) < len(c.Targets) {
		return nil
	}
	return out
}

// byLevel compares the main numbers of the steps asked about, the leading one first, between the levels of
// each family, and between the families at each level: targets at different levels were not meant to be
// compared. nil if no two families have levels: one alone is compared with its first level in any case.
func byLevel(lead *step) (out []string) {
	families := lead.c.ladder()
	if len(families) < 2 {
		return nil
	}
	others := view.Filter(lead.c.steps, func(s *step) bool { return s != lead && len(s.Asked()) > 0 })
	for _, s := range append([]*step{lead}, others...) {
		out = append(out, stepByLevel(s, families)...)
	}
	return out
}

// stepByLevel does so for one step.
func stepByLevel(s *step, families []compare.Family) (out []string) {
	k, ok := compare.Goal(s.Step)
	if !ok {
		return nil
	}
	for _, f := range families {
		out = append(out, "In "+s.Name+" "+fromFirst(s, f, k)+".")
	}
	for _, f := range families[1:] {
		var parts []string
		for _, t := range f.Targets {
			at, _ := levelOf(f, t)
			for _, base := range families[0].Targets {
				if level, _ := levelOf(families[0], base); level == at {
					parts = append(parts, s.against(t, base, k)+" with "+f.Value(t))
				}
			}
		}
		out = append(out, nonEmpty(listing(familyName(f)+" ÷ "+familyName(families[0])+": ", parts, "."))...)
	}
	return out
}

// fromFirst compares a family with its first level that has a result.
func fromFirst(s *step, f compare.Family, k key) string {
	var base *target
	var parts, lost []string
	for _, t := range f.Targets {
		switch {
		case !s.counts(t, k):
			lost = append(lost, f.Value(t))
		case base == nil:
			base = t
		default:
			parts = append(parts, s.against(t, base, k)+" with "+f.Value(t))
		}
	}
	if base == nil {
		return familyName(f) + " has no result that can be compared"
	}
	return fmt.Sprintf("%s %s with %s of %s", familyName(f), verdict.Did(s.Step, base, k), f.Value(base), f.Knob) +
		listing(", ", parts, "") + listing("; with ", lost, " it has no result that can be compared")
}

// counts reports whether a target's number in the step can be compared.
func (s *step) counts(t *target, k key) bool {
	return s.number(t, k).Missing == "" && len(s.Refusals(t)) == 0
}

// against returns a target's number ÷ another's, and what is proven of it.
func (s *step) against(t, base *target, k key) string {
	e := s.effect(t, base, k)
	switch {
	case !s.counts(t, k) || !s.counts(base, k) || e == nil || math.IsNaN(e.Ratio):
		return "not comparable"
	case e.Sure():
		return quantity.Times(e.Ratio) + " (proven)"
	}
	return quantity.Times(e.Ratio)
}

// levelsOf returns the numbers of a step, level by level, with their ratios to the family's first level.
func levelsOf(s *step, families []compare.Family, n *page.Notes) (out []page.Block) {
	shown := measuresIn(levelNumbers, s)
	for _, f := range families {
		t := page.Table{Title: s.Name + ", " + familyName(f) + " by " + f.Knob, Head: "target", Columns: columnsOf(shown)}
		t.Groups = []page.Group{{Name: "÷ " + f.Targets[0].Name,
			Rows: targetRows(f.Targets, shown, func(t *target, m measure) page.Cell {
				k, _ := m.key(s)
				return s.cell(t, f.Targets[0], k, n)
			})}}
		out = append(out, t)
	}
	return out
}

// levelNumbers are the columns of the tables of levels.
var levelNumbers = measuresOf(metric.RowsPerS, metric.ServiceP50US, metric.ServiceP99US, metric.CPUUS, metric.ReadKB,
	metric.WriteKB)

// levelCurves returns the curves of a step: throughput, tail of the latency, and the reads from storage.
func levelCurves(s *step, knob string, families []compare.Family) []*sweepCurve {
	over := " over " + knob
	curve := func(title string, scale page.Scale, k key, ok bool) *sweepCurve {
		c := &sweepCurve{title: title + over, axis: knob, scale: scale}
		if knob != "cpus" {
			c.tick = func(v float64) string { return quantity.Bytes(int64(v)) }
		}
		var lines []page.Line
		for _, f := range families {
			line := page.Line{Series: f.Targets[0].Index, Each: true}
			for _, t := range f.Targets {
				x, _ := levelOf(f, t)
				point := page.Gap(x)
				if ok {
					point = s.point(t, k, x)
				}
				line.Points = append(line.Points, point)
			}
			slices.SortFunc(line.Points, func(a, b page.Point) int { return int(a.X - b.X) })
			lines = append(lines, line)
		}
		c.panels = [][]page.Line{lines}
		return c
	}
	rate, rated := s.Rate(s.Primary)
	p99, timed := s.Latency(s.Primary, "p99")
	read, reads := s.spent(metric.ReadKB)
	return []*sweepCurve{
		curve(s.units(s.Primary)+"/s ("+s.Primary+")", page.Scale{Format: quantity.Tick}, rate, rated),
		curve("p99 latency", page.Scale{Format: roundDuration, Spread: wide}, p99, timed),
		curve("KB read per "+s.costPer(), page.Scale{Format: quantity.Tick}, read, reads),
	}
}
