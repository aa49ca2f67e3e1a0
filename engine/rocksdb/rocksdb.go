// Package rocksdb is the engine of RocksDB, Meta's LSM tree. Its library is loaded at run time:
// one binary runs any version from 6.29 to 11.8, so that one campaign can compare two of them.
package rocksdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

// newest is the version that is used unless a plan names a different one.
const newest = "11.8.1"

var options = append(kvkit.Options(kvkit.Merges|kvkit.SingleDeletes|kvkit.Filters), []engine.Option{
	{Name: "library", Type: "string",
		Doc: "a version, 6.29 or later, as fetched by scripts/rocksdb.sh, or the path of a library (default " + newest + ")"},
	{Name: "rocksdb", Type: "string", Doc: `RocksDB's own options, "name=value;name=value", as in its OPTIONS file`},
	{Name: "families", Type: "bool",
		Doc: "a column family for each table and index: exact sizes, and memtables of their own (default false)"},
	{Name: "transactions", Type: "string", Doc: "none (the kit locks rows), optimistic, or locks (8.11 and later)"},
}...)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "rocksdb",
		Structure:    "LSM tree",
		Doc:          "Meta's LSM tree, in this process; its library is loaded in any version from 6.29 to 11.8.",
		Version:      newest,
		Capabilities: []model.Capability{model.CapUnique, model.CapResults},
		Enabling: map[model.Capability]string{model.CapTransactions: "options.transactions: " +
			strings.Join(transactions[1:], " or ")},
		Options:     options,
		Native:      true,
		Promises:    engine.UnsyncedPromises,
		Files:       engine.LSMFiles,
		SpaceFactor: 3,
	}
}

// InfoOf describes the engine with a configuration: transactions are an option, and so is
// the version.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i := e.Info()
	if s, err := newSettings(c); err == nil {
		i.Version = s.library
		if s.concurrency() == kvkit.Isolated {
			i.Capabilities = append(slices.Clone(i.Capabilities), model.CapTransactions)
		}
	}
	return i
}

// Check returns an error if Open could not honour the configuration. Only Open knows the
// names of RocksDB's own options: a plan is checked with all of its targets, and a
// process can load only one version.
func (Engine) Check(c engine.Config) error {
	s, err := newSettings(c)
	if err == nil {
		err = s.find()
	}
	return err
}

// settings is a configuration in RocksDB's terms.
type settings struct {
	library      string // a version or a path
	path         string // found by find
	knobs, users string // options, with the user's last
	families     int
	transactions string
	durability   model.Durability
	switches     kvkit.Switches
}

// defaultCache is RocksDB's own default in version 8 and later. It is set for all
// versions: in older ones the default is a quarter of it.
const defaultCache = 32 << 20

var compressions = map[model.Compression]string{
	model.CompressionNone: "kNoCompression", model.CompressionSnappy: "kSnappyCompression",
	model.CompressionLZ4:  "kLZ4Compression",
	model.CompressionZstd: "kZSTD", model.CompressionZlib: "kZlibCompression",
}

func newSettings(c engine.Config) (s settings, err error) {
	s = settings{families: 1, durability: c.Durability}
	o := c.ReadOptions()
	s.library, s.users = o.Text("library", newest), o.Text("rocksdb", "")
	s.transactions = o.Choice("transactions", transactions...)
	if o.Bool("families", false) {
		s.families = kvkit.Spaces(c.Schema)
	}
	s.switches, err = kvkit.NewSwitches(c)
	var isolation []model.Isolation
	if s.concurrency() == kvkit.Isolated {
		isolation = []model.Isolation{model.RepeatableRead}
	}
	s.users = strings.TrimRight(s.users, "; ")
	s.knobs = knobs(c, s.switches.Filter)
	return s, cmp.Or(o.Err, err,
		engine.RefuseIf(c.Page != 0 && (c.Page < 512 || c.Page > 1<<20), "page", c.Page,
			"blocks must be from 512 B to 1 MiB"),
		engine.RefuseIf(c.Compression != "" && compressions[c.Compression] == "", "compression", c.Compression,
			"rocksdb supports none, snappy, lz4, zstd and zlib"),
		engine.RefuseIf(c.Durability == model.DurabilityInterval, "durability", c.Durability,
			"rocksdb syncs at every commit or never: only none, process and os are possible"),
		engine.RefuseIf(s.switches.SingleDeletes && isolation != nil, "options.deletes", "single",
			"RocksDB's transactions have no single deletes"),
		refuseOwned(c, s.users), c.CheckEmbedded(options, isolation...))
}

