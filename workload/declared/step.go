package declared

import (
	"slices"

	"rumbench/workload"
	"rumbench/workload/gen"
)

// step is a step of a file. It has many fields: most belong to one kind of step only.
type step struct {
	workload.Step
	kind    string
	table   *tableDef // of a load, or of an index
	rows    int64     // of a load
	batch   int64
	first   bool     // the table is loaded for the first time
	clears  bool     // its rows are removed first
	indexes []string // that are built
	groups  []*group
	touches map[*tableDef][]touch
	// otherTables is whether custom SQL may write to tables that the file does not have.
	otherTables bool
	// atOnce are the indexes that exist from the beginning, and built those that exist at
	// the end of the step, by table.
	atOnce, built map[*tableDef][]string
}

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

// group is a group of clients.
type group struct {
	name  string
	ops   []string
	mix   *gen.Alias // nil: they are done in turn
	turns []int      // positions in ops
	retry workload.Retry
}

// once keeps only one copy of an operation that a sequence names several times, because
// it is timed and counted as one, and notes the order of the turns.
func (g *group) once(ops []*operation) (each []*operation) {
	var names []string
	for _, name := range g.ops {
		position := slices.Index(names, name)
		if position < 0 {
			position, names = len(names), append(names, name)
		}
		g.turns = append(g.turns, position)
	}
	g.ops = names
	for _, o := range ops {
		if !slices.Contains(each, o) {
			each = append(each, o)
		}
	}
	return each
}

// share returns the share of an operation, by its position.
func (g *group) share(op int) float64 {
	if g.mix != nil {
		return g.mix.Share(op)
	}
	n := 0
	for _, position := range g.turns {
		if position == op {
			n++
		}
	}
	return float64(n) / float64(len(g.turns))
}
