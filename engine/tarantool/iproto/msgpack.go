package iproto

import (
	"encoding/binary"
	"errors"
	"math"

	"rumbench/model"
)

// Nil is the tag of a missing value.
const Nil = 0xc0

// appendSized appends a number in the fewest bytes, 1, 2, 4 or 8, that can hold the
// bound. The tags of the sizes are consecutive; tag is that of 1<<lowest bytes.
func appendSized(b []byte, tag byte, lowest int, bound, n uint64) []byte {
	size := lowest
	for size < 3 && bound >= 1<<(8<<size) {
		size++
	}
	b = append(b, tag+byte(size-lowest))
	for shift := 8<<size - 8; shift >= 0; shift -= 8 {
		b = append(b, byte(n>>shift))
	}
	return b
}

// AppendUint appends a number that is not negative.
func AppendUint(b []byte, n uint64) []byte {
	if n < 1<<7 {
		return append(b, byte(n))
	}
	return appendSized(b, 0xcc, 0, n, n)
}

func AppendInt(b []byte, n int64) []byte {
	switch {
	case n >= 0:
		return AppendUint(b, uint64(n))
	case n >= -32:
		return append(b, byte(n))
	}
	return appendSized(b, 0xd0, 0, uint64(^n)<<1, uint64(n)) // one bit is for the sign
}

// AppendText appends text, or any bytes: the server compares them byte by byte
// and does not look into them.
func AppendText[T string | []byte](b []byte, s T) []byte {
	n := len(s)
	if n < 1<<5 {
		b = append(b, 0xa0|byte(n))
	} else {
		b = appendSized(b, 0xd9, 0, uint64(n), uint64(n))
	}
	return append(b, s...)
}

// AppendArray begins an array of n elements.
func AppendArray(b []byte, n int) []byte { return appendCount(b, n, 0x90, 0xdc) }

// AppendMap begins a map of n pairs.
func AppendMap(b []byte, n int) []byte { return appendCount(b, n, 0x80, 0xde) }

func appendCount(b []byte, n int, short, long byte) []byte {
	if n < 1<<4 {
		return append(b, short|byte(n))
	}
	return appendSized(b, long, 1, uint64(n), uint64(n))
}

func AppendValue(b []byte, v model.Value) []byte {
	switch v.Type() {
	case model.Null:
		return append(b, Nil)
	case model.Float:
		return binary.BigEndian.AppendUint64(append(b, 0xcb), math.Float64bits(v.Float()))
	case model.String, model.Bytes:
		return AppendText(b, v.Buf())
	case model.UUID: // an extension of 16 bytes, of type 2
		return append(append(b, 0xd8, 2), v.Buf()...)
	}
	return AppendInt(b, v.Int())
}

var errCut = errors.New("the server sent a message that is cut off, or not of the form expected")

// Reader reads a response, value by value. A value that does not have the expected form
// is read as zero, and Err reports it.
type Reader struct {
	b   []byte
	bad bool
}

// Err returns an error if a value did not have the expected form.
func (r *Reader) Err() error {
	if r.bad {
		return errCut
	}
	return nil
}

// take returns the next n bytes, nil if there are fewer.
func (r *Reader) take(n int) []byte {
	if n > len(r.b) {
		r.b, r.bad = nil, true
		return nil
	}
	b := r.b[:n:n]
	r.b = r.b[n:]
	return b
}

// uint reads a number of n bytes.
func (r *Reader) uint(n int) (x uint64) {
	for _, c := range r.take(n) {
		x = x<<8 | uint64(c)
	}
	return x
}

func (r *Reader) tag() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return Nil
}

// Map reads the number of pairs that follow.
func (r *Reader) Map() int { return r.count(0x80, 0xde) }

// Array reads the number of elements that follow.
func (r *Reader) Array() int { return r.count(0x90, 0xdc) }

func (r *Reader) count(short, long byte) int {
	n := 0
	switch tag := r.tag(); {
	case tag&0xf0 == short:
		return int(tag & 0xf)
	case tag == long:
		n = int(r.uint(2))
	case tag == long+1:
		n = int(r.uint(4))
	default:
		r.bad = true
	}
	if n > len(r.b) { // every element takes at least a byte
		r.bad, n = true, 0
	}
	return n
}

