package report

import (
	"cmp"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// numberMeasures are the numbers that readers quote for every step: throughput is
// never shown without quality of service and cost.
var numberMeasures = []measure{
	{name: "throughput", metric: metric.RowsPerS},
	{name: "p99 latency", metric: metric.ServiceP99US},
	{metric: metric.CPUUS},
	{metric: metric.WriteKB},
}

// numbers returns one table of all steps that measure: steps as columns, and under
// each measure a row per target.
func numbers(v *campaign) []page.Section {
	n := page.NewNotes("numbers")
	t := overviewTable(v, n)
	if t.Empty() {
		return nil
	}
	sec := page.Section{ID: "numbers", Title: "Numbers", Nav: "Numbers"}
	if len(v.Targets) > 1 {
		sec.Blocks = append(sec.Blocks, page.Paragraph{Class: "key", Spans: howMarked(v.Targets[0].Name)})
	}
	sec.Blocks = append(sec.Blocks, t, n)
	return []page.Section{sec}
}

func overviewTable(c *campaign, n *page.Notes) page.Table {
	steps, leftOut := c.columns(slices.DeleteFunc(c.stepsWith(numberMeasures),
		func(s *step) bool { return s.Primary == "" || compare.IsProbe(s.Step) }))
	t := page.Table{Note: leftOut, Head: "target", Columns: stepColumns(steps)}
	for _, m := range measuresIn(numberMeasures, steps...) {
		t.Groups = append(t.Groups, scoreGroup(c, m, steps, n))
	}
	return t
}

// howMarked returns an explanation of the signs, each in its colour.
func howMarked(base string) []page.Span {
	spans := []page.Span{{Text: "Against "}, {Text: base, Class: "base-name"}, {Text: ", the base: "}}
	for _, m := range verdict.Legend() {
		spans = append(spans, page.Span{Text: m.Text, Class: m.Class})
	}
	return append(spans, page.Span{Text: " “–” is not known."},
		page.Span{Text: " ", Screen: true}, page.Span{Text: "Hatched", Class: "hatch", Screen: true},
		page.Span{Text: ": not comparable, for the reason next to the number.", Screen: true})
}

func stepColumns(steps []*step) (out []page.Column) {
	for _, s := range steps {
		out = append(out, page.Column{Name: s.Name, Title: cmp.Or(s.Doc, "step "+s.Name), Link: s.id})
	}
	return out
}

// scoreGroup returns a measure of all targets in some steps.
func scoreGroup(c *campaign, m measure, steps []*step, n *page.Notes) page.Group {
	return page.Group{Name: m.label(), Link: "m-" + m.metric, Subs: quantity.Texts(steps, m.unit),
		Rows: targetRows(c.Targets, steps, func(t *target, s *step) page.Cell { return m.cell(s, t, n) })}
}
