package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/page"
	"rumbench/internal/profile"
	"rumbench/internal/quantity"
)

// Profile is the profile of a target in a step, of all trials that were profiled.
type Profile struct {
	Target, Engine, Step string
	Per                  string                        // what costs are per: "insert row"
	CPU                  profile.Work                  // without a profile where there is none that can be used
	Locks                map[string][]profile.LockCost // by profile.LockProfiles
	Warnings             []string
}

// OfServer returns the profile of the engine.
func (p *Profile) OfServer() profile.Work {
	return profile.Work{Profile: p.CPU.Of(profile.Server), Units: p.CPU.Units}
}

// sides are whose CPU time is beside the engine's.
var sides = []struct {
	side profile.Side
	name string
}{{profile.Runtime, "Go runtime (collector, scheduler)"}, {profile.Client, "clients"}, {profile.Kernel, "the kernel’s threads"}, {profile.Other, "other programs"}}

// ProfileTable shows where the CPU time of a step went: a row for each subsystem of the
// engines, and for each other side, a column for each target.
func ProfileTable(list []*Profile) page.Table {
	t := page.Table{Title: "CPU time by subsystem", Head: "µs per " + list[0].Per, Note: "Sampled; of stacks with functions of several subsystems, the innermost one's."}
	costs := map[string][]float64{}
	put := func(name string, target int, cost float64) {
		if costs[name] == nil {
			costs[name] = make([]float64, len(list))
		}
		costs[name][target] += cost
	}
	var subsystems []string
	const whole = "engine in all"
	const background = "of it, in the background"
	for i, p := range list {
		t.Columns = append(t.Columns, page.Column{Name: p.Target})
		server := p.OfServer()
		for k := range server.Samples {
			s := &server.Samples[k]
			name := string(server.SubsystemOf(s))
			subsystems = compare.AppendNew(subsystems, name)
			cost := float64(s.CPU().Nanoseconds()) / 1e3 / server.Units
			put(name, i, cost)
			put(whole, i, cost)
			if s.Thread == profile.Background {
				put(background, i, cost)
			}
		}
		for _, side := range sides {
			put(side.name, i, p.CPU.Of(side.side).PerUnit(p.CPU.Units))
		}
	}
	slices.SortStableFunc(subsystems, func(a, b string) int {
		return cmp.Compare(slices.Max(costs[b]), slices.Max(costs[a]))
	})
	rows := append(subsystems, whole, background)
	for _, side := range sides {
		rows = append(rows, side.name)
	}
	for _, name := range rows {
		if costs[name] == nil || slices.Max(costs[name]) == 0 {
			continue
		}
		row := page.Row{Head: name, Series: -1}
		for _, v := range costs[name] {
			row.Cells = append(row.Cells, costCell(v))
		}
		t.Add(row)
	}
	return t
}

func costCell(v float64) page.Cell {
	return page.Exact(quantity.Digits(v), quantity.Full(v))
}

// FunctionTable lists the functions of an engine with the most CPU time of their own.
func FunctionTable(p *Profile, most int) page.Table {
	t := page.Table{Title: "Functions of " + p.Target, Head: "µs per " + p.Per,
		Columns: []page.Column{{Name: "self"}, {Name: "total", Title: "with the functions that it called"}, {Name: "in"}}}
	server := p.OfServer()
	for _, f := range server.Functions(server.Units)[:min(most, len(server.Functions(server.Units)))] {
		t.Add(plainRow(f.Name, costCell(f.Self), costCell(f.Total), page.Words(f.Image)))
	}
	return t
}

// lockTitles say what profiles of waits are of.
var lockTitles = map[string]string{"block": "Waits for locks, by who waited", "mutex": "Waits for locks, by who held them"}

// LockTables list the functions of an embedded engine that waited for locks, and those
// that held them.
func LockTables(p *Profile, most int) (out []page.Table) {
	for _, kind := range profile.LockProfiles {
		t := page.Table{Title: lockTitles[kind] + ": " + p.Target, Head: "µs per " + p.Per, Columns: []page.Column{{Name: "waiting"}, {Name: "waits"}}}
		for _, c := range p.Locks[kind][:min(most, len(p.Locks[kind]))] {
			t.Add(plainRow(c.Function, costCell(c.Cost), costCell(c.Waits)))
		}
		if !t.Empty() {
			out = append(out, t)
		}
	}
	return out
}

