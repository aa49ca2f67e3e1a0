//go:build native && cgo && linux

package rocksdb

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/native"
	"rumbench/internal/expect"
	"rumbench/model"
)

// benchRows are in the table of benchmarks, with values of 98 bytes.
const benchRows = 100_000

// statements returns a function that executes an insert, a get, or a scan of 10
// rows.
func statements(b testing.TB, options map[string]any) map[string]func() {
	ctx := b.Context()
	if _, err := native.Find("librocksdb", newest); err != nil {
		b.Skip(err)
	}
	schema := model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"}, Columns: []model.Column{
		{Name: "id", Type: model.Int, Auto: true}, {Name: "v", Type: model.Bytes, Width: 98, NotNull: true},
	}}}}
	db, err := Engine{}.Open(ctx, engine.Config{Dir: b.TempDir(), Durability: model.DurabilityProcess, Schema: schema, Options: options})
	expect.NoError(b, err)
	b.Cleanup(func() { db.Close() })
	expect.NoError(b, db.CreateTables(ctx))
	s, err := db.Session(ctx)
	expect.NoError(b, err)
	prepare := func(op *model.Op) engine.Stmt {
		stmt, err := s.Prepare(ctx, op)
		expect.NoError(b, err)
		return stmt
	}
	insert := prepare(&model.Op{Kind: model.Insert, Table: "t", Columns: []string{"v"}, Rows: 1})
	get := prepare(&model.Op{Kind: model.Get, Table: "t", Columns: []string{"v"}})
	scan := prepare(&model.Op{Kind: model.Scan, Table: "t", Columns: []string{"v"}, Lower: model.Inclusive, Limit: 10})
	var r engine.Result
	value, key := []model.Value{model.BytesValue(make([]byte, 98))}, make([]model.Value, 1)
	next := int64(0)
	random := func() []model.Value {
		next = (next + 7919) % (benchRows - 10)
		key[0] = model.IntValue(next + 1)
		return key
	}
	for range benchRows {
		expect.NoError(b, insert.Exec(ctx, value, &r))
	}
	return map[string]func(){
		"insert": func() { expect.NoError(b, insert.Exec(ctx, value, &r)) },
		"get":    func() { expect.NoError(b, get.Exec(ctx, random(), &r)) },
		"scan":   func() { expect.NoError(b, scan.Exec(ctx, random(), &r)) },
	}
}

// Statements allocate nothing in Go.
func TestStatementsAllocateNothing(t *testing.T) {
	for _, options := range []map[string]any{{}, {"transactions": "optimistic"}, {"families": true}} {
		for name, do := range statements(t, options) {
			if n := testing.AllocsPerRun(1000, do); n > 0 {
				t.Errorf("%v: %s: %.1f allocations", options, name, n)
			}
		}
	}
}
