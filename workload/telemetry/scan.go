package telemetry

import (
	"context"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// need is the condition of a query on a column.
type need uint8

const (
	anything need = iota
	one           // equal to its first bound
	between       // between its bounds, inclusive
	upTo          // at most its second bound
)

// needs are the conditions of a query on the columns t, d and m.
type needs [3]need

// bounds are two values for each of the columns t, d and m.
type bounds [3][2]model.Value

func (b *bounds) set(column int, low, high int64) {
	b[column] = [2]model.Value{model.IntValue(low), model.IntValue(high)}
}

// The columns, as positions in needs and bounds.
const (
	atTime = iota
	atDevice
	atMetric
)

var boundColumns = []string{colTime, colDevice, colMetric}

// scan is a prepared query of a table.
type scan struct {
	stmt    engine.Stmt
	sources [][2]int // of the arguments in bounds: column and bound
	args    []model.Value
}

// prepareScan completes a scan with the conditions on t, d and m: columns that the index
// supports become its prefix and bounds, the others remain conditions.
func prepareScan(ctx context.Context, session engine.Session, t *model.Table, op model.Op, n needs) (*scan, error) {
	op.Kind, op.Table = model.Scan, t.Name
	s := &scan{}
	order := t.Order(op.Index)
	next := func() int { return slices.Index(boundColumns, order[op.Equal]) } // -1: no condition
	for index := next(); index >= 0 && n[index] == one; index = next() {
		s.sources = append(s.sources, [2]int{index, 0})
		n[index] = anything
		if op.Equal++; op.Equal == len(order) {
			break
		}
	}
	if op.Equal < len(order) && next() >= 0 {
		at := next()
		if n[at] == between {
			op.Lower, s.sources = model.Inclusive, append(s.sources, [2]int{at, 0})
		}
		if n[at] != anything {
			op.Upper, s.sources = model.Inclusive, append(s.sources, [2]int{at, 1})
		}
		n[at] = anything
	}
	where := func(at, bound int, is model.Comparison) {
		op.Where = append(op.Where, model.Condition{Column: boundColumns[at], Is: is})
		s.sources = append(s.sources, [2]int{at, bound})
	}
	for position, need := range n {
		if need == one {
			where(position, 0, model.Equals)
		}
		if need == between {
			where(position, 0, model.AtLeast)
		}
		if need == between || need == upTo {
			where(position, 1, model.AtMost)
		}
	}
	s.args = make([]model.Value, len(s.sources))
	var err error
	s.stmt, err = session.Prepare(ctx, &op)
	return s, err
}

func (s *scan) exec(ctx context.Context, b *bounds, r *engine.Result) error {
	for i, source := range s.sources {
		s.args[i] = b[source[0]][source[1]]
	}
	return s.stmt.Exec(ctx, s.args, r)
}
