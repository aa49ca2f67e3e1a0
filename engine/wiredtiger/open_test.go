//go:build native && cgo && linux

package wiredtiger_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"rumbench/engine"
	"rumbench/engine/wiredtiger"
	"rumbench/internal/expect"
	"rumbench/model"
)

// wide has rows of some KB.
var wide = model.Schema{Tables: []model.Table{{Name: "t", Key: []string{"id"}, Columns: []model.Column{
	{Name: "id", Type: model.Int}, {Name: "u", Type: model.Int}, {Name: "p", Type: model.Bytes, Width: 4000}}}}}

// insertWide inserts a row into wide.
var insertWide = model.Op{Kind: model.Insert, Table: "t", Columns: []string{"id", "u", "p"}, Rows: 1}

func wideRow(id int64) []model.Value {
	return []model.Value{model.IntValue(id), model.IntValue(0), model.BytesValue(bytes.Repeat([]byte("x"), 3000))}
}

// prepare prepares an operation in a session of its own.
func prepare(t *testing.T, db engine.DB, op model.Op) engine.Stmt {
	t.Helper()
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	st, err := s.Prepare(t.Context(), &op)
	expect.NoError(t, err)
	return st
}

// TestShape: a database is not opened as what it is not.
func TestShape(t *testing.T) {
	c := onDebian(t, "btree")
	c.Page = 8192
	db, err := wiredtiger.Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	found := ""
	settings, err := db.Settings(t.Context())
	expect.NoError(t, err)
	for _, s := range settings {
		found += s.Name + "=" + s.Value + " "
	}
	for _, want := range []string{"table.type=file ", "table.leaf_page_max=8KB "} {
		expect.True(t, strings.Contains(found, want), "no", want, "in", found)
	}
	expect.NoError(t, db.Close())
	lsm, page, compression := c, c, c
	lsm.Storage, page.Page, compression.Compression = "lsm", 4096, model.CompressionSnappy
	for knob, c := range map[string]engine.Config{"storage": lsm, "page": page, "compression": compression} {
		_, err := wiredtiger.Engine{}.Open(t.Context(), c)
		if refused, ok := errors.AsType[*engine.KnobError](err); !ok || refused.Knob != knob {
			t.Errorf("%s: %v", knob, err)
		}
	}
	c.Page, c.Compression = 0, model.CompressionNone
	db, err = wiredtiger.Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	expect.NoError(t, db.Close())
}

// TestMore: the options leave to users what no knob sets.
func TestMore(t *testing.T) {
	c := onDebian(t, "btree")
	c.Options["config"] = "eviction_dirty_target=60,eviction_dirty_trigger=80"
	c.Options["table_config"] = "memory_page_max=512KB,lsm=(chunk_size=4MB)"
	expect.NoError(t, wiredtiger.Engine{}.Check(c))
}

// TestMistake: an error has WiredTiger's message.
func TestMistake(t *testing.T) {
	c := onDebian(t, "btree")
	c.Options["config"] = "evicton=1"
	expect.Refused((wiredtiger.Engine{}).Open(t.Context(), c))(t, "evicton")
}

// TestFullDisk: an error says that the disk is full, after the panic too. Version 3.2.1 may not end after one.
func TestFullDisk(t *testing.T) { eachVersion(t, []string{newest}, testFullDisk) }

func testFullDisk(t *testing.T, version string) {
	dir := t.TempDir()
	c := engine.Config{Schema: wide, Durability: model.DurabilityProcess, Options: map[string]any{"library": version}}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skip("mount a small file system: ", err)
	}
	t.Cleanup(func() { expect.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	expect.NoError(t, os.Mkdir(dir+"/data", 0o700))
	c.Dir = dir + "/data"
	db, err := wiredtiger.Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(t.Context()))
	insert := prepare(t, db, insertWide)
	var first error
	for id := int64(0); first == nil; id++ {
		first = insert.Exec(t.Context(), wideRow(id), &engine.Result{})
	}
	for _, err := range []error{first, insert.Exec(t.Context(), wideRow(-1), &engine.Result{})} {
		expect.True(t, errors.Is(err, syscall.ENOSPC), err)
	}
}

