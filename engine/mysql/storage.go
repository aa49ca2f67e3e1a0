package mysql

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// storage holds the differences between the server's storages: how the common knobs
// become its variables, and how they are read back.
type storage struct {
	name      string
	structure string // "" if the storage is unknown here
	// durability maps each level to its settings; levels that are missing are not available.
	durability map[model.Durability][]server.Setting
	// levels returns the levels that the server's variables provide; nil: the storage has
	// one level only.
	levels func(vars map[string]string) []model.Durability
	// promises describe the levels whose meaning differs from the usual one.
	promises map[model.Durability]string
	// isolations are the transaction levels; none: statements are not atomic, and nothing
	// can be undone.
	isolations   []model.Isolation
	cache        string // the variable of its cache
	minCache     int64
	compressions []model.Compression // in addition to none
	describe     func(context.Context, *sqlkit.Admin) (engine.Structure, error)
	pages        func(size int64) bool
	pageVariable string
	direct       []server.Setting // for direct I/O; nil: it has none
	buffered     []server.Setting // turns direct I/O off, if it is the default
	base         []server.Setting // independent of the knobs
}

const mb = 1 << 20

// The variables that determine durability.
const (
	innodbFlush   = "innodb_flush_log_at_trx_commit"
	innodbTimeout = "innodb_flush_log_at_timeout"
	rocksdbFlush  = "rocksdb_flush_log_at_trx_commit"
	rocksdbManual = "rocksdb_manual_wal_flush"
	rocksdbNoLog  = "rocksdb_write_disable_wal"
)

// Settings that are on or off are written as 1 and 0: old releases accept nothing else
// for some of them, and report that only in their log.
var innodb = &storage{
	name: "innodb", structure: "B-tree in the order of the primary key", isolations: model.Isolations(),
	durability: map[model.Durability][]server.Setting{
		model.DurabilityNone:     {{Name: innodbFlush, Value: "0"}},
		model.DurabilityInterval: {{Name: innodbFlush, Value: "2"}},
		model.DurabilityProcess:  {{Name: innodbFlush, Value: "2"}},
		model.DurabilityOS:       {{Name: innodbFlush, Value: "1"}},
	},
	levels:       innodbLevels,
	promises:     syncedPromises,
	cache:        "innodb_buffer_pool_size",
	minCache:     5 * mb,
	describe:     pagesOf,
	compressions: []model.Compression{model.CompressionZlib},
	pages:        func(n int64) bool { return n >= 4096 && n <= 65536 && n&(n-1) == 0 },
	pageVariable: "innodb_page_size",
	direct:       []server.Setting{{Name: "innodb_flush_method", Value: "O_DIRECT"}},
	buffered:     []server.Setting{{Name: "innodb_flush_method", Value: "fsync"}},
	base: []server.Setting{
		{Name: "innodb_file_per_table", Value: "1"},
		// A warm cache left by the previous run would distort this one.
		{Name: "innodb_buffer_pool_load_at_startup", Value: "0"},
		{Name: "innodb_buffer_pool_dump_at_shutdown", Value: "0"},
	},
}

// innodbLevels returns the levels of InnoDB, which syncs its log in the background, by
// default once a second: changes written at commit survive a killed server, and all but
// the last second survive any crash.
func innodbLevels(vars map[string]string) []model.Durability {
	var out []model.Durability
	switch vars[innodbFlush] {
	case "1":
		return []model.Durability{model.DurabilityOS}
	case "2":
		out = append(out, model.DurabilityProcess)
	default:
		out = append(out, model.DurabilityNone)
	}
	// old releases have no choice
	if timeout := vars[innodbTimeout]; timeout == "" || timeout == "0" || timeout == "1" {
		out = append(out, model.DurabilityInterval)
	}
	return out
}

// syncedPromises belong to storages that sync their log once a second.
var syncedPromises = map[model.Durability]string{
	model.DurabilityNone: "nothing is promised; the log is written and synced about once a second",
	model.DurabilityProcess: "commits survive kill -9 of the server; " +
		"a crash of the operating system loses those since the last sync of the log, by rule about a second",
}

