package mongodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/model"
)

// begin appends the beginning of a document or array; end needs its place.
func begin(dst []byte, typ bsoncore.Type, name string) (_ []byte, at int) {
	dst = bsoncore.AppendHeader(dst, typ, name)
	return append(dst, 0, 0, 0, 0), len(dst)
}

// end ends the document or array that begins at a place.
func end(dst []byte, at int) []byte {
	dst = append(dst, 0)
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// item appends the beginning of an array's element that is a document.
func item(dst []byte, i int) (_ []byte, at int) {
	dst = append(strconv.AppendInt(append(dst, byte(document)), int64(i), 10), 0)
	return append(dst, 0, 0, 0, 0), len(dst)
}

const (
	document = bsoncore.TypeEmbeddedDocument
	array    = bsoncore.TypeArray
)

// appendValue appends a column's value that is not NULL. Times are integers: a
// date has milliseconds only.
func appendValue(dst []byte, name string, c *model.Column, v model.Value) ([]byte, error) {
	if v.Type() != c.Type {
		return dst, fmt.Errorf("column %s has type %s, not %s", c.Name, c.Type, v.Type())
	}
	switch {
	case c.Type == model.Float:
		return bsoncore.AppendDoubleElement(dst, name, v.Float()), nil
	case c.Type == model.String: // without a string of its own
		dst = binary.LittleEndian.AppendUint32(bsoncore.AppendHeader(dst, bsoncore.TypeString, name), uint32(len(v.Buf())+1))
		return append(append(dst, v.Buf()...), 0), nil
	case c.Type == model.Bytes:
		return bsoncore.AppendBinaryElement(dst, name, 0, v.Buf()), nil
	case c.Type == model.Int && c.Width == 4:
		n := v.Int()
		if n != int64(int32(n)) {
			return dst, fmt.Errorf("column %s: %d does not fit in 4 bytes", c.Name, n)
		}
		return bsoncore.AppendInt32Element(dst, name, int32(n)), nil
	}
	return bsoncore.AppendInt64Element(dst, name, v.Int()), nil
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
	v, _ := bsoncore.Document(doc).LookupErr(path...)
	return v.Data
}

// number returns a number in a reply, 0 if there is none.
func number(doc []byte, path ...string) int64 {
	v, _ := bsoncore.Document(doc).LookupErr(path...)
	n, _ := v.AsInt64OK()
	return n
}

// decode returns a column's value, whose text refers to the reply.
func decode(c *model.Column, v bsoncore.Value) (model.Value, error) {
	switch {
	case v.Type == bsoncore.TypeString && c.Type == model.String:
		return model.StringValue(v.Data[4 : len(v.Data)-1]), nil
	case v.Type == bsoncore.TypeBinary && c.Type == model.Bytes:
		_, b := v.Binary()
		return model.BytesValue(b), nil
	case v.Type == bsoncore.TypeDouble && c.Type == model.Float:
		return model.FloatValue(v.Double()), nil
	case v.Type == bsoncore.TypeNull:
		return model.Value{}, nil
	}
	n, ok := v.AsInt64OK()
	switch {
	case ok && c.Type == model.Int:
		return model.IntValue(n), nil
	case ok && c.Type == model.Time:
		return model.MicrosValue(n), nil
	case ok && c.Type == model.Float:
		return model.FloatValue(float64(n)), nil
	}
	return model.Value{}, fmt.Errorf("column %s of type %s is stored as %s", c.Name, c.Type, v.Type)
}

// idField is the field of the primary key: the value of a single column, or a
// document of several, which is ordered column by column.
const idField = "_id"

// layout is how the rows of a table are documents. NULL is not stored, so that
// $inc takes it for zero and $group for one value.
type layout struct {
	*model.Table
	paths   []string      // of the columns
	numbers *atomic.Int64 // the greatest number given out of the Auto column
}

func newLayout(t *model.Table) *layout {
	l := &layout{Table: t, numbers: &atomic.Int64{}}
	for _, c := range t.Columns {
		l.paths = append(l.paths, c.Name)
	}
	for _, name := range t.Key {
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

// appendID appends a primary key, or the first columns of one of several. beyond
// appends what is above all values of the next column.
func (l *layout) appendID(dst []byte, name string, key []model.Value, beyond bool) (_ []byte, err error) {
	if !l.composite() {
		if key[0].IsNull() {
			return dst, fmt.Errorf("column %s is NULL in a key", l.Key[0])
		}
		return appendValue(dst, name, l.column(l.Key[0]), key[0])
	}
	dst, at := begin(dst, document, name)
	for i, v := range key {
		if v.IsNull() {
			return dst, fmt.Errorf("column %s is NULL in a key", l.Key[i])
		}
		if dst, err = appendValue(dst, l.Key[i], l.column(l.Key[i]), v); err != nil {
			return dst, err
		}
	}
	if beyond { // a boolean is above numbers and text
		dst = bsoncore.AppendBooleanElement(dst, l.Key[len(key)], true)
	}
	return end(dst, at), nil
}