// knobs returns RocksDB's options for the common knobs.
func knobs(c engine.Config, filter bool) string {
	table := fmt.Sprintf("block_cache=%d;cache_index_and_filter_blocks=true", cmp.Or(c.Cache, defaultCache))
	if c.Page != 0 {
		table += fmt.Sprintf(";block_size=%d", c.Page)
	}
	if filter {
		table += ";filter_policy=bloomfilter:10:false"
	}
	out := fmt.Sprintf("create_if_missing=true;block_based_table_factory={%s};manual_wal_flush=%v",
		table, c.Durability == model.DurabilityNone)
	if c.Compression != "" {
		out += ";compression=" + compressions[c.Compression]
	}
	if c.DirectIO != nil {
		out += fmt.Sprintf(";use_direct_reads=%v;use_direct_io_for_flush_and_compaction=%[1]v", c.Direct())
	}
	return out
}

// transactions are the values of the option, in the order of the binding.
var transactions = []string{"none", "optimistic", "locks"}

// concurrency is Unisolated unless RocksDB's transactions are used.
func (s *settings) concurrency() kvkit.Concurrency {
	if s.transactions == "none" {
		return kvkit.Unisolated
	}
	return kvkit.Isolated
}

// owned are options of RocksDB that knobs set, or that would put files outside the data
// directory.
var owned = []string{
	"manual_wal_flush", "block_cache", "block_size", "compression", "use_direct_reads",
	"use_direct_io_for_flush_and_compaction",
	"no_block_cache", "table_factory", "comparator", "wal_dir", "db_log_dir", "db_paths", "cf_paths", "create_if_missing",
	"create_missing_column_families",
}

// compressing are options that override the knob compression, if it is set.
var compressing = []string{"compression_per_level", "bottommost_compression", "blob_compression_type"}

// refuseOwned refuses options that only rumbench may set.
func refuseOwned(c engine.Config, users string) error {
	for part := range strings.FieldsFuncSeq(users, func(r rune) bool { return strings.ContainsRune(";{}", r) }) {
		name, _, _ := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); slices.Contains(owned, name) || c.Compression != "" &&
			slices.Contains(compressing, name) {
			return engine.Refuse("options.rocksdb", name,
				"rumbench sets it, by the knobs durability, cache, page, compression and direct_io; "+
					"the database stays in its data directory")
		}
	}
	return nil
}

func (s *settings) find() error {
	path, err := native.Find("librocksdb", s.library)
	if err != nil {
		err = hint.With(err, native.Advice("librocksdb", s.library, "scripts/rocksdb.sh"))
		return &engine.KnobError{Knob: "options.library", Value: s.library, Reason: err.Error(), Err: err}
	}
	s.path = path
	if err := native.CheckExports(path, "rocksdb_writebatch_wi_create_iterator_with_base_cf",
		"rocksdb_flush_wal"); err != nil {
		return &engine.KnobError{Knob: "options.library", Value: s.library,
			Reason: "it is not a library of RocksDB 6.29 or newer", Err: err}
	}
	// 6.29 misses conflicts with merged rows, and updates were lost; in 8.11 and later
	// none was.
	newer := s.transactions == "locks" || s.transactions == "optimistic" && s.switches.Merges()
	if newer && native.CheckExports(path, "rocksdb_transactiondb_get_base_db") != nil {
		return engine.Refuse("options.transactions", s.transactions,
			"it needs RocksDB 8.11 or newer, not %s; optimistic without merges is possible on all", s.library)
	}
	return nil
}

// asserts reports whether a library was built with assertions: it contains their texts.
func asserts(path string) bool {
	content, _ := os.ReadFile(path) // it has been loaded
	return bytes.Contains(content, []byte(".ok()\x00"))
}

// classes are the classes of errors, by the prefix of their texts: the C interface has no codes.
var classes = []struct {
	prefix string
	class  engine.Class
}{
	{"Resource busy: Deadlock", engine.Deadlock},
	{"Resource busy", engine.Conflict},
	{"Operation failed. Try again", engine.Conflict},
	{"Operation timed out", engine.LockTimeout},
	{"", engine.Fatal},
}

func errorOf(text string) error {
	err := errors.New("rocksdb: " + text)
	if strings.Contains(text, "No space left on device") {
		err = engine.DiskFull(err)
	}
	i := 0
	for !strings.HasPrefix(text, classes[i].prefix) {
		i++
	}
	return engine.Classify(classes[i].class, err)
}

func (e Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.find(), engine.CheckDir(c.Dir, "CURRENT")); err != nil {
		return nil, err
	}
	return open(c, s)
}
