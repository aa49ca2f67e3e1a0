package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// db is an open database: tables, indexes and sessions are sqlkit's.
type db struct {
	*sqlkit.DB
	path   string
	level  model.Durability
	cache  int64        // bytes, of all sessions together; 0: SQLite's own
	open   atomic.Int64 // sessions
	page   int64        // bytes
	watch  *sqlkit.Conn // for counters, which wait for nothing else
	status status
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
	page, err := db.pragma(ctx, "page_size")
	if err != nil {
		return err
	}
	if db.page, err = strconv.ParseInt(page, 10, 64); err != nil {
		return fmt.Errorf("page_size: %w", err)
	}
	if c.Page != 0 && db.page != c.Page {
		return &engine.KnobError{Knob: "page", Value: strconv.FormatInt(c.Page, 10), Reason: "the database was made with pages of " + page + " bytes"}
	}
	if err := db.checkDefinitions(ctx, c.Schema); err != nil {
		return err
	}
	db.watch, err = db.Connect(ctx)
	return err
}

// checkDefinitions refuses a database with other tables or indexes than the
// schema's, or with some that were defined otherwise. SQLite keeps the statements that made them.
func (db *db) checkDefinitions(ctx context.Context, schema model.Schema) error {
	want := map[string]string{}
	d := newDialect("")
	for i := range schema.Tables {
		t := &schema.Tables[i]
		want[t.Name] = d.CreateTable(t)
		for k := range t.Indexes {
			ix := &t.Indexes[k]
			want[sqlkit.IndexName(t.Name, ix.Name)] = d.CreateIndexes(t, []*model.Index{ix})[0]
		}
	}
	return db.Admin().Query(ctx, "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL", func(row []sqldriver.Value) error {
		name, made := sqlkit.Text(row[0]), sqlkit.Text(row[1])
		text, ok := want[name]
		if !ok && !strings.HasPrefix(name, "sqlite_") {
			return fmt.Errorf("the database holds %s, which is not wanted: the parameters that shape the tables must be those of the load", name)
		}
		if ok && text != made {
			return fmt.Errorf("%s exists with another definition: it was made by %q, and %q is wanted; the parameters that shape the tables must be those of the load", name, made, text)
		}
		return nil
	})
}

// pragma reads a setting of the connections.
func (db *db) pragma(ctx context.Context, name string) (value string, err error) {
	err = db.Admin().Query(ctx, "PRAGMA "+name, func(row []sqldriver.Value) error {
		value = sqlkit.Text(row[0])
		return nil
	})
	return value, err
}

// readBack are the settings of a connection, with the words for the numbers
// that SQLite answers with.
var readBack = []struct {
	name  string
	words []string
}{
	{"journal_mode", nil},
	{"synchronous", []string{"off", "normal", "full", "extra"}},
	{"page_size", nil},
	{"cache_size", nil},
	{optCheckpoint, nil},
	{optMmap, nil},
	{optTemp, []string{"default", "file", "memory"}},
	{"auto_vacuum", []string{"none", "full", "incremental"}},
	{"locking_mode", nil},
	{"busy_timeout", nil},
}

// CreateIndexes builds indexes, with the whole cache: no client works meanwhile.
func (db *db) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	return errors.Join(db.DB.CreateIndexes(ctx, table, indexes...), db.giveBack(ctx))
}

// giveBack frees the cache of the connection for definitions: the sessions
// divide all of it among them.
func (db *db) giveBack(ctx context.Context) error {
	return db.Admin().Exec(context.WithoutCancel(ctx), "PRAGMA shrink_memory")
}

// Settings are read back from a connection that is set up as sessions' are.
func (db *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	var out []engine.Setting
	err := db.Admin().Query(ctx, "SELECT sqlite_version()", func(row []sqldriver.Value) error {
		out = append(out, engine.Setting{Name: "sqlite_version", Value: sqlkit.Text(row[0]), Source: engine.ReadBack})
		return nil
	})
	if err != nil {
		return nil, err
	}
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
				return nil, fmt.Errorf("synchronous is %s, and %s is needed for durability %s", value, synchronous[db.level], db.level)
			}
			out = append(out, engine.Setting{Name: "durability", Value: string(db.level), Source: engine.ReadBack})
		}
	}
	return append(out, engine.Setting{Name: "isolation", Value: "serializable", Source: engine.AsSet}), nil
}

// Sizes reports the pages of every table and index, which it walks, and the
// blocks that the file and its log take.
func (db *db) Sizes(ctx context.Context) ([]engine.Size, error) {
	var out []engine.Size
	const text = "SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE ORDER BY name"
	err := db.Admin().Query(ctx, text, func(row []sqldriver.Value) error {
		name := sqlkit.Text(row[0])
		if bytes, ok := row[1].(int64); ok && !strings.HasPrefix(name, "sqlite_") {
			out = append(out, engine.Size{Object: name, Bytes: bytes, Kind: engine.Exact})
		}
		return nil
	})
	if err := errors.Join(err, db.giveBack(ctx)); err != nil {
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

// fileSize is the length of a file and the bytes allocated to it, zero if
// there is none.
func fileSize(path string) (length, allocated int64, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return info.Size(), st.Blocks * 512, nil
	}
	return info.Size(), info.Size(), nil
}

// analysisLimit is how many entries of an index are looked at to know how its
// values are spread; all of them would take as long as a scan.
const analysisLimit = 1000

// Settle lets SQLite look at the spread of values, and moves the log into the file.
func (db *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	start := time.Now()
	admin := db.Admin()
	if err := admin.Exec(ctx, fmt.Sprintf("PRAGMA analysis_limit = %d", analysisLimit)); err != nil {
		return nil, err
	}
	if err := admin.Exec(ctx, "ANALYZE"); err != nil {
		return nil, err
	}
	out := []engine.SettleAction{{Name: "analyze", Duration: time.Since(start), Detail: fmt.Sprintf("up to %d entries of each index", analysisLimit)}}

	before, err := readLog(ctx, admin, "NOOP")
	if err != nil {
		return out, err
	}
	length, _, err := fileSize(db.path + "-wal")
	if err != nil {
		return out, err
	}
	start = time.Now()
	after, err := readLog(ctx, admin, "TRUNCATE")
	if err != nil {
		return out, err
	}
	if after.busy {
		return out, engine.Errorf(engine.LockTimeout, "checkpoint: a session has an open transaction")
	}
	return append(out, engine.SettleAction{
		Name:     "checkpoint",
		Duration: time.Since(start),
		Detail:   fmt.Sprintf("log of %d frames, %d of them not in the file yet, %d bytes; now %d frames", before.frames, before.frames-before.moved, length, after.frames),
	}), nil
}

// walState is the state of the write-ahead log.
type walState struct {
	busy   bool  // a checkpoint was kept from its end
	frames int64 // pages in the log
	moved  int64 // pages of them that are in the file already
}

// readLog checkpoints in a mode, of which NOOP only asks.
func readLog(ctx context.Context, c *sqlkit.Conn, mode string) (out walState, err error) {
	err = c.Query(ctx, "PRAGMA wal_checkpoint("+mode+")", func(row []sqldriver.Value) error {
		n := [3]int64{}
		for i := range n {
			n[i], _ = row[i].(int64)
		}
		out = walState{busy: n[0] != 0, frames: n[1], moved: n[2]}
		return nil
	})
	return out, err
}

// Close closes all connections; the last one moves the log into the file.
func (db *db) Close() error {
	var err error
	if db.watch != nil {
		err = db.watch.Close()
	}
	return errors.Join(err, db.DB.Close())
}
