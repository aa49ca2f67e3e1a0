package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// The metrics of a step's tables, in the order of their columns.
var (
	throughputMetrics = metric.InSection(metric.ThroughputTable)
	serviceMetrics    = metric.InSection(metric.ServiceTable)
	responseMetrics   = metric.InSection(metric.ResponseTable)
	costMetrics       = metric.InSection(metric.CostTable)
	engineMetrics     = metric.InSection(metric.EngineTable)
	spaceMetrics      = metric.InSection(metric.SpaceTable)
)

// section puts together what is known about a step.
func (c *campaign) section(s *step, tracks []*track) Section {
	n := &notes{section: s.id}
	sec := Section{ID: s.id, Name: s.Name, Doc: s.Doc, Status: c.statusLines(s), Folded: c.crowded() && c.sweepOf(s) != nil}
	sec.Groups = c.groupsTable(s)
	sec.Bars = c.bars(s)
	sec.Charts = c.charts(s, tracks)
	sec.Curves, sec.MoreCurves = c.curves(s)
	sec.Waits = c.waits(s)
	table := func(name, note string, metrics []string) {
		sec.Tables = append(sec.Tables, s.metricTables(name, note, c.Targets, metrics, n)...)
	}
	table("Throughput", "", throughputMetrics)
	table("Service time", "From an operation's actual start to its end.", serviceMetrics)
	table("Response time", "From an operation's intended start to its end; lateness: from its intended to its actual start. Only where a rate was promised.", responseMetrics)
	sec.Tables = append(sec.Tables, s.attemptsTables(c.Targets, n)...)
	if t := s.statementsTable(c.Targets, n); !t.Empty() {
		sec.Tables = append(sec.Tables, t)
	}
	table("Arrivals", "What became of operations that arrive by a schedule.", arrivalMetrics)
	table("Spread over the clients", "Operations of each client of a group: a deviation of 0 is fair.", spreadMetrics)
	sec.Tables = append(sec.Tables, s.perTables("Cost", "", c.Targets, costMetrics, n)...)
	sec.Tables = append(sec.Tables, s.perTables("By the engine’s own account", "What the engine counts of itself; what lies below it, or what it does not count, is not in it.", c.Targets, engineMetrics, n)...)
	table("Space", "", spaceMetrics)
	sec.Tables = append(sec.Tables, c.waitTables(s, n)...)
	growths := make([]map[string]growth, len(c.Targets))
	for i, t := range c.Targets {
		growths[i] = s.growths(t)
	}
	for _, t := range []Table{c.sizesTable(s), c.settleTable(s), c.changedTable(s, growths), c.countersTable(s, growths)} {
		if !t.Empty() {
			sec.Tables = append(sec.Tables, t)
		}
	}
	for _, t := range c.Targets {
		for _, r := range s.Runs[t] {
			for _, w := range slices.Concat(r.Step.Warnings, r.Step.Notes) {
				if n.has(w.Text) {
					continue // it stands at the numbers that it is about
				}
				n.mark(t.Name, ", trial ", r.Trial.Trial, ": ", w)
			}
		}
	}
	sec.Notes = n.list
	return sec
}

// statusLines tell of runs that did not end well.
func (c *campaign) statusLines(s *step) []string {
	var out [][]any
	for _, t := range c.Targets {
		out = append(out, s.missing(t)...)
		for _, r := range s.Runs[t] {
			if r.Step.Status != result.Complete {
				out = append(out, []any{t.Name, ", trial ", r.Trial.Trial, ": ", r.Step.Status, sentenceTail(r.Trial.Reason, "")})
			}
		}
		if s.Refused(t, metric.SLAMissed) || s.Refused(t, metric.Saturated) {
			out = append(out, []any{t.Name + ": " + strings.Join(s.Doubts(t), ", ") + ". Its numbers in this step are not comparable."})
		}
	}
	return mergedTexts(out)
}

// missing tells which trials of a target did not come to the step.
func (s *step) missing(t *target) [][]any {
	if len(s.Runs[t]) == 0 {
		return [][]any{{s.Absence(t, key{})}}
	}
	var out [][]any
	for _, trial := range t.Trials {
		if !slices.ContainsFunc(s.Runs[t], func(r run) bool { return r.Trial == trial }) {
			out = append(out, []any{t.Name, ", trial ", trial.Trial, ", did not come to this step", sentenceTail(trial.Reason, "")})
		}
	}
	return out
}

func (c *campaign) groupsTable(s *step) Table {
	t := Table{Head: "group of clients", Columns: []Column{
		{Name: "clients", Title: "Client goroutines, each with its own session"},
		{Name: "promised rate", Title: "Units a second that the whole group is to do; without one, each operation begins when the one before has ended"},
		{Name: "pace", Title: "How the intended starts are spread over time"},
		{Name: "operations", Title: "The operation kinds that its clients do"},
	}}
	var rows []TableRow
	for _, g := range s.Groups() {
		rate, pace := "none: closed loop", unknown
		if g.Rate > 0 {
			rate, pace = decimal(g.Rate)+"/s"+g.RateUnit(), g.Pace
		}
		rows = append(rows, TableRow{Head: g.Name, Target: -1, Cells: []Cell{
			{Text: fmt.Sprint(g.Clients), Number: true}, textCell(rate), textCell(pace), textCell(strings.Join(g.Ops, ", ")),
		}})
	}
	t.Groups = []RowGroup{{Rows: rows}}
	return t
}

