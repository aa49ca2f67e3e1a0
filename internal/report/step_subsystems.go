package report

import (
	"cmp"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/explain"
	"rumbench/internal/metric"
	"rumbench/internal/page"
	"rumbench/internal/report/view"
	"rumbench/internal/text/quantity"
)

// subsystemTable splits the CPU time per unit of each target by subsystem, as sampled in the measured trials, with what
// structures that differ must do there.
func subsystemTable(s *compare.Step, targets []*target) page.Table {
	keys := view.Filter(compare.Parts(s, metric.CPUUS), func(k key) bool { return k.Labels.Subsystem != "" })
	cpu := map[*target]map[string]compare.Sampled{} // of the targets that were sampled
	greatest := map[string]float64{}
	for _, t := range targets {
		found, sampled := compare.Subsystems(s.Used(t))
		if sampled == 0 {
			continue
		}
		cpu[t] = found
		for name, c := range found {
			greatest[name] = max(greatest[name], c.Mean)
		}
	}
	keys = slices.DeleteFunc(keys, func(k key) bool { return greatest[k.Labels.Subsystem] == 0 })
	if len(keys) == 0 {
		return page.Table{}
	}
	slices.SortStableFunc(keys, func(a, b key) int {
		return cmp.Compare(greatest[b.Labels.Subsystem], greatest[a.Labels.Subsystem])
	})
	t := page.Table{Title: "CPU time by subsystem", Head: "µs per " + keys[0].Per,
		Note: "Of engine and clients, by samples: means over trials, with two standard errors of the samples. Each stack " +
			"counts for its innermost known function; unknown: no function of it is in the catalog, or it has no names. " +
			"The column adds up to the CPU time of the step."}
	for _, target := range targets {
		t.Columns = append(t.Columns, page.Column{Name: target.Name})
	}
	head := func(k key) page.Row { return plainRow(k.Labels.Subsystem) }
	rows := view.Rows(keys, head, targets,
		func(k key, t *target) page.Cell {
			if cpu[t] == nil {
				return page.Words(quantity.Unknown)
			}
			return sampledCell(cpu[t][k.Labels.Subsystem])
		})
	if explain.ShapesDiffer(s, targets) {
		t.Columns = append(t.Columns, page.Column{Name: "what structures do there"})
		for i := range rows {
			rows[i].Cells = append(rows[i].Cells, page.Words(explain.Duty(s, targets, keys[i].Labels.Subsystem)))
		}
	}
	t.Groups = []page.Group{{Rows: rows}}
	return t
}

func sampledCell(c compare.Sampled) page.Cell {
	text := quantity.Digits(c.Mean)
	if c.Samples > 0 {
		text += " ± " + quantity.Digits(2*c.Err())
	}
	return page.Exact(text, quantity.Full(c.Mean))
}
