// Package lmdb is the engine of LMDB, OpenLDAP's copy-on-write B+tree. It is
// native: only rumbench-native can open it.
package lmdb

import (
	"cmp"
	"context"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

var options = append(kvkit.Options(0), []engine.Option{
	{Name: "map_size", Type: "size", Doc: "the size up to which the file may grow (default 1 TiB)"},
	{Name: "writemap", Type: "bool",
		Doc: "write into the mapped file, which then has its full size, sparse, at once (default false); " +
			"on a dead disk it goes on to acknowledge commits"},
	{Name: "readahead", Type: "bool",
		Doc: "let the kernel read more of the file than the page that was missed, by the device's read-ahead (default true)"},
}...)

// pageSize is LMDB's only page size: that of the operating system.
const pageSize = 4096

// bundled is the version of LMDB that comes with the Go module.
const bundled = "0.9.33"

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:      "lmdb",
		Structure: "B+tree, copy on write",
		Doc: "OpenLDAP's B+tree in a memory-mapped file, one writer at a time, in this process. A reader that stays open " +
			"keeps replaced pages from being used again.",
		Version:      version(),
		Native:       true,
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Promises:     engine.UnsyncedPromises,
		Files:        engine.FileUses{{Pattern: "data.mdb", Use: engine.UseData}},
		SpaceFactor:  5,
	}
}

func (Engine) Check(c engine.Config) error {
	_, err := newSettings(c)
	return err
}

// settings is a configuration in LMDB's terms.
type settings struct {
	mapSize   int64
	writeMap  bool
	readahead bool
	sync      bool
	switches  kvkit.Switches
}

// maxKey is the longest key of LMDB in the usual build.
const maxKey = 511

// newSettings translates the configuration. At level process a commit writes to
// the file without a sync; level none is the same, because LMDB has no faster way.
func newSettings(c engine.Config) (s settings, err error) {
	const never = "lmdb overwrites free pages and has no log: synced once a second, a crash in between could corrupt " +
		"its file; it supports none, process and os"
	const noCache = "lmdb has no cache: it maps its file, and the operating system caches it; leave cache " +
		"out for this target"
	if err := cmp.Or(
		engine.RefuseIf(c.Durability == model.DurabilityInterval, "durability", c.Durability, never),
		engine.RefuseIf(c.Cache != 0, "cache", nil, noCache),
		engine.RefuseIf(c.Compresses(), "compression", c.Compression, "lmdb does not compress; only none is possible"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "lmdb maps its file and cannot bypass the page cache"),
		engine.RefuseIf(c.Page != 0 && c.Page != pageSize, "page", c.Page,
			"lmdb's pages are those of the operating system, of %d bytes", pageSize),
	); err != nil {
		return s, err
	}
	object, longest, err := kvkit.LongestKey(c.Schema)
	if err == nil && longest > maxKey {
		err = hint.Errorf("choose another engine, or declare narrower columns",
			"a key of %s can have more bytes than the %d of an lmdb key", object, maxKey)
	}
	o := c.ReadOptions()
	s.mapSize = o.Size("map_size", 1<<40, 1<<20, 1<<46)
	s.writeMap, s.readahead = o.Bool("writemap", false), o.Bool("readahead", true)
	s.sync = c.Durability == model.DurabilityOS
	switches, wrong := kvkit.NewSwitches(c)
	s.switches = switches
	return s, cmp.Or(err, o.Err, wrong, c.CheckEmbedded(options, model.Serializable))
}

func (Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSettings(c)
	if err != nil {
		return nil, err
	}
	return open(c, s)
}
