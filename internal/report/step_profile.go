package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rumbench/internal/compare"
	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/page"
	"rumbench/internal/page/flame"
	"rumbench/internal/report/verdict"
	"rumbench/internal/text/quantity"
)

// Profile is the profile of a target in a step, of all trials that were profiled.
type Profile struct {
	Target, Engine, Step string
	Per                  string                        // the denominator of costs: "insert row"
	CPU                  profile.Work                  // without a profile if none can be used
	Locks                map[string][]profile.LockCost // by profile.LockProfiles
	Warnings             []string
	InExtra
}

// InExtra is the data that only trials run for their profiles have.
type InExtra struct {
	Units  float64                // of Per in the window
	Files  *blockio.Files         // nil: not traced
	Asleep *profile.Asleep        // nil: not measured
	Device map[blockio.Op]float64 // KB read and written per unit, from the step's costs, by blockio.Op
}

// OfServer returns the profile of the engine.
func (p *Profile) OfServer() profile.Work {
	return profile.Work{Profile: p.CPU.Of(profile.Server), Units: p.CPU.Units}
}

// sides are the owners of CPU time other than the engine.
var sides = []struct {
	side profile.Side
	name string
}{
	{profile.Runtime, "Go runtime (collector, scheduler)"}, {profile.Client, "clients"},
	{profile.Kernel, "the kernel’s threads"}, {profile.Other, "other programs"},
}

const inAll = "engine total"

// ProfileTable shows where the CPU time of a step was spent: a row for each subsystem
// of the engines, and for each other side, a column for each target.
func ProfileTable(list []*Profile) page.Table {
	t := page.Table{Title: "CPU time by subsystem", Head: "µs per " + list[0].Per,
		Note: "Each stack counts for its innermost known subsystem. One sample represents " + sampleOf(list) + "."}
	costs := map[string][]float64{}
	put := func(name string, target int, cost float64) {
		if costs[name] == nil {
			costs[name] = make([]float64, len(list))
		}
		costs[name][target] += cost
	}
	var subsystems []string
	const background = "of which background"
	for i, p := range list {
		t.Columns = append(t.Columns, page.Column{Name: p.Target})
		server := p.OfServer()
		for k := range server.Samples {
			s := &server.Samples[k]
			name := string(server.SubsystemOf(s))
			subsystems = compare.AppendNew(subsystems, name)
			cost := float64(s.CPU().Nanoseconds()) / 1e3 / server.Units
			put(name, i, cost)
			put(inAll, i, cost)
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
	rows := append(subsystems, inAll, background)
	for _, side := range sides {
		rows = append(rows, side.name)
	}
	for _, name := range rows {
		if costs[name] != nil && slices.Max(costs[name]) > 0 {
			t.Add(costRow(name, costs[name]...))
		}
	}
	return t
}

// hottest returns the functions that take most of a subsystem's CPU time on a target, by the samples of its trials:
// “b: 1.20 µs bbolt.(*node).spill, …”; "" without samples.
func hottest(s *compare.Step, t *target, name profile.Subsystem) string {
	var works []profile.Work
	for _, r := range s.Runs[t] {
		if w, err := r.Trial.ReadCPUProfile(r.Step); err == nil {
			works = append(works, w)
		}
	}
	if len(works) == 0 {
		return ""
	}
	all := profile.Merge(works...)
	functions := all.Only(func(x *profile.Sample) bool {
		return (x.Side == profile.Server || x.Side == profile.Runtime) && all.SubsystemOf(x) == name
	}).Functions(all.Units)
	const shown = 4
	texts := quantity.Texts(functions[:min(shown, len(functions))],
		func(c profile.Cost) string { return quantity.Micros(c.Self) + " " + c.Name })
	if len(texts) == 0 {
		return ""
	}
	return t.Name + ": " + strings.Join(texts, ", ")
}

// sampleOf returns the CPU time per unit that a sample of each target represents:
// smaller differences are none.
func sampleOf(list []*Profile) string {
	return quantity.Joined(quantity.Texts(list, func(p *Profile) string {
		return quantity.Digits(float64(p.CPU.Period.Nanoseconds())/1e3/p.CPU.Units) + " µs of " + p.Target
	}))
}

func costCell(v float64) page.Cell { return page.Exact(quantity.Digits(v), quantity.Full(v)) }

func costRow(name string, costs ...float64) page.Row {
	row := plainRow(name)
	for _, v := range costs {
		row.Cells = append(row.Cells, costCell(v))
	}
	return row
}

// FunctionTable lists the functions of an engine with the most CPU time of their own.
func FunctionTable(p *Profile, limit int) page.Table {
	t := page.Table{Title: "Functions of " + p.Target, Head: "µs per " + p.Per,
		Columns: []page.Column{{Name: "self"}, {Name: "total", Title: "with the functions that it called"}, {Name: "in"}}}
	server := p.OfServer()
	for _, f := range server.Functions(server.Units)[:min(limit, len(server.Functions(server.Units)))] {
		t.Add(plainRow(f.Name, costCell(f.Self), costCell(f.Total), page.Words(f.Image)))
	}
	return t
}

// lockTitles describe the profiles of waits.
var lockTitles = map[string]string{"block": "Waits for locks, by who waited",
	"mutex": "Waits for locks, by who held them"}

// LockTables list the functions of an embedded engine that waited for locks, and the
// functions that held them.
func LockTables(p *Profile, high int) (out []page.Table) {
	const low = 0.01 // of the greatest
	for _, kind := range profile.LockProfiles {
		t := page.Table{Title: lockTitles[kind] + ": " + p.Target, Head: "µs per " + p.Per,
			Columns: []page.Column{{Name: "waiting"}, {Name: "waits"}}}
		for _, c := range p.Locks[kind][:min(high, len(p.Locks[kind]))] {
			if c.Cost < low*p.Locks[kind][0].Cost {
				break
			}
			t.Add(costRow(c.Function, c.Cost, c.Waits))
		}
		if !t.Empty() {
			out = append(out, t)
		}
	}
	return out
}

// ChangedSubsystems compares two profiles by subsystem.
func ChangedSubsystems(base, next *Profile) page.Block {
	subsystems, err := profile.CompareSubsystems(base.OfServer(), next.OfServer())
	if err != nil {
		return page.Prose("about", verdict.Sentence(err.Error()))
	}
	t := page.Table{Title: "CPU time of " + next.Target + " against " + base.Target, Head: "µs per " + base.Per,
		Columns: changeColumns(base, next)}
	t.Columns = append(t.Columns, page.Column{})
	list := append(slices.Clone(subsystems.Children), subsystems)
	slices.SortStableFunc(list, func(a, b *profile.Node) int {
		return cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change()))
	})
	for _, n := range list {
		name := n.Name
		if n == subsystems {
			name = inAll
		}
		t.Add(plainRow(name, append(changeCells(n), page.Words(mark(n)))...))
	}
	return t
}

