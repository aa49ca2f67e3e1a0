package mongodb

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"rumbench/model"
)

// filter makes the condition of an operation: its rows have one of several keys,
// or are in one of several ranges of an index.
type filter struct {
	t             *layout
	columns       []*model.Column // of the order
	paths         []string
	whole         bool // the columns are those of a composite key
	equal         int
	lower, upper  model.Bound
	partial       bool // the index has no NULLs, so a condition must exclude them for it to be used
	first         int  // argument
	choices, size int  // keys or ranges, and the arguments of each
	also          bson.A
}

func newFilter(t *layout, op *model.Op) *filter {
	f := &filter{
		t: t, equal: op.Equal, lower: op.Lower, upper: op.Upper, first: len(op.Set), choices: op.RangeCount(),
		whole: op.Index == "" && t.composite(), partial: op.Index != "" && len(t.nullable(op.Index)) > 0,
	}
	for _, name := range t.Order(op.Index) {
		f.columns, f.paths = append(f.columns, t.column(name)), append(f.paths, t.path(name))
	}
	if op.Kind != model.Scan {
		f.choices = op.KeyCount()
		if op.Index == "" {
			f.equal = len(t.Key)
		}
	}
	f.size = f.equal
	for _, b := range []model.Bound{f.lower, f.upper} {
		if b != model.Open {
			f.size++
		}
	}
	for i, c := range op.Where {
		f.meet(c, f.first+f.choices*f.size+i)
	}
	return f
}

// hinted reports whether the server is to use an index that the operation names: not if
// the index lacks rows that meet the condition, and not if it is the primary key's, which
// the server uses anyway, with less work than with a hint.
func (f *filter) hinted(index string) bool {
	compared := f.equal
	if f.size > f.equal {
		compared++
	}
	return index != "" && (!f.partial || compared == len(f.columns))
}

// known replaces keys and ranges that compare with NULL, which no row meets, with a
// different one of the operation. found is false if there is none.
func (f *filter) known(args []model.Value) (_ []model.Value, found bool) {
	if !slices.ContainsFunc(args[f.first:], model.Value.IsNull) {
		return args, true
	}
	if slices.ContainsFunc(args[f.first+f.choices*f.size:], model.Value.IsNull) { // of a condition
		return nil, false
	}
	null := func(choice []model.Value) bool { return slices.ContainsFunc(choice, model.Value.IsNull) }
	args = slices.Clone(args)
	choices := slices.Collect(slices.Chunk(args[f.first:], max(f.size, 1)))[:f.choices]
	good := slices.IndexFunc(choices, func(c []model.Value) bool { return !null(c) })
	if good < 0 {
		return nil, false
	}
	for _, c := range choices {
		if null(c) {
			copy(c, choices[good])
		}
	}
	return args, true
}

func (f *filter) condition() (d bson.D) {
	var list bson.A
	for i := range f.choices {
		list = append(list, f.choice(f.first+i*f.size))
	}
	d = list[0].(bson.D)
	switch {
	case f.choices == 1:
	case len(d) == 1 && f.size == f.equal: // keys of one field
		var in bson.A
		for _, choice := range list {
			in = append(in, choice.(bson.D)[0].Value)
		}
		d = doc(d[0].Key, doc("$in", in))
	default:
		d = doc("$or", list)
	}
	if f.also != nil {
		d = append(d, bson.E{Key: "$and", Value: f.also})
	}
	return d
}

// choice returns the condition of one key or range, whose arguments begin at a position.
// Composite keys are compared as documents: those with the same first columns are
// adjacent, the shorter before the longer.
func (f *filter) choice(at int) (d bson.D) {
	var fixed []int
	for i := range f.equal {
		fixed = append(fixed, at+i)
		if !f.whole {
			d = append(d, bson.E{Key: f.paths[i], Value: arg{at: at + i, column: f.columns[i]}})
		}
	}
	if f.equal == len(f.columns) {
		if f.whole {
			d = doc(idField, f.t.id(fixed, false))
		}
		return d
	}
	path, column := f.paths[f.equal], f.columns[f.equal]
	at += f.equal
	next := func(beyond bool) any {
		at++
		if f.whole {
			return f.t.id(append(slices.Clone(fixed), at-1), beyond)
		}
		return arg{at: at - 1, column: column}
	}
	if f.whole {
		path = idField
	}
	bounds, among := bson.D{}, f.whole && f.equal > 0
	switch {
	case f.lower != model.Open:
		bounds = doc([]string{"", "$gte", "$gt"}[f.lower], next(f.lower == model.Exclusive))
	case among:
		bounds = doc("$gte", f.t.id(fixed, false))
	case f.partial && f.upper != model.Open:
		bounds = doc("$gte", smallestValue(column))
	}
	switch {
	case f.upper != model.Open:
		bounds = append(bounds, doc([]string{"", "$lte", "$lt"}[f.upper], next(f.upper == model.Inclusive))...)
	case among:
		bounds = append(bounds, doc("$lt", f.t.id(fixed, true))...)
	}
	if len(bounds) > 0 {
		d = append(d, bson.E{Key: path, Value: bounds})
	}
	return d
}

// present adds the condition that a column is not NULL, if it can be.
func (f *filter) present(c *model.Column) {
	if !c.NotNull {
		f.also = append(f.also, f.t.present(c.Name))
	}
}

// meet adds a condition with an argument. A missing field has no length.
func (f *filter) meet(c model.Condition, at int) {
	column := f.t.column(c.Column)
	f.present(column)
	if c.Is != model.ShorterThan {
		is := []string{"$eq", "$gte", "$lte"}[c.Is]
		f.also = append(f.also, doc(f.t.path(c.Column), doc(is, arg{at: at, column: column})))
		return
	}
	subject, empty := "$strLenBytes", any("")
	if column.Type == model.Bytes {
		subject, empty = "$binarySize", bson.Binary{}
	}
	length := doc(subject, doc("$ifNull", bson.A{"$" + f.t.path(c.Column), empty}))
	limit := arg{at: at, column: &model.Column{Name: "length", Type: model.Int, NotNull: true}}
	f.also = append(f.also, doc("$expr", doc("$lt", bson.A{length, limit})))
}
