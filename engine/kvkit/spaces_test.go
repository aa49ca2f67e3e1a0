package kvkit

import (
	"bytes"
	"testing"

	"rumbench/internal/expect"
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
	expect.Equal(t, Spaces(schema), 4, "spaces")
	object, longest, err := LongestKey(schema)
	expect.Must(t, err == nil && object == "t.i", object, err)
	byName, _, _ := newLayouts(schema)
	l := byName["t"]
	key, err := l.appendEntryKey(nil, l.indexes[0], []model.Value{model.IntValue(1), model.StringValue(bytes.Repeat([]byte{0}, 9)), model.FloatValue(1)})
	expect.True(t, err == nil && len(key) == longest, "a key of", len(key), "bytes, the longest has", longest, err)
}
