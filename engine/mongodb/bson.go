package mongodb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/model"
)

// doc returns a document of names and values.
func doc(pairs ...any) bson.D {
	d := make(bson.D, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

// arg represents an argument of an operation as a value in a document. The field is
// omitted if the argument is NULL; that of an unset one otherwise.
type arg struct {
	at     int
	column *model.Column
	unset  bool
}

// optional is a document that is omitted if all of its fields are.
type optional bson.D

// command is a command as BSON with placeholders for arguments: it is built once, and
// filled for each execution.
type command struct {
	parts  []part
	text   []byte // not yet in any part
	writes bool
}

// part is a piece of a command: unchanging text, and the action after it.
type part struct {
	text  []byte
	do    action
	field []byte // the type and the name of the value
	arg   arg
}

type action byte

const (
	begin action = iota // a document or array
	end
	endOptional
	value // of an argument
)

func newCommand(d bson.D) *command {
	c := &command{}
	c.document(nil, d, end)
	return c
}

func (c *command) add(do action, field []byte, a arg) {
	c.parts = append(c.parts, part{c.text, do, field, a})
	c.text = nil
}

func (c *command) document(field []byte, d bson.D, end action) {
	c.add(begin, field, arg{})
	for _, e := range d {
		c.element(e.Key, e.Value)
	}
	c.add(end, field, arg{})
}

func (c *command) element(name string, v any) {
	field := func(t bsoncore.Type) []byte { return bsoncore.AppendHeader(nil, t, name) }
	const document = bsoncore.TypeEmbeddedDocument
	switch v := v.(type) {
	case arg:
		c.add(value, field(v.bsonType()), v)
	case bson.D:
		c.document(field(document), v, end)
	case optional:
		c.document(field(document), bson.D(v), endOptional)
	case bson.A:
		items := bson.D{}
		for i, item := range v {
			items = append(items, bson.E{Key: strconv.Itoa(i), Value: item})
		}
		c.document(field(bsoncore.TypeArray), items, end)
	default:
		t, b, err := bson.MarshalValue(v)
		if err != nil {
			panic(err) // commands have no values that could fail
		}
		c.text = append(append(c.text, field(bsoncore.Type(t))...), b...)
	}
}

func (c *command) fill(dst []byte, args []model.Value) (_ []byte, err error) {
	var deep [16]int // enough for all, so that it stays on the stack
	open := deep[:0] // the offsets of the fields of the open documents
	for i := range c.parts {
		p := &c.parts[i]
		dst = append(dst, p.text...)
		switch p.do {
		case begin:
			open = append(open, len(dst))
			dst = append(append(dst, p.field...), 0, 0, 0, 0)
		case value:
			if dst, err = p.value(dst, args[p.arg.at]); err != nil {
				return dst, err
			}
		default:
			field := open[len(open)-1]
			open = open[:len(open)-1]
			position := field + len(p.field)
			if p.do == endOptional && len(dst) == position+4 {
				dst = dst[:field]
				continue
			}
			dst = append(dst, 0)
			binary.LittleEndian.PutUint32(dst[position:], uint32(len(dst)-position))
		}
	}
	return dst, nil
}

var bsonTypes = map[model.Type]bsoncore.Type{
	model.Int: bsoncore.TypeInt64, model.Float: bsoncore.TypeDouble, model.String: bsoncore.TypeString,
	model.Bytes: bsoncore.TypeBinary, model.UUID: bsoncore.TypeBinary,
	model.Time: bsoncore.TypeInt64, // a date has milliseconds only
}

// subtypes are those of bytes; that of bytes of any kind is 0.
var subtypes = map[model.Type]byte{model.UUID: bson.TypeBinaryUUID}

func (a arg) bsonType() bsoncore.Type {
	switch {
	case a.unset:
		return bsoncore.TypeBoolean
	case a.column.Type == model.Int && a.column.Width == 4:
		return bsoncore.TypeInt32
	}
	return bsonTypes[a.column.Type]
}

func (p *part) value(dst []byte, v model.Value) ([]byte, error) {
	c := p.arg.column
	switch {
	case v.IsNull() && p.arg.unset:
		return append(append(dst, p.field...), 1), nil
	case v.IsNull() && c.NotNull:
		return dst, fmt.Errorf("column %s is NOT NULL", c.Name)
	case v.IsNull() != p.arg.unset:
		return dst, nil
	case v.Type() != c.Type:
		return dst, fmt.Errorf("column %s has type %s, not %s", c.Name, c.Type, v.Type())
	}
	dst = append(dst, p.field...)
	switch n := v.Int(); bsoncore.Type(p.field[0]) {
	case bsoncore.TypeDouble:
		return bsoncore.AppendDouble(dst, v.Float()), nil
	case bsoncore.TypeString: // avoids allocating a string
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.Buf())+1))
		return append(append(dst, v.Buf()...), 0), nil
	case bsoncore.TypeBinary:
		return bsoncore.AppendBinary(dst, subtypes[c.Type], v.Buf()), nil
	case bsoncore.TypeInt32:
		if n != int64(int32(n)) {
			return dst, fmt.Errorf("column %s: %d does not fit in 4 bytes", c.Name, n)
		}
		return bsoncore.AppendInt32(dst, int32(n)), nil
	default:
		return bsoncore.AppendInt64(dst, n), nil
	}
}

// each calls a function for the elements of a document or array in a reply.
func each(doc []byte, f func(name []byte, v bsoncore.Value) error) error {
	if len(doc) < 5 {
		return nil // it is missing
	}
	for remaining := doc[4 : len(doc)-1]; len(remaining) > 0; {
		element, after, ok := bsoncore.ReadElement(remaining)
		if !ok {
			return errors.New("the server's reply is malformed")
		}
		if err := f(element.KeyBytes(), element.Value()); err != nil {
			return err
		}
		remaining = after
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
	n, complete := v.AsInt64OK()
	_, b, _ := v.BinaryOK()
	switch {
	case v.Type == bsoncore.TypeNull:
		return model.Value{}, nil
	case v.Type == bsoncore.TypeString && c.Type == model.String:
		return model.StringValue(v.Data[4 : len(v.Data)-1]), nil
	case v.Type == bsoncore.TypeBinary && c.Type == model.Bytes:
		return model.BytesValue(b), nil
	case v.Type == bsoncore.TypeBinary && c.Type == model.UUID:
		return model.UUIDValue(b), nil
	case v.Type == bsoncore.TypeDouble && c.Type == model.Float:
		return model.FloatValue(v.Double()), nil
	case complete && c.Type == model.Float:
		return model.FloatValue(float64(n)), nil
	case complete && c.Type == model.Time:
		return model.MicrosValue(n), nil
	case complete && c.Type == model.Int:
		return model.IntValue(n), nil
	}
	return model.Value{}, fmt.Errorf("column %s of type %s is stored as %s", c.Name, c.Type, v.Type)
}
