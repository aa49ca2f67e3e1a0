package pgwire

import (
	"math"
	"testing"

	"rumbench/internal/expect"
	"rumbench/model"
)

func stringValue(s string) model.Value { return model.StringValue([]byte(s)) }

func TestArguments(t *testing.T) {
	for _, c := range []struct {
		oid uint32
		v   model.Value
	}{
		{oidInt8, model.IntValue(math.MinInt64)}, {oidInt4, model.IntValue(-1)}, {oidFloat8, model.FloatValue(-0.5)},
		{oidTimestamp, model.MicrosValue(math.MaxInt64)}, {oidTimestamp, model.MicrosValue(-1)},
		{oidText, stringValue("")}, {oidText, stringValue("a ")}, {oidChar, stringValue("a")}, {oidBytes, model.BytesValue([]byte{0, 255})},
	} {
		b, err := appendValue(nil, c.oid, c.v)
		expect.NoError(t, err)
		if got, err := decode(b, c.oid, c.v.Type()); err != nil || got.Compare(c.v) != 0 {
			t.Errorf("%v of type %d is %v, %v", c.v, c.oid, got, err)
		}
	}
	for _, c := range []struct {
		oid uint32
		v   model.Value
	}{
		{oidInt4, model.IntValue(1 << 31)}, {oidTimestamp, model.MicrosValue(math.MinInt64)}, {oidText, model.IntValue(1)},
		{oidInt8, model.FloatValue(0.5)}, {oidInt8, stringValue("1")}, {oidFloat8, model.BytesValue([]byte("1"))},
	} {
		if b, err := appendValue(nil, c.oid, c.v); err == nil {
			t.Errorf("%v of type %d is %v", c.v, c.oid, b)
		}
	}
}

func TestValues(t *testing.T) {
	const failure = ""
	for _, c := range []struct {
		name string
		read decoder
		text string
		oid  uint32
		t    model.Type
		want string
	}{
		{"padded", decode, "a b  ", oidChar, model.String, `"a b"`},
		{"blanks", decode, "   ", oidChar, model.String, `""`},
		{"text with a blank", decode, "a ", oidText, model.String, `"a "`},
		{"sum", decode, "-12", oidNumeric, model.Int, "-12"},
		{"sum of floats", decode, "0.5", oidNumeric, model.Float, "0.5"},
		{"large sum", decode, "92233720368547758070", oidNumeric, model.Int, failure},
		{"sum as text", decode, "1", oidNumeric, model.String, failure},
		{"int as float", decode, "\x00\x00\x00\x05", oidInt4, model.Float, "5"},
		{"short int", decode, "\x01", oidInt8, model.Int, failure},
		{"text as bytes", decode, "x", oidText, model.Bytes, failure},
		{"unknown", decode, "x", 16, model.Int, failure},

		{"text: padded", decodeText, "a ", oidChar, model.String, `"a"`},
		{"text: text", decodeText, "a ", oidText, model.String, `"a "`},
		{"text: int", decodeText, "-9223372036854775808", oidInt8, model.Int, "-9223372036854775808"},
		{"text: float", decodeText, "1e-300", oidFloat8, model.Float, "1e-300"},
		{"text: no int", decodeText, "1.5", oidInt8, model.Int, failure},
		{"text: bytes", decodeText, `\x00ff41`, oidBytes, model.Bytes, "x'00ff41'"},
		{"text: no bytes", decodeText, `\x`, oidBytes, model.Bytes, "x''"},
		{"text: odd bytes", decodeText, `\x0`, oidBytes, model.Bytes, failure},
		{"text: escaped bytes", decodeText, `\000`, oidBytes, model.Bytes, failure},
		{"text: time", decodeText, "2006-01-02 15:04:05", oidTimestamp, model.Time, "2006-01-02T15:04:05Z"},
		{"text: part of a second", decodeText, "1969-12-31 23:59:59.5", oidTimestamp, model.Time, "1969-12-31T23:59:59.5Z"},
		{"text: microseconds", decodeText, "2006-01-02 15:04:05.000123", oidTimestamp, model.Time, "2006-01-02T15:04:05.000123Z"},
		{"text: late", decodeText, "294247-01-10 04:00:54.775807", oidTimestamp, model.Time, "294247-01-10T04:00:54.775807Z"},
		{"text: early", decodeText, "0044-03-15 12:00:00 BC", oidTimestamp, model.Time, "-0043-03-15T12:00:00Z"},
		{"text: other time", decodeText, "02/01/2006 15:04:05", oidTimestamp, model.Time, failure},
		{"text: half a time", decodeText, "2006-01-02", oidTimestamp, model.Time, failure},
		{"text: time and more", decodeText, "2006-01-02 15:04:05+02", oidTimestamp, model.Time, failure},
	} {
		switch got, err := c.read([]byte(c.text), c.oid, c.t); {
		case (err != nil) != (c.want == failure):
			t.Errorf("%s: %v, %v", c.name, got, err)
		case err == nil && got.String() != c.want:
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}
