package mongodb

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"sync/atomic"

	"rumbench/model"
)

// The types of BSON that rows and commands are made of.
const (
	typeDouble   = 0x01
	typeString   = 0x02
	typeDocument = 0x03
	typeArray    = 0x04
	typeBinary   = 0x05
	typeBool     = 0x08
	typeInt32    = 0x10
	typeInt64    = 0x12
)

// header appends what an element begins with.
func header(dst []byte, typ byte, name string) []byte {
	return append(append(append(dst, typ), name...), 0)
}

// begin appends the beginning of a document or array; end needs its place.
func begin(dst []byte, typ byte, name string) (_ []byte, at int) {
	dst = header(dst, typ, name)
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
	dst = append(strconv.AppendInt(append(dst, typeDocument), int64(i), 10), 0)
	return append(dst, 0, 0, 0, 0), len(dst)
}

func appendText(dst []byte, name, text string) []byte {
	dst = binary.LittleEndian.AppendUint32(header(dst, typeString, name), uint32(len(text)+1))
	return append(append(dst, text...), 0)
}

func appendInt(dst []byte, name string, n int) []byte {
	return binary.LittleEndian.AppendUint32(header(dst, typeInt32, name), uint32(n))
}

func appendBool(dst []byte, name string, b bool) []byte {
	dst = append(header(dst, typeBool, name), 0)
	if b {
		dst[len(dst)-1] = 1
	}
	return dst
}

// appendValue appends a column's value that is not NULL. Times are integers: a
// date has milliseconds only.
func appendValue(dst []byte, name string, c *model.Column, v model.Value) ([]byte, error) {
	if v.Type() != c.Type {
		return dst, fmt.Errorf("column %s has type %s, not %s", c.Name, c.Type, v.Type())
	}
	switch {
	case c.Type == model.Float:
		return binary.LittleEndian.AppendUint64(header(dst, typeDouble, name), math.Float64bits(v.Float())), nil
	case c.Type == model.String:
		dst = binary.LittleEndian.AppendUint32(header(dst, typeString, name), uint32(len(v.Buf())+1))
		return append(append(dst, v.Buf()...), 0), nil
	case c.Type == model.Bytes:
		dst = binary.LittleEndian.AppendUint32(header(dst, typeBinary, name), uint32(len(v.Buf())))
		return append(append(dst, 0), v.Buf()...), nil
	case c.Type == model.Int && c.Width == 4:
		n := v.Int()
		if n != int64(int32(n)) {
			return dst, fmt.Errorf("column %s: %d does not fit in 4 bytes", c.Name, n)
		}
		return binary.LittleEndian.AppendUint32(header(dst, typeInt32, name), uint32(n)), nil
	}
	return binary.LittleEndian.AppendUint64(header(dst, typeInt64, name), uint64(v.Int())), nil
}

// least is the least value of a column's type, which all its values but NULL are
// at or above.
func least(c *model.Column) model.Value {
	switch c.Type {
	case model.Float:
		return model.FloatValue(math.Inf(-1))
	case model.String:
		return model.StringValue(nil)
	case model.Bytes:
		return model.BytesValue(nil)
	case model.Time:
		return model.MicrosValue(math.MinInt64)
	}
	if c.Width == 4 {
		return model.IntValue(math.MinInt32)
	}
	return model.IntValue(math.MinInt64)
}

// errShort is a reply that ends too early or has values of unknown types.
var errShort = fmt.Errorf("the server's reply is malformed")

// next reads the first element of a document's body and returns the rest, which is
// nil at its end.
func next(body []byte) (typ byte, name, value, rest []byte, err error) {
	if len(body) == 0 || body[0] == 0 {
		return 0, nil, nil, nil, nil
	}
	typ, body = body[0], body[1:]
	n := 0
	for n < len(body) && body[n] != 0 {
		n++
	}
	if n+1 > len(body) {
		return 0, nil, nil, nil, errShort
	}
	name, body = body[:n], body[n+1:]
	size := 0
	switch typ {
	case typeDouble, 0x09, 0x11, typeInt64: // and date, timestamp
		size = 8
	case typeInt32:
		size = 4
	case typeBool:
		size = 1
	case 0x06, 0x0a, 0x7f, 0xff: // undefined, null, the greatest and the least key
	case 0x07: // object id
		size = 12
	case typeString, typeBinary, typeDocument, typeArray:
		if len(body) < 4 {
			return 0, nil, nil, nil, errShort
		}
		size = int(binary.LittleEndian.Uint32(body)) + map[byte]int{typeString: 4, typeBinary: 5}[typ]
	default:
		return 0, nil, nil, nil, errShort
	}
	if size < 0 || size > len(body) {
		return 0, nil, nil, nil, errShort
	}
	return typ, name, body[:size], body[size:], nil
}

// document makes a document of elements.
func document(elements []byte) []byte { return end(append(make([]byte, 4), elements...), 0) }

// body returns the elements of a document.
func body(doc []byte) []byte {
	if len(doc) < 5 {
		return nil
	}
	return doc[4 : len(doc)-1]
}

// lookup returns an element of a document, nil if there is none.
func lookup(doc []byte, name string) (typ byte, value []byte) {
	for rest := body(doc); len(rest) > 0; {
		typ, key, value, after, err := next(rest)
		if err != nil {
			return 0, nil
		}
		if string(key) == name {
			return typ, value
		}
		rest = after
	}
	return 0, nil
}

// number returns an element that is a number, 0 for any other.
func number(typ byte, value []byte) int64 {
	switch typ {
	case typeInt32:
		return int64(int32(binary.LittleEndian.Uint32(value)))
	case typeInt64:
		return int64(binary.LittleEndian.Uint64(value))
	case typeDouble:
		return int64(math.Float64frombits(binary.LittleEndian.Uint64(value)))
	}
	return 0
}

// decode returns a column's value, whose text refers to the reply.
func decode(c *model.Column, typ byte, value []byte) (model.Value, error) {
	switch {
	case typ == 0x0a: // null
		return model.Value{}, nil
	case c.Type == model.Float && typ == typeDouble:
		return model.FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(value))), nil
	case c.Type == model.Float && (typ == typeInt32 || typ == typeInt64):
		return model.FloatValue(float64(number(typ, value))), nil
	case c.Type == model.String && typ == typeString:
		return model.StringValue(value[4 : len(value)-1]), nil
	case c.Type == model.Bytes && typ == typeBinary:
		return model.BytesValue(value[5:]), nil
	case c.Type == model.Time && (typ == typeInt64 || typ == typeInt32):
		return model.MicrosValue(number(typ, value)), nil
	case c.Type == model.Int && (typ == typeInt64 || typ == typeInt32 || typ == typeDouble):
		return model.IntValue(number(typ, value)), nil
	}
	return model.Value{}, fmt.Errorf("column %s of type %s is stored as BSON type %#x", c.Name, c.Type, typ)
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
	dst, at := begin(dst, typeDocument, name)
	for i, v := range key {
		if v.IsNull() {
			return dst, fmt.Errorf("column %s is NULL in a key", l.Key[i])
		}
		if dst, err = appendValue(dst, l.Key[i], l.column(l.Key[i]), v); err != nil {
			return dst, err
		}
	}
	if beyond { // a boolean is above numbers and text
		dst = appendBool(dst, l.Key[len(key)], true)
	}
	return end(dst, at), nil
}
