// Package badger is the engine of Badger, Dgraph's LSM tree.
package badger

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
	choices "github.com/dgraph-io/badger/v4/options"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

var options = append(kvkit.Options(0), []engine.Option{
	{Name: "memtable_size", Type: "size", Affects: engine.AspectMemtable,
		Doc: "of a memtable; up to five are held in addition to the cache (default 64 MiB); a transaction holds 15 % of one"},
	{Name: "value_threshold", Type: "size",
		Doc: "values of this size and larger go to the value log (default 1 MiB, or 15 % of a memtable if that is less)"},
	{Name: "compactors", Type: "int", Doc: "compactions that may run at the same time, 2 or more (default 4)"},
}...)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:      "badger",
		Structure: "LSM tree",
		Doc: "Dgraph's LSM tree with optimistic transactions, in this process. A commit fails if a key that it read has " +
			"changed; ranges that it scanned are not checked for new keys.",
		Version:      engine.ModuleVersion("github.com/dgraph-io/badger/v4"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Promises: map[model.Durability]string{
			model.DurabilityNone:    unsynced,
			model.DurabilityProcess: unsynced,
		},
		Files: engine.FileUses{{Pattern: "*.sst", Use: engine.UseData}, {Pattern: "*.vlog", Use: engine.UseData},
			{Pattern: "*.mem", Use: engine.UseLog}},
		SpaceFactor: 4,
		SpaceBase:   1 << 20,
	}
}

const unsynced = "commits survive kill -9 of the engine, in a mapped log; a crash of the operating system may lose " +
	"the whole database, as only tables are synced, in the background"

func (Engine) Check(c engine.Config) error {
	_, _, err := newOptions(c)
	return err
}

// newOptions translates the configuration. Badger has no level below process: its logs
// are mapped, and a write to them is in the page cache at once.
func newOptions(c engine.Config) (o badger.Options, switches kvkit.Switches, err error) {
	o = badger.DefaultOptions(c.Dir).WithLogger(logger{}).WithSyncWrites(c.Durability == model.DurabilityOS)
	if err := cmp.Or(
		engine.RefuseIf(c.Durability == model.DurabilityInterval, "durability", c.Durability,
			"badger syncs its log at every commit or not at all; it supports none, process and os"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "badger maps its files and cannot bypass the page cache"),
		engine.RefuseIf(c.Page != 0 && (c.Page < 512 || c.Page > 1<<20), "page", c.Page,
			"blocks must be from 512 B to 1 MiB"),
		engine.RefuseIf(c.Cache != 0 && c.Cache < 1<<20, "cache", c.Cache, "badger's caches need 1 MiB"),
	); err != nil {
		return o, switches, err
	}
	if c.Page != 0 {
		o.BlockSize = int(c.Page)
	}
	if c.Cache != 0 { // indexes and filters have a quarter of it
		o.IndexCacheSize = c.Cache / 4
		o.BlockCacheSize = c.Cache - o.IndexCacheSize
	}
	switch c.Compression {
	case "":
	case model.CompressionNone:
		o.Compression = choices.None
	case model.CompressionSnappy:
		o.Compression = choices.Snappy
	case model.CompressionZstd:
		o.Compression = choices.ZSTD
	default:
		return o, switches, engine.Refuse("compression", c.Compression, "badger supports none, snappy and zstd")
	}
	opts := c.ReadOptions()
	o.MemTableSize = opts.Size("memtable_size", o.MemTableSize, 1<<20, 1<<30)
	threshold := min(o.ValueThreshold, o.MemTableSize*15/100) // the limit of a transaction, as Badger computes it
	o.ValueThreshold = opts.Size("value_threshold", threshold, 1, threshold)
	o.NumCompactors = int(opts.Int("compactors", int64(o.NumCompactors), 2, 64))
	switches, err = kvkit.NewSwitches(c)
	return o, switches, cmp.Or(opts.Err, err, c.CheckEmbedded(options, model.RepeatableRead))
}

func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	o, switches, err := newOptions(c)
	if err != nil {
		return nil, err
	}
	if err := engine.CheckDir(c.Dir, "KEYREGISTRY"); err != nil {
		return nil, err
	}
	db, err := openFree(o)
	if err != nil {
		return nil, fmt.Errorf("open badger in %s: %w", c.Dir, err)
	}
	return switches.Open(&store{db}, c)
}

// openFree opens a database, whose lock may be held for a moment after it was closed:
// Badger closes the lock's file without unlocking it, and a process that is being started
// just then still has the file.
func openFree(o badger.Options) (db *badger.DB, err error) {
	const tries, pause = 20, 50 * time.Millisecond
	for range tries {
		if db, err = badger.Open(o); err == nil || !strings.Contains(err.Error(), syscall.EAGAIN.Error()) {
			return db, err
		}
		time.Sleep(pause)
	}
	return nil, err
}

// logger prints Badger's errors and drops everything else.
type logger struct{}

func (logger) Errorf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "badger: "+format+"\n", args...)
}
func (logger) Warningf(string, ...any) {}
func (logger) Infof(string, ...any)    {}
func (logger) Debugf(string, ...any)   {}
