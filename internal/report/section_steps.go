package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// mostOpen is the number of sections of steps that are open at first.
const mostOpen = 4

// results returns the sections of the steps that measure. The first ones asked about
// are open; a sweep comes before its own steps, as it draws their numbers.
func results(v *campaign) (out []page.Section) {
	shown := map[*sweep]bool{}
	opened := 0
	for _, s := range v.steps {
		w := v.sweepOf(s)
		if w != nil && !shown[w] { // the steps of a search come in any order
			out, shown[w] = append(out, sweepSection(v, w)), true
		}
		if w == nil && s.prepares() {
			continue
		}
		open := w == nil && len(s.Asked()) > 0 && opened < mostOpen
		if open {
			opened++
		}
		out = append(out, stepSection(v, s, !open))
	}
	return out
}

// preparations returns the sections of the other steps: load, index, settle and
// warm-up.
func preparations(v *campaign) (out []page.Section) {
	for _, s := range v.steps {
		if v.sweepOf(s) == nil && s.prepares() {
			out = append(out, stepSection(v, s, true))
		}
	}
	return out
}

// prepares reports whether the step only prepares others.
func (s *step) prepares() bool { return s.First().Trial.Prepares(s.First().Step) }

// stepSection returns a step: pictures, one table of the main numbers, and the rest
// folded.
func stepSection(v *campaign, s *step, folded bool) page.Section {
	n := page.NewNotes(s.id)
	sec := page.Section{ID: s.id, Title: s.Name, Nav: s.Name, Class: "step", Step: true, Folded: folded}
	if folded && (s.prepares() || v.sweepOf(s) != nil || compare.IsProbe(s.Step)) {
		sec.Nav = ""
	}
	if s.Doc != "" {
		sec.Blocks = append(sec.Blocks, page.Prose("doc", s.Doc))
	}
	if own := ownLines(s); len(own) > 0 {
		sec.Blocks = append(sec.Blocks, page.Prose("about", strings.Join(own, "; ")+"."))
	}
	for _, line := range statusLines(s) {
		sec.Blocks = append(sec.Blocks, page.Banner(line))
	}
	over := chartsOf(s, v.tracks[s])
	sec.Blocks = append(sec.Blocks, pictures(s, over)...)
	if main := mainTable(s, n); !main.Empty() {
		sec.Blocks = append(sec.Blocks, main)
	}
	folds := stepFolds(s, over, n)
	markRemarks(s, n)
	return withBlocks(sec, folds, n)
}

// pictures returns the bars of a step next to its throughput over time and the
// percentiles of its latency.
func pictures(s *step, over *page.Charts) []page.Block {
	var out page.Beside
	var drawn, about []string
	if bars := barsIn(s); len(bars) > 0 {
		out = append(out, bars[0])
		if slices.ContainsFunc(bars[0].Rows, func(r page.Bar) bool { return r.Spread }) {
			about = append(about, "Bars are medians of the trials, with the least and the greatest.")
		}
	}
	if over != nil {
		out, drawn = append(out, first(over)), append(drawn, "over time")
	}
	if p, _ := percentilePlots(s); len(p) > 0 {
		out, drawn = append(out, page.Plots{Plots: p[:1]}), append(drawn, "by percentile")
	}
	if len(out) == 0 {
		return nil
	}
	if name := oneTrial(s); name != "" && len(drawn) > 0 {
		about = append(about, "Curves "+quantity.Joined(drawn)+" are "+name)
	}
	if len(about) == 0 {
		return []page.Block{out}
	}
	return []page.Block{out, onScreen(strings.Join(about, " "))}
}

// mainMeasures are the columns of a step's main table.
var mainMeasures = []measure{
	{metric: metric.RowsPerS}, {name: "writes/s", metric: metric.RowsPerS, beside: true},
	{metric: metric.ServiceP50US}, {metric: metric.ServiceP99US}, {metric: metric.ServiceP999US},
	{metric: metric.ServiceMaxUS},
	{metric: metric.CPUUS}, {metric: metric.ReadKB}, {metric: metric.WriteKB},
	{name: "written KB up to here", metric: metric.UnsettledWriteKB},
	{name: "with deferred writes", metric: metric.SettledWriteKB},
	{metric: metric.StopS}, {metric: metric.StartS},
	{metric: metric.WarmS}, {metric: metric.WarmReadKB}, {metric: metric.FirstMinuteP99US},
}

// mainTable returns the main numbers of a step, a row per target.
func mainTable(s *step, n *page.Notes) page.Table {
	t := targetTable(s, mainMeasures, func(t *target, m measure) page.Cell { return m.cell(s, t, n) })
	sharedTags(&t)
	return t
}

