// Package sqlite is SQLite, in the translation to Go, as an engine: one file with a
// write-ahead log, one connection per session, one writer at a time.
//
// The code shared with other SQL databases is in sqlkit; here are its dialect, its
// settings, its measurements, and the code that brings it to rest.
package sqlite

import (
	"cmp"
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/stdsql"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "sqlite",
		Structure:    "B-tree, write-ahead log",
		Doc:          "SQLite in one file with a write-ahead log; the cache is divided among the sessions, one of which writes at a time.",
		Version:      lib.SQLITE_VERSION,
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
		Options:      options,
		Promises:     engine.UnsyncedPromises,
		Files:        engine.FileUses{{Pattern: fileName, Use: engine.UseData}, {Pattern: fileName + "-*", Use: engine.UseLog}},
		SpaceFactor:  12,
	}
}

var options = []engine.Option{
	{Name: optCheckpoint, Type: "int", Affects: engine.AspectCheckpoint, Doc: "pages in the log at which a commit also checkpoints; 0: never by itself (default 1000)"},
	{Name: optMmap, Type: "size", Doc: "how much of the file is read through a memory map instead of the cache (default 0)"},
	{Name: optTemp, Type: "string", Doc: "where sorts of an index build and of queries go: file, in the system's temporary directory or $SQLITE_TMPDIR, or memory (default file)"},
}

const (
	optCheckpoint = "wal_autocheckpoint"
	optMmap       = "mmap_size"
	optTemp       = "temp_store"
)

// busyTimeoutMillis is the time that a session waits for the write of a different session.
const busyTimeoutMillis = 10_000

// fileName is the database's file in its directory; the log's name is derived from it.
const fileName = "sqlite.db"

func (e Engine) Check(c engine.Config) error {
	_, err := pragmas(c)
	return err
}

// pragmas returns the statements that configure a connection, in the order in which they
// take effect.
func pragmas(c engine.Config) ([]string, error) {
	o := c.ReadOptions()
	checkpoint, mmap := o.Int(optCheckpoint, 1000, 0, 1<<31-1), o.Size(optMmap, 0, 0, 0x7fff0000)
	temp := o.Choice(optTemp, "file", "memory")
	if err := cmp.Or(checkKnobs(c), o.Err); err != nil {
		return nil, err
	}
	out := []string{"busy_timeout = " + strconv.Itoa(busyTimeoutMillis)}
	if c.Page != 0 {
		out = append(out, fmt.Sprintf("page_size = %d", c.Page)) // only before the file has content
	}
	out = append(out, "journal_mode = wal", "synchronous = "+synchronous[c.Durability])
	if c.Cache != 0 {
		out = append(out, cacheSize(c.Cache))
	}
	return append(out,
		fmt.Sprintf("wal_autocheckpoint = %d", checkpoint),
		fmt.Sprintf("mmap_size = %d", mmap),
		"temp_store = "+temp), nil
}

func cacheSize(bytes int64) string { return fmt.Sprintf("cache_size = -%d", bytes/1024) }

// synchronous maps the levels. With a write-ahead log, off writes the log to the
// operating system at commit and syncs nothing, so a killed process loses nothing; full
// syncs the log at every commit. Normal, which syncs at checkpoints, would do work that
// no level requires and other engines do not do.
var synchronous = map[model.Durability]string{
	model.DurabilityNone:    "off",
	model.DurabilityProcess: "off",
	model.DurabilityOS:      "full",
}

func checkKnobs(c engine.Config) error {
	const never = "SQLite syncs its log at a commit or at a checkpoint, never by the clock; none, process and os are supported"
	return cmp.Or(
		engine.RefuseIf(c.Durability == model.DurabilityInterval, "durability", c.Durability, never),
		engine.RefuseIf(synchronous[c.Durability] == "", "durability", c.Durability, "it must be one of %v", model.Durabilities()),
		engine.RefuseIf(c.Cache != 0 && c.Cache < 1024, "cache", c.Cache, "it must be at least 1024 bytes"),
		engine.RefuseIf(c.Cache/1024 > 1<<31-1, "cache", c.Cache, "it must be below 2 TiB"),
		engine.RefuseIf(c.Compresses(), "compression", c.Compression, "the engine does not compress; only none is supported"),
		engine.RefuseIf(c.Page != 0 && (c.Page < 512 || c.Page > 65536 || c.Page&(c.Page-1) != 0), "page", c.Page, "it must be a power of two from 512 to 65536"),
		engine.RefuseIf(c.Direct(), "direct_io", true, "the engine always uses the page cache"),
		c.CheckEmbedded(options, model.Serializable), newDialect("", nil).CheckSchema(c.Schema))
}

// Open opens the database in the directory.
func (e Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	setup, err := pragmas(c)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	if err := engine.CheckDir(dir, fileName); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, fileName)
	base, err := driver.NewConnector(dsn(path))
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	db := &db{path: path, level: c.Durability, cache: c.Cache}
	if db.DB, err = sqlkit.Open(ctx, connector(base, setup), newDialect(dir, &db.page), c.Schema); err != nil {
		return nil, fmt.Errorf("open sqlite in %s: %w", c.Dir, err)
	}
	if err := db.begin(ctx, c); err != nil {
		_ = db.Close()
		return nil, fmt.Errorf("open sqlite in %s: %w", c.Dir, err)
	}
	return db, nil
}

// dsn names the file. A name in double quotes that is not an identifier is an error
// instead of text, and messages belong to their own error only.
func dsn(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_dqs=0&_error_rc=1"}
	return u.String()
}

// connector makes connections and executes pragmas on them. The driver could do that
// itself, but would execute them in a different order.
func connector(base sqldriver.Connector, pragmas []string) sqlkit.Connector {
	return func(ctx context.Context) (sqlkit.Conn, error) {
		raw, err := base.Connect(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := stdsql.New(raw, false)
		if err != nil {
			_ = raw.Close()
			return nil, err
		}
		for _, p := range pragmas {
			if _, _, err := conn.ExecText(ctx, "PRAGMA "+p); err != nil {
				_ = conn.Close()
				return nil, err
			}
		}
		return conn, nil
	}
}
