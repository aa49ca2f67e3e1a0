package kvkit_test

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/internal/expect"
	"rumbench/model"
)

// A database is refused with a schema other than its own.
func TestOtherDefinition(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	schema := func(price model.Type, indexed ...string) model.Schema {
		return model.Schema{Tables: []model.Table{{
			Name: "t", Key: []string{"id"},
			Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "price", Type: price, NotNull: true}},
			Indexes: []model.Index{{Name: "ix", Columns: indexed}},
		}}}
	}
	open := func(s model.Schema) error {
		db, err := bbolt.Engine{}.Open(ctx, engine.Config{Dir: dir, Durability: model.DurabilityProcess, Schema: s})
		if err != nil {
			return err
		}
		if err := db.CreateTables(ctx); err == nil {
			expect.NoError(t, db.CreateIndexes(ctx, "t", "ix"))
		}
		return db.Close()
	}
	made := schema(model.Int, "price")
	for range 2 {
		expect.NoError(t, open(made))
	}
	for name, s := range map[string]model.Schema{"column": schema(model.Float, "price"), "index": schema(model.Int, "price", "id")} {
		expect.Error(t, open(s), "those of the load", "another", name)
	}
}
