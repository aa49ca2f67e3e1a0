//go:build native && cgo && linux

package rocksdb

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// mergeSchema has a column of every form, with and without NULL.
func mergeSchema() model.Schema {
	t := model.Table{Name: "t", Columns: []model.Column{{Name: "id", Type: model.Int}}, Key: []string{"id"}}
	for i, kind := range []model.Column{{Type: model.Int}, {Type: model.Float}, {Type: model.Int, Width: 4}, {Type: model.Time}, {Type: model.String}, {Type: model.Bytes}} {
		for _, notNull := range []bool{true, false} {
			kind.Name, kind.NotNull = string(rune('a'+2*i))+map[bool]string{true: "n", false: ""}[notNull], notNull
			t.Columns = append(t.Columns, kind)
		}
	}
	return model.Schema{Tables: []model.Table{t}}
}

// The operator in C returns what the one in Go does, for whatever is flushed and
// compacted in between.
func TestOperator(t *testing.T) {
	_, err := native.Find("librocksdb", newest)
	need.Installed(t, err)
	schema := mergeSchema()
	o, err := kvkit.NewOperator(schema)
	expect.NoError(t, err)
	c := engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: schema, Options: map[string]any{"updates": "merge", "rocksdb": "level0_file_num_compaction_trigger=2"}}
	set, err := newSettings(c)
	expect.NoError(t, err)
	expect.NoError(t, set.find())
	s, err := openStore(c, set)
	expect.NoError(t, err)
	defer s.Close()
	format := o.Formats()[1]
	n := uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		n++
		key := binary.BigEndian.AppendUint64([]byte{0, 1}, n)
		var values [][]byte
		for range rapid.IntRange(1, 8).Draw(t, "records") {
			value := drawRecord(t, format)
			values = append(values, value)
			write(t, s, func(tx *tx) {
				if kvkit.IsRow(value) {
					expect.NoError(t, tx.Put(key, value))
				} else {
					expect.NoError(t, tx.Merge(key, value))
				}
			})
			if rapid.IntRange(0, 9).Draw(t, "flush") == 0 {
				expect.NoError(t, s.flush())
			}
		}
		want, there, err := o.Merge(nil, key, true, values...)
		expect.NoError(t, err)
		write(t, s, func(tx *tx) {
			got, err := tx.Get(key)
			expect.NoError(t, err)
			expect.True(t, there == kvkit.IsRow(got) && (!there || bytes.Equal(got, want)),
				values, "makes", got, "want", want)
		})
	})
}

func write(t *rapid.T, s *store, f func(tx *tx)) {
	begun, err := s.Begin(kvkit.Write)
	expect.NoError(t, err)
	defer begun.Rollback()
	f(begun.(*tx))
	expect.NoError(t, begun.Commit())
}

// drawRecord returns a row or an operand of one or two records.
func drawRecord(t *rapid.T, format string) (out []byte) {
	for range rapid.IntRange(1, 2).Draw(t, "n") {
		i := rapid.IntRange(0, len(format)-1).Draw(t, "ordinal")
		addable := slices.Contains([]byte("qQdD"), format[i])
		switch tag := rapid.IntRange(0, 3).Draw(t, "tag"); {
		case tag == 0 && out == nil:
			return drawCells(t, []byte{0}, format)
		case tag == 2 && addable:
			out = drawCell(t, append(out, 2, byte(i)), format[i])
		case tag == 3:
			out = append(drawCells(t, append(out, 3), format), 1, 0) // adds to the first
		default:
			out = drawCell(t, append(out, 1, byte(i)), format[i])
		}
	}
	return out
}

func drawCells(t *rapid.T, out []byte, format string) []byte {
	for i := range len(format) {
		out = drawCell(t, out, format[i])
	}
	return out
}

func drawCell(t *rapid.T, out []byte, letter byte) []byte {
	if letter < 'a' {
		if rapid.Bool().Draw(t, "null") {
			return append(out, 0)
		}
		out, letter = append(out, 1), letter+'a'-'A'
	}
	switch letter {
	case 'i':
		return binary.BigEndian.AppendUint32(out, rapid.Uint32().Draw(t, "i"))
	case 'd':
		f := rapid.SampledFrom([]float64{0, 1.5, -1.5, 1e300, -1e-300, math.Inf(1), math.Inf(-1), math.MaxFloat64}).Draw(t, "d")
		u := math.Float64bits(f)
		if f < 0 {
			return binary.BigEndian.AppendUint64(out, ^u)
		}
		return binary.BigEndian.AppendUint64(out, u|1<<63)
	case 's':
		text := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "s")
		return append(binary.AppendUvarint(out, uint64(len(text))), text...)
	}
	return binary.BigEndian.AppendUint64(out, rapid.Uint64().Draw(t, "q"))
}
