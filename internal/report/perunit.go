package report

import (
	"cmp"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// fewColumns is how many metrics can stand side by side for every denominator.
const fewColumns = 3

// perTables returns a step's numbers as metricTables does, but with a group of
// rows per denominator if there are many: the same costs per query, per row and
// per operation would be too wide side by side.
func perTables(s *step, section metric.Section, note string, n *page.Notes) []page.Table {
	var columns, rest, denominators []string
	numbers := 0
	for _, m := range metric.InSection(section) {
		keys := s.Keys(m)
		if len(keys) == 0 {
			continue
		}
		if slices.ContainsFunc(keys, func(k key) bool { return k.Per == "" || k.Per == "step" || k.Group != "" || k.Op != "" }) {
			rest = append(rest, m)
			continue
		}
		columns = append(columns, m)
		numbers += len(keys)
		for _, k := range keys {
			denominators = compare.AppendNew(denominators, k.Per)
		}
	}
	holes := numbers < len(columns)*len(denominators)
	if len(columns) <= fewColumns || len(denominators) < 2 || holes {
		return metricTables(s, section, note, n)
	}
	name := string(section)
	whole := tablesOf(s, name, note, rest, n)
	t := page.Table{Title: name, Note: note, Head: "target"}
	for _, m := range columns {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	writes, _ := s.Own("write_kb")
	own := []string{writes.Per, s.costPer()} // those of the step's own operations come first
	slices.SortStableFunc(denominators, func(a, b string) int { return cmp.Compare(slices.Index(own, b), slices.Index(own, a)) })
	for _, per := range denominators {
		t.Groups = append(t.Groups, page.Group{Name: "per " + per, Rows: targetRows(s.c.Targets, len(columns), func(t *target, i int) page.Cell {
			return s.cell(t, s.c.Targets[0], key{Metric: columns[i], Per: per}, n)
		})})
	}
	for i := range whole {
		whole[i].Note = ""
		if whole[i].Title == name {
			whole[i].Title += ": whole step"
		}
	}
	return append([]page.Table{t}, whole...)
}
