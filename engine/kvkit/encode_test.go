package kvkit

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"rumbench/internal/expect"
	"rumbench/model"
)

// drawValue draws a valid value of the column.
func drawValue(t *rapid.T, c model.Column, label string) model.Value {
	if !c.NotNull && rapid.IntRange(0, 4).Draw(t, label+" null") == 0 {
		return model.Value{}
	}
	switch c.Type {
	case model.Float:
		return model.FloatValue(rapid.Float64().Draw(t, label))
	case model.Time:
		return model.MicrosValue(rapid.Int64().Draw(t, label))
	case model.String:
		return model.StringValue([]byte(rapid.String().Draw(t, label)))
	case model.Bytes:
		return model.BytesValue(rapid.SliceOf(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff})).Draw(t, label))
	}
	if c.Width == 4 {
		return model.IntValue(int64(rapid.Int32().Draw(t, label)))
	}
	return model.IntValue(rapid.Int64().Draw(t, label))
}

func drawColumns(t *rapid.T) []model.Column {
	types := []model.Type{model.Int, model.Float, model.Time, model.String, model.Bytes}
	out := make([]model.Column, rapid.IntRange(1, 4).Draw(t, "columns"))
	for i := range out {
		out[i] = model.Column{Name: "c", Type: rapid.SampledFrom(types).Draw(t, "type"), NotNull: rapid.Bool().Draw(t, "not null")}
		if out[i].Type == model.Int && rapid.Bool().Draw(t, "narrow") {
			out[i].Width = 4
		}
	}
	return out
}

// Encoded keys sort as their values do, and decode to them.
func TestKeyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := drawColumns(t)
		var keys [2][]byte
		var rows [2][]model.Value
		for r := range rows {
			for i := range columns {
				v := drawValue(t, columns[i], "value")
				if r == 1 && rapid.Bool().Draw(t, "same") {
					v = rows[0][i]
				}
				rows[r] = append(rows[r], v)
				var err error
				if keys[r], err = appendKey(keys[r], &columns[i], v); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got, want := bytes.Compare(keys[0], keys[1]), compareRows(rows[0], rows[1]); got != want {
			t.Fatalf("%v and %v compare as %d, their keys %x and %x as %d", rows[0], rows[1], want, keys[0], keys[1], got)
		}
		rest := keys[0]
		var text []byte
		for i := range columns {
			var v model.Value
			var err error
			if v, rest, err = decodeKey(rest, &columns[i], &text); err != nil || v.Compare(rows[0][i]) != 0 {
				t.Fatalf("%v read back as %v (%v)", rows[0][i], v, err)
			}
		}
		expect.Must(t, len(rest) == 0, len(rest), "bytes are left")
	})
}

func TestCellRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		columns := drawColumns(t)
		var row []byte
		var want []model.Value
		for i := range columns {
			v := drawValue(t, columns[i], "value")
			want = append(want, v)
			var err error
			if row, err = appendCell(row, &columns[i], v); err != nil {
				t.Fatal(err)
			}
		}
		for i := range columns {
			var v model.Value
			var err error
			if v, row, err = decodeCell(row, &columns[i]); err != nil || v.Compare(want[i]) != 0 {
				t.Fatalf("%v read back as %v (%v)", want[i], v, err)
			}
		}
	})
}

func TestKeyRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		column model.Column
		value  model.Value
	}{
		{"null", model.Column{Type: model.Int, NotNull: true}, model.Value{}},
		{"wrong type", model.Column{Type: model.Int}, model.FloatValue(1)},
		{"too wide", model.Column{Type: model.Int, Width: 4}, model.IntValue(math.MaxInt32 + 1)},
		{"too narrow", model.Column{Type: model.Int, Width: 4}, model.IntValue(math.MinInt32 - 1)},
	} {
		expect.Refused(appendKey(nil, &c.column, c.value))(t, "", c.name)
	}
}

func TestDecodeTruncated(t *testing.T) {
	c := model.Column{Type: model.Bytes}
	key, _ := appendKey(nil, &c, model.BytesValue([]byte("a\x00b")))
	for n := range key {
		var text []byte
		if _, _, err := decodeKey(key[:n], &c, &text); err == nil {
			t.Errorf("%d of %d bytes are read without error", n, len(key))
		}
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ prefix, want string }{
		{"\x00\x01", "\x00\x02"}, {"\x00\x01\xff", "\x00\x02"}, {"\x00\x01a", "\x00\x01b"},
	} {
		if got := prefixEnd(nil, []byte(c.prefix)); string(got) != c.want {
			t.Errorf("%q: %q, want %q", c.prefix, got, c.want)
		}
	}
}
