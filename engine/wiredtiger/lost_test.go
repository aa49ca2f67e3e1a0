//go:build native && cgo && linux

package wiredtiger_test

import (
	"bytes"
	"sync"
	"testing"

	"rumbench/engine"
	"rumbench/engine/wiredtiger"
	"rumbench/model"
)

// TestLostUpdates: eight clients add to twenty rows while the LSM tree switches chunks.
func TestLostUpdates(t *testing.T) {
	schema := model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"}, Columns: []model.Column{
		{Name: "id", Type: model.Int}, {Name: "u", Type: model.Int}, {Name: "p", Type: model.Bytes, Width: 4000}}}}}
	db, err := wiredtiger.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Schema: schema, Durability: model.DurabilityProcess,
		Storage: "lsm", Cache: 32 << 20, Options: map[string]any{"table_config": "lsm=(chunk_size=512KB)"}})
	must(t, err)
	defer db.Close()
	must(t, db.CreateTables(t.Context()))
	prepare := func(op model.Op) engine.Stmt {
		s, err := db.Session(t.Context())
		must(t, err)
		st, err := s.Prepare(t.Context(), &op)
		must(t, err)
		return st
	}
	var r engine.Result
	ins := prepare(model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "u", "p"}, Rows: 1})
	for i := range int64(20) {
		must(t, ins.Exec(t.Context(), []model.Value{model.IntValue(i), model.IntValue(0), model.BytesValue(bytes.Repeat([]byte("x"), 3000))}, &r))
	}
	var wg sync.WaitGroup
	for w := range int64(8) {
		add := prepare(model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "u", Add: true}}})
		wg.Go(func() {
			var r engine.Result
			for i := range int64(2000) {
				if err := add.Exec(t.Context(), []model.Value{model.IntValue(1), model.IntValue((i*7 + w*3) % 20)}, &r); err != nil || r.Rows != 1 {
					t.Error(err, r.Rows)
				}
			}
		})
	}
	wg.Wait()
	sum := prepare(model.Op{Kind: model.Scan, Table: "t", Columns: []string{"u"}, Aggregate: model.Sum})
	must(t, sum.Exec(t.Context(), nil, &r))
	if r.Value.Int() != 16000 {
		t.Errorf("16000 additions were acknowledged, %d are there", r.Value.Int())
	}
}
