package report

import (
	"cmp"
	"fmt"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/remark"
	"rumbench/internal/result"
	"rumbench/internal/text/quantity"
)

// sizesTable shows the space of every object, as the engines report it.
func sizesTable(s *step) page.Table {
	t := page.Table{Title: "Size by object", Note: "As reported by the engine; ≈ marks estimates.", Head: "object",
		Columns: targetColumns(s.c.Targets)}
	byName := byTarget{}
	for tg, r := range s.leaders() {
		for _, row := range r.Step.Rows {
			if row.Metric != metric.ObjectBytes {
				continue
			}
			text, kind := quantity.BytesAs(row.Value, quantity.Digits), engine.Exact
			if metric.Has(row.Warnings, remark.EstimatedSize) {
				text, kind = "≈ "+text, engine.Estimate
			}
			byName.set(cmp.Or(row.Labels.Object, "whole database"), tg,
				page.Cell{Text: text, Title: fmt.Sprintf("%.0f bytes, %s", row.Value, kind), Number: true})
		}
	}
	t.Groups = []page.Group{{Rows: byName.rows(s.c.Targets, "not reported by the engine")}}
	return t
}

func settleTable(s *step) page.Table {
	t := page.Table{Title: "Settle actions", Note: "What the engines did to come to rest.", Head: "target",
		Columns: []page.Column{
			{Name: "action", Title: "Action, as requested or observed"}, {Name: "took", Title: "How long it took"},
			{Name: "detail", Title: "What it changed"},
		}}
	for tg, r := range s.leaders() {
		for _, a := range r.Step.Settle {
			took := page.Cell{Text: quantity.Micros(float64(a.Duration.Nanoseconds()) / 1e3), Number: true}
			t.Add(targetRow(tg, page.Words(a.Name), took, page.Words(a.Detail)))
		}
	}
	return t
}

// A step's table of counters is for skimming: it has at most maxCounters rows,
// and all such tables together about allCounters cells.
const (
	maxCounters = 300
	minCounters = 20
	allCounters = 600
)

// countersTable shows the engines' and the host's counters that changed.
func countersTable(s *step, growths []map[string]growth) page.Table {
	t := page.Table{Title: "Counters that changed",
		Note: "Growth of counters over the window, and gauges at its end; “–”: no such counter, or it did " +
			"not change.", Head: "counter", Columns: targetColumns(s.c.Targets)}
	byName := byTarget{}
	for tg, r := range s.leaders() {
		for _, n := range r.Step.Counters {
			if n.Value != 0 {
				byName.set(counterName(n), tg, counterCell(n))
			}
		}
	}
	limit := max(minCounters, min(maxCounters, allCounters/(len(s.c.steps)*len(s.c.Targets))))
	if all := len(byName); all > limit {
		keepChanged(s, byName, growths, limit)
		t.Note += fmt.Sprintf(" The %d of %d that changed most from target to target; all are in trial.json.", limit, all)
	}
	t.Groups = []page.Group{{Rows: byName.rows(s.c.Targets, "")}}
	return t
}

// keepChanged keeps only the counters that differ most between the targets.
func keepChanged(s *step, byName byTarget, growths []map[string]growth, limit int) {
	for _, name := range ranked(byName, changesOf(s, growths))[limit:] {
		delete(byName, name)
	}
}

func counterCell(n result.CounterChange) page.Cell {
	c := page.Cell{Text: inUnit(n.Value, n.Unit), Number: true}
	if n.Reset {
		c.Tag = "was reset"
		c.Title = "it was reset in the window: growth since the reset"
	}
	return c
}
