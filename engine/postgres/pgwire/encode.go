package pgwire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"time"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// The types that columns and aggregates have, by their numbers in
// the server's catalog.
const (
	oidBytes     = 17
	oidInt8      = 20
	oidInt4      = 23
	oidText      = 25
	oidFloat8    = 701
	oidChar      = 1042 // text of a fixed length, padded with blanks
	oidTimestamp = 1114
	oidNumeric   = 1700
	oidUUID      = 2950
)

// The formats of values on the wire.
const (
	textFormat   = 0
	binaryFormat = 1
)

// formatOf returns the format in which a column is returned. Unknown types arrive as
// text, and so do sums of integers, which may have any length.
func formatOf(oid uint32) uint16 {
	switch oid {
	case oidBytes, oidInt8, oidInt4, oidText, oidFloat8, oidChar, oidTimestamp, oidUUID:
		return binaryFormat
	}
	return textFormat
}

// epoch is the server's epoch, 2000-01-01, in microseconds since 1970.
const epoch = 946_684_800_000_000

// appendSized appends a value after its length.
func appendSized(b []byte, oid uint32, v model.Value) (_ []byte, err error) {
	if v.IsNull() {
		return append(b, 0xff, 0xff, 0xff, 0xff), nil
	}
	position := len(b)
	if b, err = appendValue(append(b, 0, 0, 0, 0), oid, v); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(b[position:], uint32(len(b)-position-4))
	return b, nil
}

// appendValue appends a value that is not NULL in the format of its column's type.
func appendValue(b []byte, oid uint32, v model.Value) ([]byte, error) {
	switch v.Type() {
	case model.Int, model.Time:
		return appendInt(b, oid, v.Int())
	case model.Float:
		if oid == oidFloat8 {
			return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
		}
	default:
		if oid == oidText || oid == oidChar || oid == oidBytes || oid == oidUUID && v.Type() == model.UUID {
			return append(b, v.Buf()...), nil
		}
	}
	return nil, fmt.Errorf("a %s cannot be given for a column of type %d", v.Type(), oid)
}

// appendInt writes an integer, or microseconds since 1970 for a time.
func appendInt(b []byte, oid uint32, n int64) ([]byte, error) {
	switch oid {
	case oidInt8:
		return binary.BigEndian.AppendUint64(b, uint64(n)), nil
	case oidInt4:
		if int64(int32(n)) != n {
			return nil, fmt.Errorf("%d does not fit into a column of 4 bytes", n)
		}
		return binary.BigEndian.AppendUint32(b, uint32(n)), nil
	case oidTimestamp:
		if n < math.MinInt64+epoch {
			return nil, fmt.Errorf("the time %d µs before 1970 is out of range", -n)
		}
		return binary.BigEndian.AppendUint64(b, uint64(n-epoch)), nil
	}
	return nil, fmt.Errorf("a number cannot be given for a column of type %d", oid)
}

// decoder reads a value that is not NULL as one of type t. Text and bytes share the
// memory of the input.
type decoder func(b []byte, oid uint32, t model.Type) (model.Value, error)

// decodeRow reads a row whose columns are of these types. Without types all values are
// text as the server writes it.
func decodeRow(b []byte, row []model.Value, columns []uint32, types []model.Type, read decoder) error {
	n, b, err := count(b)
	if err == nil && (n != len(row) || n != len(columns)) {
		err = fmt.Errorf("the server returned %d columns where %d are wanted", n, len(row))
	}
	for i := 0; i < len(row) && err == nil; i++ {
		var v []byte
		v, b, err = field(b)
		switch row[i] = (model.Value{}); {
		case v == nil:
		case types == nil:
			row[i] = model.StringValue(v)
		default:
			row[i], err = read(v, columns[i], types[i])
		}
	}
	return err
}

