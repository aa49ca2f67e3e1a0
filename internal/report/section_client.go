package report

import (
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// clientAlone shows the client's own throughput and cost, measured on the null
// engine.
func clientAlone(v *view) []page.Section {
	if v.client == nil {
		return nil
	}
	c, n := v.client, page.NewNotes("client")
	t := page.Table{Note: "The same clients on the engine that stores nothing: the ceiling of what rumbench could have " +
		"measured, and what it takes itself.", Head: "step"}
	measures := measuresOf(metric.RowsPerS, metric.ServiceP50US, metric.ServiceP99US, metric.CPUUS, metric.ClientCPUUS,
		metric.HostCPUUS)
	for _, m := range measures {
		t.Columns = append(t.Columns, m.column())
	}
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
		t.Add(row)
	}
	return folded(page.Section{ID: "client", Title: "The client alone", Nav: "Client"}, t, n)
}

// folded returns a collapsed section with a table and what belongs to it; none if the table is empty.
func folded(sec page.Section, t page.Table, more ...page.Block) []page.Section {
	if t.Empty() {
		return nil
	}
	sec.Folded, sec.Blocks = true, append([]page.Block{t}, more...)
	return []page.Section{sec}
}
