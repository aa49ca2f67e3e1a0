package bbolt_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/internal/expect"
	"rumbench/model"
)

// A transaction finds its own row by key also where the row has no columns but the key,
// so that nothing is stored with it.
func TestOwnRowOfKeyOnly(t *testing.T) {
	ctx := t.Context()
	table := model.Table{Name: "t", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int, NotNull: true}}}
	db, err := bbolt.Engine{}.Open(ctx, engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Schema: model.Schema{Tables: []model.Table{table}}})
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(ctx))
	s, err := db.Session(ctx)
	expect.NoError(t, err)
	var r engine.Result
	do := func(op model.Op, args ...model.Value) {
		t.Helper()
		stmt, err := s.Prepare(ctx, &op)
		if err == nil {
			err = stmt.Exec(ctx, args, &r)
		}
		expect.NoError(t, err)
	}
	do(model.Op{Kind: model.Begin})
	do(model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id"}, Rows: 1}, model.IntValue(7))
	do(model.Op{Kind: model.Get, Table: "t", Columns: []string{"id"}}, model.IntValue(7))
	expect.Equal(t, r.Rows, 1, "the transaction finds", "rows")
	do(model.Op{Kind: model.Commit})
}
