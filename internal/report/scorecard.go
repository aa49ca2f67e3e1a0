package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rumbench/internal/metric"
	"rumbench/internal/result"
)

// measure is a line of the scorecard: a number that can be looked up on every step.
type measure struct {
	name, metric string // the metric is the glossary's entry
	doc          string
	key          func(*step) (key, bool)
}

// layers are the three ways to look at a campaign. Throughput never stands
// without quality of service and cost beside it.
func layers() []struct {
	name, note string
	measures   []measure
} {
	beside := func(s *step) string {
		if s.WritesPer == s.Primary {
			return "" // they are what the step is about, and shown as such
		}
		return s.WritesPer
	}
	return []struct {
		name, note string
		measures   []measure
	}{
		{"Throughput", "What got done a second.", []measure{
			{"primary operation", "rows_per_s", "Rows or queries a second of the step's primary operation.", func(s *step) (key, bool) { return s.Rate(s.Primary) }},
			{"writes beside it", "rows_per_s", "Rows a second written beside the queries; a rate was promised for them.", func(s *step) (key, bool) { return s.Rate(beside(s)) }},
		}},
		{"Quality of service", "Latency is the response time where a rate was promised, else the service time of a closed loop.", []measure{
			{"p99 latency", "service_p99_us", "99th percentile of the primary operation.", func(s *step) (key, bool) { return s.Latency(s.Primary, "p99") }},
			{"max latency", "service_max_us", "Greatest latency of the primary operation.", func(s *step) (key, bool) { return s.Latency(s.Primary, "max") }},
			{"p99 of writes beside", "response_p99_us", "99th percentile of the writes beside the queries.", func(s *step) (key, bool) { return s.Latency(beside(s), "p99") }},
			{"stalled seconds", "stall_s", "", func(s *step) (key, bool) { return s.Stalls() }},
		}},
		{"Cost", "What one row or query takes from the machine, and what the data takes.", []measure{
			{"CPU µs", "cpu_us", "", func(s *step) (key, bool) { return s.CPU() }},
			{"read KB", "read_kb", "", func(s *step) (key, bool) { return s.Reads() }},
			{"written KB", "write_kb", "", func(s *step) (key, bool) { return s.Writes() }},
			{"written KB up to here", "unsettled_write_kb", "", func(s *step) (key, bool) { return s.Cost("unsettled_write_kb", "") }},
			{"with deferred writes", "settled_write_kb", "", func(s *step) (key, bool) { return s.Cost("settled_write_kb", "") }},
			{"size on disk", "db_bytes", "", func(s *step) (key, bool) { return s.Cost("db_bytes", "") }},
			{"space amplification", "space_amplification", "", func(s *step) (key, bool) { return s.Cost("space_amplification", "") }},
		}},
	}
}

// scorecard is a table per layer: steps as columns, and under each measure a
// row per target.
func (c *campaign) scorecard(n *notes) []Table {
	var out []Table
	for _, l := range layers() {
		t := Table{Title: l.name, Note: l.note, Head: "target"}
		steps := c.columns(c.stepsWith(l.measures))
		if len(steps) < len(c.stepsWith(l.measures)) {
			t.Note += c.leftOut()
		}
		for _, s := range steps {
			t.Columns = append(t.Columns, stepColumn(s))
		}
		for _, m := range l.measures {
			if g := c.scoreGroup(m, steps, n); len(g.Rows) > 0 {
				t.Groups = append(t.Groups, g)
			}
		}
		if l.name == "Quality of service" {
			if g := c.promiseGroup(steps, n); len(g.Rows) > 0 {
				t.Groups = append(t.Groups, g)
			}
		}
		out = append(out, t)
	}
	return out
}

func stepColumn(s *step) Column {
	return Column{Name: s.Name, Title: cmp.Or(s.Doc, "step "+s.Name), Link: s.id}
}

// unitOf says what the numbers under a key are of or per.
func (s *step) unitOf(k key) string {
	switch {
	case k.Metric == "rows_per_s":
		return s.units(k.Op) + "/s"
	case isLatency(k.Metric):
		return string(metric.FamilyOf(k.Metric)) + ", " + k.Op
	case k.Metric == "host_cpu_us":
		return "whole host, per " + k.Per
	case k.Per != "":
		return "per " + k.Per
	}
	return ""
}

