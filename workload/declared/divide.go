package declared

import (
	"slices"

	"rumbench/workload"
)

// touch is a statement on a table that the clients of a group execute.
type touch struct {
	group, clients int
	*statement
}

func (t *touch) reads() bool { return t.kind == sGet || t.kind == sScan }

// changes reports whether clients of the step insert, change or delete rows of a table.
func (s *step) changes(t *tableDef) bool {
	return slices.ContainsFunc(s.touches[t], func(c touch) bool { return !c.reads() })
}

// divides reports whether several processes can run the step. Each knows of the rows before the step, and of
// those that its own clients insert: clients of others may read, but not ask for these.
func (s *step) divides() bool {
	for t, touches := range s.touches {
		writer, adders := s.writer(t)
		if adders > 1 || adders > 0 && (t.newest || t.loaded == 0 && len(s.groups) > 1) {
			return false
		}
		for _, c := range touches {
			if !c.reads() && (t.deletes || adders > 0 && c.group != writer) {
				return false
			}
		}
	}
	return s.HasClients()
}

// writer returns the group that inserts rows of its own into a table, and how many clients do so.
func (s *step) writer(t *tableDef) (group, clients int) {
	group = -1
	for _, c := range s.touches[t] {
		if c.fresh && c.group != group {
			group, clients = c.group, clients+c.clients
		}
	}
	return group, clients
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
