package declared

import "slices"

// once keeps only one copy of an operation that a sequence names several times, because
// it is timed and counted as one, and notes the order of the turns.
func (g *group) once(ops []*operation) (each []*operation) {
	var names []string
	for _, name := range g.ops {
		at := slices.Index(names, name)
		if at < 0 {
			at, names = len(names), append(names, name)
		}
		g.turns = append(g.turns, at)
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
	for _, at := range g.turns {
		if at == op {
			n++
		}
	}
	return float64(n) / float64(len(g.turns))
}