var rocksdb = &storage{
	name: "rocksdb", structure: "LSM tree",
	// With other levels every statement fails.
	isolations: []model.Isolation{model.ReadCommitted, model.RepeatableRead},
	// With manual flushes, the default, the log stays in the process's own memory until
	// it is synced: 2 then loses commits when the process is killed, unlike InnoDB's 2.
	durability: map[model.Durability][]server.Setting{
		model.DurabilityNone:     {{Name: rocksdbFlush, Value: "0"}},
		model.DurabilityInterval: {{Name: rocksdbFlush, Value: "2"}},
		model.DurabilityProcess:  {{Name: rocksdbFlush, Value: "2"}, {Name: rocksdbManual, Value: "0"}},
		model.DurabilityOS:       {{Name: rocksdbFlush, Value: "1"}},
	},
	levels:   rocksdbLevels,
	describe: treeOf,
	promises: syncedPromises,
	cache:    "rocksdb_block_cache_size",
	minCache: 1 * mb,
	compressions: []model.Compression{model.CompressionLZ4, model.CompressionZstd, model.CompressionZlib,
		model.CompressionSnappy},
	pages:        func(n int64) bool { return n >= 1024 && n <= 1<<20 },
	pageVariable: "rocksdb_block_size",
	direct: []server.Setting{{Name: "rocksdb_use_direct_reads", Value: "1"},
		{Name: "rocksdb_use_direct_io_for_flush_and_compaction", Value: "1"}},
	base: []server.Setting{
		// At run time the plugin would abort the server.
		{Name: "plugin-load-add", Value: "ha_rocksdb.so"},
		// InnoDB holds only the server's own tables.
		{Name: "innodb_buffer_pool_size", Value: "32M"},
		{Name: "innodb_log_file_size", Value: "32M"},
		{Name: "innodb_buffer_pool_load_at_startup", Value: "0"},
		{Name: "innodb_buffer_pool_dump_at_shutdown", Value: "0"},
	},
}

// rocksdbLevels returns the levels of MyRocks, whose background thread syncs the log once
// a second unless commits do.
func rocksdbLevels(vars map[string]string) []model.Durability {
	switch {
	case vars[rocksdbFlush] == "1":
		return []model.Durability{model.DurabilityOS}
	case vars[rocksdbFlush] == "2" && vars[rocksdbManual] == "OFF":
		return []model.Durability{model.DurabilityProcess, model.DurabilityInterval}
	}
	return []model.Durability{model.DurabilityNone, model.DurabilityInterval}
}

// aria syncs its log at the end of every statement and supports no weaker level; it locks
// tables and undoes no transaction.
var aria = &storage{
	name: "aria", structure: "heap with B-tree indexes",
	durability: map[model.Durability][]server.Setting{model.DurabilityOS: nil},
	cache:      "aria_pagecache_buffer_size", minCache: 128 << 10,
	pages: func(int64) bool { return false },
}

// myisam has no log: a crash breaks its indexes.
var myisam = &storage{
	name: "myisam", structure: "heap with B-tree indexes",
	durability: map[model.Durability][]server.Setting{model.DurabilityNone: nil},
	promises: map[model.Durability]string{model.DurabilityNone: "nothing is promised: there is no log, and any crash " +
		"may break the tables"},
	cache: "key_buffer_size", minCache: 8 << 10,
	pages: func(int64) bool { return false },
}

// storageOf returns the storage of that name. An unknown one is used with the server's defaults.
func storageOf(name string) *storage {
	name = strings.ToLower(name)
	switch name {
	case "", innodb.name:
		return innodb
	case rocksdb.name, "myrocks":
		return rocksdb
	case aria.name:
		return aria
	case myisam.name:
		return myisam
	}
	return &storage{name: name, durability: map[model.Durability][]server.Setting{model.DurabilityNone: nil},
		pages: func(int64) bool { return false }}
}

