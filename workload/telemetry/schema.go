package telemetry

import (
	"encoding/binary"
	"fmt"

	"rumbench/model"
	"rumbench/workload"
)

// The columns.
const (
	colTime   = "t"
	colDevice = "d"
	colMetric = "m"
	colValue  = "v"
	colData   = "data"
)

// tableRollup holds the roll-ups.
const tableRollup = "rollup"

func baseName(partition int64) string { return fmt.Sprintf("base_%02d", partition) }

// topIndex is the index on values: top values of a metric are adjacent in it.
const topIndex = "mvtd"

func indexName(partition int64) string { return baseName(partition) + "_" + topIndex }

// Schema returns a table per partition, and one for the roll-ups.
func (r *run) Schema() model.Schema {
	whole := func(name string) model.Column { return model.Column{Name: name, Type: model.Int, NotNull: true} }
	metric := model.Column{Name: colMetric, Type: model.Int, Width: 4, NotNull: true}
	var s model.Schema
	for n := range r.tables {
		t := model.Table{Name: baseName(n),
			Columns: []model.Column{whole(colTime), whole(colDevice), metric, whole(colValue)}, Key: r.key()}
		if r.doc {
			t.Columns = append(t.Columns[:2:2],
				model.Column{Name: colData, Type: model.Bytes, Width: int(8 * r.metrics), NotNull: true})
		}
		if r.schema == schemaRead {
			t.Indexes = []model.Index{{Name: indexName(n), Columns: []string{colMetric, colValue, colTime, colDevice}}}
		}
		s.Tables = append(s.Tables, t)
	}
	t := model.Table{Name: tableRollup, Columns: []model.Column{whole(colTime), whole(colDevice), metric},
		Key: []string{colTime, colDevice, colMetric}}
	for _, c := range aggregateColumns {
		t.Columns = append(t.Columns, whole(c))
	}
	return model.Schema{Tables: append(s.Tables, t)}
}

// key returns the primary key of a partition.
func (r *run) key() []string {
	key := []string{colTime, colDevice, colMetric}
	switch r.schema {
	case schemaRead:
		key = []string{colMetric, colDevice, colTime}
	case schemaMiddle:
		key = []string{colDevice, colTime, colMetric}
	}
	if r.doc {
		key = key[:2]
	}
	return key
}

// byMetric reports whether the key begins with the metric, so that each metric is read
// separately.
func (r *run) byMetric() bool { return r.schema == schemaRead }

// columns returns the columns of an insert into a partition.
func (r *run) columns() []string {
	if r.doc {
		return []string{colTime, colDevice, colData}
	}
	return []string{colTime, colDevice, colMetric, colValue}
}

// rowsOf returns how many rows a measurement has.
func (r *run) rowsOf() int64 {
	if r.doc {
		return 1
	}
	return r.metrics
}

const (
	rowBytes    = 28 // t, d, m and v, and the same four in the index
	rollupBytes = 20 + 8*6
)

// valueBytes returns the user bytes of a value: of its row, or of its part of a document.
func (r *run) valueBytes(indexed bool) float64 {
	switch {
	case r.doc:
		return 8 + 16/float64(r.metrics)
	case indexed && r.schema == schemaRead:
		return 2 * rowBytes
	}
	return rowBytes
}

// live returns the user data of a number of values and aggregates.
func (r *run) live(values int64, indexed bool, aggregates int64) workload.Live {
	rows := values * r.rowsOf() / r.metrics
	return workload.Live{Rows: rows + aggregates,
		Bytes: int64(float64(values)*r.valueBytes(indexed)) + aggregates*rollupBytes}
}

// appendMeasurement appends the row or rows of a measurement. fixed is the metric that
// gets its corrected value, -1: none; text is the memory of documents.
func (g *data) appendMeasurement(args []model.Value, text []byte, d, tick, fixed int64) ([]model.Value, []byte) {
	t := g.time(d, tick)
	start := len(text)
	for m := range g.metrics {
		v := g.value(d, m, tick, m == fixed)
		if g.doc {
			text = binary.BigEndian.AppendUint64(text, uint64(v))
			continue
		}
		args = append(args, model.IntValue(t), model.IntValue(d), model.IntValue(m), model.IntValue(v))
	}
	if g.doc {
		args = append(args, model.IntValue(t), model.IntValue(d), model.BytesValue(text[start:len(text):len(text)]))
	}
	return args, text
}

// valueIn returns the value of a metric in a document.
func valueIn(doc []byte, m int64) int64 { return int64(binary.BigEndian.Uint64(doc[8*m:])) }
