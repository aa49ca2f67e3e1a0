package kvkit_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"rumbench/engine"
	"rumbench/engine/bbolt"
	"rumbench/engine/enginetest"
	"rumbench/engine/kvkit"
	"rumbench/engine/memory"
	"rumbench/engine/pebble"
	"rumbench/internal/expect"
	"rumbench/model"
)

// pairs is a table of numbers with a unique index and another.
var pairs = model.Schema{Tables: []model.Table{{
	Name: "t", Key: []string{"id"},
	Columns: []model.Column{{Name: "id", Type: model.Int, Auto: true}, {Name: "n", Type: model.Int}, {Name: "u", Type: model.Int}},
	Indexes: []model.Index{{Name: "t_n", Columns: []string{"n"}}, {Name: "t_u", Columns: []string{"u"}, Unique: true}},
}}}

var (
	addPair  = model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "n", "u"}, Rows: 1}
	putPair  = model.Op{Kind: model.Insert, Table: "t", Columns: []string{"n", "u"}, Rows: 1, ReturnNumber: true}
	raiseN   = model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "n", Add: true}}}
	setU     = model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "u"}}}
	raiseByN = model.Op{Kind: model.Update, Table: "t", Index: "t_n", Equal: 1, Set: []model.Assign{{Column: "n", Add: true}}}
	getN     = model.Op{Kind: model.Get, Table: "t", Columns: []string{"n"}}
	popTwo   = model.Op{Kind: model.DeleteLowest, Table: "t", Rows: 2}
	all      = model.Op{Kind: model.Scan, Table: "t", Columns: []string{"id", "n", "u"}}
	begin    = model.Op{Kind: model.Begin}
	commit   = model.Op{Kind: model.Commit}
	rollback = model.Op{Kind: model.Rollback}
)

// openPairs creates the table and its indexes.
func openPairs(t *testing.T, db engine.DB, err error) engine.DB {
	t.Helper()
	ctx := t.Context()
	for _, step := range []func() error{
		func() error { return err },
		func() error { return db.CreateTables(ctx) },
		func() error { return db.CreateIndexes(ctx, "t", "t_n", "t_u") },
	} {
		expect.NoError(t, step())
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// seat prepares operations of one session on the table.
type seat struct {
	t *testing.T
	s engine.Session
}

func newSeat(t *testing.T, db engine.DB) seat {
	t.Helper()
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	return seat{t, s}
}

func (s seat) op(op model.Op) *enginetest.Operation {
	s.t.Helper()
	return enginetest.PrepareOperation(s.t, s.s, pairs, op)
}

func counter(t *testing.T, db engine.DB, name string) float64 {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, db.Counters(context.Background(), &s))
	for _, p := range s.Points {
		if p.Name == name {
			return p.Value
		}
	}
	t.Fatalf("there is no counter %s", name)
	return 0
}

// An operation that conflicts is repeated, and has the result of one execution.
func TestRetries(t *testing.T) {
	store := newMVCC()
	db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: pairs})
	db = openPairs(t, db, err)
	s := newSeat(t, db)
	failures := 0
	classes := []engine.Class{engine.Conflict, engine.Deadlock, engine.LockTimeout}
	disturb := func(asked int) { // the read or commit of that number, and the next two
		store.disturb = func() error {
			if asked--; asked < 0 && asked >= -3 {
				failures++
				return engine.Errorf(classes[-1-asked], "disturbed")
			}
			return nil
		}
	}
	for asked := range 3 {
		id := 10 * asked
		disturb(asked)
		s.op(addPair).Changes(1, id+1, 1, id+1)
		disturb(asked)
		put := s.op(putPair)
		put.Changes(1, 1, id+2)
		expect.Equal(t, put.Value.Int(), int64(id+2), "the row has number", put.Value, id+2)
		disturb(asked)
		s.op(raiseN).Changes(1, 5, id+1)
		disturb(asked)
		s.op(raiseByN).Changes(1, 1, 6)
		disturb(asked)
		s.op(setU).Changes(1, id+7, id+1)
		disturb(asked)
		s.op(popTwo).Changes(2, 0)
		store.disturb = nil
		s.op(all).Want(nil)
	}
	if got := counter(t, db, "kvkit.conflict_retries"); got != float64(failures) || failures == 0 {
		t.Errorf("%v repetitions after %d failures", got, failures)
	}
}

