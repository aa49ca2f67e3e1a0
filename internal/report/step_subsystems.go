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

// subsystemTable splits the CPU time per unit of each target by subsystem, as sampled in the measured trials. Of
// structures that differ in kind it has what each must do there, and the parts of the KB written.
func subsystemTable(s *compare.Step, targets []*target) page.Table {
	cpu := ofSubsystems(s, targets)
	if cpu.Rows == nil {
		return page.Table{}
	}
	t := page.Table{Title: "CPU time by subsystem", Head: cpu.Name, Groups: []page.Group{{Rows: cpu.Rows}},
		Note: "Of engine and clients, by samples: means over trials, with two standard errors of the samples. Each stack " +
			"counts for its innermost known function; unknown: no function of it is in the catalog, or it has no names. " +
			"The column adds up to the CPU time of the step."}
	for _, target := range targets {
		t.Columns = append(t.Columns, page.Column{Name: target.Name})
	}
	if !explain.ShapesDiffer(s, targets) {
		return t
	}
	t.Columns = append(t.Columns, page.Column{Name: "what structures do there"})
	if parts := ofWrites(s, targets); parts.Rows != nil {
		t.Title, t.Groups = "CPU time by subsystem, and KB written by part", append(t.Groups, parts)
	}
	for _, g := range t.Groups {
		for i := range g.Rows {
			g.Rows[i].Cells = append(g.Rows[i].Cells, page.Words(explain.Duty(s, targets, g.Rows[i].Head)))
		}
	}
	return t
}

// ofSubsystems has a row for each subsystem, those with the greatest time first.
func ofSubsystems(s *compare.Step, targets []*target) page.Group {
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
		return page.Group{}
	}
	slices.SortStableFunc(keys, func(a, b key) int {
		return cmp.Compare(greatest[b.Labels.Subsystem], greatest[a.Labels.Subsystem])
	})
	head := func(k key) page.Row { return plainRow(k.Labels.Subsystem) }
	rows := view.Rows(keys, head, targets, func(k key, t *target) page.Cell {
		if cpu[t] == nil {
			return page.Words(quantity.Unknown)
		}
		return sampledCell(cpu[t][k.Labels.Subsystem])
	})
	return page.Group{Name: "µs per " + keys[0].Per, Rows: rows}
}

// ofWrites has a row for each part of the KB written that an engine counts.
func ofWrites(s *compare.Step, targets []*target) page.Group {
	all := s.Keys(metric.PartKB)
	keys := view.Filter(all, func(k key) bool {
		writes := func(t *target) bool { return s.Number(t, k).Value > 0 }
		return k.Per == all[0].Per && slices.ContainsFunc(targets, writes)
	})
	if len(keys) == 0 {
		return page.Group{}
	}
	head := func(k key) page.Row { return plainRow(k.Op) }
	return page.Group{Name: "KB written per " + keys[0].Per,
		Rows: view.Rows(keys, head, targets, func(k key, t *target) page.Cell {
			n := s.Number(t, k)
			if n.Missing != "" {
				return page.Words(quantity.Unknown)
			}
			return page.Exact(quantity.Digits(n.Value), quantity.Full(n.Value))
		})}
}

func sampledCell(c compare.Sampled) page.Cell {
	text := quantity.Digits(c.Mean)
	if c.Samples > 0 {
		text += " ± " + quantity.Digits(2*c.Err())
	}
	return page.Exact(text, quantity.Full(c.Mean))
}
