package kvkit

import (
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// reducer does the work of SQL engines on the rows of a scan: distinct, order
// by, limit after both, count and sum.
type reducer struct {
	op     *model.Op
	sortBy int // position in the columns returned, -1 for none
	rows   [][]model.Value
	count  int64
	sum    model.Value
}

func newReducer(op *model.Op) *reducer {
	if op.Aggregate == model.NoAggregate && !op.Distinct && op.OrderBy == "" {
		return nil
	}
	return &reducer{op: op, sortBy: slices.Index(op.Columns, op.OrderBy)}
}

// needsAll reports whether the limit applies to the result, so that all rows
// have to be read.
func (d *reducer) needsAll() bool { return d.op.Distinct || d.op.OrderBy != "" }

func (d *reducer) reset() { d.rows, d.count, d.sum = d.rows[:0], 0, model.Value{} }

func (d *reducer) add(row []model.Value) {
	if d.needsAll() {
		d.rows = append(d.rows, engine.CloneRow(row))
		return
	}
	d.tally(row)
}

// tally adds a row to count and sum; a single column counts unless it is NULL.
func (d *reducer) tally(row []model.Value) {
	if len(row) != 1 || !row[0].IsNull() {
		d.count++
	}
	if d.op.Aggregate == model.Sum {
		d.sum = d.sum.Add(row[0])
	}
}

// finish returns the rows, or the aggregate, in r.
func (d *reducer) finish(r *engine.Result) {
	if d.op.Distinct {
		slices.SortFunc(d.rows, compareRows)
		d.rows = slices.CompactFunc(d.rows, func(a, b []model.Value) bool { return compareRows(a, b) == 0 })
	}
	if d.sortBy >= 0 {
		slices.SortStableFunc(d.rows, func(a, b []model.Value) int { return a[d.sortBy].Compare(b[d.sortBy]) })
	}
	if d.op.Desc && d.needsAll() {
		slices.Reverse(d.rows)
	}
	if n := d.op.Limit; n > 0 && len(d.rows) > n {
		d.rows = d.rows[:n]
	}
	for _, row := range d.rows {
		if d.op.Aggregate == model.NoAggregate {
			r.Row(row)
		} else {
			d.tally(row)
		}
	}
	switch d.op.Aggregate {
	case model.Count:
		r.Rows, r.Value = 1, model.IntValue(d.count)
	case model.Sum:
		r.Rows, r.Value = 1, d.sum
	}
}

func compareRows(a, b []model.Value) int { return slices.CompareFunc(a, b, model.Value.Compare) }
