// Package wiredtiger is the engine of WiredTiger, MongoDB's B-tree and LSM tree.
// It is native: only rumbench-native can open it. Its library is a shim of ours
// around one version of WiredTiger, which scripts/wiredtiger.sh builds and which is
// loaded at run time.
package wiredtiger

import (
	"cmp"
	"context"
	"fmt"
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
const newest = "11.3.1"

// debian is the version in Debian, with two compressors in their own libraries.
const debian = "3.2.1"

var options = append(kvkit.Options(0), []engine.Option{
	{Name: "library", Type: "string",
		Doc: "the version, as built by scripts/wiredtiger.sh, or the path of such a library (default " + newest + ")"},
	{Name: "config", Type: "string",
		Doc: "more of WiredTiger's configuration of the connection, such as eviction_dirty_trigger=40"},
	{Name: "table_config", Type: "string",
		Doc: "more of WiredTiger's configuration of each table, such as memory_page_max=20MB"},
}...)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:      "wiredtiger",
		Structure: "B-tree",
		Doc: "MongoDB's storage engine, in this process: a B-tree by default, or an LSM tree. " +
			"A transaction of the B-tree that meets another writer of a row fails at once.",
		Version:      newest,
		Native:       true,
		Storages:     []string{btree, lsm},
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Aliases:      []string{"wt"},
		Promises: map[model.Durability]string{
			model.DurabilityNone:    "nothing is promised: the log is written in the background, and not synced",
			model.DurabilityProcess: engine.UnsyncedPromises[model.DurabilityProcess],
		},
		Files:       engine.WiredTigerFiles,
		SpaceFactor: 4,
		SpaceBase:   11 << 20, // a log file
	}
}

// InfoOf describes the engine with a configuration: its storage and its version
// are options.
func (e Engine) InfoOf(c engine.Config) engine.Info {
	i := e.Info()
	if c.Storage == lsm {
		i.Structure = "LSM tree"
		i.Capabilities = []model.Capability{model.CapUnique, model.CapResults} // see Concurrency
	}
	if v, ok := c.Options["library"].(string); ok {
		i.Version = v
	}
	return i
}

// Check returns an error if Open could not honour the configuration. Errors in
// WiredTiger's own configuration are detected when it is opened.
func (Engine) Check(c engine.Config) error {
	_, err := newSettings(c)
	return err
}

// The values of Config.Storage.
const (
	btree = "btree"
	lsm   = "lsm"
)

// settings is a configuration in WiredTiger's terms.
type settings struct {
	library, path      string // the version or path as given, and the file
	connection, tables string
	storage            string
	shape              []part
	cache              int64
	durability         model.Durability
	switches           kvkit.Switches
}

// part is a setting of the tables' configuration that a knob makes, for the life of the tables.
type part struct{ name, knob, value string }

// defaultCache is WiredTiger's own default.
const defaultCache = 100 << 20

// lsmCache is the minimum for an LSM tree.
const lsmCache = 32 << 20

// syncs are WiredTiger's ways to commit.
var syncs = map[model.Durability]string{
	model.DurabilityNone:    "enabled=false",
	model.DurabilityProcess: "enabled=true,method=none",
	model.DurabilityOS:      "enabled=true,method=fsync",
}