// costPer is the denominator that heads the step's costs. Writes may have
// another one, which their cells then tell.
func (s *step) costPer() string {
	k, _ := s.CPU()
	return k.Per
}

func (c *campaign) stepsWith(measures []measure) []*step {
	var out []*step
	for _, s := range c.steps {
		if s.Warmup {
			continue
		}
		for _, m := range measures {
			if _, ok := m.key(s); ok {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

// mostColumns is how many steps are shown side by side, as far as it is for the
// page to choose.
const mostColumns = 16

// columns are the steps to be shown side by side. Where they are too many, a
// sweep is represented by the step in which the base was fastest.
func (c *campaign) columns(steps []*step) []*step {
	if len(steps) <= mostColumns {
		return steps
	}
	var out []*step
	for _, s := range steps {
		if w := c.sweepOf(s); w == nil || w.representative() == s {
			out = append(out, s)
		}
	}
	return out
}

// leftOut says what columns left out.
func (c *campaign) leftOut() string {
	return " Of the steps along an axis it shows those in which " + c.Targets[0].Name + " was fastest; all of them are in the relative table and in sections of their own."
}

// crowded tells whether there are so many steps along axes that each of them is
// only shown when it is asked for.
func (c *campaign) crowded() bool { return len(c.sweeps) > 0 && len(c.steps) > mostColumns }

func (c *campaign) scoreGroup(m measure, steps []*step, n *notes) RowGroup {
	g := RowGroup{Name: m.name, Title: m.doc, Metric: m.metric}
	if g.Title == "" {
		g.Title = metricColumn(key{Metric: m.metric}).Title
	}
	found := false
	for _, s := range steps {
		sub := ""
		if k, ok := m.key(s); ok {
			found, sub = true, s.unitOf(k)
		}
		g.Subs = append(g.Subs, sub)
	}
	for _, t := range c.Targets {
		row := TableRow{Head: t.Name, Target: t.Index}
		for _, s := range steps {
			k, ok := m.key(s)
			if !ok {
				row.Cells = append(row.Cells, absentCell("nothing of this kind in "+s.Name))
				continue
			}
			row.Cells = append(row.Cells, s.cell(t, c.Targets[0], k, n))
		}
		g.Rows = append(g.Rows, row)
	}
	if !found {
		g.Rows = nil
	}
	return g
}

// promiseGroup tells for every step whether the promised rates were held.
func (c *campaign) promiseGroup(steps []*step, n *notes) RowGroup {
	g := RowGroup{Name: "promised rate held", Metric: "sla_met", Title: metricColumn(key{Metric: "sla_met"}).Title}
	found := false
	for _, t := range c.Targets {
		row := TableRow{Head: t.Name, Target: t.Index}
		for _, s := range steps {
			cell, ok := s.promise(t, n)
			found = found || ok
			row.Cells = append(row.Cells, cell)
		}
		g.Rows = append(g.Rows, row)
	}
	if !found {
		g.Rows = nil
	}
	return g
}

// promise is the verdict on the group that held its rate worst, with the share
// of intervals in which it did.
func (s *step) promise(t *target, n *notes) (Cell, bool) {
	var low *number
	for _, k := range s.Keys("sla_share") {
		if num := s.number(t, k); num.Missing == "" && (low == nil || num.Value < low.Value) {
			low = &num
		}
	}
	if low == nil {
		if rated(s) {
			return absentCell("not measured here"), false
		}
		return absentCell("no rate was promised here"), false
	}
	c := s.plainCell(*low, n)
	c.Text, c.Ratio = "held", fmt.Sprintf("%s of intervals", percent(low.Value))
	if s.Refused(t, metric.SLAMissed) {
		c.Text, c.Tag = "missed", strings.Join(s.Doubts(t), ", ")
	}
	if s.Refused(t, metric.Saturated) {
		c.Tag = metric.Saturated.Kind().Short
	}
	return c, true
}

func rated(s *step) bool {
	return slices.ContainsFunc(s.Groups(), func(g result.Group) bool { return g.Rate > 0 })
}
