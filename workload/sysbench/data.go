package sysbench

import (
	"fmt"

	"rumbench/model"
	"rumbench/workload"
	"rumbench/workload/gen"
)

// The columns of every table.
const (
	colID  = "id"
	colK   = "k"
	colC   = "c"
	colPad = "pad"
)

var allColumns = []string{colID, colK, colC, colPad}

// The groups of digits in the text columns, and the widths of the columns.
const (
	cGroups, padGroups = 10, 5
	cWidth, padWidth   = 120, 60 // as declared; values are one byte shorter
)

// User bytes, by the widths of the columns.
const (
	intBytes   = 4
	cBytes     = 119
	padBytes   = 59
	rowBytes   = 2*intBytes + cBytes + padBytes
	indexBytes = 2 * intBytes // k and id
)

func tableName(n int) string { return fmt.Sprintf("sbtest%d", n+1) }

func indexName(n int) string { return fmt.Sprintf("k_%d", n+1) }

func (r *run) Schema() model.Schema {
	var s model.Schema
	for n := range r.tables {
		s.Tables = append(s.Tables, model.Table{
			Name: tableName(n),
			Columns: []model.Column{
				{Name: colID, Type: model.Int, Width: 4, Auto: true},
				{Name: colK, Type: model.Int, Width: 4, NotNull: true},
				{Name: colC, Type: model.String, Width: cWidth, NotNull: true, Fixed: true},
				{Name: colPad, Type: model.String, Width: padWidth, NotNull: true, Fixed: true},
			},
			Key:     []string{colID},
			Indexes: []model.Index{{Name: indexName(n), Columns: []string{colK}}},
		})
	}
	return s
}

// live returns the user data of a number of rows.
func (r *run) live(rows int64, indexed bool) workload.Live {
	bytes := int64(rowBytes)
	if indexed {
		bytes += indexBytes
	}
	return workload.Live{Rows: rows, Bytes: rows * bytes}
}

// loadColumns are all columns except the id, which the engine numbers.
var loadColumns = []string{colK, colC, colPad}

// appendRow appends row i of a table, from 0, in the form that the load inserts, and its
// text to a buffer. It is a pure function of the table's stream and i.
func appendRow(args []model.Value, text []byte, rows gen.Stream, i int64, k gen.Distribution) ([]model.Value, []byte) {
	s := gen.NewSource(rows.Sub(uint64(i)))
	args = append(args, model.IntValue(1+k.Draw(s)))
	args, text = appendText(args, text, s, cGroups)
	return appendText(args, text, s, padGroups)
}

// appendText appends digits to a buffer, and a value that refers to them.
func appendText(args []model.Value, text []byte, s *gen.Source, groups int) ([]model.Value, []byte) {
	start := len(text)
	text = gen.AppendDigits(text, s, groups)
	return append(args, model.StringValue(text[start:])), text
}

func tableStream(seed uint64, table int) gen.Stream {
	return gen.NewStream(seed, "sysbench", "rows").Sub(uint64(table))
}
