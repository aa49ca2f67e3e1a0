//go:build native && cgo && linux

package rocksdb

import (
	"os"
	"slices"
	"testing"

	"rumbench/engine"
	"rumbench/engine/native"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

// schema is the benchmark's table with an index.
var schema = model.Schema{Tables: []model.Table{{
	Name: "t", Key: []string{"id"}, Columns: []model.Column{{Name: "id", Type: model.Int, Auto: true}, {Name: "v", Type: model.Bytes, Width: 100}},
	Indexes: []model.Index{{Name: "t_v", Columns: []string{"v"}}},
}}}

// openDB opens a database of it, if the library is there.
func openDB(t *testing.T, c engine.Config) engine.DB {
	t.Helper()
	_, err := native.Find("librocksdb", newest)
	need.Installed(t, err)
	c.Schema = schema
	db, err := Engine{}.Open(t.Context(), c)
	expect.NoError(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// Every knob is read back as it was set.
func TestSettings(t *testing.T) {
	yes := true
	c := engine.Config{
		Dir: t.TempDir(), Durability: model.DurabilityNone, Cache: 9 << 20, Page: 8192, Compression: model.CompressionZstd, DirectIO: &yes,
		Options: map[string]any{"rocksdb": "block_based_table_factory={filter_policy=bloomfilter:10:false};write_buffer_size=1234567;"},
	}
	settings, err := openDB(t, c).Settings(t.Context())
	expect.NoError(t, err)
	table := `TableOptions/BlockBasedTable "default".`
	for name, want := range map[string]string{
		"cache": "9437184", "Version.rocksdb_version": newest,
		"DBOptions.manual_wal_flush": "true", "DBOptions.use_direct_reads": "true", "DBOptions.use_direct_io_for_flush_and_compaction": "true",
		`CFOptions "default".compression`: "kZSTD", `CFOptions "default".write_buffer_size`: "1234567",
		table + "block_size": "8192", table + "cache_index_and_filter_blocks": "true", table + "filter_policy": "bloomfilter:10:false",
	} {
		i := slices.IndexFunc(settings, func(s engine.Setting) bool { return s.Name == name })
		expect.True(t, i >= 0 && settings[i].Value == want && settings[i].Source == engine.ReadBack,
			"setting", name, "want", want, "in", settings)
	}
}

// A family for each table and index makes sizes exact, and belongs to the database.
func TestFamilies(t *testing.T) {
	c := engine.Config{Dir: t.TempDir(), Durability: model.DurabilityProcess, Compression: model.CompressionNone, Options: map[string]any{"families": true}}
	db := openDB(t, c)
	fill(t, db)
	expect.Equal(t, total(t, db, "rocksdb.level.tables"), 3, "tables of the catalog, a table and its index")
	sizes, err := db.Sizes(t.Context())
	expect.NoError(t, err)
	for _, size := range sizes[1:] {
		expect.True(t, size.Kind == engine.Exact && size.Bytes != 0 && size.Bytes <= sizes[0].Bytes, size, sizes[0])
	}
	expect.NoError(t, db.Close())
	c.Options = nil
	refuses(t, c)
	c.Dir = t.TempDir()
	expect.NoError(t, openDB(t, c).Close())
	c.Options = map[string]any{"families": true}
	refuses(t, c)
}

// The structure is known of a leveled tree, and the size of its blocks if they are not
// compressed.
func TestStructure(t *testing.T) {
	const filter = "block_based_table_factory={filter_policy=bloomfilter:10:false};"
	for _, c := range []struct {
		compression model.Compression
		options     string
		block, size int64
		filters     bool
	}{
		{model.CompressionNone, filter, 4096, 64 << 20, true},
		{model.CompressionNone, filter + "write_buffer_size=1000000;num_levels=10", 4096, 1e6, true},
		{model.CompressionNone, "", 4096, 64 << 20, false},
		{model.CompressionLZ4, filter, 0, 64 << 20, true},
		{model.CompressionNone, "block_based_table_factory={filter_policy=bloomfilter:10:false;whole_key_filtering=false}", 4096, 64 << 20, false},
		{model.CompressionNone, filter + "compaction_style=kCompactionStyleUniversal", 0, 0, false},
	} {
		db := openDB(t, engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, Compression: c.compression, Options: map[string]any{"rocksdb": c.options}})
		fill(t, db)
		expect.Equal(t, total(t, db, "rocksdb.level.tables"), 1, c.options, "tables")
		got, err := db.(engine.Structured).Structure(t.Context())
		if expect.NoError(t, err); got.Block != c.block || got.Memtable != c.size || got.Filters != c.filters {
			t.Errorf("%s: %+v", c.options, got)
		}
		expect.NoError(t, db.Close())
	}
}

// What the cache holds decides where the page cache is bypassed.
func TestCacheHeld(t *testing.T) {
	for _, direct := range []bool{false, true} {
		db := openDB(t, engine.Config{Dir: t.TempDir(), Durability: model.DurabilityNone, DirectIO: &direct})
		fill(t, db)
		if held := total(t, db, engine.CacheHeld); (held > 0) != direct {
			t.Errorf("direct I/O %v: %v bytes held", direct, held)
		}
		expect.NoError(t, db.Close())
	}
}

// fill inserts rows, and flushes them.
func fill(t *testing.T, db engine.DB) {
	t.Helper()
	expect.NoError(t, db.CreateTables(t.Context()))
	expect.NoError(t, db.CreateIndexes(t.Context(), "t", "t_v"))
	s, err := db.Session(t.Context())
	expect.NoError(t, err)
	const rows = 1000
	insert, err := s.Prepare(t.Context(), &model.Op{Kind: model.Insert, Table: "t", Columns: []string{"v"}, Rows: rows})
	expect.NoError(t, err)
	expect.NoError(t, insert.Exec(t.Context(), slices.Repeat([]model.Value{model.BytesValue(make([]byte, 100))}, rows), &engine.Result{}))
	_, err = db.Settle(t.Context())
	expect.NoError(t, err)
}

// total returns the sum of all points of a name.
func total(t *testing.T, db engine.DB, name string) (sum float64) {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, db.Counters(t.Context(), &s))
	for _, p := range s.Points {
		if p.Name == name {
			sum += p.Value
		}
	}
	return sum
}

func refuses(t *testing.T, c engine.Config) {
	t.Helper()
	c.Schema = schema
	if db, err := (Engine{}).Open(t.Context(), c); err == nil {
		db.Close()
		t.Errorf("a database of the other value opens with %v", c.Options)
	} else {
		t.Log(err)
	}
}

// Debian's library is recognised by its assertions.
func TestAssertions(t *testing.T) {
	release, _ := native.Find("librocksdb", newest)
	for path, want := range map[string]bool{"/usr/lib/x86_64-linux-gnu/librocksdb.so.7.8": true, release: false} {
		if _, err := os.Stat(path); err != nil {
			t.Log(err)
			continue
		}
		expect.Equal(t, asserts(path), want, path)
	}
}
