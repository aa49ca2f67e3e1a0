package mongodb

import (
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/model"
)

// filter makes the condition of an operation: its rows have one of several keys,
// or are in one of several ranges of an index.
type filter struct {
	t            *layout
	columns      []*model.Column // of the order, those that are compared
	paths        []string
	whole        bool // the columns are those of a composite key
	equal        int
	lower, upper model.Bound
	choices      int    // keys or ranges
	partial      bool   // the index has no NULLs, which a condition must say for it to be used
	also         []byte // further conditions, as elements of $and
	alsoCount    int
	length       []byte // of a column, as the first of two to compare; the other is the last argument
	one          []model.Value
}

func newFilter(t *layout, op *model.Op) *filter {
	f := &filter{t: t, equal: op.Equal, lower: op.Lower, upper: op.Upper, choices: op.RangeCount(), whole: op.Index == "" && t.composite()}
	if op.Kind != model.Scan {
		f.choices = op.KeyCount()
		if op.Index == "" {
			f.equal = len(t.Key)
		}
	}
	for _, name := range t.Order(op.Index) {
		f.columns, f.paths = append(f.columns, t.column(name)), append(f.paths, t.path(name))
	}
	f.partial = partial(t, op.Index)
	return f
}

// partial reports whether the index has no rows with NULL: a unique one, as NULLs
// would be equal there.
func partial(t *layout, index string) bool {
	ix, err := t.Index(index)
	return index != "" && err == nil && ix.Unique &&
		slices.ContainsFunc(ix.Columns, func(name string) bool { return !t.column(name).NotNull && !slices.Contains(t.Key, name) })
}

// hinted reports whether the server is to use an index that the operation names:
// not if it lacks rows that meet the condition, and not the primary key's, which
// it takes anyway, and by a shorter way without a hint.
func (f *filter) hinted(index string) bool {
	compared := f.equal
	if f.lower != model.Open || f.upper != model.Open {
		compared++
	}
	return index != "" && (!f.partial || compared == len(f.columns))
}

// each is the number of arguments of a choice.
func (f *filter) each() int {
	n := f.equal
	for _, b := range []model.Bound{f.lower, f.upper} {
		if b != model.Open {
			n++
		}
	}
	return n
}

// appendTo appends the condition. found is false if it compares with NULL, which
// no row meets.
func (f *filter) appendTo(dst []byte, name string, args []model.Value) (_ []byte, found bool, err error) {
	dst, at := begin(dst, document, name)
	var limit model.Value
	if f.length != nil {
		limit, args = args[len(args)-1], args[:len(args)-1]
	}
	if f.choices == 1 {
		dst, found, err = f.choice(dst, args)
	} else {
		dst, found, err = f.any(dst, args)
	}
	if f.alsoCount > 0 || f.length != nil {
		var list int
		dst, list = begin(dst, array, "$and")
		dst = append(dst, f.also...)
		if f.length != nil {
			dst = f.shorter(dst, limit.Int())
		}
		dst = end(dst, list)
	}
	return end(dst, at), found, err
}

// any appends that one of the choices is met. Those that compare with NULL are
// left out.
func (f *filter) any(dst []byte, args []model.Value) (_ []byte, found bool, err error) {
	n, at, in := f.each(), 0, f.equal == 1 || f.whole && f.equal == len(f.columns)
	in = in && f.lower == model.Open && f.upper == model.Open
	outer := 0
	if in {
		path := f.paths[0]
		if f.whole {
			path = idField
		}
		dst, outer = begin(dst, document, path)
		dst, at = begin(dst, array, "$in")
	} else {
		dst, at = begin(dst, array, "$or")
	}
	count := 0
	for ; len(args) >= n; args = args[n:] {
		choice := args[:n]
		if slices.ContainsFunc(choice, model.Value.IsNull) {
			continue
		}
		if in {
			name := strconv.Itoa(count)
			if f.whole {
				dst, err = f.t.appendID(dst, name, choice, false)
			} else {
				dst, err = appendValue(dst, name, f.columns[0], choice[0])
			}
		} else {
			var one int
			dst, one = item(dst, count)
			dst, _, err = f.choice(dst, choice)
			dst = end(dst, one)
		}
		if err != nil {
			return dst, false, err
		}
		count++
	}
	dst = end(dst, at)
	if in {
		dst = end(dst, outer)
	}
	return dst, count > 0, nil
}

