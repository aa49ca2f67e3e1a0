package pebble

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/model"
)

// syncFS calls sync in place of syncing.
type syncFS struct {
	vfs.FS
	sync func()
}

func (fs syncFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.wrap(fs.FS.Create(name, c))
}

func (fs syncFS) ReuseForWrite(old, name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	return fs.wrap(fs.FS.ReuseForWrite(old, name, c))
}

func (fs syncFS) Unwrap() vfs.FS { return fs.FS }

func (fs syncFS) wrap(f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return f, err
	}
	return syncFile{f, fs.sync}, nil
}

type syncFile struct {
	vfs.File
	sync func()
}

func (f syncFile) Sync() error              { f.sync(); return nil }
func (f syncFile) SyncData() error          { f.sync(); return nil }
func (syncFile) SyncTo(int64) (bool, error) { return false, nil }

// While the log is being synced, other updates of the same row proceed and wait
// for the next sync together. None returns before it.
func TestUpdatesShareSync(t *testing.T) {
	const clients = 4
	var gate sync.RWMutex // held for writing: syncs wait
	ctx := context.Background()
	schema := model.Schema{Tables: []model.Table{{
		Name: "t", Key: []string{"id"},
		Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}},
	}}}
	db, err := open(engine.Config{Dir: t.TempDir(), Durability: model.DurabilityOS, Schema: schema}, syncFS{vfs.Default, func() {
		gate.RLock()
		defer gate.RUnlock()
	}})
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(ctx))
	prepare := func(op *model.Op) engine.Stmt {
		s, err := db.Session(ctx)
		expect.NoError(t, err)
		stmt, err := s.Prepare(ctx, op)
		expect.NoError(t, err)
		return stmt
	}
	one := []model.Value{model.IntValue(1)}
	insert := prepare(&model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "n"}, Rows: 1})
	expect.NoError(t, insert.Exec(ctx, []model.Value{one[0], model.IntValue(0)}, &engine.Result{}))
	n := int64(0)
	get := prepare(&model.Op{Kind: model.Get, Table: "t", Columns: []string{"n"}})
	seen := engine.Result{Each: func(row []model.Value) { n = row[0].Int() }}

	gate.Lock()
	done := make(chan error, clients)
	for range clients {
		raise := prepare(&model.Op{Kind: model.Update, Table: "t", Set: []model.Assign{{Column: "n", Add: true}}})
		go func() { done <- raise.Exec(ctx, []model.Value{one[0], one[0]}, &engine.Result{}) }()
	}
	for start := time.Now(); n < clients; time.Sleep(time.Millisecond) {
		expect.NoError(t, get.Exec(ctx, one, &seen))
		if time.Since(start) > 20*time.Second { // it hangs
			t.Errorf("%d of %d updates of a row are seen while the log is being synced", n, clients)
			break
		}
	}
	expect.True(t, len(done) == 0, len(done), "updates returned before the log was synced")
	gate.Unlock()
	for range clients {
		expect.Equal(t, <-done, nil)
	}
}