// ChangedFunctions lists the functions that differ between two profiles of one engine.
func ChangedFunctions(base, next *Profile, limit int) (out []page.Table) {
	self, total := profile.CompareFunctions(base.OfServer(), next.OfServer())
	for _, entry := range []struct {
		title string
		root  *profile.Node
	}{{"Functions whose self time differs", self}, {"Functions whose total time differs", total}} {
		t := page.Table{Title: entry.title + ": " + next.Target + " against " + base.Target, Head: "µs per " + base.Per,
			Columns: changeColumns(base, next),
			Note:    "Beyond chance: by the seconds of each side, and by what trials differ by."}
		changed := entry.root.Changed()
		for _, n := range changed[:min(limit, len(changed))] {
			t.Add(plainRow(n.Name, changeCells(n)...))
		}
		if !t.Empty() {
			out = append(out, t)
		}
	}
	return out
}

func changeColumns(base, next *Profile) []page.Column {
	return []page.Column{{Name: base.Target}, {Name: next.Target}, {Name: "change"}}
}

func changeCells(n *profile.Node) []page.Cell {
	sign := ""
	if n.Change() > 0 {
		sign = "+"
	}
	return []page.Cell{costCell(n.Base), costCell(n.New), {Text: sign + quantity.Digits(n.Change()), Number: true}}
}

// mark returns how certain a difference is.
func mark(n *profile.Node) string {
	switch {
	case n.Different():
		return "differs"
	case math.IsNaN(n.P):
		return "too few samples"
	}
	return "may be chance"
}

// Flame returns the flame graph of the engine.
func (p *Profile) Flame() *flame.Graph {
	return &flame.Graph{Title: p.Target + " in " + p.Step, Unit: "µs per " + p.Per, Base: p.Target,
		Root: flameOf(profile.Tree(p.OfServer()))}
}

// FlameAgainst returns the flame graph of the difference to a base, of the same engine.
func (p *Profile) FlameAgainst(base *Profile) *flame.Graph {
	return &flame.Graph{Title: p.Target + " against " + base.Target + " in " + p.Step, Unit: "µs per " + p.Per,
		Base: base.Target, New: p.Target, Root: flameOf(profile.Compare(base.OfServer(), p.OfServer()))}
}

func flameOf(n *profile.Node) *flame.Node {
	out := &flame.Node{Name: n.Name, Base: n.Base, New: n.New, Differs: n.Different()}
	for _, c := range n.Children {
		out.Children = append(out.Children, flameOf(c))
	}
	return out
}

