package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// db is an open database: tables, indexes and sessions are sqlkit's.
type db struct {
	*sqlkit.DB
	path   string
	level  model.Durability
	cache  int64                             // bytes, for all sessions together; 0: SQLite's default
	open   atomic.Int64                      // sessions
	page   int64                             // bytes
	room   int64                             // pages of log after which a commit checkpoints; 0: never
	watch  *sqlkit.Admin                     // for counters, it waits for nothing else
	counts [len(statusCounters)]atomic.Int64 // the sums of what the sessions have reported
}

// begin checks that the connections are as configured and opens the one for counters.
func (db *db) begin(ctx context.Context, c engine.Config) (err error) {
	mode, err := db.pragma(ctx, "journal_mode")
	if err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("journal mode is %s: the file system allows no write-ahead log", mode)
	}
	page, err := db.Admin().Number(ctx, "PRAGMA page_size")
	if err != nil {
		return err
	}
	if db.page = int64(page); c.Page != 0 && db.page != c.Page {
		return engine.Refuse("page", c.Page, "the database was made with pages of %d bytes", db.page)
	}
	room, err := db.Admin().Number(ctx, "PRAGMA "+optCheckpoint)
	if err != nil {
		return err
	}
	db.room = int64(room)
	if err := db.Compare(ctx, definitions(db.page), false); err != nil {
		return err
	}
	db.watch, err = db.Connect(ctx)
	return err
}

// definitions returns the statements that created tables and indexes, which SQLite stores.
func definitions(page int64) sqlkit.Definitions {
	d := newDialect("", &page)
	return sqlkit.Definitions{
		Queries: []string{"SELECT name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"},
		Table:   d.CreateTable,
		Index:   func(t *model.Table, ix *model.Index) string { return d.CreateIndexes(t, []*model.Index{ix})[0] },
	}
}

// pragma reads a setting of the connections.
func (db *db) pragma(ctx context.Context, name string) (string, error) {
	return db.Admin().Value(ctx, "PRAGMA "+name)
}

// readBack are the settings of a connection, with the words for the numbers in SQLite's answers.
var readBack = []struct {
	name  string
	words []string
}{
	{"journal_mode", nil}, {"synchronous", []string{"off", "normal", "full", "extra"}}, {"page_size", nil},
	{"cache_size", nil},
	{optCheckpoint, nil}, {optMmap, nil}, {optTemp, []string{"default", "file", "memory"}},
	{"auto_vacuum", []string{"none", "full", "incremental"}}, {"locking_mode", nil}, {"busy_timeout", nil},
}

// CreateIndexes builds indexes with the whole cache: no client works at the same time.
func (db *db) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	return errors.Join(db.DB.CreateIndexes(ctx, table, indexes...), db.giveBack(ctx))
}

// walkCache is the cache for a walk through all pages, which the sessions' caches leave no room for.
const walkCache = 1 << 20

// resize gives the connection for definitions another cache, if the plan names any.
func (db *db) resize(ctx context.Context, bytes int64) error {
	if db.cache == 0 {
		return nil
	}
	return db.Admin().Exec(ctx, "PRAGMA "+cacheSize(bytes))
}

// giveBack frees the cache of the connection for definitions: the sessions share the whole cache.
func (db *db) giveBack(ctx context.Context) error {
	return db.Admin().Exec(context.WithoutCancel(ctx), "PRAGMA shrink_memory")
}

// Settings reads the settings back from a connection that is set up like those of sessions.
func (db *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	version, err := db.Admin().Value(ctx, "SELECT sqlite_version()")
	if err != nil {
		return nil, err
	}
	out := []engine.Setting{{Name: "sqlite_version", Value: version, Source: engine.ReadBack},
		engine.Compressed(engine.AsSet, "none")}
	for _, s := range readBack {
		value, err := db.pragma(ctx, s.name)
		if err != nil {
			return nil, err
		}
		if i, err := strconv.Atoi(value); err == nil && i >= 0 && i < len(s.words) {
			value = s.words[i]
		}
		out = append(out, engine.Setting{Name: s.name, Value: value, Source: engine.ReadBack})
		if s.name == "synchronous" {
			if value != synchronous[db.level] {
				return nil, fmt.Errorf("synchronous is %s, and %s is needed for durability %s", value, synchronous[db.level],
					db.level)
			}
			out = append(out, engine.Setting{Name: "durability", Value: string(db.level), Source: engine.ReadBack})
		}
	}
	return append(out, engine.Setting{Name: "isolation", Value: "serializable", Source: engine.AsSet}), nil
}

