package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/figure"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/quantity"
)

// measure is a line of the scorecard: a number that can be looked up in every
// step.
type measure struct {
	name, metric string // the metric is the glossary's entry
	doc          string
	beside       bool // of the writes beside the primary operation
	// each: it is a count ÷ the operations completed. without is its value if nothing
	// failed, where it was not recorded.
	each    bool
	without float64
}

// key returns the key of the measure in a step.
func (m measure) key(s *step) (key, bool) {
	switch {
	case !m.beside:
		return s.Own(m.metric)
	case s.WritesPer == s.Primary:
		return key{}, false // the writes are the primary operation, shown as such
	}
	return s.Key(m.metric, s.WritesPer)
}

// layer is a group of measures that are read together.
type layer struct {
	name, note string
	measures   []measure
	promises   bool // the promised rates are shown too
}

// layers returns the three layers of the scorecard. Throughput is never shown
// without quality of service and cost.
func layers() []layer {
	return []layer{
		{name: "Throughput", note: "Operations per second.", measures: []measure{
			{name: "primary operation", metric: "rows_per_s", doc: "Rows or queries a second of the step's primary operation."},
			{name: "concurrent writes", metric: "rows_per_s", doc: "Rows a second written beside the queries; a rate was promised for them.", beside: true},
		}},
		{name: "Quality of service", note: "Latency is the response time where a rate was promised, else the service time of a closed loop.", measures: []measure{
			{name: "p99 latency", metric: "service_p99_us", doc: "99th percentile of the primary operation."},
			{name: "max latency", metric: "service_max_us", doc: "Greatest latency of the primary operation."},
			{name: "p99 of concurrent writes", metric: "response_p99_us", doc: "99th percentile of the writes beside the queries.", beside: true},
			{name: "stalled seconds", metric: "stall_s"},
		}, promises: true},
		{name: "Cost", note: "What one row or query takes from the machine, and what the data takes.", measures: []measure{
			{name: "CPU µs", metric: "cpu_us"},
			{name: "read KB", metric: "read_kb"},
			{name: "written KB", metric: "write_kb"},
			{name: "written KB up to here", metric: "unsettled_write_kb"},
			{name: "with deferred writes", metric: "settled_write_kb"},
			{name: "size on disk", metric: "db_bytes"},
			{name: "space amplification", metric: "space_amplification"},
		}},
	}
}

// scorecard returns a table per layer: steps as columns, and under each measure a
// row per target.
func scorecard(v *view) []page.Section {
	n := page.NewNotes("scorecard")
	return []page.Section{{ID: "scorecard", Title: "Scorecard", Nav: "Scorecard", Blocks: []page.Block{
		page.Paragraph{Class: "key", Spans: howMarked(v.Targets[0].Name)}, scoreTables(v.campaign, n), n,
	}}}
}

// howMarked returns an explanation of the signs, each in its colour.
func howMarked(base string) []page.Span {
	spans := []page.Span{{Text: "Against "}, {Text: base, Class: "base-name"}, {Text: ", the base: "}}
	for _, m := range figure.Legend() {
		spans = append(spans, page.Span{Text: m.Text, Class: m.Class})
	}
	return append(spans, page.Span{Text: " “–” is not known."},
		page.Span{Text: " ", Screen: true}, page.Span{Text: "Hatched", Class: "hatch", Screen: true},
		page.Span{Text: ": not comparable; hover for the reason.", Screen: true})
}

func scoreTables(c *campaign, n *page.Notes) (out page.Tabs) {
	for _, l := range layers() {
		steps, leftOut := c.columns(l.measures)
		t := page.Table{Title: l.name, Note: strings.TrimSpace(l.note + " " + leftOut), Head: "target", Columns: stepColumns(steps)}
		for _, m := range l.measures {
			t.Groups = append(t.Groups, scoreGroup(c, m, steps, n))
		}
		if l.promises {
			t.Groups = append(t.Groups, promiseGroup(c, steps, n))
		}
		t.Groups = slices.DeleteFunc(t.Groups, func(g page.Group) bool { return len(g.Rows) == 0 })
		out = append(out, t)
	}
	return out
}

func stepColumns(steps []*step) (out []page.Column) {
	for _, s := range steps {
		out = append(out, page.Column{Name: s.Name, Title: cmp.Or(s.Doc, "step "+s.Name), Link: s.id})
	}
	return out
}

// scoreGroup returns a measure of all targets in some steps; without rows if no
// target has it.
func scoreGroup(c *campaign, m measure, steps []*step, n *page.Notes) page.Group {
	g := page.Group{Name: m.name, Title: cmp.Or(m.doc, metricDoc(m.metric)), Link: "m-" + m.metric}
	found := false
	for _, s := range steps {
		_, ok := m.key(s)
		found = found || ok
		g.Subs = append(g.Subs, m.unit(s))
	}
	if found {
		g.Rows = targetRows(c.Targets, len(steps), func(t *target, i int) page.Cell { return m.cell(steps[i], t, n) })
	}
	return g
}

// column returns the heading of the measure's column.
func (m measure) column() page.Column {
	c := page.Column{Name: cmp.Or(m.name, metric.Label(m.metric)), Title: metricDoc(m.metric), Link: "m-" + m.metric}
	if m.each {
		c.Title += " Here ÷ operations completed."
	}
	return c
}

// unit returns the unit or denominator of the measure in a step.
func (m measure) unit(s *step) string {
	if m.each {
		return "per operation"
	}
	k, _ := m.key(s)
	return s.unitOf(k)
}

// cell returns the measure of a target in a step, beside the base's.
func (m measure) cell(s *step, t *target, n *page.Notes) page.Cell {
	switch k, ok := m.key(s); {
	case m.each:
		return m.perOperation(s, t)
	case ok:
		return s.cell(t, s.c.Targets[0], k, n)
	}
	return page.Absent("nothing of this kind in " + s.Name)
}

// promiseGroup returns for every step whether the promised rates were held.
func promiseGroup(c *campaign, steps []*step, n *page.Notes) page.Group {
	g := page.Group{Name: "promised rate held", Link: "m-sla_met", Title: metricDoc("sla_met")}
	if slices.ContainsFunc(steps, func(s *step) bool { return len(s.Keys("sla_share")) > 0 }) {
		g.Rows = targetRows(c.Targets, len(steps), func(t *target, i int) page.Cell { return promiseCell(steps[i], t, n) })
	}
	return g
}

// promiseCell returns the verdict on the group that held its rate worst, with
// the share of intervals in which it held it.
func promiseCell(s *step, t *target, n *page.Notes) page.Cell {
	var low *number
	for _, k := range s.Keys("sla_share") {
		if num := s.number(t, k); num.Missing == "" && (low == nil || num.Value < low.Value) {
			low = &num
		}
	}
	if low == nil {
		if s.rated() {
			return page.Absent("not measured here")
		}
		return page.Absent("no rate was promised here")
	}
	c := s.c.plainCell(*low, n)
	c.Text, c.Ratio = "held", fmt.Sprintf("%s of intervals", quantity.Share(low.Value))
	if s.Refused(t, metric.SLAMissed) {
		c.Text, c.Tag = "missed", strings.Join(s.Refusals(t), ", ")
	}
	if s.Refused(t, metric.Saturated) {
		c.Tag = metric.Saturated.Kind().Short
	}
	return c
}
