package enginetest

import (
	"cmp"
	"slices"

	"rumbench/model"
)

// oracle is the naive model of a table: a list of rows. Every operation reads
// all of them.
type oracle struct {
	table *model.Table
	rows  [][]model.Value
}

func (o *oracle) column(name string) int { return o.table.Column(name) }

// find returns the position of the row with the primary key, or -1.
func (o *oracle) find(key model.Value) int {
	return slices.IndexFunc(o.rows, func(r []model.Value) bool { return r[0].Compare(key) == 0 })
}

func (o *oracle) insert(conflict model.Conflict, add []string, row []model.Value) (done int64, duplicate bool) {
	i := o.find(row[0])
	switch {
	case i < 0:
		o.rows = append(o.rows, slices.Clone(row))
	case conflict == model.Fail:
		return 0, true
	case conflict == model.Ignore:
		return 0, false
	case conflict == model.Replace:
		o.rows[i] = slices.Clone(row)
	case conflict == model.Add:
		for _, name := range add {
			c := o.column(name)
			o.rows[i][c] = o.rows[i][c].Add(row[c])
		}
	}
	return 1, false
}

func (o *oracle) delete(key model.Value) int64 {
	i := o.find(key)
	if i < 0 {
		return 0
	}
	o.rows = slices.Delete(o.rows, i, i+1)
	return 1
}

func (o *oracle) deleteLowest(cursor model.Value, n int) (done int64) {
	o.sort([]int{0})
	for i := 0; i < len(o.rows) && int(done) < n; {
		if o.rows[i][0].Compare(cursor) < 0 {
			i++
			continue
		}
		o.rows = slices.Delete(o.rows, i, i+1)
		done++
	}
	return done
}

func (o *oracle) update(op *model.Op, args []model.Value) (done int64) {
	where := args[len(op.Set):]
	columns := []int{0}
	if op.Index != "" {
		columns = o.order(op)[:op.Equal]
	}
	for _, row := range o.rows {
		if !equalToAny(row, columns, where) {
			continue
		}
		for i, a := range op.Set {
			c := o.column(a.Column)
			if a.Add {
				row[c] = row[c].Add(args[i])
			} else {
				row[c] = args[i]
			}
		}
		done++
	}
	return done
}

// get returns the whole rows that have one of the keys in the index's columns.
func (o *oracle) get(op *model.Op, keys []model.Value) (out [][]model.Value) {
	columns := o.order(op)[:op.Equal]
	for _, row := range o.rows {
		if equalToAny(row, columns, keys) {
			out = append(out, row)
		}
	}
	return out
}

// equalToAny reports whether the columns hold one of the consecutive keys.
func equalToAny(row []model.Value, columns []int, keys []model.Value) bool {
	for key := range slices.Chunk(keys, len(columns)) {
		if equalAt(row, columns, key) {
			return true
		}
	}
	return false
}

func equalAt(row []model.Value, columns []int, want []model.Value) bool {
	for i, c := range columns {
		if want[i].IsNull() || row[c].Compare(want[i]) != 0 {
			return false
		}
	}
	return true
}

func (o *oracle) sort(columns []int) {
	slices.SortFunc(o.rows, func(a, b []model.Value) int {
		for _, c := range columns {
			if d := a[c].Compare(b[c]); d != 0 {
				return d
			}
		}
		return 0
	})
}

// order returns the columns that define the order of a scan.
func (o *oracle) order(op *model.Op) []int {
	columns, _ := o.table.Positions(o.table.Order(op.Index))
	return columns
}

// scan returns all whole rows within the bounds, without regard to the limit, in
// the scan's order; equal entries are in any order.
func (o *oracle) scan(op *model.Op, args []model.Value) [][]model.Value {
	order := o.order(op)
	o.sort(order)
	first := len(args) - len(op.Where)
	equal, remaining, limits := args[:op.Equal], args[op.Equal:first], args[first:]
	var out [][]model.Value
	for _, row := range o.rows {
		if equalAt(row, order[:op.Equal], equal) && inRanges(op, row, order, remaining) && o.meets(op.Where, row, limits) {
			out = append(out, row)
		}
	}
	if op.Desc {
		slices.Reverse(out)
	}
	return out
}

func (o *oracle) meets(where []model.Condition, row, limits []model.Value) bool {
	for i, c := range where {
		v, limit := row[o.column(c.Column)], limits[i]
		order := v.Compare(limit)
		if c.Is == model.ShorterThan {
			order = cmp.Compare(int64(len(v.Buf())), limit.Int())
		}
		accepted := map[model.Comparison][]int{model.Equals: {0}, model.AtLeast: {0, 1}, model.AtMost: {-1, 0},
			model.ShorterThan: {-1}}
		if v.IsNull() || limit.IsNull() || !slices.Contains(accepted[c.Is], order) {
			return false
		}
	}
	return true
}

func inRanges(op *model.Op, row []model.Value, order []int, bounds []model.Value) bool {
	if op.Ranges <= 1 {
		return inBounds(op, row, order, bounds)
	}
	for pair := range slices.Chunk(bounds, 2) {
		if inBounds(op, row, order, pair) {
			return true
		}
	}
	return false
}

func inBounds(op *model.Op, row []model.Value, order []int, bounds []model.Value) bool {
	if op.Lower == model.Open && op.Upper == model.Open {
		return true
	}
	v := row[order[op.Equal]]
	if v.IsNull() || slices.ContainsFunc(bounds, model.Value.IsNull) {
		return false // a bound never matches NULL
	}
	inside := func(b model.Bound, d int) bool { return b == model.Open || d > 0 || d == 0 && b == model.Inclusive }
	return inside(op.Lower, v.Compare(bounds[0])) && inside(op.Upper, -v.Compare(bounds[len(bounds)-1]))
}
