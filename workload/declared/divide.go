package declared

import (
	"slices"

	"rumbench/workload"
)

// divides reports whether several processes can run the step. Each knows of the rows before the step, and of
// those that its own clients insert: clients of others do not ask for these.
func (s *step) divides() bool {
	return s.HasClients() && !slices.ContainsFunc(s.changes, func(t *tableDef) bool {
		return t.deletes || s.adders[t] > 1 || s.adders[t] > 0 && t.newest
	})
}

// ask notes that clients ask for the newest rows of a table; nil: it is none.
func (t *tableDef) ask() {
	if t != nil && !t.newest {
		t.newest = true
	}
}

// rowCount is what is known of the rows of a table.
type rowCount struct{ next, live int64 }

func (t *tableDef) count() rowCount {
	next := t.next.Load()
	return rowCount{next, t.live() + next - t.rows() - t.pending()}
}

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
	if s.counted == nil {
		return
	}
	s.spoiled.Store(s.counted[0])
	for i, t := range s.tables {
		added, existing, unknown := s.counted[1+3*i], s.counted[2+3*i], s.counted[3+3*i]
		if added > 0 && len(s.spec.groups) > 1 {
			f.Notes = append(f.Notes, "clients of table "+t.Name+" in other processes than its writer's choose among the "+
				"rows before the step")
		}
		t.grow(added)
		t.gone.Add(added - existing)
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