// stepFolds returns the details to read when the main table raises a question.
func stepFolds(s *step, over *page.Charts, n *page.Notes) (out page.Folds) {
	growths := make([]map[string]growth, len(s.c.Targets))
	for i, t := range s.c.Targets {
		growths[i] = growthsOf(s, t)
	}
	add := func(title string, blocks []page.Block, tables ...page.Table) {
		tables = slices.DeleteFunc(tables, page.Table.Empty)
		if len(tables) > 0 {
			blocks = append(blocks, page.Grid{ID: fmt.Sprintf("%s-%d", s.id, len(out)), Tables: tables})
		}
		if len(blocks) > 0 {
			out = append(out, page.Fold{Title: title, Blocks: blocks})
		}
	}
	add("Over time: latency, device, CPU", rest(over))
	add("Latency of every operation", morePercentiles(s), latencyTables(s, n)...)
	var others []page.Block // the bars of the writes next to the primary operation
	for _, b := range barsIn(s)[min(1, len(barsIn(s))):] {
		others = append(others, b)
	}
	add("Throughput, clients and errors", others,
		slices.Concat([]page.Table{groupsTable(s)}, metricTables(s, metric.ThroughputTable, "", n),
			attemptsTables(s, n), metricTables(s, metric.ArrivalsTable, "What became of operations that arrive by a schedule.",
				n),
			metricTables(s, metric.SpreadTable, "Operations of each client of a group: a deviation of 0 is fair.", n),
			metricTables(s, metric.RulesTable, "What the workload's standard asks of operations.", n))...)
	add("Statements", nil, statementsTable(s, n))
	add("Cost per operation and row", nil, perTables(s, metric.CostTable, "", n)...)
	add("What the engine counts, and what changed most", nil, append(perTables(s, metric.EngineTable,
		"By the engine's own counters: without what it does not count, and without the layers below it.", n),
		changedTable(s, growths), countersTable(s, growths))...)
	add("Where the time of the sessions went", waitBlocks(s), waitTables(s, n)...)
	profiled, functions := profileFold(s)
	add("CPU by subsystem", nil, subsystemTable(s.Step, s.c.Targets))
	add("CPU profile", profiled, functions...)
	add("Space and settling", nil, append(metricTables(s, metric.SpaceTable, "", n), sizesTable(s), settleTable(s))...)
	return out
}

// latencyTables returns the latencies of all operations, by how they are measured.
func latencyTables(s *step, n *page.Notes) []page.Table {
	return slices.Concat(
		metricTables(s, metric.ServiceTable, "From an operation's actual start to its end.", n),
		metricTables(s, metric.ResponseTable,
			"From an operation's intended start to its end; lateness: from its intended to its actual start. Only where a "+
				"rate was promised.", n),
	)
}

// markRemarks records the remarks on the runs that belong to no number.
func markRemarks(s *step, n *page.Notes) {
	for _, t := range s.c.Targets {
		for _, r := range s.Runs[t] {
			for _, w := range slices.Concat(r.Step.Warnings, r.Step.Notes) {
				if !n.Has(w.Text) {
					n.Mark(t.Name, ", trial ", r.Trial.Trial, ": ", w)
				}
			}
		}
	}
}

// statusLines returns a line for each run that did not end normally.
func statusLines(s *step) []string {
	var out [][]any
	for _, t := range s.c.Targets {
		out = append(out, missingTrials(s, t)...)
		for _, r := range s.Runs[t] {
			if r.Step.Status != result.Complete {
				out = append(out, []any{t.Name, ", trial ", r.Trial.Trial, ": ", r.Step.Status, sentenceTail(r.Trial.Reason, "")})
			}
		}
		if s.Refused(t, remark.SLAMissed) || s.Refused(t, remark.Saturated) {
			out = append(out, []any{t.Name + ": " + reasons(s, t) + ". Its numbers in this step are not comparable."})
		}
	}
	return page.Merged(out)
}

// missingTrials returns remarks on the trials of a target that did not reach
// the step.
func missingTrials(s *step, t *target) [][]any {
	if len(s.Runs[t]) == 0 {
		return [][]any{{s.Absence(t, key{})}}
	}
	var out [][]any
	for _, trial := range t.Trials {
		if !s.Copied(trial) && !slices.ContainsFunc(s.Runs[t], func(r run) bool { return r.Trial == trial }) {
			out = append(out, []any{t.Name, ", trial ", trial.Trial, ", did not reach this step",
				sentenceTail(trial.Reason, "")})
		}
	}
	return out
}

func groupsTable(s *step) page.Table {
	t := page.Table{Title: "Clients", Head: "group of clients", Columns: []page.Column{
		{Name: "clients", Title: "Client goroutines, each with its own session"},
		{Name: "promised rate", Title: "Units a second that the whole group is to do; without one, each operation begins " +
			"when the one before has ended"},
		{Name: "pace", Title: "How the intended starts are spread over time"},
		{Name: "operations", Title: "The operation kinds that its clients do, with their planned shares if these are known"},
	}}
	for _, g := range s.Groups() {
		if g.Clients == 0 {
			continue // unknown
		}
		rate, pace := "none: closed loop", quantity.Unknown
		if g.Rate > 0 {
			rate, pace = quantity.Digits(g.Rate)+"/s"+g.RateUnit(), g.Pace
		}
		if low, high := g.Extremes(); low < high {
			rate += fmt.Sprintf(" on average, %s to %s/s", quantity.Digits(low), quantity.Digits(high))
		}
		var ops []string
		for _, op := range g.Ops {
			if share, ok := g.Shares[op]; ok {
				op += " " + quantity.RoughShare(share)
			}
			ops = append(ops, op)
		}
		t.Add(plainRow(g.Name, page.Cell{Text: fmt.Sprint(g.Clients), Number: true}, page.Words(rate), page.Words(pace),
			page.Words(strings.Join(ops, ", "))))
	}
	return t
}
