package report

import (
	"cmp"
	"slices"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
	"rumbench/internal/page"
)

// subject is the group and operation that numbers are about.
type subject struct{ group, op string }

// metricTables returns a step's numbers with a column per metric and
// denominator, and for every group and operation kind a row per target.
// Subjects with different columns get separate tables, which have no empty
// columns.
func metricTables(s *step, section metric.Section, note string, n *page.Notes) []page.Table {
	return tablesOf(s, string(section), note, metric.InSection(section), n)
}

func tablesOf(s *step, name, note string, metrics []string, n *page.Notes) (out []page.Table) {
	var subjects []subject
	columns := map[subject][]key{}
	for _, k := range s.Keys(metrics...) {
		sub := subject{k.Group, k.Op}
		subjects = compare.AppendNew(subjects, sub)
		columns[sub] = append(columns[sub], k)
	}
	slices.SortStableFunc(subjects, func(a, b subject) int { return cmp.Compare(s.place(a), s.place(b)) })
	for _, sub := range subjects {
		var heads []page.Column
		for _, k := range columns[sub] {
			heads = append(heads, metricColumn(k))
		}
		group := page.Group{Name: sub.String(), Rows: targetRows(s.c.Targets, columns[sub], func(t *target, k key) page.Cell {
			return s.cell(t, s.c.Targets[0], k, n)
		})}
		if i := slices.IndexFunc(out, func(t page.Table) bool { return slices.Equal(t.Columns, heads) }); i >= 0 {
			out[i].Groups = append(out[i].Groups, group)
		} else {
			out = append(out, page.Table{Title: name, Note: note, Head: "target", Columns: heads, Groups: []page.Group{group}})
		}
	}
	nameTables(out)
	return out
}

// place returns the sort order of a subject: the step's primary operation comes
// first.
func (s *step) place(sub subject) int {
	switch {
	case sub == subject{}:
		return 0
	case sub.op == s.Primary:
		return 1
	case sub.group == s.Primary:
		return 2
	case sub.op == s.WritesPer:
		return 3
	}
	return 4
}

// nameTables adds the subject to the titles of tables with one group, and to their heads why none of its numbers is
// compared.
func nameTables(tables []page.Table) {
	for i := range tables {
		t := &tables[i]
		if i > 0 {
			t.Note = ""
		}
		if len(t.Groups) > 1 {
			continue
		}
		if whole := (subject{}).String(); len(tables) > 1 || t.Groups[0].Name != whole {
			t.Title += ": " + t.Groups[0].Name
		}
		t.Groups[0].Name = ""
		sharedTags(t)
	}
}

// String names the subject.
func (sub subject) String() string {
	switch {
	case sub.group == "" && sub.op == "":
		return "whole step"
	case sub.group == "" || sub.group == sub.op:
		return sub.op
	case sub.op == "":
		return "group " + sub.group
	}
	return sub.op + " (group " + sub.group + ")"
}

// fewColumns is the number of metrics that fit side by side for every denominator.
const fewColumns = 3

// perTables returns a step's numbers as metricTables does, but with a group of
// rows per denominator if there are many: the same costs per query, per row and
// per operation would be too wide side by side. The page's data has all.
func perTables(s *step, section metric.Section, note string, n *page.Notes) []page.Table {
	var columns, remaining, denominators []string
	for _, m := range metric.InSection(section) {
		keys := s.Keys(m)
		if len(keys) == 0 {
			continue
		}
		if slices.ContainsFunc(keys, func(k key) bool {
			return k.Per == "" || k.Per == "step" || k.Group != "" ||
				k.Op != ""
		}) {
			remaining = append(remaining, m)
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
	whole := tablesOf(s, name, note, remaining, n)
	t := page.Table{Title: name, Note: note, Head: "target"}
	for _, m := range columns {
		t.Columns = append(t.Columns, metricColumn(key{Metric: m}))
	}
	for _, per := range ownDenominators(s, denominators) {
		t.Groups = append(t.Groups, page.Group{Name: "per " + per,
			Rows: targetRows(s.c.Targets, columns, func(t *target, name string) page.Cell {
				return s.cell(t, s.c.Targets[0], key{Metric: name, Per: per}, n)
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
