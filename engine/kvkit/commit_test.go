package kvkit_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/internal/expect"
	"rumbench/model"
)

// gated is a store with concurrent writers whose commits wait for the gate: a
// test hangs if the kit serialises more than it should.
type gated struct {
	kvkit.Store // unused methods
	mu          sync.Mutex
	keys        [][]byte // in order
	values      map[string][]byte
	gate        chan struct{}
	committing  chan struct{}
}

func newGated() *gated {
	return &gated{values: map[string][]byte{}, committing: make(chan struct{}, 1000)}
}

func (*gated) Concurrency() kvkit.Concurrency { return kvkit.Unisolated }
func (*gated) Close() error                   { return nil }

func (s *gated) Begin(kvkit.Mode) (kvkit.Tx, error) { return &gatedTx{store: s}, nil }

type gatedTx struct {
	store  *gated
	writes []func()
}

func (t *gatedTx) Get(key []byte) ([]byte, error) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	return t.store.values[string(key)], nil
}

func (t *gatedTx) Put(key, value []byte) error {
	key, value = bytes.Clone(key), append([]byte{}, value...)
	t.writes = append(t.writes, func() {
		if at, there := slices.BinarySearchFunc(t.store.keys, key, bytes.Compare); !there {
			t.store.keys = slices.Insert(t.store.keys, at, key)
		}
		t.store.values[string(key)] = value
	})
	return nil
}

func (t *gatedTx) Delete(key []byte) error {
	key = bytes.Clone(key)
	t.writes = append(t.writes, func() {
		if at, there := slices.BinarySearchFunc(t.store.keys, key, bytes.Compare); there {
			t.store.keys = slices.Delete(t.store.keys, at, at+1)
		}
		delete(t.store.values, string(key))
	})
	return nil
}

func (t *gatedTx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	it := &gatedIter{at: -1}
	for _, key := range t.store.keys {
		if bytes.Compare(key, lower) >= 0 && bytes.Compare(key, upper) < 0 {
			it.keys, it.values = append(it.keys, key), append(it.values, t.store.values[string(key)])
		}
	}
	return it, nil
}

func (t *gatedTx) Apply() error {
	t.store.mu.Lock()
	defer t.store.mu.Unlock()
	for _, write := range t.writes {
		write()
	}
	t.writes = nil
	return nil
}

func (t *gatedTx) Commit() error {
	if err := t.Apply(); err != nil || t.store.gate == nil {
		return err
	}
	t.store.committing <- struct{}{}
	<-t.store.gate
	return nil
}

func (*gatedTx) Rollback() {}

type gatedIter struct {
	keys, values [][]byte
	at           int
}

func (i *gatedIter) move(end int) bool      { i.at = end; return end >= 0 && end < len(i.keys) }
func (i *gatedIter) First() bool            { return i.move(0) }
func (i *gatedIter) Last() bool             { return i.move(len(i.keys) - 1) }
func (i *gatedIter) Next() bool             { return i.move(i.at + 1) }
func (i *gatedIter) Prev() bool             { return i.move(i.at - 1) }
func (i *gatedIter) Key() []byte            { return i.keys[i.at] }
func (i *gatedIter) Value() ([]byte, error) { return i.values[i.at], nil }
func (i *gatedIter) Close() error           { return nil }

// whole is a gated store whose transactions become visible and durable together.
type whole struct{ *gated }

func (s whole) Begin(m kvkit.Mode) (kvkit.Tx, error) {
	tx, err := s.gated.Begin(m)
	return struct{ kvkit.Tx }{tx}, err
}

// open creates tables with rows numbered from 1 in a gated store.
func (s *gated) open(t *testing.T, store kvkit.Store, tables int, rows int64) engine.DB {
	t.Helper()
	ctx := context.Background()
	var schema model.Schema
	for i := range tables {
		schema.Tables = append(schema.Tables, model.Table{
			Name: fmt.Sprint("t", i), Key: []string{"id"},
			Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}},
		})
	}
	db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: schema})
	expect.NoError(t, err)
	expect.NoError(t, db.CreateTables(ctx))
	for i := range tables {
		var args []model.Value
		for id := range rows {
			args = append(args, model.IntValue(id+1), model.IntValue(0))
		}
		insert := prepare(t, db, &model.Op{Kind: model.Insert, Table: fmt.Sprint("t", i), Columns: []string{"id", "n"}, Rows: int(rows)})
		expect.NoError(t, insert.Exec(ctx, args, &engine.Result{}))
	}
	s.gate = make(chan struct{})
	return db
}

