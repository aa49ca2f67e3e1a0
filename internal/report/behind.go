package report

import (
	"cmp"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
)

// spaceTable shows how space grows from step to step.
func (c *campaign) spaceTable(n *notes) Table {
	t := Table{Title: "Space over the steps", Head: "target"}
	measures := spaceMeasures()
	steps := c.columns(c.stepsWith(measures))
	if len(steps) < len(c.stepsWith(measures)) {
		t.Note = strings.TrimSpace(c.leftOut())
	}
	for _, s := range steps {
		t.Columns = append(t.Columns, stepColumn(s))
	}
	for _, m := range measures {
		if g := c.scoreGroup(m, steps, n); len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

// spaceMeasures are what is known about the data and the engine at a step's end.
func spaceMeasures() []measure {
	var out []measure
	for _, metric := range []string{"db_bytes", "data_bytes", "log_bytes", "live_bytes", "space_amplification", "write_amplification", "read_amplification", "server_memory_bytes"} {
		out = append(out, measure{name: title(metric), metric: metric, key: func(s *step) (key, bool) { return s.Cost(metric, "") }})
	}
	return out
}

// slaTable shows whether each promise was held on every target.
func (c *campaign) slaTable() Table {
	t := Table{Title: "Promised rates", Head: "target", Columns: []Column{
		{Name: "trials", Title: "How many repetitions there are; of several, every column shows the worst of them"},
		{Name: "promised/s", Metric: "sla_target", Title: metricColumn(key{Metric: "sla_target"}).Title},
		{Name: "achieved/s", Title: "Units a second on average over the window"},
		{Name: "intervals held", Metric: "sla_share", Title: metricColumn(key{Metric: "sla_share"}).Title},
		{Name: "worst interval/s", Title: "Units a second in the worst interval"},
		{Name: "backlog", Title: "Units that were due by the planned end but not done by then"},
		{Name: "max lateness", Metric: "lateness_max_us", Title: metricColumn(key{Metric: "lateness_max_us"}).Title},
		{Name: "verdict", Metric: "sla_met", Title: metricColumn(key{Metric: "sla_met"}).Title},
	}}
	for _, tg := range c.Targets {
		if len(tg.Trials) > 1 {
			t.Note = "Of several trials, every column shows the worst."
		}
	}
	for _, s := range c.steps {
		for _, g := range s.Groups() {
			if g.Rate > 0 {
				t.Groups = append(t.Groups, c.promises(s, g))
			}
		}
	}
	return t
}

func (c *campaign) promises(s *step, group result.Group) RowGroup {
	g := RowGroup{Name: s.Name + ", group " + group.Name + group.RateUnit()}
	for _, t := range c.Targets {
		trials := 0
		var held []*metric.SLA
		for _, r := range s.Runs[t] {
			for _, rg := range r.Step.Groups {
				if rg.Name != group.Name {
					continue
				}
				if trials++; rg.SLA != nil {
					held = append(held, rg.SLA)
				}
			}
		}
		if trials > 0 {
			cells := append([]Cell{{Text: fmt.Sprint(trials), Number: true}}, promiseCells(group.Rate, trials, held)...)
			g.Rows = append(g.Rows, TableRow{Head: t.Name, Target: t.Index, Cells: cells})
		}
	}
	return g
}

// promiseCells show the worst of what some trials made of a promise.
func promiseCells(rate float64, trials int, held []*metric.SLA) []Cell {
	num := func(v float64) Cell { return exact(amount(v), full(v)) }
	if len(held) == 0 {
		cells := []Cell{num(rate)}
		for range 6 {
			cells = append(cells, absentCell("not measured: unknown is not missed"))
		}
		return cells
	}
	s := *held[0]
	judged := false
	for _, o := range held {
		s.Achieved, s.Backlog, s.MaxLateness = min(s.Achieved, o.Achieved), max(s.Backlog, o.Backlog), max(s.MaxLateness, o.MaxLateness)
		if o.Intervals == 0 {
			continue // too short to judge intervals
		}
		if !judged {
			s.Share, s.Worst, judged = o.Share, o.Worst, true
		}
		s.Share, s.Worst = min(s.Share, o.Share), min(s.Worst, o.Worst)
	}
	share, worst := exact(percent(s.Share), full(100*s.Share)+" %"), num(s.Worst)
	if !judged {
		share, worst = absentCell("the step is too short to judge intervals"), absentCell("the step is too short to judge intervals")
	}
	return []Cell{num(s.Target), num(s.Achieved), share, worst, num(s.Backlog),
		exact(duration(s.MaxLateness*1e6), full(s.MaxLateness)+" s"), promiseVerdict(trials, held)}
}

// promiseVerdict says in how many of the trials a promise was held.
func promiseVerdict(trials int, held []*metric.SLA) Cell {
	missed, saturated, strict := 0, 0, 0
	for _, s := range held {
		if s.Saturated {
			saturated++
		}
		if s.Saturated || !s.Met {
			missed++
		} else if s.Strict {
			strict++
		}
	}
	of := fmt.Sprintf(" of %d", trials)
	switch {
	case missed > 0 && trials == 1 && saturated == 1:
		return Cell{Text: "saturated", Tag: "not comparable", Title: "lateness grew without end"}
	case missed > 0 && trials == 1:
		return Cell{Text: "missed", Tag: "not comparable"}
	case saturated > 0:
		return Cell{Text: fmt.Sprintf("missed in %d%s, saturated in %d", missed, of, saturated), Tag: "not comparable", Title: "saturated: lateness grew without end"}
	case missed > 0:
		return Cell{Text: fmt.Sprintf("missed in %d%s", missed, of), Tag: "not comparable"}
	case len(held) < trials:
		return textCell(fmt.Sprintf("held in %d%s, else not measured", len(held), of))
	case strict == trials:
		return textCell("held in every interval")
	}
	return textCell("held")
}

// exact is a number that tells on hover what rounding took away.
func exact(text, inFull string) Cell {
	c := Cell{Text: text, Number: true}
	if inFull != text {
		c.Title = inFull
	}
	return c
}

// settingsTable shows the targets' settings side by side.
func (c *campaign) settingsTable() Table {
	t := Table{Title: "Settings", Note: "≠ marks settings in which targets that have them differ. “As set”: the engine cannot be asked; all others were read back from it.", Head: "setting"}
	asked, effective := map[string]map[*target]Cell{}, map[string]map[*target]Cell{}
	for _, tg := range c.Targets {
		t.Columns = append(t.Columns, targetColumn(tg))
		trial := tg.Trials[0]
		for name, v := range trial.Knobs {
			set(asked, name, tg, Cell{Text: v, Title: "as asked for in the plan"})
		}
		set(asked, "durability", tg, Cell{Text: trial.Durability, Title: cmp.Or(trial.Promise, "as asked for in the plan")})
		for _, s := range trial.Settings {
			set(effective, s.Name, tg, settingCell(s))
		}
	}
	groups := []RowGroup{{Name: "asked for", Rows: c.rowsOf(asked, "not asked for: the engine's own default")}, {Name: "in effect", Rows: c.rowsOf(effective, "no such setting")}}
	for _, g := range groups {
		if len(g.Rows) == 0 {
			continue
		}
		for i := range g.Rows {
			markDifferent(g.Rows[i].Cells)
		}
		t.Groups = append(t.Groups, g)
	}
	return t
}

func settingCell(s engine.Setting) Cell {
	c := Cell{Text: s.Value, Title: s.Source}
	if s.Source == engine.AsSet {
		c.Per = engine.AsSet
	}
	return c
}

func markDifferent(cells []Cell) {
	first := -1
	differ := false
	for i := range cells {
		cells[i].Number = false
		if cells[i].Absent {
			continue
		}
		if first < 0 {
			first = i
		}
		differ = differ || cells[i].Text != cells[first].Text
	}
	for i := range cells {
		cells[i].Differs = differ && !cells[i].Absent
	}
}

// hostTable shows the machine and the versions. A fact that all trials share
// is shown once.
func (c *campaign) hostTable() Table {
	t := Table{Title: "Machine and versions", Head: "fact", Columns: []Column{{Name: "value", Title: "As found before the trial; ≠ where trials differ"}}}
	versions := func(t *result.Trial) []observe.Fact { return t.Versions }
	host := func(t *result.Trial) []observe.Fact { return t.Host }
	for _, g := range []RowGroup{{Name: "versions", Rows: c.factRows(versions)}, {Name: "host", Rows: c.factRows(host)}} {
		if len(g.Rows) > 0 {
			t.Groups = append(t.Groups, g)
		}
	}
	return t
}

func (c *campaign) factRows(of func(*result.Trial) []observe.Fact) []TableRow {
	var names []string
	for _, t := range c.Targets {
		for _, trial := range t.Trials {
			for _, f := range of(trial) {
				names = appendNew(names, f.Name)
			}
		}
	}
	var rows []TableRow
	for _, name := range names {
		rows = append(rows, TableRow{Head: name, Target: -1, Cells: []Cell{c.factCell(of, name)}})
	}
	return rows
}

// factCell is a fact's value, or its values where the trials that have it differ.
func (c *campaign) factCell(of func(*result.Trial) []observe.Fact, name string) Cell {
	var distinct, parts []string
	for _, t := range c.Targets {
		var values []string
		for _, trial := range t.Trials {
			if v := factValue(of(trial), name); v != "" {
				values = appendNew(values, v)
			}
		}
		if len(values) > 0 {
			distinct = appendNew(distinct, values...)
			parts = append(parts, t.Name+": "+strings.Join(values, " or "))
		}
	}
	if len(distinct) > 1 {
		return Cell{Text: strings.Join(parts, ", "), Differs: true}
	}
	return textCell(strings.Join(distinct, ""))
}

func factValue(facts []observe.Fact, name string) string {
	var values []string
	for _, f := range facts {
		if f.Name == name {
			values = append(values, f.Value)
		}
	}
	return strings.Join(values, ", ")
}

// clientTable shows what the client itself can do and costs, measured on the
// engine that stores nothing.
func (c *campaign) clientTable(n *notes) Table {
	t := Table{Title: "The client alone", Note: "The same clients on the engine that stores nothing: the ceiling of what rumbench could have measured, and what it takes itself.", Head: "step"}
	measures := []measure{
		{metric: "rows_per_s", key: func(s *step) (key, bool) { return s.Rate(s.Primary) }},
		{metric: "service_p50_us", key: func(s *step) (key, bool) { return s.Latency(s.Primary, "p50") }},
		{metric: "service_p99_us", key: func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") }},
	}
	for _, metric := range []string{"cpu_us", "client_cpu_us", "host_cpu_us"} {
		measures = append(measures, measure{metric: metric, key: func(s *step) (key, bool) { return s.Cost(metric, s.Primary) }})
	}
	for _, m := range measures {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m.metric}))
	}
	var rows []TableRow
	for _, s := range c.stepsWith(measures) {
		row := TableRow{Head: s.Name, Target: -1}
		for _, m := range measures {
			k, _ := m.key(s)
			cell := c.plainCell(s.number(c.Targets[0], k), n)
			if !cell.Absent {
				cell.Per = s.unitOf(k)
			}
			row.Cells = append(row.Cells, cell)
		}
		rows = append(rows, row)
	}
	t.Groups = []RowGroup{{Rows: rows}}
	return t
}
