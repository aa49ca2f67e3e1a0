package telemetry

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// need is what a query asks of a column.
type need uint8

const (
	anything need = iota
	one           // equal to its first bound
	between       // between its bounds, inclusive
	upTo          // at most its second bound
)

// bounds are two values for each of the columns t, d and m, in this order.
type bounds [6]model.Value

func (b *bounds) set(column int, low, high int64) {
	b[2*column], b[2*column+1] = model.IntValue(low), model.IntValue(high)
}

// The columns, as positions in bounds.
const (
	atTime = iota
	atDevice
	atMetric
)

var boundColumns = []string{colTime, colDevice, colMetric}

// scan is a prepared query of a table.
type scan struct {
	stmt engine.Stmt
	from []int // of the arguments in bounds
	args []model.Value
}

// prepareScan completes a scan by what is asked of t, d and m: as many columns as
// the index supports become its prefix and bounds, the others conditions.
func prepareScan(ctx context.Context, session engine.Session, t *model.Table, op model.Op, needs [3]need) (*scan, error) {
	op.Kind, op.Table = model.Scan, t.Name
	s := &scan{}
	order := t.Order(op.Index)
	needed := func(column string) *need {
		for i, name := range boundColumns {
			if name == column {
				return &needs[i]
			}
		}
		none := anything
		return &none
	}
	at := func(column string) int {
		for i, name := range boundColumns {
			if name == column {
				return 2 * i
			}
		}
		return -1
	}
	for len(order) > op.Equal && *needed(order[op.Equal]) == one {
		c := order[op.Equal]
		s.from, *needed(c) = append(s.from, at(c)), anything
		op.Equal++
	}
	if len(order) > op.Equal {
		c := order[op.Equal]
		if n := needed(c); *n != anything {
			if *n == between {
				op.Lower, s.from = model.Inclusive, append(s.from, at(c))
			}
			op.Upper, s.from, *n = model.Inclusive, append(s.from, at(c)+1), anything
		}
	}
	where := func(i, bound int, is model.Comparison) {
		op.Where = append(op.Where, model.Condition{Column: boundColumns[i], Is: is})
		s.from = append(s.from, 2*i+bound)
	}
	for i, n := range needs {
		switch n {
		case one:
			where(i, 0, model.Equals)
		case between:
			where(i, 0, model.AtLeast)
			where(i, 1, model.AtMost)
		case upTo:
			where(i, 1, model.AtMost)
		}
	}
	s.args = make([]model.Value, len(s.from))
	var err error
	s.stmt, err = session.Prepare(ctx, &op)
	return s, err
}

func (s *scan) exec(ctx context.Context, b *bounds, r *engine.Result) error {
	for i, from := range s.from {
		s.args[i] = b[from]
	}
	return s.stmt.Exec(ctx, s.args, r)
}
