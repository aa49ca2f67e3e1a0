//go:build native && cgo && linux

package wiredtiger_test

import (
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"rumbench/engine"
	"rumbench/engine/wiredtiger"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// TestOldChunks: rows that have left the newest chunk of an LSM tree are found by
// operations that change them, and an index is built in transactions that fit into
// a small cache.
func TestOldChunks(t *testing.T) { eachVersion(t, versions, testOldChunks) }

// eachVersion runs a test with each version in a process of its own, as one can load
// only one version.
func eachVersion(t *testing.T, versions []string, f func(*testing.T, string)) {
	if version := os.Getenv(variantEnv); version != "" {
		f(t, version)
		return
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			needLibrary(t, version)
			if out := inChild(t, version, "-test.v"); strings.Contains(out, "--- SKIP") {
				t.Skip(out)
			}
		})
	}
}

func testOldChunks(t *testing.T, version string) {
	fillChunks(t, version, 300, "512KB")
	t.Run("large", func(t *testing.T) {
		need.Long(t)
		fillChunks(t, version, 1500, "10MB")
	})
}

func fillChunks(t *testing.T, version string, batches int64, chunk string) {
	t.Helper()
	const batch = 100
	schema := model.Schema{Tables: []model.Table{{
		Name: "t", Key: []string{"k"},
		Columns: []model.Column{{Name: "k", Type: model.Int}, {Name: "a", Type: model.Int}, {Name: "s", Type: model.String, Width: 100}},
		Indexes: []model.Index{{Name: "t_a", Columns: []string{"a", "s"}}},
	}}}
	db, err := wiredtiger.Engine{}.Open(t.Context(), engine.Config{
		Dir: t.TempDir(), Durability: model.DurabilityProcess, Storage: "lsm", Cache: 32 << 20, Schema: schema,
		Options: map[string]any{"library": version, "table_config": "lsm=(chunk_size=" + chunk + ")"},
	})
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(t.Context()))
	session, err := db.Session(t.Context())
	expect.NoError(t, err)
	do := func(op model.Op, args ...model.Value) engine.Result {
		t.Helper()
		st, err := session.Prepare(t.Context(), &op)
		expect.NoError(t, err)
		var r engine.Result
		expect.NoError(t, st.Exec(t.Context(), args, &r))
		return r
	}
	text := model.StringValue(make([]byte, 90))
	for n := range batches {
		var args []model.Value
		for k := n * batch; k < (n+1)*batch; k++ {
			args = append(args, model.IntValue(k), model.IntValue(k*7919%100003), text)
		}
		do(model.Op{Kind: model.Insert, Table: "t", Columns: []string{"k", "a", "s"}, Rows: batch}, args...)
	}
	expect.NoError(t, db.CreateIndexes(t.Context(), "t", "t_a"))
	if r := do(model.Op{Kind: model.DeleteLowest, Table: "t", Rows: batch}, model.IntValue(0)); r.Rows != batch {
		t.Errorf("%d of %d rows were deleted", r.Rows, batch)
	}
	for _, index := range []string{"", "t_a"} {
		r := do(model.Op{Kind: model.Scan, Table: "t", Index: index, Aggregate: model.Count})
		expect.Equal(t, r.Value.Int(), batch*(batches-1), "by", index, "rows")
	}
}

// TestStaleReads: a read finds what was acknowledged before it began, or newer,
// while the LSM tree switches chunks.
func TestStaleReads(t *testing.T) { eachVersion(t, versions, testStaleReads) }

func testStaleReads(t *testing.T, version string) {
	const readers, each = 4, 2000
	db := openLSM(t, version)
	expect.NoError(t, prepare(t, db, insertWide).Exec(t.Context(), wideRow(0), &engine.Result{}))
	add := prepare(t, db, model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "u", Add: true}}})
	var acknowledged atomic.Int64
	done := make(chan struct{})
	var wg sync.WaitGroup
	for r := range readers {
		kind := []model.Op{
			{Kind: model.Get, Table: "t", Columns: []string{"u"}},
			{Kind: model.Scan, Table: "t", Columns: []string{"u"}},
		}[r%2]
		read := prepare(t, db, kind)
		args := []model.Value{model.IntValue(0)}[r%2:]
		wg.Go(func() {
			for old := 0; ; {
				least := acknowledged.Load()
				got := int64(-1)
				if err := read.Exec(t.Context(), args, &engine.Result{Each: func(row []model.Value) { got = row[0].Int() }}); err != nil {
					t.Error(err)
				}
				if got < least {
					old++
				}
				select {
				case <-done:
					expect.True(t, old <= 0, old, kind.Kind)
					return
				default:
				}
			}
		})
	}
	for n := range int64(each) {
		expect.NoError(t, add.Exec(t.Context(), []model.Value{model.IntValue(1), model.IntValue(0)}, &engine.Result{}))
		acknowledged.Store(n + 1)
	}
	close(done)
	wg.Wait()
}

// openLSM opens a database of wide rows, which fill its small chunks soon.
func openLSM(t *testing.T, version string) engine.DB {
	t.Helper()
	db, err := wiredtiger.Engine{}.Open(t.Context(), engine.Config{
		Dir: t.TempDir(), Schema: wide, Durability: model.DurabilityProcess, Storage: "lsm", Cache: 32 << 20,
		Options: map[string]any{"library": version, "table_config": "lsm=(chunk_size=512KB)"},
	})
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, db.Close()) })
	expect.NoError(t, db.CreateTables(t.Context()))
	return db
}

// TestLostUpdates: no addition is lost while the LSM tree switches chunks.
func TestLostUpdates(t *testing.T) { eachVersion(t, versions, testLostUpdates) }

func testLostUpdates(t *testing.T, version string) {
	const rows, clients, each = 20, 8, 2000
	db := openLSM(t, version)
	insert := prepare(t, db, insertWide)
	for id := range int64(rows) {
		expect.NoError(t, insert.Exec(t.Context(), wideRow(id), &engine.Result{}))
	}
	var wg sync.WaitGroup
	for w := range int64(clients) {
		add := prepare(t, db, model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "u", Add: true}}})
		wg.Go(func() {
			var r engine.Result
			for i := range int64(each) {
				args := []model.Value{model.IntValue(1), model.IntValue((i*7 + w*3) % rows)}
				if err := add.Exec(t.Context(), args, &r); err != nil || r.Rows != 1 {
					t.Error(err, r.Rows)
				}
			}
		})
	}
	wg.Wait()
	var r engine.Result
	expect.NoError(t, prepare(t, db, model.Op{Kind: model.Scan, Table: "t", Columns: []string{"u"}, Aggregate: model.Sum}).Exec(t.Context(), nil, &r))
	expect.Equal(t, r.Value.Int(), clients*each, "additions were acknowledged", "are there")
}
