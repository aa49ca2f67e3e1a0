package mysqlwire

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// The types of values on the wire. See
// https://mariadb.com/kb/en/result-set-packets/#field-types.
const (
	kindTiny      = 1
	kindShort     = 2
	kindLong      = 3
	kindFloat     = 4
	kindDouble    = 5
	kindNull      = 6
	kindTimestamp = 7
	kindLongLong  = 8
	kindInt24     = 9
	kindDate      = 10
	kindTime      = 11
	kindDateTime  = 12
	kindYear      = 13
	kindString    = 254
)

// kindOf returns the type as which an argument is sent.
func (c *Conn) kindOf(v *model.Value) byte {
	switch v.Type() {
	case model.Float:
		return kindDouble
	case model.Time:
		if !c.micros {
			return kindDateTime
		}
		return kindLongLong
	case model.String, model.Bytes, model.UUID:
		return kindString
	}
	return kindLongLong
}

// appendArgument appends an argument, which may be NULL.
func appendArgument(b []byte, v *model.Value, micros bool) ([]byte, error) {
	switch v.Type() {
	case model.Int:
		return binary.LittleEndian.AppendUint64(b, uint64(v.Int())), nil
	case model.Float:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case model.String, model.Bytes, model.UUID:
		return append(appendNumber(b, uint64(len(v.Buf()))), v.Buf()...), nil
	case model.Time:
		if micros {
			return binary.LittleEndian.AppendUint64(b, uint64(v.Int())), nil
		}
		return appendTime(b, v.Time())
	}
	return b, nil
}

func appendTime(b []byte, t time.Time) ([]byte, error) {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return nil, fmt.Errorf("the time %v is out of range: years are those from 0 to 9999", t)
	}
	hour, minute, second := t.Clock()
	b = append(b, 11, byte(year), byte(year>>8), byte(month), byte(day), byte(hour), byte(minute), byte(second))
	return binary.LittleEndian.AppendUint32(b, uint32(t.Nanosecond()/1000)), nil
}

// binaryRow reads a row of a prepared statement. Its text shares the row's memory.
func binaryRow(b []byte, columns []column, types []model.Type, row []model.Value) (err error) {
	nulls := b[1:]
	size := (len(columns) + 2 + 7) / 8
	if len(nulls) < size {
		return errMalformed
	}
	b = nulls[size:]
	for i := range columns {
		if bit := i + 2; nulls[bit/8]&(1<<(bit%8)) != 0 {
			row[i] = model.Value{}
			continue
		}
		if row[i], b, err = binaryValue(b, &columns[i], types[i]); err != nil {
			return err
		}
	}
	return nil
}

// sizes are the sizes of values that have no length prefix, by their types.
var sizes = [...]int{kindTiny: 1, kindShort: 2, kindYear: 2, kindInt24: 4, kindLong: 4, kindLongLong: 8, kindFloat: 4,
	kindDouble: 8}

func binaryValue(b []byte, col *column, t model.Type) (v model.Value, remaining []byte, err error) {
	size := 0
	if int(col.kind) < len(sizes) {
		size = sizes[col.kind]
	}
	if size == 0 {
		b, remaining, err = prefixed(b)
	} else if len(b) < size {
		err = errMalformed
	} else {
		b, remaining = b[:size], b[size:]
	}
	if err != nil {
		return v, nil, err
	}
	switch col.kind {
	case kindFloat:
		v, err = sqlkit.FloatValue(float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), t)
	case kindDouble:
		v, err = sqlkit.FloatValue(math.Float64frombits(binary.LittleEndian.Uint64(b)), t)
	case kindTiny, kindShort, kindYear, kindInt24, kindLong, kindLongLong:
		var n int64
		if n, err = binaryInt(b, col.unsigned); err == nil {
			v, err = sqlkit.IntValue(n, t)
		}
	case kindDateTime, kindTimestamp, kindDate:
		if t != model.Time {
			return v, nil, sqlkit.Unfit("a time", t)
		}
		v, err = binaryTime(b)
	case kindTime:
		err = sqlkit.Unfit("a duration", t)
	default:
		v, err = sqlkit.TextValue(b, t)
	}
	return v, remaining, err
}

// binaryInt reads an integer. An unsigned one that is too large is out of range.
func binaryInt(b []byte, unsigned bool) (int64, error) {
	var u uint64
	for i := len(b) - 1; i >= 0; i-- {
		u = u<<8 | uint64(b[i])
	}
	if !unsigned {
		shift := 64 - 8*len(b)
		return int64(u<<shift) >> shift, nil
	}
	if u > math.MaxInt64 {
		return 0, fmt.Errorf("the number %d is out of range", u)
	}
	return int64(u), nil
}

// binaryTime reads a time; trailing parts that are zero are omitted.
func binaryTime(b []byte) (v model.Value, err error) {
	if len(b) < 4 {
		return v, errNoTime
	}
	var full [11]byte
	copy(full[:], b)
	t := time.Date(int(full[0])|int(full[1])<<8, time.Month(full[2]), int(full[3]), int(full[4]), int(full[5]),
		int(full[6]), 0, time.UTC)
	return model.MicrosValue(t.UnixMicro() + int64(binary.LittleEndian.Uint32(full[7:]))), nil
}

var errNoTime = fmt.Errorf("the server returned the date 0000-00-00, which is no time")

// textRow reads a row of text; without types its values are text.
func textRow(b []byte, types []model.Type, row []model.Value) (err error) {
	for i := range row {
		if len(b) > 0 && b[0] == isNull {
			row[i], b = model.Value{}, b[1:]
			continue
		}
		var s []byte
		if s, b, err = prefixed(b); err != nil {
			return err
		}
		t := model.String
		if types != nil {
			t = types[i]
		}
		if row[i], err = sqlkit.TextValue(s, t); err != nil {
			return err
		}
	}
	return nil
}
