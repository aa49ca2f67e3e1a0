package model

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Type is the type of a column, and of a value in it.
type Type uint8

// The column types. A column accepts values of its type and, unless it is part
// of the primary key, NULL.
const (
	Null   Type = iota // of values only: no value
	Int                // signed 64-bit integer
	Float              // finite IEEE 754 double: not every database stores infinity, and they order NaN differently
	Time               // an instant in UTC at microsecond resolution
	String             // UTF-8 text, compared byte by byte
	Bytes              // arbitrary bytes
	UUID               // 16 bytes, in the order of their digits
)

// String returns the name of the type, for messages.
func (t Type) String() string {
	return name("type", []string{"null", "int", "float", "time", "string", "bytes", "uuid"}, uint8(t))
}

// name returns names[i], or the subject with i if there is no such name.
func name(subject string, names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return fmt.Sprintf("%s(%d)", subject, i)
}

// Value is one column value. It is a small struct rather than an interface, so
// that rows are built and passed without allocating. The zero Value is NULL.
//
// A value of type String, Bytes or UUID refers to memory of its creator; whoever keeps
// it beyond the call that passed it must Clone it.
type Value struct {
	typ Type
	num int64
	buf []byte
}

// IntValue returns the integer n.
func IntValue(n int64) Value { return Value{typ: Int, num: n} }

// FloatValue returns the float f; NaN is not a value and becomes NULL.
func FloatValue(f float64) Value {
	if math.IsNaN(f) {
		return Value{}
	}
	if f == 0 {
		f = 0 // -0 and 0 are equal and must have the same encoding
	}
	return Value{typ: Float, num: int64(math.Float64bits(f))}
}

// TimeValue returns the instant t, truncated to microseconds.
func TimeValue(t time.Time) Value { return Value{typ: Time, num: t.UnixMicro()} }

// MicrosValue returns the instant us microseconds after 1970-01-01 UTC.
func MicrosValue(us int64) Value { return Value{typ: Time, num: us} }

// StringValue returns the string s, which is not copied.
func StringValue(s []byte) Value { return Value{typ: String, buf: s} }

// UUIDValue returns the UUID of 16 bytes, which are not copied.
func UUIDValue(b []byte) Value { return Value{typ: UUID, buf: b} }

// BufValue returns a value of a type that IsText, whose bytes are not copied.
func BufValue(t Type, b []byte) Value { return Value{typ: t, buf: b} }

// IsText reports whether values of the type are bytes in memory.
func (t Type) IsText() bool { return t == String || t == Bytes || t == UUID }

// BytesValue returns the bytes b, which are not copied.
func BytesValue(b []byte) Value { return Value{typ: Bytes, buf: b} }

// Type returns the type of the value, Null for the zero Value.
func (v Value) Type() Type { return v.typ }

// IsNull reports whether the value is NULL.
func (v Value) IsNull() bool { return v.typ == Null }

// Int returns the integer of an Int value and the microseconds of a Time value.
func (v Value) Int() int64 { return v.num }

// Float returns the number of a Float value.
func (v Value) Float() float64 { return math.Float64frombits(uint64(v.num)) }

// Buf returns the memory of a String, Bytes or UUID value, nil for other types.
func (v Value) Buf() []byte { return v.buf }

// Time returns the instant of a Time value.
func (v Value) Time() time.Time { return time.UnixMicro(v.num).UTC() }

// Size returns the number of user bytes in the value: 8 for numbers and times,
// the length of strings and bytes, 0 for NULL. It counts the bytes that reads
// return, independently of any engine's encoding; live and written bytes are
// reported by the workload, which knows its columns' widths.
func (v Value) Size() int {
	switch v.typ {
	case Null:
		return 0
	case String, Bytes, UUID:
		return len(v.buf)
	}
	return 8
}

// Clone returns a copy of the value that owns its memory.
func (v Value) Clone() Value {
	if v.buf != nil {
		v.buf = bytes.Clone(v.buf)
	}
	return v
}

// Add returns v+w for two values of the same numeric type; NULL counts as zero.
func (v Value) Add(w Value) Value {
	switch {
	case v.IsNull():
		return w
	case w.IsNull():
		return v
	case v.typ == Float:
		return FloatValue(v.Float() + w.Float())
	}
	return Value{typ: v.typ, num: v.num + w.num}
}

// Compare orders values of one column: NULL first, then by value, strings byte
// by byte. Values of different types are ordered by type.
func (v Value) Compare(w Value) int {
	if v.typ != w.typ {
		return cmp.Compare(v.typ, w.typ)
	}
	switch v.typ {
	case Float:
		return cmp.Compare(v.Float(), w.Float())
	case String, Bytes, UUID:
		return bytes.Compare(v.buf, w.buf)
	}
	return cmp.Compare(v.num, w.num)
}

// AppendHash appends an unambiguous encoding of the value, for checksums: it is
// the same on every engine.
func (v Value) AppendHash(dst []byte) []byte {
	dst = append(dst, byte(v.typ))
	switch v.typ {
	case Null:
		return dst
	case String, Bytes, UUID:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(v.buf)))
		return append(dst, v.buf...)
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v.num))
}

// MarshalJSON returns the encoding of AppendHash as a JSON text.
func (v Value) MarshalJSON() ([]byte, error) { return json.Marshal(v.AppendHash(nil)) }

// UnmarshalJSON reads what MarshalJSON returns.
func (v *Value) UnmarshalJSON(text []byte) error {
	var b []byte
	if err := json.Unmarshal(text, &b); err != nil || len(b) == 0 {
		return fmt.Errorf("%.20q is no value: %w", text, err)
	}
	*v = Value{typ: Type(b[0])}
	switch b = b[1:]; {
	case v.typ == Null:
	case v.typ.IsText() && len(b) >= 4:
		v.buf = b[4:]
	case len(b) == 8:
		v.num = int64(binary.LittleEndian.Uint64(b))
	default:
		return fmt.Errorf("%.20q is no value", text)
	}
	return nil
}

// AppendUUID appends a UUID in its usual form, of 36 characters.
func (v Value) AppendUUID(dst []byte) []byte {
	for i, b := range v.buf {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = hex.AppendEncode(dst, []byte{b})
	}
	return dst
}

// String returns the value in readable form, for messages.
func (v Value) String() string {
	switch v.typ {
	case Null:
		return "NULL"
	case Float:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case Time:
		return v.Time().Format("2006-01-02T15:04:05.999999Z")
	case String:
		return strconv.Quote(string(v.buf))
	case Bytes:
		return fmt.Sprintf("x'%x'", v.buf)
	case UUID:
		return string(v.AppendUUID(nil))
	}
	return strconv.FormatInt(v.num, 10)
}
