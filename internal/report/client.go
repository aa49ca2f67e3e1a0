package report

import "rumbench/internal/page"

// clientAlone shows the client's own throughput and cost, measured on the null
// engine.
func clientAlone(v *view) []page.Section {
	if v.client == nil {
		return nil
	}
	c, n := v.client, page.NewNotes("client")
	t := page.Table{Note: "The same clients on the engine that stores nothing: the ceiling of what rumbench could have measured, and what it " +
		"takes itself.", Head: "step"}
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
	var rows []page.Row
	for _, s := range c.stepsWith(measures) {
		row := plainRow(s.Name)
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
	t.Groups = []page.Group{{Rows: rows}}
	if t.Empty() {
		return nil
	}
	return []page.Section{{ID: "client", Title: "The client alone", Nav: "Client", Blocks: []page.Block{t, n}}}
}
