package mysql

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/text/quantity"
)

// Settle brings the server to rest: it rebuilds statistics, writes dirty pages, and waits
// for compactions that are due.
//
// A server that is not ours keeps its settings: Settle does only what any client may request.
func (d *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	var done engine.Settling
	done.Do("analyze", func() (string, error) { return "", d.analyze(ctx) })
	switch {
	case d.storage == rocksdb:
		d.settleRocksDB(ctx, &done)
	case d.storage == innodb && d.Private != nil:
		done.Do("flush dirty pages and purge", func() (string, error) { return d.settleInnoDB(ctx) })
	case d.Private != nil:
		done.Do("flush tables", func() (string, error) { return "", d.Admin().Exec(ctx, "FLUSH TABLES") })
	}
	return done.Result()
}

// analyzedAtOnce is the number of tables whose statistics are rebuilt concurrently.
const analyzedAtOnce = 8

// analyze rebuilds the statistics of all tables.
func (d *db) analyze(ctx context.Context) error {
	return d.EachTable(ctx, analyzedAtOnce, func(c *sqlkit.Admin, _ int, table string) error {
		// It returns rows; errors are rows, too.
		return c.Query(ctx, "ANALYZE TABLE "+d.Dialect().Table(table), func(row []string) error {
			if row[2] == "Error" && d.Owns() {
				return fmt.Errorf("analyze %s: %s", table, row[3])
			}
			return nil
		})
	})
}

// FreeStatements implements engine.StatementLimiter.
func (d *db) FreeStatements(ctx context.Context) (n int64, variable string, err error) {
	const name = "max_prepared_stmt_count"
	if d.Protocol == engine.Text {
		return 0, "", nil
	}
	limit, err := d.Admin().Number(ctx, "SELECT @@"+name)
	if err != nil {
		return 0, "", err
	}
	used, err := d.Admin().Number(ctx, "SHOW GLOBAL STATUS LIKE 'Prepared_stmt_count'")
	return int64(limit-used) * int64(len(d.Server.Gateways)+1), name, err // sessions are dealt over them
}

// flushSettings make InnoDB write all dirty pages as fast as it can.
var flushSettings = []struct{ name, value string }{
	{"innodb_max_dirty_pages_pct_lwm", "0"}, {"innodb_max_dirty_pages_pct", "0"}, {"innodb_io_capacity_max", "20000"},
	{"innodb_io_capacity", "20000"},
}

// settleInnoDB waits until InnoDB has written all dirty pages and purged old versions.
func (d *db) settleInnoDB(ctx context.Context) (string, error) {
	previousState, err := d.state(ctx)
	if err != nil {
		return "", err
	}
	restore, err := d.setAll(ctx)
	defer restore()
	if err != nil {
		return "", err
	}
	if err := awaitRest(ctx, func() (bool, error) {
		now, err := d.state(ctx)
		return now.dirty <= dirtyRest && now.history <= historyRest, err
	}); err != nil {
		return "", err
	}
	after, err := d.state(ctx)
	purge := "the release does not count what is still to be purged"
	if previousState.hasHistory {
		purge = fmt.Sprintf("history list %.0f → %.0f", previousState.history, after.history)
	}
	return fmt.Sprintf("dirty %s → %s, %s, %s written",
		quantity.Bytes(previousState.dirty), quantity.Bytes(after.dirty), purge,
		quantity.Bytes(after.written-previousState.written)), err
}

// awaitRest waits until the server has been at rest for a second.
func awaitRest(ctx context.Context, rest func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, time.Hour)
	defer cancel()
	return engine.AwaitRest(ctx, 200*time.Millisecond, 6, rest)
}

// A server at rest still touches a page now and then.
const (
	dirtyRest   = 1 << 20 // bytes
	historyRest = 1000    // transactions
)

// innodbState holds InnoDB's pending work and the bytes it has written.
type innodbState struct {
	dirty, written float64 // bytes
	history        float64 // transactions
	hasHistory     bool    // not every release has a variable for it
}

func (d *db) state(ctx context.Context) (s innodbState, err error) {
	vars, err := d.Admin().Map(ctx, "SHOW GLOBAL STATUS LIKE 'Innodb%'")
	number := func(name string) float64 {
		n, _ := strconv.ParseFloat(vars[name], 64)
		return n
	}
	s.dirty = number("innodb_buffer_pool_pages_dirty") * number("innodb_page_size")
	s.written, s.history = number("innodb_data_written"), number("innodb_history_list_length")
	_, s.hasHistory = vars["innodb_history_list_length"]
	return s, err
}

// setAll sets the variables that make InnoDB flush, and returns a function that restores
// them. Variables that a release does not have are left out.
func (d *db) setAll(ctx context.Context) (restore func(), err error) {
	vars, err := d.Admin().Map(ctx, sessionVariables)
	if err != nil {
		return func() {}, err
	}
	var undo []string
	for _, s := range flushSettings {
		old, found := vars[s.name]
		if !found {
			continue
		}
		if err = d.Admin().Exec(ctx, "SET GLOBAL "+s.name+" = "+s.value); err != nil {
			break
		}
		undo = append([]string{"SET GLOBAL " + s.name + " = " + old}, undo...)
	}
	return func() {
		for _, text := range undo {
			_ = d.Admin().Exec(context.WithoutCancel(ctx), text)
		}
	}, err
}

// The pending work of MyRocks, in column families that wait for a flush or a compaction,
// and the bytes that its compactions have written since the server started.
const (
	pending = "SELECT SUM(VALUE) FROM information_schema.ROCKSDB_CFSTATS" +
		" WHERE STAT_TYPE IN ('COMPACTION_PENDING', 'MEM_TABLE_FLUSH_PENDING', 'NUM_IMMUTABLE_MEM_TABLE')"
	compacted = "SHOW GLOBAL STATUS LIKE 'Rocksdb_compact_write_bytes'"
)

// settleRocksDB writes the memtables and waits until no compaction is due.
func (d *db) settleRocksDB(ctx context.Context, done *engine.Settling) {
	if d.Private != nil {
		done.Do("flush memtables", func() (string, error) {
			return "", d.Admin().Exec(ctx, "SET GLOBAL rocksdb_force_flush_memtable_now = 1")
		})
	}
	done.Do("wait for compactions", func() (string, error) {
		previous, err := d.Admin().Number(ctx, compacted)
		if err != nil {
			return "", err
		}
		now := -1.0
		err = awaitRest(ctx, func() (bool, error) {
			left, err := d.Admin().Number(ctx, pending)
			if err != nil {
				return false, err
			}
			last := now
			now, err = d.Admin().Number(ctx, compacted)
			return left == 0 && now == last, err
		})
		return quantity.Bytes(now-previous) + " compacted", err
	})
}
