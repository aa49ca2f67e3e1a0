package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/metric"
)

// Table is a table of the page, ready to be shown in any format.
type Table struct {
	Title   string
	Note    string // a sentence below the title
	Head    string // heads the first column
	Columns []Column
	Groups  []RowGroup
	Folded  bool // long and seldom read: shown when asked for
	keys    []key
}

// Column is a column's head.
type Column struct {
	Name, Sub string
	Title     string // what it means
	Metric    string // the glossary's entry, if it has one
	Link      string // id of the section it leads to
}

// RowGroup is some rows under a common head.
type RowGroup struct {
	Name, Title, Metric string   // "" without a head of its own
	Link                string   // id of the section it leads to
	Subs                []string // what the columns' numbers are of or per; may be nil
	Rows                []TableRow
}

// TableRow is a row. Target is the target's index, -1 for other rows.
type TableRow struct {
	Head      string
	Target    int
	Cells     []Cell
	Elsewhere bool // published figures, which were not measured here
}

// Cell is a cell: a number with its ratio to the base and its doubts, or text.
type Cell struct {
	Text    string
	Per     string // the denominator, where it is not the column's
	Ratio   string // "" without one
	Verdict string // how it compares with the base, as a style
	Arrow   string // the same as a sign
	Tag     string // why it cannot be compared; then it is hatched
	Title   string
	Notes   []Note
	Rows    string // positions of the rows behind it among those of the page
	Value   string // the value in full
	Number  bool   // aligned as a number
	Absent  bool
	Differs bool // marked: it differs from its neighbours
}

// Marks are the numbers of the cell's notes, as "⚠1,2".
func (c Cell) Marks() string {
	if len(c.Notes) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("⚠")
	for i, n := range c.Notes {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, "%d", n.Number)
	}
	return b.String()
}

func textCell(s string) Cell { return Cell{Text: s} }

func absentCell(why string) Cell {
	return Cell{Text: unknown, Title: why, Absent: true, Number: true}
}

// cell shows a number of a target beside that of the base.
func (s *step) cell(t, base *target, k key, n *notes) Cell {
	num := s.number(t, k)
	if num.Missing != "" {
		return absentCell(num.Missing)
	}
	c := s.plainCell(num, n)
	if len(num.Rows) < len(t.Trials) {
		c.Title += fmt.Sprintf("; from %d of %d trials", len(num.Rows), len(t.Trials))
	}
	if why := s.Unlike(base, t); why != "" {
		c.Tag = "not compared"
		c.Title += "; not compared: " + why
		n.mark(t.Name + " in " + s.Name + ": " + why + ". It is not compared with " + base.Name + " there.")
	}
	doubts := s.Doubts(t)
	if len(doubts) > 0 {
		c.Tag = tagged(num, doubts[0])
		c.Title += "; not comparable: " + strings.Join(doubts, ", ")
		n.mark(t.Name + " in " + s.Name + ": " + strings.Join(doubts, ", ") + ". Its numbers are not comparable there.")
	}
	if e := s.effect(t, base, k); e != nil {
		c.compare(e, base.Name)
	}
	return c
}

// tagged puts a reason not to compare a number behind what it is instead of a
// percentile.
func tagged(n number, why string) string {
	if few := n.Few(); few != "" {
		return few + ", " + why
	}
	return why
}

func (c *Cell) compare(e *compare.Effect, base string) {
	m := markOf(e)
	c.Verdict, c.Arrow = m.class, m.sign
	if e.Verdict == "" && e.Why != "" {
		if e.New.Missing == "" && c.Tag == "" { // else the reason is there already
			c.Title += "; not compared: " + e.Why
		}
		return
	}
	if !math.IsNaN(e.Ratio) {
		c.Ratio = times(e.Ratio)
	} else if e.New.Value != 0 && c.Verdict != "" {
		c.Ratio = "from 0" // no ratio, but a difference all the same
	}
	if words := inWords(e, base); words != "" {
		c.Title += "; " + words
	}
}