func prepare(t *testing.T, db engine.DB, op *model.Op) engine.Stmt {
	t.Helper()
	s, err := db.Session(context.Background())
	expect.NoError(t, err)
	stmt, err := s.Prepare(context.Background(), op)
	expect.NoError(t, err)
	return stmt
}

// hang is the time after which a test reports that it hangs.
const hang = 20 * time.Second

// together runs operations concurrently until want of them are committing, opens
// the gate, and returns the number of rows changed.
func (s *gated) together(t *testing.T, want int, ops ...func(r *engine.Result) error) (rows int64) {
	t.Helper()
	results := make([]engine.Result, len(ops))
	var running sync.WaitGroup
	for i, op := range ops {
		running.Go(func() {
			if err := op(&results[i]); err != nil {
				t.Error(err)
			}
		})
	}
	late := time.After(hang)
	for n, waiting := 0, true; n < want && waiting; n++ {
		select {
		case <-s.committing:
		case <-late:
			t.Errorf("%d of %d operations are committing at the same time, want %d", n, len(ops), want)
			waiting = false
		}
	}
	close(s.gate)
	running.Wait()
	for _, r := range results {
		rows += r.Rows
	}
	return rows
}

// Sixteen clients that delete 100 rows each, from their own tables or from one,
// commit at the same time: none waits for rows of others.
func TestWritersCommitTogether(t *testing.T) {
	const clients, rows = 16, 100
	for _, tables := range []int{1, clients} {
		t.Run(fmt.Sprintf("%d tables", tables), func(t *testing.T) {
			s := newGated()
			db := s.open(t, s, tables, clients*rows)
			var ops []func(r *engine.Result) error
			for c := range clients {
				remove := prepare(t, db, &model.Op{Kind: model.Delete, Table: fmt.Sprint("t", c%tables), Keys: rows})
				var args []model.Value
				for i := range int64(rows) {
					args = append(args, model.IntValue(i*clients+int64(c)+1))
				}
				ops = append(ops, func(r *engine.Result) error { return remove.Exec(context.Background(), args, r) })
			}
			expect.Equal(t, s.together(t, clients, ops...), clients*rows, "rows were deleted")
		})
	}
}

// Updates of one row wait for each other until they are visible, not until they
// are durable, and none is lost. In a store without Applier they wait for both.
func TestSameRow(t *testing.T) {
	const clients = 8
	for _, early := range []bool{true, false} {
		s := newGated()
		store, atOnce := kvkit.Store(s), clients
		if !early {
			store, atOnce = whole{s}, 1
		}
		db := s.open(t, store, 1, 1)
		var ops []func(r *engine.Result) error
		for range clients {
			raise := prepare(t, db, &model.Op{Kind: model.Update, Table: "t0", Set: []model.Assign{{Column: "n", Add: true}}})
			ops = append(ops, func(r *engine.Result) error {
				return raise.Exec(context.Background(), []model.Value{model.IntValue(1), model.IntValue(1)}, r)
			})
		}
		expect.Equal(t, s.together(t, atOnce, ops...), clients, "updates")
		var n int64
		get := prepare(t, db, &model.Op{Kind: model.Get, Table: "t0", Columns: []string{"n"}})
		r := engine.Result{Each: func(row []model.Value) { n = row[0].Int() }}
		if err := get.Exec(context.Background(), []model.Value{model.IntValue(1)}, &r); err != nil || n != clients {
			t.Errorf("the row holds %d, want %d (%v)", n, clients, err)
		}
	}
}

// Concurrent deletions of the lowest rows take different rows and commit
// together.
func TestLowestCommitTogether(t *testing.T) {
	const clients, rows = 8, 20
	s := newGated()
	db := s.open(t, s, 1, clients*rows)
	var ops []func(r *engine.Result) error
	for range clients {
		lowest := prepare(t, db, &model.Op{Kind: model.DeleteLowest, Table: "t0", Rows: rows})
		ops = append(ops, func(r *engine.Result) error {
			return lowest.Exec(context.Background(), []model.Value{model.IntValue(0)}, r)
		})
	}
	expect.Equal(t, s.together(t, clients, ops...), clients*rows, "rows were deleted")
}
