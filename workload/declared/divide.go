package declared

import (
	"slices"

	"rumbench/workload"
)

// Counts implements workload.Counting: texts that are wrong, and of each table the rows that were added, the
// change of those that exist, and whether their number is unknown.
func (s *stage) Counts() []int64 {
	out := []int64{s.spoiled.Load()}
	for i, t := range s.tables {
		now, unknown := t.count(), int64(0)
		if t.unknown {
			unknown = 1
		}
		out = append(out, now.next-s.before[i].next, now.live-s.before[i].live, unknown)
	}
	return out
}

// Count implements workload.Counting.
func (s *stage) Count(sums []int64) { s.counted = sums }

// takeCounts notes what clients in other processes did.
func (s *stage) takeCounts(f *workload.Finding) {
	if len(s.counted) != 1+3*len(s.tables) {
		return
	}
	s.spoiled.Store(s.counted[0])
	for i, t := range s.tables {
		added, existing, unknown := s.counted[1+3*i], s.counted[2+3*i], s.counted[3+3*i]
		writer, _ := s.spec.writer(t)
		others := slices.ContainsFunc(s.spec.touches[t], func(c touch) bool { return c.group != writer })
		if added > 0 && others {
			f.Notes = append(f.Notes, "clients of table "+t.Name+" in other processes than its writer's choose among the "+
				"rows before the step")
		}
		t.grow(added)
		if missing := added - existing; missing > 0 { // which they are is not known here
			t.gone.Add(missing)
			t.holes = true
		}
		t.unknown = t.unknown || unknown > 0
	}
}

// ownSQL returns the operations that the engine executes in custom SQL.
func (s *stage) ownSQL() (names []string) {
	for _, o := range s.compiler(0).readOperations(s.root.Get("operations")) {
		custom := slices.ContainsFunc(o.statements, func(st *statement) bool { return st.on(s.env.DB) })
		if custom && slices.ContainsFunc(s.spec.groups, func(g *group) bool { return slices.Contains(g.ops, o.name) }) {
			names = append(names, o.name)
		}
	}
	return names
}