// others are storages that servers may have and of which little is known here.
var others = []string{"tokudb", "memory", "archive", "csv", "columnstore", "spider", "mroonga", "s3", "blackhole",
	"ndbcluster"}

// check refuses settings that the storage does not support.
func (st *storage) check(s engine.Config) error {
	if st.structure == "" && !slices.Contains(others, st.name) {
		described := []string{innodb.name, rocksdb.name, aria.name, myisam.name}
		return &engine.KnobError{Knob: "storage", Value: st.name, Values: append(described, others...),
			Reason: "there is no such storage; there are " + strings.Join(described, ", ") +
				", and as far as the server has them " + strings.Join(others, ", ")}
	}
	if _, ok := st.durability[s.Durability]; !ok {
		var can []string
		for _, level := range model.Durabilities() {
			if _, ok := st.durability[level]; ok {
				can = append(can, string(level))
			}
		}
		return engine.Refuse("durability", s.Durability, "storage %s offers: %s", st.name, strings.Join(can, ", "))
	}
	offered := append([]model.Compression{model.CompressionNone}, st.compressions...)
	zipped := st == innodb && s.Compression == model.CompressionZlib
	return cmp.Or(
		s.CheckIsolation(st.isolations...),
		newDialect(nil, true).CheckSchema(s.Schema),
		engine.RefuseIf(s.Cache != 0 && st.cache == "", "cache", nil,
			"rumbench does not know the cache of storage %s: set its variable under options", st.name),
		engine.RefuseIf(s.Cache != 0 && s.Cache < st.minCache, "cache", s.Cache, "storage %s takes at least %d bytes",
			st.name, st.minCache),
		engine.RefuseIf(s.Compression != "" && !slices.Contains(offered, s.Compression), "compression", s.Compression,
			"storage %s offers: %v", st.name, offered),
		engine.RefuseIf(s.Page != 0 && !st.pages(s.Page), "page", s.Page, "storage %s cannot have pages of that size",
			st.name),
		engine.RefuseIf(s.Direct() && st.direct == nil, "direct_io", true, "storage %s always uses the page cache", st.name),
		engine.RefuseIf(zipped && s.Page > 16384, "compression", s.Compression,
			"InnoDB compresses pages of up to 16 KiB only"))
}

// knob is a variable that a common knob sets.
type knob struct {
	server.Setting
	name, asked string
}

// knobs returns the variables that the common knobs set.
func (st *storage) knobs(c engine.Config) (out []knob) {
	add := func(name, asked string, settings ...server.Setting) {
		for _, s := range settings {
			out = append(out, knob{s, name, asked})
		}
	}
	add("durability", string(c.Durability), st.durability[c.Durability]...)
	if c.Cache != 0 {
		n := strconv.FormatInt(c.Cache, 10)
		add("cache", n, server.Setting{Name: st.cache, Value: n})
	}
	if c.Page != 0 {
		n := strconv.FormatInt(c.Page, 10)
		add("page", n, server.Setting{Name: st.pageVariable, Value: n})
	}
	switch {
	case c.DirectIO == nil:
	case *c.DirectIO:
		add("direct_io", "true", st.direct...)
	default:
		add("direct_io", "false", st.buffered...)
	}
	if st == rocksdb && c.Compression != "" {
		add("compression", string(c.Compression), server.Setting{Name: cfOptions, Value: compressionOptions(c.Compression)})
	}
	return out
}

// settings returns the lines of the configuration file that result from the knobs.
func (st *storage) settings(s *setup, known map[string]bool) ([]server.Setting, error) {
	out := []server.Setting{
		{Name: "max_connections", Value: "2000"},
		{Name: "max_prepared_stmt_count", Value: "1048576"}, // every client prepares all its statements for all its tables
	}
	for _, b := range st.base {
		if b.Name == "plugin-load-add" || known[b.Name] {
			out = append(out, b)
		}
	}
	for _, k := range st.knobs(s.Config) {
		switch {
		case known[k.Name]:
			out = append(out, k.Setting)
		case k.name != "page" || k.Value != oldPage:
			return nil, engine.Refuse(k.name, nil, "%s has no variable %s", s.Program.Name(), k.Name)
		}
	}
	if st == innodb && s.Compression == model.CompressionZlib && known["innodb_file_format"] {
		// compressed tables need it before 5.7
		out = append(out, server.Setting{Name: "innodb_file_format", Value: "Barracuda"})
	}
	return out, nil
}

