// Package pebble is the engine of Pebble, CockroachDB's LSM tree.
package pebble

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

var options = append(kvkit.Options(kvkit.Merges|kvkit.SingleDeletes|kvkit.Filters), []engine.Option{
	{Name: "memtable_size", Type: "size", Affects: engine.AspectMemtable, Doc: "size of a memtable (default 4 MiB)"},
	{Name: "l0_compaction_threshold", Type: "int", Affects: engine.AspectMemtable,
		Doc: "sublevels of level 0 at which compaction begins"},
	{Name: "compactions", Type: "int", Doc: "compactions that may run at the same time (default 1)"},
	{Name: "bloom_bits", Type: "int", Affects: engine.AspectFilters,
		Doc: "bits per key of the bloom filters; 0 for none (default 0; 10 with unique: filter)"},
}...)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "pebble",
		Structure:    "LSM tree",
		Doc:          "CockroachDB's LSM tree, in this process.",
		Version:      engine.ModuleVersion("github.com/cockroachdb/pebble/v2"),
		Capabilities: []model.Capability{model.CapUnique, model.CapResults},
		Options:      options,
		Promises:     engine.UnsyncedPromises,
		Files:        engine.LSMFiles,
		SpaceFactor:  3,
	}
}

func (Engine) Check(c engine.Config) error {
	_, err := newSettings(c)
	return err
}

// settings is a configuration in Pebble's terms.
type settings struct {
	cache, page, memtable, l0, compactions, bloom int64
	compression                                   *sstable.CompressionProfile
	switches                                      kvkit.Switches
}

var compressions = map[model.Compression]*sstable.CompressionProfile{
	model.CompressionNone: sstable.NoCompression, model.CompressionSnappy: sstable.SnappyCompression,
	model.CompressionZstd: sstable.ZstdCompression,
}

func newSettings(c engine.Config) (s settings, err error) {
	s.cache, s.page, s.compression = c.Cache, c.Page, compressions[c.Compression]
	if err := cmp.Or(
		engine.RefuseIf(c.Direct(), "direct_io", true, "pebble reads only through the page cache"),
		engine.RefuseIf(c.Page != 0 && (c.Page < 512 || c.Page > 1<<20), "page", c.Page,
			"blocks must be from 512 B to 1 MiB"),
		engine.RefuseIf(c.Compression != "" && s.compression == nil, "compression", c.Compression,
			"pebble supports none, snappy and zstd"),
	); err != nil {
		return s, err
	}
	if s.switches, err = kvkit.NewSwitches(c); err != nil {
		return s, err
	}
	bits, minBits := int64(0), int64(0)
	if s.switches.Filter {
		bits, minBits = 10, 1
	}
	o := c.ReadOptions()
	s.l0 = o.Int("l0_compaction_threshold", 0, 1, 100)
	s.compactions = o.Int("compactions", 0, 1, 64)
	s.bloom = o.Int("bloom_bits", bits, minBits, 30)
	s.memtable = o.Size("memtable_size", 0, 256<<10, 4<<30-1)
	return s, cmp.Or(o.Err, c.CheckEmbedded(options))
}

func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	return open(c, fileSystem(c.Durability, vfs.Default))
}

// fileSystem returns fs, without syncs at the levels that sync nothing.
func fileSystem(level model.Durability, fs vfs.FS) vfs.FS {
	if level == model.DurabilityNone || level == model.DurabilityProcess {
		return unsyncedFS{fs}
	}
	return fs
}

func open(c engine.Config, fs vfs.FS) (engine.DB, error) {
	set, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	if err := engine.CheckDir(c.Dir, "MANIFEST-*"); err != nil {
		return nil, err
	}
	s, err := openStore(c, set, fs)
	if err != nil {
		return nil, err
	}
	if s.effective, err = readOptions(c.Dir); err != nil {
		s.Close()
		return nil, err
	}
	return set.switches.Open(s, c)
}

func openStore(c engine.Config, set settings, fs vfs.FS) (_ *store, err error) {
	s := &store{durability: c.Durability, write: pebble.Sync, cache: cmp.Or(set.cache, defaultCache),
		memtable: cmp.Or(set.memtable, defaultMemtable)}
	if c.Durability == model.DurabilityNone || c.Durability == model.DurabilityInterval {
		s.write = pebble.NoSync
	}
	o := s.options(set, fs)
	defer o.Cache.Unref() // the database holds its own reference
	if set.switches.Merges() {
		operator, err := kvkit.NewOperator(c.Schema)
		if err != nil {
			return nil, err
		}
		o.Merger = newMerger(operator)
	}
	if s.db, err = pebble.Open(c.Dir, o); err != nil {
		return nil, fmt.Errorf("open pebble in %s: %w", c.Dir, err)
	}
	if c.Durability == model.DurabilityInterval {
		s.syncer = startSyncer(func() error { return s.db.LogData(nil, pebble.Sync) })
	}
	return s, nil
}

func (s *store) options(set settings, fs vfs.FS) *pebble.Options {
	o := &pebble.Options{
		FS:                 fs,
		Logger:             logger{},
		FormatMajorVersion: pebble.FormatNewest,
	}
	o.MemTableSize = uint64(cmp.Or(set.memtable, defaultMemtable))
	o.CacheSize = cmp.Or(set.cache, defaultCache) + memtables*int64(o.MemTableSize)
	o.Cache = pebble.NewCache(o.CacheSize)
	if set.l0 > 0 {
		o.L0CompactionThreshold = int(set.l0)
	}
	if set.compactions > 0 {
		o.CompactionConcurrencyRange = func() (int, int) { return int(set.compactions), int(set.compactions) }
	}
	for i := range o.Levels {
		l := &o.Levels[i]
		if set.compression != nil {
			l.Compression = func() *sstable.CompressionProfile { return set.compression }
		}
		if set.page > 0 {
			l.BlockSize = int(set.page)
		}
		if set.bloom > 0 {
			l.FilterPolicy = bloom.FilterPolicy(set.bloom)
		}
	}
	o.EventListener = &pebble.EventListener{
		WriteStallBegin: func(pebble.WriteStallBeginInfo) { s.stalls.begin() },
		WriteStallEnd:   func() { s.stalls.end() },
		BackgroundError: func(err error) {
			if errors.Is(err, syscall.ENOSPC) { // Pebble would retry forever and stall all writers
				logger{}.Fatalf("%v", err)
			}
		},
	}
	return o
}

// The defaults are Pebble's own.
const (
	defaultCache    = 8 << 20
	defaultMemtable = 4 << 20
)

// memtables is the usual number of memtables: one that is written and one that is flushed. Pebble
// takes their memory out of the block cache, so it is added to the requested cache.
const memtables = 2
