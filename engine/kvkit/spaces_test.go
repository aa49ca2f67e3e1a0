package kvkit

import (
	"bytes"
	"testing"

	"rumbench/model"
)

// No key is longer than LongestKey says, and one is as long.
func TestLongestKey(t *testing.T) {
	schema := model.Schema{Tables: []model.Table{
		{Name: "small", Key: []string{"k"}, Columns: []model.Column{{Name: "k", Type: model.Int}}},
		{
			Name: "t", Key: []string{"k"},
			Columns: []model.Column{{Name: "k", Type: model.Int}, {Name: "s", Type: model.String, Width: 9}, {Name: "f", Type: model.Float, NotNull: true}},
			Indexes: []model.Index{{Name: "i", Columns: []string{"s", "f"}}},
		},
	}}
	if n := Spaces(schema); n != 4 {
		t.Errorf("%d spaces", n)
	}
	object, longest, err := LongestKey(schema)
	if err != nil || object != "t.i" {
		t.Fatalf("%s, %v", object, err)
	}
	byName, _, _ := newLayouts(schema)
	l := byName["t"]
	key, err := l.appendEntryKey(nil, l.indexes[0], []model.Value{model.IntValue(1), model.StringValue(bytes.Repeat([]byte{0}, 9)), model.FloatValue(1)})
	if err != nil || len(key) != longest {
		t.Errorf("a key of %d bytes, the longest has %d: %v", len(key), longest, err)
	}
}
