package sqlkit

import (
	"database/sql/driver"
	"fmt"
	"strconv"
	"time"
	"unsafe"

	"rumbench/model"
)

// argument is a value as drivers take it. Text is passed as a string that
// shares the value's memory: the driver copies what it keeps, and the value is
// not changed during the call.
func (d *Dialect) argument(v model.Value) driver.Value {
	switch v.Type() {
	case model.Int:
		return v.Int()
	case model.Float:
		return v.Float()
	case model.Time:
		if d.NativeTime {
			return v.Time()
		}
		return v.Int()
	case model.String:
		return unsafe.String(unsafe.SliceData(v.Buf()), len(v.Buf()))
	case model.Bytes:
		if v.Buf() == nil {
			return []byte{} // drivers take a nil slice for NULL
		}
		return v.Buf()
	}
	return nil
}

// value is what a driver returned, as a value of type t. Text shares the
// driver's memory.
func (d *Dialect) value(v driver.Value, t model.Type) (model.Value, error) {
	switch x := v.(type) {
	case nil:
		return model.Value{}, nil
	case int64:
		switch t {
		case model.Int:
			return model.IntValue(x), nil
		case model.Time:
			return model.MicrosValue(x), nil
		case model.Float:
			return model.FloatValue(float64(x)), nil
		}
	case float64:
		switch t {
		case model.Float:
			return model.FloatValue(x), nil
		case model.Int:
			return model.IntValue(int64(x)), nil
		}
	case time.Time:
		if t == model.Time {
			return model.TimeValue(x), nil
		}
	case string:
		return d.textValue(unsafe.Slice(unsafe.StringData(x), len(x)), t)
	case []byte:
		return d.textValue(x, t)
	}
	return model.Value{}, fmt.Errorf("the driver returned a %T for a column of type %s", v, t)
}

// textValue also reads numbers and times: sums often come as decimal text, and
// all values may do in answers to text.
func (d *Dialect) textValue(b []byte, t model.Type) (model.Value, error) {
	switch t {
	case model.String:
		return model.StringValue(b), nil
	case model.Bytes:
		if d.Literal == nil || d.Unescape == nil {
			return model.BytesValue(b), nil
		}
		b, err := d.Unescape(b)
		return model.BytesValue(b), err
	case model.Time:
		return timeValue(b)
	case model.Int:
		n, err := strconv.ParseInt(string(b), 10, 64)
		return model.IntValue(n), err
	case model.Float:
		f, err := strconv.ParseFloat(string(b), 64)
		return model.FloatValue(f), err
	}
	return model.Value{}, fmt.Errorf("the driver returned text for a column of type %s", t)
}

// timeValue reads microseconds since 1970, or a time as SQL writes it.
func timeValue(b []byte) (model.Value, error) {
	if len(b) < len("2006-01-02 15:04:05") || b[4] != '-' {
		n, err := strconv.ParseInt(string(b), 10, 64)
		return model.MicrosValue(n), err
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999", unsafe.String(unsafe.SliceData(b), len(b)))
	return model.TimeValue(t), err
}

// Text is a driver's value as text, for settings and counters that are read back.
func Text(v driver.Value) string {
	switch x := v.(type) {
	case nil:
		return ""
	case []byte:
		return string(x)
	}
	return fmt.Sprint(v)
}
