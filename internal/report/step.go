package report

import (
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
	"rumbench/internal/result"
)

// stepSections returns a section for each step.
func stepSections(v *view) (out []page.Section) {
	for _, s := range v.steps {
		n := page.NewNotes(s.id)
		sec := page.Section{ID: s.id, Title: s.Name, Nav: s.Name, Class: "step", Step: true, Folded: v.crowded() && v.sweepOf(s) != nil}
		if sec.Folded {
			sec.Nav = ""
		}
		if s.Doc != "" {
			sec.Blocks = append(sec.Blocks, page.Prose("doc", s.Doc))
		}
		for _, line := range statusLines(s) {
			sec.Blocks = append(sec.Blocks, page.Banner(line))
		}
		if groups := groupsTable(s); !groups.Empty() {
			var beside page.Beside
			for _, b := range barsIn(s) {
				beside = append(beside, b)
			}
			sec.Blocks = append(sec.Blocks, append(beside, groups))
		}
		sec.Blocks = append(sec.Blocks, chartBlocks(s, v.tracks[s])...)
		sec.Blocks = append(sec.Blocks, curveBlocks(s)...)
		sec.Blocks = append(sec.Blocks, waitBlocks(s)...)
		tables := slices.DeleteFunc(stepTables(s, n), page.Table.Empty)
		markRemarks(s, n)
		sec.Blocks = append(sec.Blocks, page.Grid{ID: s.id, Tables: tables}, n)
		out = append(out, sec)
	}
	return out
}

// stepTables returns the tables of a step, in their order.
func stepTables(s *step, n *page.Notes) []page.Table {
	growths := make([]map[string]growth, len(s.c.Targets))
	for i, t := range s.c.Targets {
		growths[i] = growthsOf(s, t)
	}
	return slices.Concat(
		metricTables(s, metric.ThroughputTable, "", n),
		metricTables(s, metric.ServiceTable, "From an operation's actual start to its end.", n),
		metricTables(s, metric.ResponseTable, "From an operation's intended start to its end; lateness: from its intended to its actual start. Only where a "+
			"rate was promised.", n),
		attemptsTables(s, n),
		[]page.Table{statementsTable(s, n)},
		metricTables(s, metric.ArrivalsTable, "What became of operations that arrive by a schedule.", n),
		metricTables(s, metric.SpreadTable, "Operations of each client of a group: a deviation of 0 is fair.", n),
		perTables(s, metric.CostTable, "", n),
		perTables(s, metric.EngineTable, "What the engine counts of itself; what lies below it, or what it does not count, is not in it.", n),
		metricTables(s, metric.SpaceTable, "", n),
		waitTables(s, n),
		[]page.Table{sizesTable(s), settleTable(s), changedTable(s, growths), countersTable(s, growths)},
	)
}

// markRemarks notes the remarks on the runs that belong to no number.
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
		if s.Refused(t, metric.SLAMissed) || s.Refused(t, metric.Saturated) {
			out = append(out, []any{t.Name + ": " + strings.Join(s.Refusals(t), ", ") + ". Its numbers in this step are not comparable."})
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
		if !slices.ContainsFunc(s.Runs[t], func(r run) bool { return r.Trial == trial }) {
			out = append(out, []any{t.Name, ", trial ", trial.Trial, ", did not come to this step", sentenceTail(trial.Reason, "")})
		}
	}
	return out
}

func groupsTable(s *step) page.Table {
	t := page.Table{Head: "group of clients", Columns: []page.Column{
		{Name: "clients", Title: "Client goroutines, each with its own session"},
		{Name: "promised rate", Title: "Units a second that the whole group is to do; without one, each operation begins when the one before has ended"},
		{Name: "pace", Title: "How the intended starts are spread over time"},
		{Name: "operations", Title: "The operation kinds that its clients do"},
	}}
	var rows []page.Row
	for _, g := range s.Groups() {
		if g.Clients == 0 {
			continue // not known
		}
		rate, pace := "none: closed loop", quantity.Unknown
		if g.Rate > 0 {
			rate, pace = quantity.Digits(g.Rate)+"/s"+g.RateUnit(), g.Pace
		}
		rows = append(rows, plainRow(g.Name,
			page.Cell{Text: fmt.Sprint(g.Clients), Number: true}, page.Words(rate), page.Words(pace), page.Words(strings.Join(g.Ops, ", "))))
	}
	t.Groups = []page.Group{{Rows: rows}}
	return t
}
