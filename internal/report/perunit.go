package report

import "slices"

// fewColumns is how many metrics can stand side by side for every denominator.
const fewColumns = 3

// perTables show a step's numbers as metricTables do, but where many are per unit
// of several things, in a group of rows for each denominator: side by side, the
// same costs per query, per row and per operation would be too wide to read.
func (s *step) perTables(name, note string, targets []*target, metrics []string, n *notes) []Table {
	var columns, rest, denominators []string
	numbers := 0
	for _, m := range metrics {
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
			denominators = appendNew(denominators, k.Per)
		}
	}
	holes := numbers < len(columns)*len(denominators)
	if len(columns) <= fewColumns || len(denominators) < 2 || holes {
		return s.metricTables(name, note, targets, metrics, n)
	}
	whole := s.metricTables(name, note, targets, rest, n)
	t := Table{Title: name, Note: note, Head: "target"}
	for _, m := range columns {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	for _, per := range s.pertinent(denominators) {
		g := RowGroup{Name: "per " + per}
		for _, tg := range targets {
			row := TableRow{Head: tg.Name, Target: tg.Index}
			for _, m := range columns {
				row.Cells = append(row.Cells, s.cell(tg, targets[0], key{Metric: m, Per: per}, n))
			}
			g.Rows = append(g.Rows, row)
		}
		t.Groups = append(t.Groups, g)
	}
	for i := range whole {
		whole[i].Note = ""
		if whole[i].Title == name {
			whole[i].Title += ": whole step"
		}
	}
	return append([]Table{t}, whole...)
}

// pertinent puts the denominators that the step is about first.
func (s *step) pertinent(denominators []string) []string {
	writes, _ := s.Writes()
	var out []string
	for _, first := range []string{s.costPer(), writes.Per} {
		if slices.Contains(denominators, first) {
			out = appendNew(out, first)
		}
	}
	return appendNew(out, denominators...)
}