// image returns a flame graph of its larger boxes: a report may have many.
func image(g *flame.Graph) page.Block {
	g.Least = 0.01
	var b strings.Builder
	_ = g.Draw(&b) // a strings.Builder takes everything
	return page.Medium{Drawn: []page.Block{page.Image{Caption: "Where CPU time goes (the whole graph, to zoom: " +
		"rumbench profile --svg FILE)", SVG: b.String()}}}
}

// profileFold returns the profiles of a step as a report shows them: one table of all
// targets, and the changes between targets of one engine; nothing without profiles.
func profileFold(s *step) (blocks []page.Block, tables []page.Table) {
	const limit = 10
	var list []*Profile
	for _, t := range s.c.Targets {
		for _, p := range s.c.in.Profiles {
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
		tables = append(tables, LockTables(p, limit)...)
	}
	first := map[string]*Profile{} // of each engine
	for _, p := range list {
		base := first[p.Engine]
		if base == nil {
			first[p.Engine] = p
			if !slices.ContainsFunc(list, func(o *Profile) bool { return o != p && o.Engine == p.Engine }) {
				blocks = append(blocks, image(p.Flame())) // no target to compare it with
			}
			continue
		}
		tables = append(tables, ChangedFunctions(base, p, limit)...)
		blocks = append(blocks, image(p.FlameAgainst(base)))
	}
	return blocks, tables
}

// transfers are the columns of FileTable.
var transfers = []blockio.Op{blockio.Read, blockio.Write, blockio.Discard}

// transferred is the I/O on files of a class, per unit.
type transferred struct {
	name     string
	kb       [3]float64 // as transfers
	requests float64    // reads and writes
}

func sumTransfers(name string, list []transferred) transferred {
	sum := transferred{name: name}
	for _, t := range list {
		for i, v := range t.kb {
			sum.kb[i] += v
		}
		sum.requests += t.requests
	}
	return sum
}

// FileTable shows the reads and writes of the device in a step, by class of file, and
// the sum next to the device's own count. Tables beyond the most written are one row.
func FileTable(p *Profile, limit int) page.Table {
	t := page.Table{Title: "Files of " + p.Target, Head: "KB per " + p.Per,
		Columns: []page.Column{{Name: "read"}, {Name: "written"}, {Name: "discarded"},
			{Name: "requests", Title: "that read or write, per " + p.Per}},
		Note: "By the requests that the device was given, the sync after the step included."}
	list := byClass(p)
	all := sumTransfers("in all", list)
	remaining := sumTransfers("other classes and tables", list[min(limit, len(list)):])
	if list = list[:min(limit, len(list))]; remaining != (transferred{name: remaining.name}) {
		list = append(slices.Clip(list), remaining)
	}
	for _, c := range append(list, all) {
		t.Add(costRow(c.name, append(c.kb[:], c.requests)...))
	}
	read, found := p.Device[blockio.Read]
	if written, too := p.Device[blockio.Write]; found && too {
		row := costRow("the device, without rumbench’s own files", read, written)
		apart := page.Absent("see the step’s costs")
		row.Cells = append(row.Cells, apart, apart)
		t.Add(row)
	}
	return t
}

// byClass sums the rows of classes, the most KB first.
func byClass(p *Profile) (list []transferred) {
	at := map[blockio.Class]int{}
	for _, r := range p.Files.Rows {
		if r.Op == blockio.Flush {
			continue
		}
		i, found := at[r.Class]
		if !found {
			i = len(list)
			at[r.Class] = i
			list = append(list, transferred{name: r.Use})
			if r.Name != "" {
				list[i].name += ": " + r.Name
			}
		}
		list[i].kb[slices.Index(transfers, r.Op)] += r.KB / p.Units
		if r.Op != blockio.Discard {
			list[i].requests += float64(r.Requests) / p.Units
		}
	}
	slices.SortFunc(list, func(a, b transferred) int {
		return cmp.Or(cmp.Compare(b.kb[1]+b.kb[0], a.kb[1]+a.kb[0]), cmp.Compare(a.name, b.name))
	})
	return list
}

// SleepTable shows where the threads of a target slept longest.
func SleepTable(p *Profile, limit int) page.Table {
	t := page.Table{Title: "Where threads of " + p.Target + " slept", Head: "µs per " + p.Per,
		Columns: []page.Column{{Name: "asleep"}, {Name: "threads", Title: "on average"}, {Name: "system call"},
			{Name: "kernel"}, {Name: "file"}}, Note: fmt.Sprintf("From %d samples of /proc.", p.Asleep.Looks)}
	for _, s := range p.Asleep.Sleeps[:min(limit, len(p.Asleep.Sleeps))] {
		cost, threads := float64(s.Time.Nanoseconds())/1e3/p.Units, float64(s.Time)/float64(p.Asleep.Window)
		t.Add(plainRow(s.Thread, costCell(cost), costCell(threads), page.Words(s.Syscall), page.Words(s.Kernel),
			page.Words(s.File)))
	}
	return t
}