// ChangedTables compare two profiles: by subsystem, and of one engine by function.
func ChangedTables(base, next *Profile, most int) (out []page.Block) {
	columns := []page.Column{{Name: base.Target}, {Name: next.Target}, {Name: "change"}, {Name: ""}}
	subsystems, err := profile.CompareSubsystems(base.OfServer(), next.OfServer())
	if err != nil {
		out = append(out, page.Prose("about", sentence([]string{err.Error()})))
	} else {
		t := page.Table{Title: "CPU time of " + next.Target + " against " + base.Target, Head: "µs per " + base.Per, Columns: columns}
		list := append(slices.Clone(subsystems.Children), subsystems)
		slices.SortStableFunc(list, func(a, b *profile.Node) int { return cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change())) })
		for _, n := range list {
			t.Add(plainRow(n.Name, changeCells(n, mark(n))...))
		}
		out = append(out, t)
	}
	if base.Engine != next.Engine {
		return append(out, page.Prose("about", "Their engines differ, so that they are compared by subsystem alone."))
	}
	changed := profile.Compare(base.OfServer(), next.OfServer()).Changed()
	if len(changed) == 0 {
		return append(out, page.Prose("about", "No function of 1 % or more of the CPU time differs by more than 3 standard errors."))
	}
	t := page.Table{Title: "Functions that differ", Head: "µs per " + base.Per, Columns: append(columns[:3:3], page.Column{Name: "called by"}),
		Note: "With what they called, in the same stack; beyond 3 standard errors, after Benjamini and Hochberg."}
	for _, c := range changed[:min(most, len(changed))] {
		t.Add(plainRow(c.Name, changeCells(c.Node, callers(c.Callers))...))
	}
	return append(out, t)
}

func changeCells(n *profile.Node, last string) []page.Cell {
	sign := ""
	if n.Change() > 0 {
		sign = "+"
	}
	return []page.Cell{costCell(n.Base), costCell(n.New), {Text: sign + quantity.Digits(n.Change()), Number: true}, page.Words(last)}
}

// mark says how sure a difference is.
func mark(n *profile.Node) string {
	switch {
	case n.Different():
		return "differs"
	case math.IsNaN(n.P):
		return "too few samples"
	}
	return "may be chance"
}

// callers names the last callers of a function.
func callers(names []string) string {
	const most = 3
	names = names[min(1, len(names)):] // the root is no function
	if len(names) > most {
		names = append([]string{"…"}, names[len(names)-most:]...)
	}
	return strings.Join(names, " › ")
}

// profileFold returns the profiles of a step as a report shows them: one table of all
// targets, and what changed between targets of one engine; nothing without profiles.
func profileFold(s *step) (blocks []page.Block, tables []page.Table) {
	const most = 10
	var list []*Profile
	for _, t := range s.c.Targets {
		for _, p := range s.c.profiles {
			if p.Target != t.Name || p.Step != s.Name {
				continue
			}
			for _, w := range p.Warnings {
				blocks = append(blocks, page.Prose("about", t.Name+": "+w))
			}
			if p.CPU.Profile != nil {
				list = append(list, p)
			}
		}
	}
	if len(list) == 0 {
		return blocks, nil
	}
	tables = []page.Table{ProfileTable(list)}
	for _, p := range list {
		tables = append(tables, LockTables(p, most)...)
	}
	for _, p := range list[1:] {
		if p.Engine != list[0].Engine {
			continue
		}
		for _, b := range ChangedTables(list[0], p, most) {
			if t, ok := b.(page.Table); ok {
				t.Title = fmt.Sprintf("%s: %s against %s", t.Title, p.Target, list[0].Target)
				tables = append(tables, t)
			}
		}
	}
	return blocks, tables
}
