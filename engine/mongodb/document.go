package mongodb

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/model"
)

// idField is the field of the primary key: the value of a single column, or a
// document of several, which is ordered column by column.
const idField = "_id"

// layout is how the rows of a table are documents. NULL is not stored, so that
// $inc takes it for zero and $group for one value.
type layout struct {
	model.Table              // whose key has no NULLs
	paths       []string     // of the columns
	numbers     atomic.Int64 // the greatest number given out of the Auto column
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

// path returns the path of a column by its name.
func (l *layout) path(column string) string { return l.paths[l.Column(column)] }

// column returns a column by its name.
func (l *layout) column(name string) *model.Column { return &l.Columns[l.Column(name)] }

// id returns a primary key, or the first columns of one of several, by the places
// of its arguments. beyond makes it what is above all that begin so.
func (l *layout) id(args []int, beyond bool) any {
	if !l.composite() {
		return arg{at: args[0], column: l.column(l.Key[0])}
	}
	d := bson.D{}
	for i, at := range args {
		d = append(d, bson.E{Key: l.Key[i], Value: arg{at: at, column: l.column(l.Key[i])}})
	}
	if beyond && len(args) < len(l.Key) { // a boolean is above numbers and text
		d = append(d, bson.E{Key: l.Key[len(args)], Value: true})
	}
	return d
}

// present returns the condition that a column is not NULL.
func (l *layout) present(column string) bson.D {
	return doc(l.path(column), doc("$gte", least(l.column(column))))
}

// least is the least value of a column's type, which all its values but NULL are
// at or above.
func least(c *model.Column) any {
	switch c.Type {
	case model.Float:
		return math.Inf(-1)
	case model.String:
		return ""
	case model.Bytes:
		return bson.Binary{}
	}
	return int64(math.MinInt64)
}

// each calls a function for the elements of a document or array in a reply.
func each(doc []byte, f func(name []byte, v bsoncore.Value) error) error {
	if len(doc) < 5 {
		return nil // it is missing
	}
	for rest := doc[4 : len(doc)-1]; len(rest) > 0; {
		element, after, ok := bsoncore.ReadElement(rest)
		if !ok {
			return errors.New("the server's reply is malformed")
		}
		if err := f(element.KeyBytes(), element.Value()); err != nil {
			return err
		}
		rest = after
	}
	return nil
}

// lookup returns a value in a reply, nil if there is none.
func lookup(doc []byte, path ...string) []byte {
	if len(path) == 0 {
		return doc
	}
	v, _ := bsoncore.Document(doc).LookupErr(path...)
	return v.Data
}

// number returns a number in a reply, 0 if there is none.
func number(doc []byte, path ...string) int64 {
	v, _ := bsoncore.Document(doc).LookupErr(path...)
	n, _ := v.AsInt64OK()
	return n
}

// text returns a string in a reply, "" if there is none.
func text(doc []byte, path ...string) string {
	v, _ := bsoncore.Document(doc).LookupErr(path...)
	s, _ := v.StringValueOK()
	return s
}

// decode returns a column's value, whose text refers to the reply.
func decode(c *model.Column, v bsoncore.Value) (model.Value, error) {
	n, whole := v.AsInt64OK()
	_, b, _ := v.BinaryOK()
	switch {
	case v.Type == bsoncore.TypeNull:
		return model.Value{}, nil
	case v.Type == bsoncore.TypeString && c.Type == model.String:
		return model.StringValue(v.Data[4 : len(v.Data)-1]), nil
	case v.Type == bsoncore.TypeBinary && c.Type == model.Bytes:
		return model.BytesValue(b), nil
	case v.Type == bsoncore.TypeDouble && c.Type == model.Float:
		return model.FloatValue(v.Double()), nil
	case whole && c.Type == model.Float:
		return model.FloatValue(float64(n)), nil
	case whole && c.Type == model.Time:
		return model.MicrosValue(n), nil
	case whole && c.Type == model.Int:
		return model.IntValue(n), nil
	}
	return model.Value{}, fmt.Errorf("column %s of type %s is stored as %s", c.Name, c.Type, v.Type)
}
