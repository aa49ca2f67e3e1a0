package tarantool

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"rumbench/engine/tarantool/iproto"
	"rumbench/model"
)

// template is a request whose arguments are filled in at each execution.
type template struct {
	parts []part
	tail  []byte
	// keys is the index of the first argument whose NULL finds nothing, like that of any
	// later one; -1: there are none, or the program checks them.
	keys int
}

// part is an argument, and the bytes before it.
type part struct {
	before []byte
	arg    int
}

func (t *template) findsNothing(args []model.Value) bool {
	return t.keys >= 0 && slices.ContainsFunc(args[t.keys:], model.Value.IsNull)
}

// append writes the request in memory that is reused.
func (t *template) append(b []byte, args []model.Value) []byte {
	b = b[:0]
	for i := range t.parts {
		b = append(b, t.parts[i].before...)
		b = iproto.AppendValue(b, args[t.parts[i].arg])
	}
	return iproto.Finish(append(b, t.tail...))
}

// builder builds a template.
type builder struct {
	parts []part
	b     []byte // since the last argument
	next  int    // the argument that follows
}

func begin(kind iproto.Kind, pairs int) *builder {
	return &builder{b: iproto.AppendMap(iproto.Begin(nil, kind), pairs)}
}

// pair appends a key of the body with a number.
func (w *builder) pair(key uint64, n int) *builder { return w.key(key).number(n) }

func (w *builder) key(key uint64) *builder {
	w.b = iproto.AppendUint(w.b, key)
	return w
}

func (w *builder) number(n int) *builder {
	w.b = iproto.AppendInt(w.b, int64(n))
	return w
}

func (w *builder) text(s string) *builder {
	w.b = iproto.AppendText(w.b, s)
	return w
}

func (w *builder) array(n int) *builder {
	w.b = iproto.AppendArray(w.b, n)
	return w
}

func (w *builder) arg(i int) {
	w.parts = append(w.parts, part{bytes.Clone(w.b), i})
	w.b = w.b[:0]
}

// args appends an array of the next n arguments.
func (w *builder) args(n int) *builder {
	w.array(n)
	for range n {
		w.arg(w.next)
		w.next++
	}
	return w
}

// lists appends an array of n arrays of arguments.
func (w *builder) lists(n, width int) *builder {
	w.array(n)
	for range n {
		w.args(width)
	}
	return w
}

// row appends a row of an insert; columns that are not given are NULL.
func (w *builder) row(t *model.Table, op *model.Op) *builder {
	w.array(len(t.Columns))
	for _, c := range t.Columns {
		if i := slices.Index(op.Columns, c.Name); i >= 0 {
			w.arg(w.next + i)
		} else {
			w.b = append(w.b, iproto.Nil)
		}
	}
	w.next += len(op.Columns)
	return w
}

func (w *builder) template(keys int) *template { return &template{w.parts, w.b, keys} }

// callOf returns the call of the program's function, whose arguments are the operation's
// number and the operation's own arguments.
func callOf(function string, t *model.Table, op *model.Op, p prepared) *template {
	w := begin(iproto.Call, 2).key(iproto.KeyFunction).text(function).key(iproto.KeyTuple)
	width := len(t.Key)
	if op.Index != "" {
		width = op.Equal
	}
	switch op.Kind {
	case model.Insert:
		w.array(2).number(p.Number).array(op.Rows)
		for range op.Rows {
			w.row(t, op)
		}
	case model.Get, model.Delete:
		w.array(2).number(p.Number).lists(op.KeyCount(), width)
	case model.DeleteLowest:
		w.array(2).number(p.Number).args(1)
	case model.Update:
		w.array(3).number(p.Number).args(len(op.Set)).lists(op.KeyCount(), width)
	case model.Scan:
		bounds, given := 0, len(op.Where)
		if op.LimitGiven {
			given++
		}
		for _, b := range []model.Bound{op.Lower, op.Upper} {
			if b != model.Open {
				bounds++
			}
		}
		w.array(4).number(p.Number).args(op.Equal).lists(op.RangeCount(), bounds).args(given)
	}
	return w.template(-1)
}

// requestOf returns the operation as a single request, nil if a single request cannot express it.
func requestOf(t *model.Table, op *model.Op, p prepared, storage string) *template {
	switch op.Kind {
	case model.Insert:
		return insertRequest(t, op, p)
	case model.Get:
		if op.KeyCount() == 1 {
			return selectRequest(p, iterEqual, op.Args(t), noLimit)
		}
	case model.Scan:
		if iterator, ok := iteratorOf(t, op); ok {
			if op.LimitGiven {
				keys := op.Args(t) - 1
				w := begin(iproto.Select, 6).selects(p, iterator).key(iproto.KeyKey).args(keys).key(iproto.KeyLimit)
				w.arg(keys)
				return w.template(0)
			}
			return selectRequest(p, iterator, op.Args(t), cmp.Or(op.Limit, noLimit))
		}
	case model.Update:
		return updateRequest(t, op, p)
	case model.Delete:
		if op.KeyCount() == 1 && storage == memtx { // vinyl does not report whether the row existed
			w := begin(iproto.Delete, 2).pair(iproto.KeySpace, p.Space).key(iproto.KeyKey).args(len(t.Key))
			return w.template(0)
		}
	}
	return nil
}