func newSettings(c engine.Config) (s settings, err error) {
	s = settings{storage: cmp.Or(c.Storage, btree), cache: cmp.Or(c.Cache, defaultCache), durability: c.Durability}
	o := c.ReadOptions()
	s.library = o.Text("library", newest)
	connection, tables := o.Text("config", ""), o.Text("table_config", "")
	s.switches, err = kvkit.NewSwitches(c)
	compressors := "none, snappy, zlib, zstd and lz4"
	if s.library == debian {
		compressors = "none, snappy and zlib"
	}
	inner, isolation := c, []model.Isolation{model.RepeatableRead}
	inner.Storage = ""
	if s.storage == lsm {
		isolation = nil
	}
	if err := cmp.Or(
		o.Err, err,
		engine.Choose("storage", s.storage, btree, lsm),
		engine.RefuseIf(syncs[c.Durability] == "", "durability", c.Durability,
			"wiredtiger syncs its log at every commit or not at all; none, process and os are possible"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "wiredtiger is opened without it here"),
		engine.RefuseIf(c.Cache != 0 && c.Cache < 1<<20, "cache", c.Cache, "wiredtiger's cache needs 1 MiB"),
		engine.RefuseIf(s.storage == lsm && s.cache < lsmCache && !strings.Contains(tables, "chunk_size"), "cache", c.Cache,
			"wiredtiger's LSM tree needs a cache of 3 chunks of 10 MB: 32 MiB, or smaller chunks by table_config: "+
				"lsm=(chunk_size=1MB)"),
		engine.RefuseIf(c.Page%4096 != 0 || c.Page > 1<<20, "page", c.Page,
			"leaf pages must be a multiple of 4 KiB, up to 1 MiB"),
		engine.RefuseIf(c.Compresses() && !strings.Contains(compressors, string(c.Compression)), "compression", c.Compression,
			"wiredtiger %s supports %s", s.library, compressors),
		refuseOwned("options.config", connection),
		refuseOwned("options.table_config", tables),
		inner.CheckEmbedded(options, isolation...),
	); err != nil {
		return s, err
	}
	s.configure(c, connection, tables)
	s.path, err = find(s.library)
	return s, err
}

// configure writes WiredTiger's configurations, with additions to the connection's and
// the tables'. If a name has two values, the later one counts.
func (s *settings) configure(c engine.Config, connection, tables string) {
	s.connection = "create,session_max=2000,checkpoint=(wait=60)"
	if c.Compresses() && s.library == debian {
		s.connection += ",extensions=[libwiredtiger_" + string(c.Compression) + ".so]"
	}
	s.connection += fmt.Sprintf(",%s,cache_size=%d,statistics=(fast),"+
		"log=(enabled=true,recover=on,file_max=10MB,prealloc=false),transaction_sync=(%s)",
		connection, s.cache, syncs[c.Durability])
	s.shape = []part{{"type", "storage", map[string]string{btree: "file", lsm: "lsm"}[s.storage]}}
	if c.Page != 0 {
		s.shape = append(s.shape, part{"leaf_page_max", "page", fmt.Sprintf("%dKB", c.Page>>10)})
	}
	if c.Compression != "" {
		s.shape = append(s.shape, part{"block_compressor", "compression", strings.TrimPrefix(string(c.Compression), "none")})
	}
	s.tables = tables + ",key_format=u,value_format=u"
	for _, p := range s.shape {
		s.tables += "," + p.name + "=" + p.value
	}
}

// owned are names in WiredTiger's configurations that only rumbench may set.
var owned = []string{
	"transaction_sync", "log", "checkpoint_sync", "in_memory", "readonly", "cache_size", "statistics",
	"type", "leaf_page_max", "block_compressor", "key_format", "value_format",
}

// refuseOwned refuses a configuration with names that only rumbench may set.
func refuseOwned(option, config string) error {
	for name := range split(config) {
		if slices.Contains(owned, name) {
			return engine.Refuse(option, name, "rumbench sets it, by the knobs durability, cache, storage, page and compression")
		}
	}
	return nil
}

// split returns the values of a configuration by name: name=value,name=(…), or the
// same in JSON.
func split(config string) map[string]string {
	values, depth, start := map[string]string{}, 0, 0
	for i, c := range config + "," {
		switch {
		case strings.ContainsRune("([{", c):
			depth++
		case strings.ContainsRune(")]}", c):
			depth--
		case c == ',' && depth == 0:
			name, value := config[start:i], ""
			if position := strings.IndexAny(name, "=:"); position >= 0 {
				name, value = name[:position], name[position+1:]
			}
			values[strings.Trim(name, " \t\r\n\"")] = value
			start = i + 1
		}
	}
	return values
}

func find(library string) (string, error) {
	path, err := native.Find("rumbench-wiredtiger", library)
	if err == nil {
		err = native.CheckExports(path, "rumbench_wt_open", "rumbench_wt_last")
	}
	if err != nil {
		err = hint.With(err, native.Advice("rumbench-wiredtiger", library, "scripts/wiredtiger.sh"))
		return "", &engine.KnobError{Knob: "options.library", Value: library, Reason: err.Error(), Err: err}
	}
	return path, nil
}

func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	return open(c, s)
}
