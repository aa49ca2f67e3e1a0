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