// TestCounters: what each storage can count.
func TestCounters(t *testing.T) {
	for storage, want := range map[string]map[string]bool{
		"btree": {engine.BytesTaken: true, engine.DirtyBytes: true, engine.StallTime: false, engine.BytesRead: true, "wiredtiger.cache.wait_ns": true},
		"lsm":   {engine.BytesTaken: false, engine.DirtyBytes: false, engine.StallTime: true, engine.BytesRead: true},
	} {
		db, err := wiredtiger.Engine{}.Open(t.Context(), onDebian(t, storage))
		expect.NoError(t, err)
		defer db.Close()
		expect.NoError(t, db.CreateTables(t.Context()))
		expect.NoError(t, prepare(t, db, insertWide).Exec(t.Context(), wideRow(1), &engine.Result{}))
		before := sample(t, db)
		expect.NoError(t, prepare(t, db, model.Op{Kind: model.Delete, Table: "t"}).Exec(t.Context(), []model.Value{model.IntValue(1)}, &engine.Result{}))
		after := sample(t, db)
		for name, there := range want {
			if _, ok := after[name]; ok != there {
				t.Errorf("%s: %s: %v", storage, name, ok)
			}
		}
		expect.True(t, storage != "btree" || after[engine.BytesTaken] > before[engine.BytesTaken], before[engine.BytesTaken])
	}
}

// sample returns the series without labels.
func sample(t *testing.T, db engine.DB) map[string]float64 {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, db.Counters(t.Context(), &s))
	out := map[string]float64{}
	for _, p := range s.Points {
		if _, twice := out[p.Name]; twice && len(p.Labels) == 0 {
			t.Errorf("%s is there twice", p.Name)
		}
		out[p.Name] = p.Value
	}
	return out
}

// TestLimit: a scan does not read past its limit, however wide the rows.
func TestLimit(t *testing.T) {
	db, err := wiredtiger.Engine{}.Open(t.Context(), onDebian(t, "btree"))
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(t.Context()))
	insert := prepare(t, db, insertWide)
	for id := range int64(200) {
		expect.NoError(t, insert.Exec(t.Context(), wideRow(id), &engine.Result{}))
	}
	for _, limit := range []int{1, 10, 100} {
		scan := prepare(t, db, model.Op{Kind: model.Scan, Table: "t", Columns: []string{"u"}, Limit: limit})
		before := sample(t, db)["wiredtiger.cursor.next"]
		expect.NoError(t, scan.Exec(t.Context(), nil, &engine.Result{}))
		if n := sample(t, db)["wiredtiger.cursor.next"] - before; n > float64(limit) {
			t.Errorf("limit %d: %v entries were read", limit, n)
		}
	}
}

// TestFreshReads: a read outside a transaction sees what others have committed, also in a
// session of WiredTiger whose transaction has left cursors on pages.
func TestFreshReads(t *testing.T) { eachVersion(t, versions, testFreshReads) }

func testFreshReads(t *testing.T, version string) {
	schema := model.Schema{Tables: []model.Table{
		{Name: "a", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}}},
		{Name: "b", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int}, {Name: "n", Type: model.Int}}},
	}}
	db, err := wiredtiger.Engine{}.Open(t.Context(), engine.Config{Dir: t.TempDir(), Schema: schema, Durability: model.DurabilityProcess,
		Options: map[string]any{"library": version}})
	expect.NoError(t, err)
	defer db.Close()
	expect.NoError(t, db.CreateTables(t.Context()))
	one, err := db.Session(t.Context())
	expect.NoError(t, err)
	other, err := db.Session(t.Context())
	expect.NoError(t, err)
	do := func(s engine.Session, op model.Op, args ...int64) (value int64) {
		t.Helper()
		st, err := s.Prepare(t.Context(), &op)
		expect.NoError(t, err)
		var values []model.Value
		for _, n := range args {
			values = append(values, model.IntValue(n))
		}
		r := engine.Result{Each: func(row []model.Value) { value = row[0].Int() }}
		expect.NoError(t, st.Exec(t.Context(), values, &r))
		return value
	}
	for _, table := range []string{"a", "b"} {
		do(one, model.Op{Kind: model.Insert, Table: table, Columns: []string{"id", "n"}, Rows: 2}, 1, 0, 2, 0)
	}
	begin, commit := model.Op{Kind: model.Begin}, model.Op{Kind: model.Commit}
	get := func(table string) model.Op { return model.Op{Kind: model.Get, Table: table, Columns: []string{"n"}} }
	set := model.Op{Kind: model.Update, Table: "b", Set: []model.Assign{{Column: "n"}}}
	leave := map[string]func(){
		"a get":  func() { do(one, get("a"), 1) },
		"a scan": func() { do(one, model.Op{Kind: model.Scan, Table: "a", Columns: []string{"n"}, Limit: 1}) },
	}
	want := int64(0)
	for name, touch := range leave {
		want++
		do(other, begin) // which takes another session
		do(one, begin)
		touch()
		do(one, commit)
		do(one, get("b"), 1)
		do(other, set, want, 1)
		do(other, commit)
		expect.Equal(t, do(one, get("b"), 1), want, "after", name, "in a transaction it reads")
	}
}
