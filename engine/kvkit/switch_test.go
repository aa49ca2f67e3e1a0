package kvkit_test

import (
	"strconv"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/pebble"
	"rumbench/internal/expect"
	"rumbench/model"
)

// accounts is a table with an index that changes, one without an index, and a
// queue.
var accounts = model.Schema{Tables: []model.Table{
	{
		Name: "accounts", Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "owner", Type: model.Int}, {Name: "sum", Type: model.Int}},
		Indexes: []model.Index{{Name: "owner", Columns: []string{"owner"}}},
	},
	{
		Name: "sums", Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "sum", Type: model.Int}},
	},
	{
		Name: "queue", Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int, Auto: true}, {Name: "owner", Type: model.Int}},
		Indexes: []model.Index{{Name: "queue_owner", Columns: []string{"owner"}}},
	},
}}

// openAccounts opens Pebble with options. Accounts 0 to 99 and the queue's rows 1
// to 100 exist.
func openAccounts(t *testing.T, options map[string]any) engine.DB {
	t.Helper()
	db, err := pebble.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Durability: model.DurabilityProcess, Options: options, Schema: accounts})
	if err == nil {
		t.Cleanup(func() { db.Close() })
		err = db.CreateTables(t.Context())
	}
	for table, index := range map[string]string{"accounts": "owner", "queue": "queue_owner"} {
		if err == nil {
			err = db.CreateIndexes(t.Context(), table, index)
		}
	}
	expect.NoError(t, err)
	insert := on(t, db, model.Op{Kind: model.Insert, Table: "accounts", Columns: []string{"id", "owner", "sum"}, Rows: 1})
	push := on(t, db, model.Op{Kind: model.Insert, Table: "queue", Columns: []string{"owner"}, Rows: 1})
	for id := range 100 {
		insert.OK(id, 0, 0)
		push.OK(0)
	}
	return db
}

func on(t *testing.T, db engine.DB, op model.Op) *enginetest.Operation {
	t.Helper()
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	return enginetest.PrepareOperation(t, s, accounts, op)
}

// Each switch avoids look-ups, and an operation that it does not fit makes them.
func TestLookups(t *testing.T) {
	owner, sum := model.Assign{Column: "owner"}, model.Assign{Column: "sum", Add: true}
	update := func(blind bool, set ...model.Assign) model.Op {
		return model.Op{Kind: model.Update, Table: "accounts", Set: set, Blind: blind}
	}
	add := model.Op{Kind: model.Insert, Table: "sums", Columns: []string{"id", "sum"}, Rows: 1, OnConflict: model.Add, AddColumns: []string{"sum"}}
	remove := model.Op{Kind: model.Delete, Table: "accounts", Blind: true}
	pop := model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: 1, Blind: true}
	none := map[string]any{}
	merge, upsert := map[string]any{"updates": "merge"}, map[string]any{"upserts": "merge"}
	blind := map[string]any{"indexes": "blind"}
	both := map[string]any{"updates": "merge", "indexes": "blind"}
	for _, c := range []struct {
		name    string
		options map[string]any
		op      model.Op
		args    func(id int) []any
		lookups int // per operation
	}{
		{"update", none, update(true, sum), func(id int) []any { return []any{1, id} }, 1},
		{"merged update", merge, update(true, sum), func(id int) []any { return []any{1, id} }, 0},
		{"update of rows that may not exist", merge, update(false, sum), func(id int) []any { return []any{1, id} }, 1},
		{"update of an indexed column", merge, update(true, owner), func(id int) []any { return []any{1, id} }, 1},
		{"blind update of an indexed column", both, update(true, owner), func(id int) []any { return []any{1, id} }, 0},
		{"addition to an indexed column", both, update(true, model.Assign{Column: "owner", Add: true}), func(id int) []any { return []any{1, id} }, 1},
		{"upsert", none, add, func(id int) []any { return []any{id, 1} }, 1},
		{"merged upsert", upsert, add, func(id int) []any { return []any{id, 1} }, 0},
		{"delete", none, remove, func(id int) []any { return []any{id} }, 1},
		{"blind delete", blind, remove, func(id int) []any { return []any{id} }, 0},
		{"delete of the lowest", none, pop, func(int) []any { return []any{0} }, 1},
		{"blind delete of the lowest", blind, pop, func(int) []any { return []any{0} }, 0},
	} {
		db := openAccounts(t, c.options)
		op := on(t, db, c.op)
		before := counter(t, db, "kvkit.lookups")
		for id := range 50 {
			op.Changes(1, c.args(id)...)
		}
		expect.Equal(t, counter(t, db, "kvkit.lookups")-before, float64(50*c.lookups),
			c.name, "look-ups in 50 operations", c.lookups, "each")
	}
}

// A merged update of a row that does not exist makes none.
func TestBrokenPromise(t *testing.T) {
	db := openAccounts(t, map[string]any{"updates": "merge"})
	set := on(t, db, model.Op{Kind: model.Update, Table: "sums", Set: []model.Assign{{Column: "sum", Add: true}}, Blind: true})
	get := on(t, db, model.Op{Kind: model.Get, Table: "sums", Columns: []string{"sum"}})
	count := on(t, db, model.Op{Kind: model.Scan, Table: "sums", Aggregate: model.Count})
	insert := on(t, db, model.Op{Kind: model.Insert, Table: "sums", Columns: []string{"id", "sum"}, Rows: 1})
	for id := range 3 {
		set.Changes(1, 5, id)
		get.Want([]any{id})
		count.Gives(strconv.Itoa(id))
		if id > 0 {
			settle(t, db)
			get.Want([]any{id})
		}
		insert.OK(id, 1)
		set.Changes(1, 2, id)
		get.Want([]any{id}, "3")
	}
}

