package report

import (
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// fewColumns is the number of metrics that fit side by side for every denominator.
const fewColumns = 3

// perTables returns a step's numbers as metricTables does, but with a group of
// rows per denominator if there are many: the same costs per query, per row and
// per operation would be too wide side by side. The page's data has all.
func perTables(s *step, section metric.Section, note string, n *page.Notes) []page.Table {
	var columns, rest, denominators []string
	for _, m := range metric.InSection(section) {
		keys := s.Keys(m)
		if len(keys) == 0 {
			continue
		}
		if slices.ContainsFunc(keys, func(k key) bool {
			return k.Per == "" || k.Per == "step" || k.Group != "" ||
				k.Op != ""
		}) {
			rest = append(rest, m)
			continue
		}
		columns = append(columns, m)
		for _, k := range keys {
			denominators = compare.AppendNew(denominators, k.Per)
		}
	}
	if len(columns) <= fewColumns || len(denominators) < 2 {
		return metricTables(s, section, note, n)
	}
	name := string(section)
	whole := tablesOf(s, name, note, rest, n)
	t := page.Table{Title: name, Note: note, Head: "target"}
	for _, m := range columns {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	for _, per := range ownDenominators(s, denominators) {
		t.Groups = append(t.Groups, page.Group{Name: "per " + per,
			Rows: targetRows(s.c.Targets, len(columns), func(t *target, i int) page.Cell {
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

// ownDenominators returns those of the step's own operations, and the operation: the
// others are multiples of them. It returns all if the step has no such denominators.
func ownDenominators(s *step, all []string) []string {
	writes, _ := s.Own(metric.WriteKB)
	own := slices.DeleteFunc([]string{s.costPer(), writes.Per, string(metric.PerOperation)},
		func(per string) bool { return !slices.Contains(all, per) })
	if slices.Sort(all); len(own) == 0 {
		return all
	}
	return slices.Compact(own)
}