// Sizes reports the pages of every table and index, which it walks, and the blocks
// allocated to the file and its log. An index on a primary key belongs to its table.
func (db *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	var out []engine.Size
	const text = "SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat s LEFT JOIN sqlite_master m " +
		"ON m.name = s.name AND s.name GLOB 'sqlite_autoindex_*' WHERE s.aggregate = TRUE GROUP BY 1 ORDER BY 1"
	err := db.resize(ctx, walkCache)
	if err != nil {
		return nil, err
	}
	err = db.Admin().Query(ctx, text, func(row []string) error {
		bytes, err := strconv.ParseInt(row[1], 10, 64)
		if !strings.HasPrefix(row[0], "sqlite_") {
			out = append(out, engine.Size{Object: row[0], Bytes: bytes, Kind: engine.Exact})
		}
		return err
	})
	if err := errors.Join(err, db.giveBack(ctx), db.resize(context.WithoutCancel(ctx), db.cache)); err != nil {
		return nil, err
	}
	var total int64
	for _, path := range []string{db.path, db.path + "-wal"} {
		_, allocated, err := fileSize(path)
		if err != nil {
			return nil, err
		}
		total += allocated
	}
	return append(out, engine.Size{Bytes: total, Kind: engine.Exact}), nil
}

// fileSize returns the length of a file and the bytes allocated to it, zero if
// there is none.
func fileSize(path string) (length, allocated int64, err error) {
	var st syscall.Stat_t
	if err = syscall.Stat(path, &st); errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	return st.Size, st.Blocks * 512, err
}

// analysisLimit is the number of entries of an index that are sampled for the
// distribution of its values; reading all of them would take as long as a scan.
const analysisLimit = 1000

// Settle lets SQLite analyze the distribution of values, and moves the log into the file.
func (db *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	var done engine.Settling
	admin := db.Admin()
	done.Do("analyze", func() (string, error) {
		if err := admin.Exec(ctx, fmt.Sprintf("PRAGMA analysis_limit = %d", analysisLimit)); err != nil {
			return "", err
		}
		return fmt.Sprintf("up to %d entries of each index", analysisLimit), admin.Exec(ctx, "ANALYZE")
	})
	done.Do("checkpoint", func() (string, error) {
		previousState, err := readLog(ctx, admin, "NOOP")
		if err != nil {
			return "", err
		}
		length, _, err := fileSize(db.path + "-wal")
		if err != nil {
			return "", err
		}
		after, err := readLog(ctx, admin, "TRUNCATE")
		if err == nil && after.busy {
			err = engine.Errorf(engine.LockTimeout, "a session has an open transaction")
		}
		return fmt.Sprintf("log of %d frames, %d of them not in the file yet, %d bytes; now %d frames",
			previousState.frames, previousState.frames-previousState.moved, length, after.frames), err
	})
	return done.Result()
}

// walState is the state of the write-ahead log.
type walState struct {
	busy   bool  // a checkpoint could not complete
	frames int64 // pages in the log
	moved  int64 // pages of the log that are already in the file
}

// readLog runs a checkpoint in a mode; NOOP only queries the state.
func readLog(ctx context.Context, c *sqlkit.Admin, mode string) (out walState, err error) {
	err = c.Numbers(ctx, "PRAGMA wal_checkpoint("+mode+")", 0, func(_ []string, n []float64) {
		out = walState{busy: n[0] != 0, frames: int64(n[1]), moved: int64(n[2])}
	})
	return out, err
}

// Close closes all connections; the last one to close moves the log into the file.
func (db *db) Close() error {
	var err error
	if db.watch != nil {
		err = db.watch.Close()
	}
	return errors.Join(err, db.DB.Close())
}