// sizesTable shows the space of every object, as the engines tell it.
func (c *campaign) sizesTable(s *step) Table {
	t := Table{Title: "Size by object", Note: "As the engine tells it; ≈ marks estimates.", Head: "object"}
	byName := map[string]map[*target]Cell{}
	for _, tg := range c.Targets {
		t.Columns = append(t.Columns, targetColumn(tg))
		r := s.Leader(tg)
		if r == nil {
			continue
		}
		for _, size := range r.Step.Sizes {
			name := size.Object
			if name == "" {
				name = "whole database"
			}
			text := byteSize(float64(size.Bytes))
			if size.Kind == engine.Estimate {
				text = "≈ " + text
			}
			set(byName, name, tg, Cell{Text: text, Title: fmt.Sprintf("%d bytes, %s", size.Bytes, size.Kind), Number: true})
		}
	}
	t.Groups = []RowGroup{{Rows: c.rowsOf(byName, "the engine does not tell")}}
	return t
}

func (c *campaign) settleTable(s *step) Table {
	t := Table{Title: "Settle actions", Note: "What the engines did to come to rest.", Head: "target", Columns: []Column{
		{Name: "action", Title: "What the engine was told or seen to do"}, {Name: "took", Title: "How long it took"}, {Name: "detail", Title: "What it changed"},
	}}
	var rows []TableRow
	for _, tg := range c.Targets {
		r := s.Leader(tg)
		if r == nil {
			continue
		}
		for _, a := range r.Step.Settle {
			rows = append(rows, TableRow{Head: tg.Name, Target: tg.Index, Cells: []Cell{
				textCell(a.Name), {Text: duration(float64(a.Duration.Nanoseconds()) / 1e3), Number: true}, textCell(a.Detail),
			}})
		}
	}
	t.Groups = []RowGroup{{Rows: rows}}
	return t
}

// A step's table of counters is there to be skimmed: it has at most maxCounters
// rows, and all of them together have about allCounters cells.
const (
	maxCounters = 400
	minCounters = 20
	allCounters = 3_000
)

// countersTable shows the engines' and the host's counters that changed.
func (c *campaign) countersTable(s *step, growths []map[string]growth) Table {
	t := Table{Title: "Counters that changed", Note: "Growth of counters over the window, and gauges at its end; “–”: no such counter, or it did not change.", Head: "counter", Folded: true}
	byName := map[string]map[*target]Cell{}
	for _, tg := range c.Targets {
		t.Columns = append(t.Columns, targetColumn(tg))
		r := s.Leader(tg)
		if r == nil {
			continue
		}
		for _, n := range r.Step.Counters {
			if n.Value != 0 {
				set(byName, counterName(n), tg, counterCell(n))
			}
		}
	}
	most := max(minCounters, min(maxCounters, allCounters/(len(c.steps)*len(c.Targets))))
	if all := len(byName); all > most {
		c.keepChanged(s, byName, growths, most)
		t.Note += fmt.Sprintf(" The %d of %d that changed most from target to target; all are in trial.json.", most, all)
	}
	t.Groups = []RowGroup{{Rows: c.rowsOf(byName, "")}}
	return t
}

// keepChanged leaves only the counters that tell the targets apart most.
func (c *campaign) keepChanged(s *step, byName map[string]map[*target]Cell, growths []map[string]growth, most int) {
	score := c.changes(s, growths)
	names := sortedKeys(byName)
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	for _, name := range names[most:] {
		delete(byName, name)
	}
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

func counterCell(n result.CounterChange) Cell {
	c := Cell{Text: inUnit(n.Value, n.Unit), Number: true}
	if n.Reset {
		c.Tag = "was reset"
		c.Title = "it was reset in the window: growth since the reset"
	}
	return c
}

func targetColumn(t *target) Column { return Column{Name: t.Name, Title: cmp.Or(describe(t), t.Name)} }

func set(table map[string]map[*target]Cell, row string, t *target, c Cell) {
	if table[row] == nil {
		table[row] = map[*target]Cell{}
	}
	table[row][t] = c
}

// rowsOf makes rows sorted by name, with a column per target.
func (c *campaign) rowsOf(table map[string]map[*target]Cell, absent string) []TableRow {
	var rows []TableRow
	for _, name := range sortedKeys(table) {
		row := TableRow{Head: name, Target: -1}
		for _, t := range c.Targets {
			cell, ok := table[name][t]
			if !ok {
				cell = absentCell(absent)
			}
			row.Cells = append(row.Cells, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