func insertRequest(t *model.Table, op *model.Op, p prepared) *template {
	switch {
	case op.Rows > 1:
		return nil
	case op.OnConflict == model.Fail:
		return begin(iproto.Insert, 2).pair(iproto.KeySpace, p.Space).key(iproto.KeyTuple).row(t, op).template(-1)
	case op.OnConflict == model.Replace:
		return begin(iproto.Replace, 2).pair(iproto.KeySpace, p.Space).key(iproto.KeyTuple).row(t, op).template(-1)
	}
	// An upsert silently drops operations that fail: none of them may be able to fail.
	unfit := func(c string) bool { return !slices.Contains(op.Columns, c) || !t.Columns[t.Column(c)].NotNull }
	unique := slices.ContainsFunc(t.Indexes, func(ix model.Index) bool { return ix.Unique })
	if op.OnConflict != model.Add || unique || t.AutoColumn() >= 0 || slices.ContainsFunc(op.AddColumns, unfit) {
		return nil
	}
	w := begin(iproto.Upsert, 3).pair(iproto.KeySpace, p.Space).key(iproto.KeyTuple).row(t, op)
	w.key(iproto.KeyOps).array(len(op.AddColumns))
	for _, c := range op.AddColumns {
		w.array(3).text("+").number(t.Column(c)).arg(slices.Index(op.Columns, c))
	}
	return w.template(-1)
}

func updateRequest(t *model.Table, op *model.Op, p prepared) *template {
	nullable := func(a model.Assign) bool { return a.Add && !t.Columns[t.Column(a.Column)].NotNull }
	if op.Index != "" || op.KeyCount() > 1 || slices.ContainsFunc(op.Set, nullable) {
		return nil
	}
	w := begin(iproto.Update, 3).pair(iproto.KeySpace, p.Space).key(iproto.KeyTuple).array(len(op.Set))
	for i, a := range op.Set {
		do := "="
		if a.Add {
			do = "+"
		}
		w.array(3).text(do).number(t.Column(a.Column)).arg(i)
	}
	w.next = len(op.Set)
	return w.key(iproto.KeyKey).args(len(t.Key)).template(len(op.Set))
}

// The protocol's iterators.
const (
	iterEqual   = 0
	iterReverse = 1 // equal, from the end
	iterLess    = 3
	iterAtMost  = 4
	iterAtLeast = 5
	iterGreater = 6
)

const noLimit = math.MaxUint32

func selectRequest(p prepared, iterator, keys, limit int) *template {
	return begin(iproto.Select, 6).selects(p, iterator).pair(iproto.KeyLimit,
		limit).key(iproto.KeyKey).args(keys).template(0)
}

// selects appends the target and the iterator of a select: four pairs.
func (w *builder) selects(p prepared, iterator int) *builder {
	return w.pair(iproto.KeySpace, p.Space).pair(iproto.KeyIndex, p.Index).pair(iproto.KeyOffset,
		0).pair(iproto.KeyIterator, iterator)
}

// iteratorOf returns the iterator that executes a scan, which must end at its limit or
// with the index, or have equal entries only: a request has no other end.
func iteratorOf(t *model.Table, op *model.Op) (iterator int, ok bool) {
	if op.Aggregate != model.NoAggregate || op.Distinct || op.OrderBy != "" || len(op.Where) > 0 || op.RangeCount() > 1 {
		return 0, false
	}
	first := t.Order(op.Index)[0]
	found := t.Columns[t.Column(first)].NotNull || slices.Contains(t.Key, first)
	switch {
	case op.Lower == model.Open && op.Upper == model.Open:
		if op.Desc {
			return iterReverse, true
		}
		return iterEqual, true
	case op.Equal > 0:
		return 0, false
	case !op.Desc && op.Upper == model.Open:
		return map[model.Bound]int{model.Inclusive: iterAtLeast, model.Exclusive: iterGreater}[op.Lower], true
	case op.Desc && op.Lower == model.Open && found: // otherwise it would end in NULLs
		return map[model.Bound]int{model.Inclusive: iterAtMost, model.Exclusive: iterLess}[op.Upper], true
	}
	return 0, false
}
