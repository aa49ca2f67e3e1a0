package mongodb

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"rumbench/engine"
	"rumbench/model"
)

// idField is the field of the primary key: the value of a single column, or a document of
// several, which is ordered column by column.
const idField = "_id"

// layout maps the rows of a table to documents. NULL is not stored, so that $inc treats
// it as zero and $group as one value.
type layout struct {
	model.Table              // whose key has no NULLs
	paths       []string     // of the columns
	numbers     atomic.Int64 // the greatest number assigned so far in the Auto column
}

func newLayout(t *model.Table) *layout {
	l := &layout{Table: *t, paths: t.ColumnNames()}
	l.Columns = slices.Clone(t.Columns)
	for _, name := range t.Key {
		l.column(name).NotNull = true
		l.paths[t.Column(name)] = idField
		if l.composite() {
			l.paths[t.Column(name)] = idField + "." + name
		}
	}
	return l
}

func (l *layout) composite() bool { return len(l.Key) > 1 }

func (l *layout) path(column string) string { return l.paths[l.Column(column)] }

func (l *layout) column(name string) *model.Column { return &l.Columns[l.Column(name)] }

// id returns a primary key, or the first columns of a composite one, by the positions of
// its arguments. beyond returns a value above all keys that begin with these.
func (l *layout) id(args []int, beyond bool) any {
	if !l.composite() {
		return arg{at: args[0], column: l.column(l.Key[0])}
	}
	d := bson.D{}
	for i, position := range args {
		d = append(d, bson.E{Key: l.Key[i], Value: arg{at: position, column: l.column(l.Key[i])}})
	}
	if beyond && len(args) < len(l.Key) { // a boolean is above numbers and text
		d = append(d, bson.E{Key: l.Key[len(args)], Value: true})
	}
	return d
}

// present returns the condition that a column is not NULL.
func (l *layout) present(column string) bson.D {
	return doc(l.path(column), doc("$gte", smallestValue(l.column(column))))
}

// smallestValue returns the least value of a column's type: all its values but NULL are
// at or above it.
func smallestValue(c *model.Column) any {
	switch c.Type {
	case model.Float:
		return math.Inf(-1)
	case model.String:
		return ""
	case model.Bytes, model.UUID:
		return bson.Binary{}
	}
	return int64(math.MinInt64)
}

// nullable returns the columns of a unique index that may be NULL. Rows with NULL are not
// in the index, as NULLs would be equal there.
func (l *layout) nullable(index string) []string {
	ix, err := l.Index(index)
	if err != nil || !ix.Unique {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(ix.Columns), func(name string) bool { return l.column(name).NotNull })
}

func (l *layout) definition(compression model.Compression) (text string) {
	for _, c := range l.Columns {
		text += fmt.Sprintf("%s %s(%d) required %v, ", c.Name, c.Type, c.Width, c.NotNull)
	}
	return fmt.Sprintf("%skey %v %s", text, l.Key, compression)
}

// indexDefinition is the document of an index in a createIndexes. The primary key is part
// of each index that is not unique, and follows its columns, and the included columns
// follow the key: so entries are in the order of the key, and the key is read from them.
func (l *layout) indexDefinition(ix *model.Index) bson.D {
	columns := ix.Columns
	if !ix.Unique {
		columns = engine.Unique(slices.Concat(columns, l.Key, ix.Include))
	}
	keys := bson.D{}
	for _, name := range columns {
		keys = append(keys, bson.E{Key: l.path(name), Value: 1})
	}
	d := doc("key", keys, "name", ix.Name, "unique", ix.Unique)
	if nullable := l.nullable(ix.Name); len(nullable) > 0 {
		only := bson.D{}
		for _, name := range nullable {
			only = append(only, l.present(name)...)
		}
		d = append(d, bson.E{Key: "partialFilterExpression", Value: only})
	}
	return d
}

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
func (f *filter) choice(position int) (d bson.D) {
	var fixed []int
	for i := range f.equal {
		fixed = append(fixed, position+i)
		if !f.whole {
			d = append(d, bson.E{Key: f.paths[i], Value: arg{at: position + i, column: f.columns[i]}})
		}
	}
	if f.equal == len(f.columns) {
		if f.whole {
			d = doc(idField, f.t.id(fixed, false))
		}
		return d
	}
	path, column := f.paths[f.equal], f.columns[f.equal]
	position += f.equal
	next := func(beyond bool) any {
		position++
		if f.whole {
			return f.t.id(append(slices.Clone(fixed), position-1), beyond)
		}
		return arg{at: position - 1, column: column}
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
func (f *filter) meet(c model.Condition, position int) {
	column := f.t.column(c.Column)
	f.present(column)
	if c.Is != model.ShorterThan {
		is := []string{"$eq", "$gte", "$lte"}[c.Is]
		f.also = append(f.also, doc(f.t.path(c.Column), doc(is, arg{at: position, column: column})))
		return
	}
	subject, empty := "$strLenBytes", any("")
	if column.Type == model.Bytes {
		subject, empty = "$binarySize", bson.Binary{}
	}
	length := doc(subject, doc("$ifNull", bson.A{"$" + f.t.path(c.Column), empty}))
	limit := arg{at: position, column: &model.Column{Name: "length", Type: model.Int, NotNull: true}}
	f.also = append(f.also, doc("$expr", doc("$lt", bson.A{length, limit})))
}
