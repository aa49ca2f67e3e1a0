package report

import (
	"cmp"
	"fmt"
	"strings"

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
		if s.writesPer == s.primary {
			return "" // they are what the step is about, and shown as such
		}
		return s.writesPer
	}
	return []struct {
		name, note string
		measures   []measure
	}{
		{"Throughput", "What got done a second.", []measure{
			{"primary operation", "rows_per_s", "Rows or queries a second of the step's primary operation.", func(s *step) (key, bool) { return s.rate(s.primary) }},
			{"writes beside it", "rows_per_s", "Rows a second written beside the queries; a rate was promised for them.", func(s *step) (key, bool) { return s.rate(beside(s)) }},
		}},
		{"Quality of service", "Latency is the response time where a rate was promised, else the service time of a closed loop.", []measure{
			{"p99 latency", "service_p99_us", "99th percentile of the primary operation.", func(s *step) (key, bool) { return s.latency(s.primary, "p99") }},
			{"max latency", "service_max_us", "Greatest latency of the primary operation.", func(s *step) (key, bool) { return s.latency(s.primary, "max") }},
			{"p99 of writes beside", "response_p99_us", "99th percentile of the writes beside the queries.", func(s *step) (key, bool) { return s.latency(beside(s), "p99") }},
			{"stalled seconds", "stall_s", "", func(s *step) (key, bool) { return s.stalls() }},
		}},
		{"Cost", "What one row or query takes from the machine, and what the data takes.", []measure{
			{"CPU µs", "server_cpu_us", "", func(s *step) (key, bool) { return s.cost("server_cpu_us", s.primary) }},
			{"read KB", "read_kb", "", func(s *step) (key, bool) { return s.reads() }},
			{"written KB", "write_kb", "", func(s *step) (key, bool) { return s.writes() }},
			{"size on disk", "db_bytes", "", func(s *step) (key, bool) { return s.cost("db_bytes", "") }},
			{"space amplification", "space_amplification", "", func(s *step) (key, bool) { return s.cost("space_amplification", "") }},
		}},
	}
}

// stalls is the key of the stalled seconds, of the primary operation's group
// where the whole step has no such number.
func (s *step) stalls() (key, bool) {
	if s.primary == "" {
		return key{}, false
	}
	of := func(op string) (key, bool) {
		return s.find("stall_s", func(r *result.Row) bool { return r.Op == op || r.Group == op })
	}
	if k, ok := of(s.primary); ok {
		return k, true
	}
	return s.find("stall_s", func(r *result.Row) bool { return true })
}

// reads and writes are what the device did; where no device could be
// watched, what the process caused.
func (s *step) reads() (key, bool) {
	if k, ok := s.cost("read_kb", s.primary); ok {
		return k, true
	}
	return s.cost("process_read_kb", s.primary)
}

func (s *step) writes() (key, bool) {
	if k, ok := s.cost("write_kb", s.writesPer); ok {
		return k, true
	}
	return s.cost("process_write_kb", s.writesPer)
}

// scorecard is a table per layer: steps as columns, and under each measure a
// row per target.
func (c *campaign) scorecard(n *notes) []Table {
	var out []Table
	for _, l := range layers() {
		t := Table{Title: l.name, Note: l.note, Head: "target"}
		steps := c.stepsWith(l.measures)
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
	return Column{Name: s.name, Title: cmp.Or(s.doc, "step "+s.name), Link: s.id}
}

// unitOf says what the numbers under a key are of or per.
func (s *step) unitOf(k key) string {
	measure, _, _ := strings.Cut(k.metric, "_")
	switch {
	case k.metric == "rows_per_s":
		return s.units(k.op) + "/s"
	case isLatency(k.metric):
		return measure + ", " + k.op
	case k.per != "":
		return "per " + k.per
	}
	return ""
}

// costPer is the denominator that heads the step's costs. Writes may have
// another one, which their cells then tell.
func (s *step) costPer() string {
	k, _ := s.cost("server_cpu_us", s.primary)
	return k.per
}

func (c *campaign) stepsWith(measures []measure) []*step {
	var out []*step
	for _, s := range c.steps {
		for _, m := range measures {
			if _, ok := m.key(s); ok {
				out = append(out, s)
				break
			}
		}
	}
	return out
}

func (c *campaign) scoreGroup(m measure, steps []*step, n *notes) RowGroup {
	g := RowGroup{Name: m.name, Title: m.doc, Metric: m.metric}
	if g.Title == "" {
		g.Title = metricColumn(key{metric: m.metric}).Title
	}
	found := false
	for _, s := range steps {
		sub := ""
		if k, ok := m.key(s); ok {
			found, sub = true, s.unitOf(k)
		}
		g.Subs = append(g.Subs, sub)
	}
	for _, t := range c.targets {
		row := TableRow{Head: t.name, Target: t.index}
		for _, s := range steps {
			k, ok := m.key(s)
			if !ok {
				row.Cells = append(row.Cells, absentCell("nothing of this kind in "+s.name))
				continue
			}
			row.Cells = append(row.Cells, s.cell(t, c.targets[0], k, n))
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
	g := RowGroup{Name: "promised rate held", Metric: "sla_met", Title: metricColumn(key{metric: "sla_met"}).Title}
	found := false
	for _, t := range c.targets {
		row := TableRow{Head: t.name, Target: t.index}
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
	for _, k := range s.keys([]string{"sla_share"}) {
		if num := s.number(t, k); num.missing == "" && (low == nil || num.value < low.value) {
			low = &num
		}
	}
	doubts := strings.Join(s.doubts(t), ", ")
	if low == nil {
		if rated(s) {
			return absentCell("not measured here"), false
		}
		return absentCell("no rate was promised here"), false
	}
	c := plainCell(*low, n)
	c.Text, c.Ratio = "held", fmt.Sprintf("%s of intervals", percent(low.value))
	if strings.Contains(doubts, "SLA missed") {
		c.Text, c.Tag = "missed", doubts
	}
	if strings.Contains(doubts, "saturated") {
		c.Tag = "saturated"
	}
	return c, true
}

func rated(s *step) bool {
	for _, runs := range s.runsInOrder() {
		for _, r := range runs {
			for _, g := range r.step.Groups {
				if g.Rate > 0 {
					return true
				}
			}
		}
	}
	return false
}
