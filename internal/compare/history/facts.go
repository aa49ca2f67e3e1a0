package history

import (
	"maps"
	"slices"
	"strconv"

	"rumbench/engine"
	"rumbench/internal/compare"
	"rumbench/internal/result"
)

// fact names a recorded fact about a trial.
type fact struct{ kind, name string }

// factsOf returns all facts about a trial, and their names in order.
func factsOf(t *result.Trial) (names []fact, values map[fact]string) {
	values = map[fact]string{}
	add := func(kind, name, v string) {
		f := fact{kind, name}
		if old, ok := values[f]; ok {
			v = old + ", " + v
		} else {
			names = append(names, f)
		}
		values[f] = v
	}
	for _, v := range t.Versions {
		add(Version, v.Name, v.Value)
	}
	if program := t.Program(); program != "" {
		add(Version, result.ProgramFact, program)
	}
	if t.Interval > 0 { // else it was imported, and neither is known
		add(PlanKey, "seed", t.SeedText())
		if t.Start != nil {
			add(PlanKey, "start", t.StartText())
		}
		add(PlanKey, "interval", strconv.FormatFloat(t.Interval, 'g', -1, 64)+"s")
	}
	for _, name := range slices.Sorted(maps.Keys(t.Knobs)) {
		if name != "durability" { // within a series it is the same
			add(Knob, name, t.Knobs[name])
		}
	}
	for _, s := range t.Settings {
		if s.Name != engine.ServerVersion && s.Name != "durability" { // a version; within a series it is the same
			add(Setting, s.Name, s.Value)
		}
	}
	for _, f := range t.Host {
		add(HostFact, f.Name, f.Value)
	}
	return names, values
}

// factChanges returns the facts that differ between the run of a point and the
// run before.
func (s *Series) factChanges(position int) []Fact {
	trials := make([]*result.Trial, len(s.Points))
	for i, p := range s.Points {
		trials[i] = p.trial
	}
	return factChanges(trials, position)
}

// Versions returns, for each point, the versions that differ from those of the point before.
func (s *Series) Versions() [][]Fact {
	out := make([][]Fact, len(s.Points))
	for i := 1; i < len(s.Points); i++ {
		before, now := s.Points[i-1].trial.Versions, s.Points[i].trial.Versions
		for _, v := range now {
			if old := before.Value(v.Name); old != v.Value {
				out[i] = append(out[i], Fact{Version, v.Name, old, v.Value})
			}
		}
	}
	return out
}

// factChanges returns the facts that differ between a trial and the one before. Facts
// other than versions are left out if they differ between most, as the load average and the
// paths of private servers do: a fact that always changes explains nothing.
func factChanges(trials []*result.Trial, index int) []Fact {
	values := make([]map[fact]string, len(trials))
	var names []fact
	for i, t := range trials {
		var n []fact
		if n, values[i] = factsOf(t); i == index-1 || i == index {
			names = compare.AppendNew(names, n...)
		}
	}
	restless := func(f fact) bool {
		n := 0
		for i := 1; i < len(values); i++ {
			if values[i][f] != values[i-1][f] {
				n++
			}
		}
		return 2*n > len(values)-1
	}
	out := []Fact{}
	for _, f := range names {
		before, after := values[index-1][f], values[index][f]
		always := f.kind == Version && f.name != result.ProgramFact // which each build changes
		if before != after && (always || !restless(f)) {
			out = append(out, Fact{f.kind, f.name, before, after})
		}
	}
	return out
}
