package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/observe"
	"rumbench/internal/page"
	"rumbench/internal/result"
	"rumbench/internal/stat"
	"rumbench/internal/text/quantity"
)

const (
	mostChanged  = 12   // rows of the table of the counters that changed most
	leastChanged = 1.10 // ratio from which a counter is in it
)

// tiny returns the growth over a window below which a counter is noise:
// background activity, and events just outside the window.
func tiny(unit string) float64 {
	switch unit {
	case "bytes":
		return 1 << 20
	case "ns":
		return 10e6
	case "us":
		return 10e3
	}
	return 100
}

// growth is the growth of a counter on a target: medians over the trials that count.
type growth struct {
	meaning   string // "": only one engine has the counter
	unit      string
	total     float64   // over the window
	per       float64   // per unit of the primary operation
	units     float64   // done by the primary operation
	pers      []float64 // per unit, of the trials
	all, done []float64 // over the window, and units, of the trials
	reset     bool
}

// growthsOf returns the growths of all counters of a target in a step; nil if
// the number of units done is unknown.
func growthsOf(s *step, t *target) map[string]growth {
	out := map[string]growth{}
	for _, r := range s.Used(t) {
		units := account.UnitsDone(r.Step.Rows, s.Primary, r.Step.Seconds)
		if units <= 0 {
			continue
		}
		for _, n := range r.Step.Counters {
			if n.Kind != engine.Counter || clockwork(n.Name) {
				continue
			}
			g := out[counterName(n)]
			g.meaning, g.unit, g.reset = observe.Meaning(n.Name), n.Unit, g.reset || n.Reset
			g.all, g.pers, g.done = append(g.all, n.Value), append(g.pers, account.PerUnit(n.Value, units)),
				append(g.done, units)
			out[counterName(n)] = g
		}
	}
	for name, g := range out {
		g.total, g.per, g.units = stat.Median(g.all), stat.Median(g.pers), stat.Median(g.done)
		out[name] = g
	}
	return out
}

// clockwork reports counters that grow with time alone.
func clockwork(name string) bool {
	return strings.HasSuffix(name, ".idle_ns") || strings.Contains(name, "uptime")
}

// change returns the distance of a counter of a target from the base's, as the absolute
// logarithm of the ratio per unit; 0 if it is noise, or has a different meaning on the
// other side. Counters without growth count as tiny, so that they can be ranked.
func change(base, subject growth, kin kinship) float64 {
	unit := cmp.Or(base.unit, subject.unit)
	switch {
	case len(base.pers)+len(subject.pers) == 0, kin != alike && (len(base.pers) == 0 || len(subject.pers) == 0),
		kin == strange && subject.meaning == "":
		return 0
	case max(base.total, subject.total) < tiny(unit), base.reset || subject.reset:
		return 0
	case len(base.pers) > 1 && len(subject.pers) > 1 && slices.Min(base.pers) <= slices.Max(subject.pers) &&
		slices.Min(subject.pers) <= slices.Max(base.pers):
		return 0 // may be noise
	}
	per := func(g, otherGrowth growth) float64 {
		return max(g.total, tiny(unit)) / cmp.Or(g.units, otherGrowth.units)
	}
	return math.Abs(math.Log(per(subject, base) / per(base, subject)))
}

// changedTable shows the counters that differ most between the targets.
func changedTable(s *step, all []map[string]growth) page.Table {
	base := s.c.Targets[0]
	t := page.Table{Title: "What changed most", Head: "counter", Note: fmt.Sprintf(
		"Growth of counters per %s, and ratios to %s. They are the counters with the greatest ratios: of one engine all, "+
			"of different engines those that mean "+
			"the same. Left out are those that nowhere grew by %s, %s or %s in the window, and those whose trials of both "+
			"sides reach into each other: their ratios are chance.",
		cmp.Or(s.costPer(), s.Primary), base.Name, quantity.Whole(tiny("count")),
		quantity.BytesAs(tiny("bytes"), quantity.Digits), quantity.Micros(tiny("us")))}
	if s.Primary == "" || len(s.c.Targets) < 2 || len(all[0]) == 0 {
		return t
	}
	t.Columns = targetColumns(s.c.Targets)
	t.Columns[0].Sub = "base"
	score := changesOf(s, all)
	for n, name := range ranked(score, score) {
		if n == mostChanged || score[name] < math.Log(leastChanged) {
			break
		}
		row := plainRow(name)
		for i, t := range s.c.Targets {
			g, found := all[i][name]
			if row.Head == name && found && g.meaning != "" {
				row.Head = g.meaning + ": " + name
			}
			row.Cells = append(row.Cells, changedCell(all[0][name], g, i == 0 || s.Unlike(base, t) != ""))
		}
		t.Add(row)
	}
	return t
}

// kinship is how many counters of two targets can be compared.
type kinship int

const (
	strange kinship = iota // other engines: counters that mean the same on every engine
	related                // other storage in one engine: also those that both have
	alike                  // also those that only one of them has
)

func kinshipOf(base, subject *target) kinship {
	a, b := base.Trials[0], subject.Trials[0]
	switch {
	case a.Engine != b.Engine:
		return strange
	case a.Structure != b.Structure:
		return related
	}
	return alike
}

// changesOf returns for each counter the greatest distance of any target from
// the base.
func changesOf(s *step, all []map[string]growth) map[string]float64 {
	out := map[string]float64{}
	for i, tg := range s.c.Targets {
		if s.Unlike(s.c.Targets[0], tg) != "" || len(all[i]) == 0 || len(all[0]) == 0 {
			continue
		}
		kin := kinshipOf(s.c.Targets[0], tg)
		for _, names := range []map[string]growth{all[0], all[i]} {
			for name := range names {
				out[name] = max(out[name], change(all[0][name], all[i][name], kin))
			}
		}
	}
	return out
}

func changedCell(base, subject growth, alone bool) page.Cell {
	if len(subject.pers) == 0 {
		return page.Absent("it has no such counter")
	}
	c := page.Cell{Text: inUnit(subject.per, subject.unit), Number: true,
		Title: fmt.Sprintf("%s %s in the window", quantity.Full(subject.total), subject.unit)}
	if len(subject.pers) > 1 {
		c.Title += fmt.Sprintf("; median of %d trials", len(subject.pers))
	}
	switch {
	case alone || base.reset || subject.reset || base.total == 0 && subject.total == 0:
	case len(base.pers) == 0:
		c.Ratio = "new"
	case base.per == 0:
		c.Ratio = "from 0"
	default:
		c.Ratio = quantity.Times(subject.per / base.per)
	}
	return c
}

// inUnit formats a counter's value.
func inUnit(v float64, unit string) string {
	switch unit {
	case "bytes":
		return quantity.BytesAs(v, quantity.Digits)
	case "ns":
		return quantity.Micros(v / 1e3)
	case "us":
		return quantity.Micros(v)
	}
	return quantity.Digits(v)
}

func counterName(n result.CounterChange) string {
	name := n.Name
	if n.Labels != "" {
		name += "{" + n.Labels + "}"
	}
	if n.Kind == engine.Gauge {
		name += " (gauge)"
	}
	return name
}