func decode(b []byte, oid uint32, t model.Type) (model.Value, error) {
	switch {
	case oid == oidInt8 || oid == oidInt4:
		n, err := decodeInt(b, oid)
		switch t {
		case model.Int:
			return model.IntValue(n), err
		case model.Float:
			return model.FloatValue(float64(n)), err
		}
	case oid == oidFloat8 && t == model.Float:
		n, err := decodeInt(b, oidInt8)
		return model.FloatValue(math.Float64frombits(uint64(n))), err
	case oid == oidTimestamp && t == model.Time:
		n, err := decodeInt(b, oidInt8)
		return model.MicrosValue(n + epoch), err
	case oid == oidText && t == model.String:
		return model.StringValue(b), nil
	case oid == oidChar && t == model.String:
		return model.StringValue(bytes.TrimRight(b, " ")), nil
	case oid == oidBytes && t == model.Bytes:
		return model.BytesValue(b), nil
	case oid == oidUUID && t == model.UUID:
		return model.UUIDValue(b), nil
	case oid == oidNumeric && (t == model.Int || t == model.Float):
		return sqlkit.TextValue(b, t)
	}
	return model.Value{}, fmt.Errorf("the server returned a value of type %d for a column of type %s", oid, t)
}

func decodeInt(b []byte, oid uint32) (int64, error) {
	switch {
	case oid == oidInt8 && len(b) == 8:
		return int64(binary.BigEndian.Uint64(b)), nil
	case oid == oidInt4 && len(b) == 4:
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	}
	return 0, fmt.Errorf("the server returned a number of %d bytes", len(b))
}

// decodeText reads a value that arrives as text. Bytes are decoded in place.
func decodeText(b []byte, oid uint32, t model.Type) (model.Value, error) {
	switch t {
	case model.Int, model.Float:
		return sqlkit.TextValue(b, t)
	case model.Time:
		return decodeTime(b)
	case model.Bytes:
		return decodeBytes(b)
	case model.UUID:
		return sqlkit.TextValue(b, t)
	}
	if oid == oidChar {
		b = bytes.TrimRight(b, " ")
	}
	return model.StringValue(b), nil
}

// decodeBytes reads \x and two digits for each byte.
func decodeBytes(b []byte) (model.Value, error) {
	digits, ok := bytes.CutPrefix(b, []byte(`\x`))
	if !ok {
		return model.Value{}, errors.New("the server writes bytes in a way that is not known: set its bytea_output to hex")
	}
	n, err := hex.Decode(b, digits)
	return model.BytesValue(b[:n]), err
}

// decodeTime reads a time such as 2006-01-02 15:04:05.999999. The year may have more
// digits; the year before year 1 is 1 BC.
func decodeTime(b []byte) (model.Value, error) {
	remaining, ok := b, true
	var n [6]int // year, month, day, hour, minute, second
	for i := 0; i < len(n) && ok; i++ {
		if i > 0 {
			ok = len(remaining) > 0 && remaining[0] == "--- ::"[i]
			remaining = remaining[min(1, len(remaining)):]
		}
		if ok {
			n[i], remaining, ok = leadingNumber(remaining)
		}
	}
	micros := 0
	if ok && len(remaining) > 0 && remaining[0] == '.' {
		part := remaining[1:]
		micros, remaining, ok = leadingNumber(part)
		for range 6 - (len(part) - len(remaining)) {
			micros *= 10
		}
	}
	if string(remaining) == " BC" {
		n[0], remaining = 1-n[0], nil
	}
	if !ok || len(remaining) > 0 {
		return model.Value{}, fmt.Errorf("the server wrote the time %q, which is not ISO: set its datestyle to ISO", b)
	}
	return model.TimeValue(time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], micros*1000, time.UTC)), nil
}

// leadingNumber reads the digits at the start of a text.
func leadingNumber(b []byte) (n int, remaining []byte, ok bool) {
	for len(b) > 0 && '0' <= b[0] && b[0] <= '9' {
		n, b, ok = 10*n+int(b[0]-'0'), b[1:], true
	}
	return n, b, ok
}
