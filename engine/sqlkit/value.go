package sqlkit

import (
	"fmt"
	"strconv"
	"time"
	"unsafe"

	"rumbench/model"
)

// IntValue is a whole number that a server returned, as a value of type t.
func IntValue(n int64, t model.Type) (model.Value, error) {
	switch t {
	case model.Int:
		return model.IntValue(n), nil
	case model.Time:
		return model.MicrosValue(n), nil
	case model.Float:
		return model.FloatValue(float64(n)), nil
	}
	return model.Value{}, Unfit("a number", t)
}

// FloatValue is a float that a server returned, as a value of type t.
func FloatValue(f float64, t model.Type) (model.Value, error) {
	switch t {
	case model.Float:
		return model.FloatValue(f), nil
	case model.Int:
		return model.IntValue(int64(f)), nil
	}
	return model.Value{}, Unfit("a float", t)
}

// TextValue is a value of type t that came as text, such as the decimal that a
// sum is. Text and bytes share its memory.
func TextValue(b []byte, t model.Type) (model.Value, error) {
	switch t {
	case model.String:
		return model.StringValue(b), nil
	case model.Bytes:
		return model.BytesValue(b), nil
	case model.Int:
		n, err := strconv.ParseInt(shared(b), 10, 64)
		return model.IntValue(n), err
	case model.Float:
		f, err := strconv.ParseFloat(shared(b), 64)
		return model.FloatValue(f), err
	case model.Time:
		return timeValue(b)
	}
	return model.Value{}, Unfit("text", t)
}

// timeValue reads microseconds since 1970, or a time as SQL writes it.
func timeValue(b []byte) (model.Value, error) {
	if len(b) < len("2006-01-02 15:04:05") || b[4] != '-' {
		n, err := strconv.ParseInt(shared(b), 10, 64)
		return model.MicrosValue(n), err
	}
	t, err := time.Parse("2006-01-02 15:04:05.999999", shared(b))
	return model.TimeValue(t), err
}

// shared is a string in the same memory, for what keeps none of it: errors copy
// what they quote.
func shared(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Unfit is the error of an answer that is no value of a column's type.
func Unfit(what string, t model.Type) error {
	return fmt.Errorf("the server returned %s for a column of type %s", what, t)
}
