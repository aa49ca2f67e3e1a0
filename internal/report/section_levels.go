package report

import (
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/text/quantity"
)

// leastLevels is the number of levels from which a curve says more than a ratio.
const leastLevels = 3

// overLevels returns the numbers asked about as a knob that is a number increases over the targets, such
// as their memory: a section for each knob.
func overLevels(v *view) (out []page.Section) {
	var knobs []string
	families := map[string][]compare.Family{}
	for _, f := range v.Families() {
		numbered := func(t *target) bool { _, ok := levelOf(f, t); return ok }
		if len(f.Targets) >= leastLevels && !slices.ContainsFunc(f.Targets, func(t *target) bool { return !numbered(t) }) {
			knobs = compare.AppendNew(knobs, f.Knob)
			families[f.Knob] = append(families[f.Knob], f)
		}
	}
	for _, knob := range knobs {
		sec := page.Section{ID: "by-" + slug(knob), Title: "By " + knob, Nav: "by " + knob, Class: "sweep"}
		about := "A point is the median of a target's trials, its whisker goes from the least to the greatest of them. " +
			"A ring: the number is not comparable there."
		sec.Blocks = append(sec.Blocks, page.Prose("about", about), familyLegend(families[knob]))
		for _, s := range v.steps {
			if len(s.Asked()) == 0 {
				continue
			}
			if plots := drawn(0, levelCurves(s, knob, families[knob])...); len(plots) > 0 {
				sec.Blocks = append(sec.Blocks, page.Plots{Title: s.Name, Plots: plots})
			}
		}
		if len(sec.Blocks) > 2 {
			out = append(out, sec)
		}
	}
	return out
}

// levelOf returns the value of a family's knob on a target, if it is a number.
func levelOf(f compare.Family, t *target) (float64, bool) {
	if n, err := quantity.ParseSize(f.Value(t)); err == nil {
		return float64(n), true
	}
	v, err := strconv.ParseFloat(f.Value(t), 64)
	return v, err == nil
}

// familyLegend names each family by what the names of its targets begin with.
func familyLegend(families []compare.Family) page.Legend {
	l := page.Legend{Class: "small"}
	for _, f := range families {
		name := f.Targets[0].Name
		for _, t := range f.Targets {
			for !strings.HasPrefix(t.Name, name) {
				name = name[:len(name)-1]
			}
		}
		name = strings.TrimRight(name, "-_.0123456789")
		if name == "" {
			name = f.Targets[0].Trials[0].Engine
		}
		l.Keys = append(l.Keys, page.Key{Series: f.Targets[0].Index, Name: name})
	}
	return l
}

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