// choice appends the conditions of one key or range.
func (f *filter) choice(dst []byte, args []model.Value) (_ []byte, found bool, err error) {
	if slices.ContainsFunc(args, model.Value.IsNull) {
		return dst, false, nil
	}
	if f.whole {
		dst, err = f.keys(dst, args)
		return dst, true, err
	}
	for i := range f.equal {
		if dst, err = appendValue(dst, f.paths[i], f.columns[i], args[i]); err != nil {
			return dst, false, err
		}
	}
	if f.lower == model.Open && f.upper == model.Open {
		return dst, true, nil
	}
	dst, at := begin(dst, document, f.paths[f.equal])
	c, rest := f.columns[f.equal], args[f.equal:]
	if f.lower != model.Open {
		dst, err = appendValue(dst, above(f.lower), c, rest[0])
		rest = rest[1:]
	} else if f.partial {
		dst = append(dst, static(bson.D{{Key: "$gte", Value: least(c)}})...)
	}
	if f.upper != model.Open && err == nil {
		dst, err = appendValue(dst, below(f.upper), c, rest[0])
	}
	return end(dst, at), true, err
}

func above(b model.Bound) string {
	if b == model.Exclusive {
		return "$gt"
	}
	return "$gte"
}

func below(b model.Bound) string {
	if b == model.Exclusive {
		return "$lt"
	}
	return "$lte"
}

// keys appends a range of composite keys: documents that begin with the same
// columns follow each other, the shorter before the longer.
func (f *filter) keys(dst []byte, args []model.Value) (_ []byte, err error) {
	if f.equal == len(f.columns) {
		return f.t.appendID(dst, idField, args, false)
	}
	if len(args) == 0 {
		return dst, nil
	}
	last := f.equal+1 == len(f.columns)
	dst, at := begin(dst, document, idField)
	rest := args[f.equal:]
	with := func(v model.Value) []model.Value {
		f.one = append(append(f.one[:0], args[:f.equal]...), v)
		return f.one
	}
	switch {
	case f.lower != model.Open:
		beyond := f.lower == model.Exclusive && !last
		dst, err = f.t.appendID(dst, above(f.lower), with(rest[0]), beyond)
		rest = rest[1:]
	case f.equal > 0:
		dst, err = f.t.appendID(dst, "$gte", args[:f.equal], false)
	}
	if err != nil {
		return dst, err
	}
	switch {
	case f.upper != model.Open:
		beyond := f.upper == model.Inclusive && !last
		dst, err = f.t.appendID(dst, below(f.upper), with(rest[0]), beyond)
	case f.equal > 0:
		dst, err = f.t.appendID(dst, "$lt", args[:f.equal], true)
	}
	return end(dst, at), err
}

// present adds the condition that a column is not NULL, unless it cannot be.
func (f *filter) present(column string) (never bool) {
	c := f.t.column(column)
	if c.NotNull || slices.Contains(f.t.Key, column) {
		return true
	}
	condition := bson.D{{Key: f.t.path(column), Value: bson.D{{Key: "$gte", Value: least(c)}}}}
	f.also = append(f.also, static(bson.D{{Key: strconv.Itoa(f.alsoCount), Value: condition}})...)
	f.alsoCount++
	return false
}

// measure adds the condition that a column is shorter than the last argument.
func (f *filter) measure(column string) {
	f.present(column)
	of, empty := "$strLenBytes", any("")
	if f.t.column(column).Type == model.Bytes {
		of, empty = "$binarySize", bson.Binary{}
	}
	// A missing field has no length.
	f.length = static(bson.D{{Key: "0", Value: bson.D{{Key: of, Value: bson.D{{Key: "$ifNull", Value: bson.A{"$" + f.t.path(column), empty}}}}}}})
}

// shorter appends the condition that measure has added.
func (f *filter) shorter(dst []byte, limit int64) []byte {
	dst, at := item(dst, f.alsoCount)
	dst, expr := begin(dst, document, "$expr")
	dst, list := begin(dst, array, "$lt")
	dst = append(dst, f.length...)
	dst = bsoncore.AppendInt64Element(dst, "1", limit)
	return end(end(end(dst, list), expr), at)
}