// Readers skip stale entries; a reader or a settle removes them.
func TestStaleEntries(t *testing.T) {
	for _, c := range []struct {
		cleanup            string
		second, afterwards float64 // stale entries met by the second reader, and by one after a settle
	}{{"none", 101, 101}, {"read", 0, 0}, {"settle", 101, 0}} {
		db := openAccounts(t, map[string]any{"updates": "merge", "indexes": "blind", "cleanup": c.cleanup})
		set := on(t, db, model.Op{Kind: model.Update, Table: "accounts", Set: []model.Assign{{Column: "owner"}}, Blind: true})
		for id := range 100 {
			set.OK(1, id)
		}
		set.OK(2, 7)
		set.OK(1, 7) // the entry is valid again
		count := on(t, db, model.Op{Kind: model.Scan, Table: "accounts", Index: "owner", Aggregate: model.Count})
		met := func() float64 {
			before := counter(t, db, "kvkit.stale_entries")
			count.Gives("100")
			return counter(t, db, "kvkit.stale_entries") - before
		}
		first, second := met(), met()
		settle(t, db)
		if third := met(); first != 101 || second != c.second || third != c.afterwards {
			t.Errorf("cleanup %s: %v, %v and %v stale entries met, want 101, %v and %v", c.cleanup, first, second, third, c.second, c.afterwards)
		}
	}
}

// Of rows that were put and deleted between two flushes tombstones are flushed,
// because of older data below, unless they are deleted by single deletes.
func TestSingleDeletes(t *testing.T) {
	flushed := map[string]float64{}
	for _, deletes := range []string{"plain", "single"} {
		db := openAccounts(t, map[string]any{"deletes": deletes})
		settle(t, db)
		push := on(t, db, model.Op{Kind: model.Insert, Table: "queue", Columns: []string{"owner"}, Rows: 1})
		pop := on(t, db, model.Op{Kind: model.DeleteLowest, Table: "queue", Rows: 1})
		for range 50 {
			push.OK(0)
			pop.Changes(1, 101)
		}
		before := counter(t, db, "pebble.flushed_bytes")
		settle(t, db)
		flushed[deletes] = counter(t, db, "pebble.flushed_bytes") - before
		on(t, db, model.Op{Kind: model.Scan, Table: "queue", Index: "queue_owner", Aggregate: model.Count}).Gives("100")
		s, err := db.Session(t.Context())
		expect.NoError(t, err)
		_, err = s.Prepare(t.Context(), &model.Op{Kind: model.Update, Table: "sums", Set: []model.Assign{{Column: "sum"}}})
		expect.Equal(t, (err != nil), (deletes == "single"), "deletes", deletes, "prepare of an update", err)
	}
	expect.True(t, flushed["plain"] != 0 && flushed["single"] == 0, "bytes flushed", flushed)
}

// New keys are found to be new by filters, also on the last level.
func TestFilter(t *testing.T) {
	hits := map[string]float64{}
	for _, unique := range []string{"read", "filter"} {
		db := openAccounts(t, map[string]any{"unique": unique, "bloom_bits": int64(10)})
		insert := on(t, db, model.Op{Kind: model.Insert, Table: "sums", Columns: []string{"id", "sum"}, Rows: 1})
		for id := range 1000 {
			insert.OK(2*id, 0)
		}
		settle(t, db)
		before := counter(t, db, "pebble.filter.hits")
		for id := range 500 {
			insert.OK(2*id+1, 0)
		}
		insert.Fails(engine.Duplicate, 2, 0)
		hits[unique] = counter(t, db, "pebble.filter.hits") - before
	}
	expect.True(t, hits["filter"] >= 450, "filter hits in 500 inserts", hits)
}

func settle(t *testing.T, db engine.DB) {
	t.Helper()
	if _, err := db.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A database is opened only with the switches that shape its data.
func TestOtherSwitches(t *testing.T) {
	open := func(dir string, options map[string]any) error {
		db, err := pebble.Engine{}.Open(t.Context(), engine.Config{Dir: dir, Durability: model.DurabilityProcess, Options: options, Schema: accounts})
		if err != nil {
			return err
		}
		if err := db.CreateTables(t.Context()); err != nil && engine.ClassOf(err) != engine.Duplicate {
			t.Error(err)
		}
		return db.Close()
	}
	plain, merged, blind := map[string]any(nil), map[string]any{"updates": "merge"}, map[string]any{"indexes": "blind"}
	single := map[string]any{"deletes": "single"}
	all := []map[string]any{plain, merged, blind, single}
	for i, made := range all {
		dir := t.TempDir()
		expect.NoError(t, open(dir, made))
		for j, other := range all {
			if err := open(dir, other); (err == nil) != (i == j) {
				t.Errorf("made with %v, opened with %v: %v", made, other, err)
			} else if i != j && !strings.Contains(err.Error(), "those of the load") && !strings.Contains(err.Error(), "merger") {
				t.Errorf("made with %v, opened with %v: %v", made, other, err)
			}
		}
		expect.NoError(t, open(dir, made))
	}
	upserts := map[string]any{"upserts": "merge"} // the same operator and form
	dir := t.TempDir()
	for _, options := range []map[string]any{merged, upserts} {
		expect.NoError(t, open(dir, options))
	}
}
