package sysbench

import (
	"cmp"
	"slices"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// sought is the knowledge about the rows that a statement should find in tables as
// loaded: one row for each id from 1 to the size and, if k is drawn uniformly, on average
// one row for each value of k from 1 to the size.
type sought uint8

// The target of a statement's search, in its last arguments.
const (
	noRows      sought = iota // none, or an unknown number
	rowsOfKeys                // the rows of keys
	rowsBetween               // the rows between pairs of keys
	oneRow                    // at least one row, computed from an unknown number of others
)

// finds returns the knowledge about the rows that the test's operations find.
func (t *test) finds() workload.Finds {
	out := workload.FindsNothing
	for _, s := range t.statements() {
		switch {
		case s.sought != noRows && s.secondary:
			return workload.FindsOnAverage
		case s.sought != noRows:
			out = workload.FindsExactly
		}
	}
	return out
}

// expect returns how many rows a statement with the arguments should find; 0 if
// that is unknown.
func (c *client) expect(s *statement, args []model.Value) int64 {
	switch {
	case s.sought == noRows || !c.stage.env.Results:
		return 0
	case s.sought == oneRow:
		return 1
	case s.secondary && c.stage.p.String("distribution") != uniform:
		return 0 // frequent values have more rows
	}
	c.spans = c.spans[:0]
	width := 1
	if s.sought == rowsBetween {
		width = 2
	}
	for args = args[s.before:]; len(args) >= width; args = args[width:] {
		start, end := max(args[0].Int(), 1), min(args[width-1].Int(), c.rows)
		if start <= end {
			c.spans = append(c.spans, span{start, end})
		}
	}
	return covered(c.spans)
}

// span is a range of ids or of values of k, inclusive.
type span struct{ start, end int64 }

// covered returns how many numbers are in at least one span. It sorts the spans.
func covered(spans []span) (n int64) {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	end := int64(0) // numbers start at 1
	for _, s := range spans {
		if s.end > end {
			n += s.end - max(s.start-1, end)
			end = s.end
		}
	}
	return n
}

// found returns the number of rows that a statement found according to its result, and at
// most the expected number if that is known: a repeated key may return its row twice.
func (s *preparedStatement) found(r *engine.Result, expected int64) int64 {
	n := r.Rows
	switch s.aggregate {
	case model.Count:
		n = r.Value.Int()
	case model.Sum:
		if r.Value.IsNull() {
			n = 0
		}
	}
	if expected > 0 && !s.secondary {
		return min(n, expected)
	}
	return n
}