// oldPage is the page size of releases that have no choice.
const oldPage = "16384"

// cfOptions is the variable with MyRocks' options for its files and memtables.
const cfOptions = "rocksdb_default_cf_options"

// compressionNames are RocksDB's names of the algorithms.
var compressionNames = map[model.Compression]string{
	model.CompressionNone: "kNoCompression", model.CompressionLZ4: "kLZ4Compression", model.CompressionZstd: "kZSTD",
	model.CompressionZlib: "kZlibCompression", model.CompressionSnappy: "kSnappyCompression",
}

func compressionOptions(c model.Compression) string {
	name := compressionNames[c]
	return "compression=" + name + ";bottommost_compression=" + name
}

// override adds a variable that the plan sets. MyRocks' option string is appended to the
// one that the knobs set: of several options with the same name the last counts.
func override(settings []server.Setting, s server.Setting) []server.Setting {
	if s.Name == cfOptions {
		for i := range settings {
			if settings[i].Name == cfOptions {
				s.Value = settings[i].Value + ";" + s.Value
			}
		}
	}
	return append(settings, s) // of several with the same name the last counts here too
}

// strip returns the name of a variable as the server lists it.
func strip(name string) string {
	name = strings.TrimPrefix(name, "loose-")
	return strings.ReplaceAll(name, "-", "_")
}

// tableOptions end a CREATE TABLE.
func (st *storage) tableOptions(t *model.Table, c model.Compression) string {
	s := " ENGINE=" + st.name + " COMMENT=" + string(sqlkit.AppendQuoted(nil, []byte(serverkit.MakerOf(t.Name)), true))
	if st == innodb && c == model.CompressionZlib {
		s += " ROW_FORMAT=COMPRESSED"
	}
	return s
}

// pagesOf describes InnoDB. Only MariaDB reports the room of the log.
func pagesOf(ctx context.Context, c *sqlkit.Admin) (engine.Structure, error) {
	found, err := c.Map(ctx, "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_page_size', 'Innodb_checkpoint_max_age')")
	return engine.Structure{
		Shape: engine.InPlace, Page: number(found["innodb_page_size"]), LogRoom: number(found["innodb_checkpoint_max_age"]),
	}, err
}

// treeOf describes MyRocks by the column family that most tables are in.
func treeOf(ctx context.Context, c *sqlkit.Admin) (out engine.Structure, err error) {
	const query = "SELECT OPTION_TYPE, VALUE FROM information_schema.ROCKSDB_CF_OPTIONS WHERE CF_NAME = 'default'" +
		" UNION ALL SELECT 'all_memtables', @@rocksdb_db_write_buffer_size"
	found, err := c.Map(ctx, query)
	is := func(name string, values ...string) bool { return slices.Contains(values, found[name]) }
	if err != nil || !is("compaction_style", "kCompactionStyleLevel") {
		return out, err
	}
	out = engine.Structure{Shape: engine.Leveled, Memtable: number(found["write_buffer_size"])}
	if n := number(found["all_memtables"]); n > 0 {
		out.Memtable = min(out.Memtable, n)
	}
	out.Filters = !is("table_factory::filter_policy", "nullptr") && is("table_factory::whole_key_filtering", "1")
	if is("compression_type", "kNoCompression") && is("compression_per_level", "NUL") &&
		is("bottommost_compression", "", "kNoCompression", "kDisableCompressionOption") {
		out.Block = number(found["table_factory::block_size"])
	}
	return out, nil
}

// number reads a number as the server wrote it; 0 if there is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