// Int reads a whole number.
func (r *Reader) Int() int64 { return r.number(r.tag(), model.Int).Int() }

func (r *Reader) Text() []byte { return r.take(r.textSize(r.tag())) }

func (r *Reader) textSize(tag byte) int {
	switch {
	case tag&0xe0 == 0xa0:
		return int(tag & 0x1f)
	case tag == 0xd9, tag == 0xc4:
		return int(r.uint(1))
	case tag == 0xda, tag == 0xc5:
		return int(r.uint(2))
	case tag == 0xdb, tag == 0xc6:
		return int(r.uint(4))
	}
	r.bad = true
	return 0
}

// Value reads a value of a column's type, or NULL. Text and bytes are valid as long as
// the response is.
func (r *Reader) Value(t model.Type) model.Value {
	tag := r.tag()
	switch {
	case tag == Nil:
		return model.Value{}
	case t == model.String:
		return model.StringValue(r.take(r.textSize(tag)))
	case t == model.Bytes:
		return model.BytesValue(r.take(r.textSize(tag)))
	case t == model.UUID:
		r.bad = r.bad || tag != 0xd8 || r.tag() != 2
		return model.UUIDValue(r.take(16))
	}
	return r.number(tag, t)
}

// number reads a number as a value of a type: Lua does not distinguish 3 and 3.0.
func (r *Reader) number(tag byte, t model.Type) model.Value {
	var n int64
	switch {
	case tag < 0x80, tag >= 0xe0:
		n = int64(int8(tag))
	case tag == 0xca:
		return r.float(float64(math.Float32frombits(uint32(r.uint(4)))), t)
	case tag == 0xcb:
		return r.float(math.Float64frombits(r.uint(8)), t)
	case tag >= 0xcc && tag <= 0xcf:
		u := r.uint(1 << (tag - 0xcc))
		n, r.bad = int64(u), r.bad || u > math.MaxInt64
	case tag >= 0xd0 && tag <= 0xd3:
		size := 1 << (tag - 0xd0)
		shift := 64 - 8*size
		n = int64(r.uint(size)<<shift) >> shift
	default:
		r.bad = true
	}
	switch t {
	case model.Float:
		return model.FloatValue(float64(n))
	case model.Time:
		return model.MicrosValue(n)
	}
	return model.IntValue(n)
}

func (r *Reader) float(f float64, t model.Type) model.Value {
	if t == model.Float {
		return model.FloatValue(f)
	}
	r.bad = r.bad || f != math.Trunc(f)
	return model.IntValue(int64(f))
}

// Skip skips a value. Values may be nested to any depth.
func (r *Reader) Skip() {
	for left := 1; left > 0; left-- {
		if left += r.skipHead(); r.bad {
			return
		}
	}
}

// skipHead skips a value, but for the values in an array or a map: it returns their number.
func (r *Reader) skipHead() int {
	switch tag := r.tag(); {
	case tag < 0x80, tag >= 0xe0, tag == Nil, tag == 0xc2, tag == 0xc3: // the value is in the tag itself
	case tag >= 0xca && tag <= 0xcb:
		r.take(4 << (tag - 0xca))
	case tag >= 0xcc && tag <= 0xcf:
		r.take(1 << (tag - 0xcc))
	case tag >= 0xd0 && tag <= 0xd3:
		r.take(1 << (tag - 0xd0))
	case tag >= 0xd4 && tag <= 0xd8: // an extension of 1 to 16 bytes
		r.take(1 + 1<<(tag-0xd4))
	case tag >= 0xc7 && tag <= 0xc9: // an extension of any size
		r.take(1 + int(r.uint(1<<(tag-0xc7))))
	case tag&0xf0 == 0x80, tag == 0xde, tag == 0xdf:
		return 2 * r.held(tag, 0xde)
	case tag&0xf0 == 0x90, tag == 0xdc, tag == 0xdd:
		return r.held(tag, 0xdc)
	default:
		r.take(r.textSize(tag))
	}
	return 0
}

// held reads the number of elements of an array, or of pairs of a map.
func (r *Reader) held(tag, long byte) int {
	if tag >= long {
		return int(r.uint(2 << (tag - long)))
	}
	return int(tag & 0xf)
}
