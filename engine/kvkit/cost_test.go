package kvkit_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// BenchmarkKit measures the kit alone, on rows of 100 bytes in a store that does nothing.
func BenchmarkKit(b *testing.B) {
	for _, c := range []struct {
		name string
		kind kvkit.Concurrency
		op   model.Op
	}{
		{"insert", kvkit.Unisolated, model.Op{Kind: model.Insert, Table: "t", Columns: []string{"v"}, Rows: 1}},
		{"replace", kvkit.Unisolated, model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "v"}, Rows: 1, OnConflict: model.Replace}},
		{"replace isolated", kvkit.Isolated, model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "v"}, Rows: 1, OnConflict: model.Replace}},
		{"get", kvkit.Unisolated, model.Op{Kind: model.Get, Table: "t", Columns: []string{"v"}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			schema := model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"}, Columns: []model.Column{
				{Name: "id", Type: model.Int, Auto: c.name == "insert"}, {Name: "v", Type: model.Bytes, Width: 99, NotNull: true},
			}}}}
			store := &still{kind: c.kind}
			db, err := kvkit.Open(store, schema)
			if err == nil {
				err = db.CreateTables(b.Context())
			}
			if err != nil {
				b.Fatal(err)
			}
			s, err := db.Session(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			stmt, err := s.Prepare(b.Context(), &c.op)
			if err != nil {
				b.Fatal(err)
			}
			store.tx.row = append([]byte{99}, make([]byte, 99)...)
			args := []model.Value{model.IntValue(7), model.BytesValue(make([]byte, 99))}
			switch c.name {
			case "insert":
				args = args[1:]
			case "get":
				args = args[:1]
			}
			var r engine.Result
			ctx := b.Context()
			for b.Loop() {
				if err := stmt.Exec(ctx, args, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
