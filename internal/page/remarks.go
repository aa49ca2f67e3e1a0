package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rumbench/internal/text/quantity"
)

// remarks are the notes of a document as a reader meets them: a number's notes
// are marked once, at the head of its column or group, and counted below.
type remarks map[string]*ordered // by the ids of notes

// ordered is a note in the order of reading, with the numbers that it is about.
type ordered struct {
	number int               // 0: of no table that is shown
	marked map[string]string // the numbers with the note, and their series; "" for none
	all    map[string]string // the numbers in the same columns
}

// remarksOf reads the notes of a document's tables. Without all, folded tables get
// no numbers.
func remarksOf(d *Document, all bool) remarks {
	r := remarks{}
	last := map[string]int{}
	r.read(d.Lead, true, all, last)
	for _, s := range d.Sections {
		r.read(s.Blocks, all || !s.Folded, all, last)
	}
	return r
}

// read numbers the notes of tables in the order of their marks, each section's from
// 1: last are the numbers assigned so far.
func (r remarks) read(blocks []Block, shown, all bool, last map[string]int) {
	for _, b := range blocks {
		switch b := b.(type) {
		case Table:
			r.table(&b, shown, last)
		case Grid:
			for i := range b.Tables {
				r.table(&b.Tables[i], shown, last)
			}
		case Beside:
			r.read(b, shown, all, last)
		case Medium:
			r.read(b.Written, shown, all, last)
		case Panels:
			for _, cell := range b.Cells {
				r.read(cell, shown, all, last)
			}
		case Folds:
			for _, f := range b {
				r.read(f.Blocks, shown && all, all, last)
			}
		}
	}
}

func (r remarks) table(t *Table, shown bool, last map[string]int) {
	for _, m := range t.marked() {
		numbers := map[string]string{}
		for _, n := range m.notes {
			if r[n.ID] == nil {
				r[n.ID] = &ordered{marked: map[string]string{}, all: map[string]string{}}
			}
			if section := n.ID[:strings.LastIndexByte(n.ID, 'n')+1]; shown && r[n.ID].number == 0 {
				last[section]++
				r[n.ID].number = last[section]
			}
		}
		if len(m.notes) == 0 || !shown {
			continue
		}
		for _, c := range m.cells {
			numbers[c.id] = c.series
			for _, n := range c.Notes {
				r[n.ID].marked[c.id] = c.series
			}
		}
		for _, n := range m.notes {
			maps.Copy(r[n.ID].all, numbers)
		}
	}
}

// marking is a head of numbers, marked with their notes.
type marking struct {
	group, column int // the group's own head if column is < 0; the column's head if group is < 0
	cells         []markedCell
	notes         []Note
}

type markedCell struct {
	*Cell
	id     string // the same number in a different table has the same
	series string // the name of the row's series; "" if it has none
}

// marked returns the heads of a table with numbers that have notes: those of its
// groups if each group has a different number, else those of its columns.
func (t *Table) marked() (out []marking) {
	if t.byGroup() {
		for g := range t.Groups {
			m := marking{group: g, column: -1}
			for i := range t.Columns {
				m.add(&t.Groups[g], i)
			}
			out = append(out, m)
		}
		return out
	}
	for i := range t.Columns {
		m := marking{group: -1, column: i}
		for g := range t.Groups {
			m.add(&t.Groups[g], i)
		}
		out = append(out, m)
	}
	return out
}

func (t *Table) byGroup() bool {
	return slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Name != "" && g.Subs != nil })
}

func (m *marking) add(g *Group, column int) {
	for r := range g.Rows {
		row := &g.Rows[r]
		if column >= len(row.Cells) || !row.Cells[column].Number || row.Cells[column].Absent {
			continue
		}
		c := &row.Cells[column]
		subject, _, _ := strings.Cut(c.Title, ";")
		series := row.Head
		if row.Series < 0 {
			series = ""
		}
		m.cells = append(m.cells, markedCell{c, fmt.Sprint(row.Series, row.Head, "\n", c.Text, "\n", subject), series})
		for _, n := range c.Notes {
			if !slices.ContainsFunc(m.notes, func(o Note) bool { return o.ID == n.ID }) {
				m.notes = append(m.notes, n)
			}
		}
	}
}

// heads are the notes marked at the heads of a table's columns and groups.
type heads struct{ Columns, Groups [][]Note }

// heads returns the notes of a table's heads, numbered in the order of reading.
func (r remarks) heads(t Table) heads {
	h := heads{make([][]Note, len(t.Columns)), make([][]Note, len(t.Groups))}
	for _, m := range t.marked() {
		notes := slices.Clone(m.notes)
		for i := range notes {
			notes[i].Number = r[notes[i].ID].number
		}
		slices.SortFunc(notes, func(a, b Note) int { return cmp.Compare(a.Number, b.Number) })
		if m.column < 0 {
			h.Groups[m.group] = notes
		} else {
			h.Columns[m.column] = notes
		}
	}
	return h
}

// list returns the notes that are shown, in the order of reading, with the numbers
// they are about; notes about no number come last.
func (r remarks) list(n *Notes) (out []Note) {
	var remaining []Note
	for _, note := range n.List {
		numbered, ok := r[note.ID]
		switch {
		case !ok:
			remaining = append(remaining, note)
		case numbered.number > 0:
			note.Number, note.Text = numbered.number, numbered.count()+note.Text
			out = append(out, note)
		}
	}
	slices.SortFunc(out, func(a, b Note) int { return cmp.Compare(a.Number, b.Number) })
	for _, note := range remaining {
		note.Number = len(out) + 1
		out = append(out, note)
	}
	return out
}

// count returns the number of numbers that a note is about, in words.
func (r *ordered) count() string {
	switch marked, all := len(r.marked), len(r.all); {
	case all == 1:
		return ""
	case marked == all:
		return fmt.Sprintf("all %d numbers: ", all)
	default:
		return fmt.Sprintf("%d of %d numbers%s: ", marked, all, r.series())
	}
}

// series names the series that a note is about, if these are only some of several.
func (r *ordered) series() string {
	marked, all := series(r.marked), series(r.all)
	if slices.Contains(marked, "") || len(marked) == len(all) || len(marked) > maxSeries {
		return ""
	}
	return ", of " + quantity.Joined(marked)
}

const maxSeries = 4

func series(byName map[string]string) []string {
	names := slices.Sorted(maps.Values(byName))
	return slices.Compact(names)
}

// marks returns the numbers of notes, as "⚠1,2".
func marks(notes []Note) string { return Cell{Notes: notes}.Marks() }