// plainCell shows a number without comparing it.
func (c *campaign) plainCell(num number, n *notes) Cell {
	if num.Missing != "" {
		return absentCell(num.Missing)
	}
	cell := Cell{Text: num.String(), Title: num.hover(), Number: true, Value: full(num.Value), Rows: c.positions(num), Tag: num.Few()}
	for _, w := range num.Warnings {
		cell.Notes = withNote(cell.Notes, n.mark(w))
	}
	return cell
}

// metricColumn heads a column of a metric.
func metricColumn(k key) Column {
	c := Column{Name: title(k.Metric), Metric: k.Metric, Sub: k.Per}
	if k.Per != "" {
		c.Sub = "per " + k.Per
	}
	if m := metric.ByName(k.Metric); m != nil {
		c.Title = m.Name + ", " + unitName(m.Unit) + ": " + m.Meaning()
	} else {
		c.Title = k.Metric
	}
	return c
}

func unitName(u string) string {
	if u == "1/s" {
		return "per second"
	}
	return u
}

func title(name string) string { return metric.Label(name) }

// subject is what some numbers are about.
type subject struct{ group, op string }

// metricTables show a step's numbers with a column per metric and denominator,
// and for every group and operation kind a row per target. Subjects with other
// columns get a table of their own, so that no table is full of holes.
func (s *step) metricTables(name, note string, targets []*target, metrics []string, n *notes) []Table {
	var subjects []subject
	columns := map[subject][]key{}
	for _, k := range s.Keys(metrics...) {
		sub := subject{k.Group, k.Op}
		subjects = appendOnce(subjects, sub)
		columns[sub] = append(columns[sub], key{Metric: k.Metric, Per: k.Per})
	}
	slices.SortStableFunc(subjects, func(a, b subject) int { return cmp.Compare(s.place(a), s.place(b)) })
	var out []Table
	for _, sub := range subjects {
		group := RowGroup{Name: sub.String(), Rows: s.subjectRows(sub, columns[sub], targets, n)}
		if t := tableWith(out, columns[sub]); t != nil {
			t.Groups = append(t.Groups, group)
			continue
		}
		t := Table{Title: name, Note: note, Head: "target", keys: columns[sub], Groups: []RowGroup{group}}
		for _, k := range columns[sub] {
			t.Columns = append(t.Columns, metricColumn(k))
		}
		out = append(out, t)
	}
	nameTables(out)
	return out
}

// place puts what the step is about before what goes on beside it.
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

// nameTables say in the title what a table with one group is about.
func nameTables(tables []Table) {
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
	}
}

func tableWith(tables []Table, columns []key) *Table {
	for i := range tables {
		if slices.Equal(tables[i].keys, columns) {
			return &tables[i]
		}
	}
	return nil
}

func (s *step) subjectRows(sub subject, columns []key, targets []*target, n *notes) []TableRow {
	var rows []TableRow
	for _, t := range targets {
		row := TableRow{Head: t.Name, Target: t.Index}
		for _, c := range columns {
			row.Cells = append(row.Cells, s.cell(t, targets[0], key{Group: sub.group, Op: sub.op, Metric: c.Metric, Per: c.Per}, n))
		}
		rows = append(rows, row)
	}
	return rows
}

// String names the subject for people.
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

func appendOnce[T comparable](list []T, v T) []T {
	for _, o := range list {
		if o == v {
			return list
		}
	}
	return append(list, v)
}

// Right tells whether a column holds numbers, which stand to the right.
func (t Table) Right(column int) bool {
	for _, g := range t.Groups {
		for _, r := range g.Rows {
			if c := r.Cells[column]; c.Number && !c.Absent {
				return true
			}
		}
	}
	return false
}

// Empty tells whether the table has nothing to show.
func (t Table) Empty() bool {
	for _, g := range t.Groups {
		if len(g.Rows) > 0 {
			return false
		}
	}
	return true
}
