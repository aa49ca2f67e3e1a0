package kvkit_test

import (
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/kvkit"
	"rumbench/internal/expect"
	"rumbench/model"
)

// still is a store whose transactions do nothing and allocate nothing.
type still struct {
	kvkit.Store // unused methods
	kind        kvkit.Concurrency
	tx          stillTx
}

type stillTx struct {
	kvkit.Tx // unused methods
	row      []byte
}

func (s *still) Concurrency() kvkit.Concurrency            { return s.kind }
func (s *still) Begin(kvkit.Mode) (kvkit.Tx, error)        { return &s.tx, nil }
func (s *still) Close() error                              { return nil }
func (t *stillTx) GetForUpdate(key []byte) ([]byte, error) { return t.Get(key) }
func (t *stillTx) Merge(_, _ []byte) error                 { return nil }
func (t *stillTx) Put(_, _ []byte) error                   { return nil }
func (t *stillTx) Delete([]byte) error                     { return nil }
func (t *stillTx) Commit() error                           { return nil }
func (t *stillTx) Rollback()                               {}

func (t *stillTx) Get([]byte) ([]byte, error) { return t.row, nil }

func (t *stillTx) Iter(_, _ []byte) (kvkit.Iter, error) { return &gatedIter{}, nil }

// The kit allocates nothing per operation.
func TestAllocatesNothing(t *testing.T) {
	schema := model.Schema{Tables: []model.Table{{
		Name: "t", Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int, Auto: true}, {Name: "n", Type: model.Int, NotNull: true}},
	}}}
	set := []model.Assign{{Column: "n", Add: true}}
	ops := []struct {
		op   model.Op
		args []any
	}{
		{model.Op{Kind: model.Get, Table: "t", Columns: []string{"n"}}, []any{1}},
		{model.Op{Kind: model.Insert, Table: "t", Columns: []string{"n"}, Rows: 2}, []any{1, 2}},
		{model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "n"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"n"}}, []any{1, 2}},
		{model.Op{Kind: model.Update, Table: "t", Set: set, Keys: 2, Blind: true}, []any{1, 7, 8}},
		{model.Op{Kind: model.Delete, Table: "t"}, []any{1}},
	}
	for _, kind := range []kvkit.Concurrency{kvkit.SingleWriter, kvkit.Unisolated, kvkit.Isolated} {
		for _, w := range []kvkit.Switches{{}, {MergeUpdates: true, MergeUpserts: true}} {
			store := &still{kind: kind}
			db, err := w.Open(store, engine.Config{Schema: schema})
			if err == nil {
				err = db.CreateTables(t.Context())
			}
			expect.NoError(t, err)
			s, err := db.Session(t.Context())
			expect.NoError(t, err)
			store.tx.row = make([]byte, 8)
			if w.Merges() {
				store.tx.row = make([]byte, 9)
			}
			for _, c := range ops {
				stmt, err := s.Prepare(t.Context(), &c.op)
				expect.NoError(t, err)
				args := enginetest.Values(c.args)
				var r engine.Result
				n := testing.AllocsPerRun(100, func() {
					expect.NoError(t, stmt.Exec(t.Context(), args, &r))
				})
				expect.True(t, n <= 0, "concurrency", kind, w, c.op.Label(), n, "allocations")
			}
		}
	}
}

// A row of key columns alone has an empty value, and exists.
func TestRowOfKeyColumns(t *testing.T) {
	for _, kind := range []kvkit.Concurrency{kvkit.SingleWriter, kvkit.Unisolated, kvkit.Isolated} {
		store := &still{kind: kind}
		schema := model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"},
			Columns: []model.Column{{Name: "id", Type: model.Int}}}}}
		db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: schema})
		if err == nil {
			err = db.CreateTables(t.Context())
		}
		expect.NoError(t, err)
		store.tx.row = []byte{}
		for _, op := range []model.Op{{Kind: model.Delete, Table: "t"}, {Kind: model.Get, Table: "t", Columns: []string{"id"}}} {
			s, err := db.Session(t.Context()) // whose memory is fresh
			expect.NoError(t, err)
			stmt, err := s.Prepare(t.Context(), &op)
			expect.NoError(t, err)
			var r engine.Result
			if err := stmt.Exec(t.Context(), []model.Value{model.IntValue(1)}, &r); err != nil || r.Rows != 1 {
				t.Errorf("concurrency %d, %s: %d rows, %v", kind, op.Label(), r.Rows, err)
			}
		}
	}
}
