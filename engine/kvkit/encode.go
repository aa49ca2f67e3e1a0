package kvkit

import (
	"encoding/binary"
	"fmt"
	"math"

	"rumbench/model"
)

// A nullable column in a key begins with one of these. NULL sorts first.
const (
	nullMark    = 0x00
	presentMark = 0x01
)

// Text in a key ends with 0x00 0x01; a zero byte in it becomes 0x00 0xff. This
// preserves byte order, also when one text is a prefix of another.
const (
	escape     = 0x00
	terminator = 0x01
	escapedNul = 0xff
)

// appendKey appends the order-preserving encoding of a column's value.
func appendKey(dst []byte, c *model.Column, v model.Value) ([]byte, error) {
	if v.IsNull() {
		if c.NotNull {
			return dst, fmt.Errorf("column %s is NOT NULL", c.Name)
		}
		return append(dst, nullMark), nil
	}
	if v.Type() != c.Type {
		return dst, fmt.Errorf("column %s has type %s, not %s", c.Name, c.Type, v.Type())
	}
	if !c.NotNull {
		dst = append(dst, presentMark)
	}
	switch c.Type {
	case model.Float:
		return binary.BigEndian.AppendUint64(dst, sortableFloat(v.Float())), nil
	case model.String, model.Bytes:
		return appendText(dst, v.Buf()), nil
	case model.UUID:
		return append(dst, v.Buf()...), nil
	}
	if c.Width == 4 && c.Type == model.Int {
		n := v.Int()
		if n < math.MinInt32 || n > math.MaxInt32 {
			return dst, fmt.Errorf("column %s: %d does not fit in 4 bytes", c.Name, n)
		}
		return binary.BigEndian.AppendUint32(dst, uint32(n)^1<<31), nil
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v.Int())^1<<63), nil
}

func appendText(dst, s []byte) []byte {
	for _, b := range s {
		dst = append(dst, b)
		if b == escape {
			dst = append(dst, escapedNul)
		}
	}
	return append(dst, escape, terminator)
}

const uuidLen = 16

// sortableFloat maps floats to integers in the same order: all bits of negative
// numbers are flipped, of the others only the sign.
func sortableFloat(f float64) uint64 {
	u := math.Float64bits(f)
	if u>>63 == 1 {
		return ^u
	}
	return u | 1<<63
}

func floatOfSortable(u uint64) float64 {
	if u>>63 == 1 {
		return math.Float64frombits(u &^ (1 << 63))
	}
	return math.Float64frombits(^u)
}

// decodeKey decodes the first column of a key and returns the rest. Text is
// appended to *arena, which must not be reused while the value is in use.
func decodeKey(key []byte, c *model.Column, arena *[]byte) (model.Value, []byte, error) {
	if !c.NotNull {
		if len(key) == 0 {
			return model.Value{}, nil, errShort(c)
		}
		mark := key[0]
		key = key[1:]
		if mark == nullMark {
			return model.Value{}, key, nil
		}
	}
	switch {
	case c.Type == model.String || c.Type == model.Bytes:
		return decodeText(key, c, arena)
	case c.Type == model.UUID && len(key) >= uuidLen:
		start := len(*arena)
		*arena = append(*arena, key[:uuidLen]...)
		return model.UUIDValue((*arena)[start:len(*arena):len(*arena)]), key[uuidLen:], nil
	case c.Type == model.Int && c.Width == 4:
		if len(key) < 4 {
			return model.Value{}, nil, errShort(c)
		}
		return model.IntValue(int64(int32(binary.BigEndian.Uint32(key) ^ 1<<31))), key[4:], nil
	case len(key) < 8:
		return model.Value{}, nil, errShort(c)
	}
	u := binary.BigEndian.Uint64(key)
	switch c.Type {
	case model.Float:
		return model.FloatValue(floatOfSortable(u)), key[8:], nil
	case model.Time:
		return model.MicrosValue(int64(u ^ 1<<63)), key[8:], nil
	}
	return model.IntValue(int64(u ^ 1<<63)), key[8:], nil
}

func decodeText(key []byte, c *model.Column, arena *[]byte) (model.Value, []byte, error) {
	start := len(*arena)
	for i := 0; i+1 < len(key); i++ {
		if key[i] != escape {
			*arena = append(*arena, key[i])
			continue
		}
		if key[i+1] == terminator {
			return model.BufValue(c.Type, (*arena)[start:len(*arena):len(*arena)]), key[i+2:], nil
		}
		*arena = append(*arena, escape)
		i++
	}
	return model.Value{}, nil, errShort(c)
}

func errShort(c *model.Column) error {
	return fmt.Errorf("stored key or row is truncated in column %s", c.Name)
}

// appendCell appends a column as stored in the value of a row: a mark byte if it
// is nullable, then the number, or length and text.
func appendCell(dst []byte, c *model.Column, v model.Value) ([]byte, error) {
	if !c.Type.IsText() || v.IsNull() {
		return appendKey(dst, c, v) // numbers are encoded as in keys
	}
	if v.Type() != c.Type {
		return dst, fmt.Errorf("column %s has type %s, not %s", c.Name, c.Type, v.Type())
	}
	if c.Width > 0 && len(v.Buf()) > c.Width {
		return dst, fmt.Errorf("column %s: %d bytes exceed its width of %d", c.Name, len(v.Buf()), c.Width)
	}
	if !c.NotNull {
		dst = append(dst, presentMark)
	}
	dst = binary.AppendUvarint(dst, uint64(len(v.Buf())))
	return append(dst, v.Buf()...), nil
}

// decodeCell decodes the first column of a row's value and returns the rest.
// Text refers to the memory of row.
func decodeCell(row []byte, c *model.Column) (model.Value, []byte, error) {
	if !c.Type.IsText() {
		return decodeKey(row, c, nil)
	}
	if !c.NotNull {
		if len(row) == 0 {
			return model.Value{}, nil, errShort(c)
		}
		mark := row[0]
		row = row[1:]
		if mark == nullMark {
			return model.Value{}, row, nil
		}
	}
	n, w := binary.Uvarint(row)
	if w <= 0 || uint64(len(row)-w) < n {
		return model.Value{}, nil, errShort(c)
	}
	end := w + int(n)
	return model.BufValue(c.Type, row[w:end:end]), row[end:], nil
}

// prefixEnd returns the least key above all keys with the prefix, in dst's
// memory. It exists always, as the leading two-byte space never overflows.
func prefixEnd(dst, prefix []byte) []byte {
	dst = append(dst[:0], prefix...)
	for len(dst) > 0 && dst[len(dst)-1] == 0xff {
		dst = dst[:len(dst)-1]
	}
	if len(dst) > 0 {
		dst[len(dst)-1]++
	}
	return dst
}