// An operation is repeated until its context ends.
func TestRetriesEnd(t *testing.T) {
	store := newMVCC()
	db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: pairs})
	db = openPairs(t, db, err)
	s := newSeat(t, db)
	s.op(addPair).OK(1, 0, 0)
	ctx, cancel := context.WithCancel(t.Context())
	asked := 0
	store.disturb = func() error {
		if asked++; asked == 5 {
			cancel()
		}
		return engine.Errorf(engine.Conflict, "disturbed")
	}
	var r engine.Result
	err = s.op(raiseN).Stmt.Exec(ctx, enginetest.Values([]any{1, 1}), &r)
	expect.True(t, engine.ClassOf(err) == engine.Conflict && asked == 5, "after", asked, "attempts", err)
}

// In a transaction the client gets the class, and can only roll back.
func TestClassesInTransactions(t *testing.T) {
	for _, class := range []engine.Class{engine.Conflict, engine.Deadlock, engine.LockTimeout} {
		store := newMVCC()
		db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: pairs})
		db = openPairs(t, db, err)
		s := newSeat(t, db)
		s.op(addPair).OK(1, 0, 0)
		s.op(begin).OK()
		s.op(addPair).OK(2, 0, 2)
		store.disturb = func() error { return engine.Errorf(class, "disturbed") }
		s.op(raiseN).Fails(class, 1, 1)
		store.disturb = nil
		s.op(raiseN).Fails(class, 1, 1)
		s.op(getN).Fails(class, 1)
		s.op(commit).Fails(class)
		s.op(begin).OK()
		s.op(raiseN).OK(1, 1)
		store.disturb = func() error { return engine.Errorf(class, "disturbed") }
		s.op(commit).Fails(class)
		store.disturb = nil
		s.op(begin).OK()
		s.op(raiseN).OK(1, 1)
		s.op(rollback).OK()
		s.op(all).Want(nil, "1 0 0")
		expect.Equal(t, counter(t, db, "kvkit.conflict_retries"), 0, "operations were repeated")
	}
}

// The second of two transactions that change a row, or claim a value, fails.
func TestConflictsInTransactions(t *testing.T) {
	db, err := kvkit.Switches{}.Open(newMVCC(), engine.Config{Schema: pairs})
	db = openPairs(t, db, err)
	a, b := newSeat(t, db), newSeat(t, db)
	a.op(addPair).OK(1, 0, 0)
	for _, change := range []func(s seat, id int){
		func(s seat, _ int) { s.op(raiseN).OK(1, 1) },
		func(s seat, id int) { s.op(addPair).OK(id, 0, 7) },
		func(s seat, _ int) { s.op(addPair).OK(9, 0, nil) },
	} {
		a.op(begin).OK()
		b.op(begin).OK()
		change(a, 2)
		change(b, 3)
		a.op(commit).OK()
		b.op(commit).Fails(engine.Conflict)
	}
	a.op(all).Want(nil, "1 1 0", "2 0 7", "9 0 NULL")
}

