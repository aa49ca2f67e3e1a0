// Package bbolt is the engine of bbolt, etcd's copy-on-write B+tree.
package bbolt

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"

	bolt "go.etcd.io/bbolt"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

var options = append(kvkit.Options(0), []engine.Option{
	{Name: "freelist", Type: "array|hashmap", Doc: "how free pages are kept in memory (default array)"},
	{Name: "sync_freelist", Type: "bool", Doc: "write the list of free pages at every commit (default true)"},
	{Name: "fill_percent", Type: "int", Doc: "how full pages are when they are split, in percent (default 50)"},
}...)

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "bbolt",
		Structure:    "B+tree, copy on write",
		Doc:          "etcd's B+tree in a memory-mapped file, one writer at a time, in this process.",
		Version:      engine.ModuleVersion("go.etcd.io/bbolt"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Aliases:      []string{"bolt", "boltdb", "etcd"},
		Promises:     engine.UnsyncedPromises,
		Files:        engine.FileUses{{Pattern: fileName, Use: engine.UseData}},
		SpaceFactor:  5,
	}
}

func (Engine) Check(c engine.Config) error {
	_, _, _, err := newOptions(c)
	return err
}

// newOptions translates the configuration. At level process a commit writes to
// the file without a sync; level none promises less but is the same, because
// bbolt has no faster way.
func newOptions(c engine.Config) (_ *bolt.Options, fill float64, switches kvkit.Switches, err error) {
	const never = "bbolt overwrites free pages and has no log: synced once a second, a crash in between could corrupt " +
		"its file; it supports none, process and os"
	const noCache = "bbolt has no cache: it maps its file, and the operating system caches it; leave cache " +
		"out for this target"
	if err := cmp.Or(
		engine.RefuseIf(c.Durability == model.DurabilityInterval, "durability", c.Durability, never),
		engine.RefuseIf(c.Cache != 0, "cache", nil, noCache),
		engine.RefuseIf(c.Compresses(), "compression", c.Compression, "bbolt does not compress; only none is possible"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "bbolt maps its file and cannot bypass the page cache"),
		engine.RefuseIf(c.Page != 0 && (c.Page < 1024 || c.Page > 64<<10 || c.Page&(c.Page-1) != 0), "page", c.Page,
			"the page size must be a power of two from 1 KiB to 64 KiB"),
	); err != nil {
		return nil, 0, switches, err
	}
	o := *bolt.DefaultOptions
	o.PageSize = int(c.Page)
	o.NoSync = c.Durability != model.DurabilityOS
	o.NoGrowSync = o.NoSync
	opts := c.ReadOptions()
	o.FreelistType = bolt.FreelistType(opts.Choice("freelist", "array", "hashmap"))
	o.NoFreelistSync = !opts.Bool("sync_freelist", true)
	fill = float64(opts.Int("fill_percent", 50, 10, 100)) / 100
	switches, err = kvkit.NewSwitches(c)
	return &o, fill, switches, cmp.Or(opts.Err, err, c.CheckEmbedded(options, model.Serializable))
}

// fileName is the database's only file.
const fileName = "bbolt.db"

func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	o, fill, switches, err := newOptions(c)
	if err != nil {
		return nil, err
	}
	if err := engine.CheckDir(c.Dir, fileName); err != nil {
		return nil, err
	}
	path := filepath.Join(c.Dir, fileName)
	db, err := bolt.Open(path, 0o644, o)
	if err != nil {
		return nil, fmt.Errorf("open bbolt file %s: %w", path, err)
	}
	page := db.Info().PageSize
	if c.Page != 0 && int64(page) != c.Page {
		db.Close()
		return nil, fmt.Errorf("open bbolt file %s: %w", path,
			engine.Refuse("page", c.Page, "the existing file has a page size of %d bytes", page))
	}
	return switches.Open(&store{db: db, page: page, fill: fill}, c)
}