// Write skew: two transactions read what the other changes. Snapshots allow it,
// a single writer does not.
func TestWriteSkew(t *testing.T) {
	mvcc, err := kvkit.Switches{}.Open(newMVCC(), engine.Config{Schema: pairs})
	stores := map[string]engine.DB{"isolated": openPairs(t, mvcc, err)}
	for _, e := range []engine.Engine{memory.Engine{}, bbolt.Engine{}} {
		level := model.DurabilityNone
		c := engine.Config{Durability: level, Schema: pairs}
		if e.Info().Name == "bbolt" {
			c.Dir = t.TempDir()
		}
		db, err := e.Open(t.Context(), c)
		stores[e.Info().Name] = openPairs(t, db, err)
	}
	for name, db := range stores {
		first := newSeat(t, db)
		first.op(addPair).OK(1, 0, nil)
		first.op(addPair).OK(2, 0, nil)
		var ready, done sync.WaitGroup
		ready.Add(2)
		for own := 1; own <= 2; own++ {
			s := newSeat(t, db)
			other := s.op(getN)
			var n int64
			other.Each = func(row []model.Value) { n = row[0].Int() }
			done.Go(func() {
				s.op(begin).OK()
				other.OK(3 - own)
				if name == "isolated" { // both have read
					ready.Done()
					ready.Wait()
				}
				s.op(raiseN).OK(int(n)+1, own)
				s.op(commit).OK()
			})
		}
		done.Wait()
		var sum int64
		read := first.op(all)
		read.Each = func(row []model.Value) { sum += row[1].Int() }
		read.OK()
		want := int64(3) // 1, and 1 more than that
		if name == "isolated" {
			want = 2
		}
		expect.Equal(t, sum, want, name, "the sum is")
	}
}

// Transactions of the kit respect the store's limit.
func TestLimited(t *testing.T) {
	store := newMVCC()
	store.limit = 7
	ctx := t.Context()
	db, err := kvkit.Switches{}.Open(store, engine.Config{Schema: pairs})
	if err == nil {
		err = db.CreateTables(ctx)
	}
	expect.NoError(t, err)
	s := newSeat(t, db)
	for id := range 50 {
		s.op(addPair).OK(id, id, id)
	}
	expect.NoError(t, db.CreateIndexes(ctx, "t", "t_n", "t_u"))
	big := addPair
	big.Rows = 3
	expect.Refused(s.s.Prepare(ctx, &big))(t, "", "an operation beyond the limit was prepared")
	// How many rows this one changes is not known before.
	for id := 100; id < 108; id++ {
		s.op(addPair).OK(id, 100, id)
	}
	many := s.op(model.Op{Kind: model.Update, Table: "t", Index: "t_n", Equal: 1, Set: []model.Assign{{Column: "u", Add: true}}})
	if err := many.Run(1000, 100); engine.ClassOf(err) != engine.Fatal || !strings.Contains(err.Error(), "holds 7") {
		t.Error(err)
	}
	expect.NoError(t, db.DropIndex(ctx, "t", "t_n"))
}

// Of several inserters of a value, and of updates to it, one succeeds: on stores of
// every concurrency.
func TestUniqueTogether(t *testing.T) {
	mvcc, err := kvkit.Switches{}.Open(newMVCC(), engine.Config{Schema: pairs})
	stores := []engine.DB{openPairs(t, mvcc, err)}
	for _, e := range []engine.Engine{pebble.Engine{}, bbolt.Engine{}} {
		db, err := e.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityProcess, Schema: pairs})
		stores = append(stores, openPairs(t, db, err))
	}
	const clients, values = 4, 60
	for i, db := range stores {
		setup := newSeat(t, db)
		for c := range clients {
			setup.op(addPair).OK(c, 0, nil)
		}
		var done sync.WaitGroup
		for c := range clients {
			s := newSeat(t, db)
			insert, set := s.op(putPair), s.op(setU)
			done.Go(func() {
				for v := range values {
					err := insert.Run(0, v)
					if c%2 == 0 {
						err = set.Run(v, c)
					}
					expect.True(t, err == nil || engine.ClassOf(err) == engine.Duplicate, err)
				}
			})
		}
		done.Wait()
		byU := setup.op(model.Op{Kind: model.Scan, Table: "t", Index: "t_u", Columns: []string{"u", "id"}})
		seen := map[int64]bool{}
		entries := 0
		byU.Each = func(row []model.Value) {
			if !row[0].IsNull() {
				entries++
				seen[row[0].Int()] = true
			}
		}
		byU.OK()
		rows := 0
		count := setup.op(all)
		count.Each = func(row []model.Value) {
			if !row[2].IsNull() {
				rows++
			}
		}
		count.OK()
		expect.True(t, entries == rows && len(seen) == rows,
			"store", i, rows, "rows", entries, "entries", len(seen), "values")
	}
}
