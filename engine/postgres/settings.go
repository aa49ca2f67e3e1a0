package postgres

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// readBack are the settings that results show, if the release has them.
var readBack = []string{
	"shared_buffers", "max_wal_size", "min_wal_size", "checkpoint_timeout", "checkpoint_completion_target",
	"fsync", "synchronous_commit", "wal_sync_method", "full_page_writes", "wal_compression", "wal_level",
	"wal_buffers", "wal_writer_delay", "wal_writer_flush_after",
	"autovacuum", "block_size", "data_checksums", "server_encoding",
	"effective_cache_size", "effective_io_concurrency", "work_mem", "maintenance_work_mem",
	"max_parallel_workers_per_gather", "max_parallel_maintenance_workers", "plan_cache_mode", "random_page_cost",
	"max_connections", "track_io_timing", "track_wal_io_timing", "huge_pages", "huge_pages_status", "io_method",
	"jit", "default_toast_compression",
}

// Settings reads the settings back from a session that is set up like those of clients.
func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	if err := d.checkSession(ctx, d.Admin()); err != nil {
		return nil, err
	}
	vars, err := d.Admin().Map(ctx, allSettings)
	if err != nil {
		return nil, err
	}
	isolation := vars[isolationSetting]
	if isolation == levelName(model.ReadUncommitted) {
		isolation = "read committed (the server does not implement read uncommitted)"
	}
	out := []engine.Setting{
		{Name: engine.ServerVersion, Value: vars["server_version"], Source: engine.ReadBack},
		{Name: "durability", Value: string(d.Durability), Source: engine.ReadBack},
		{Name: "isolation", Value: isolation, Source: engine.ReadBack},
		d.SentAs(),
	}
	cipher, err := d.Admin().Value(ctx, "SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
	if err != nil {
		return nil, err
	}
	compression := cmp.Or(vars["default_toast_compression"], "pglz") + ", of large values"
	if d.Compression != "" {
		// The storage of the columns was set so, or compared when the database was opened.
		compression = string(d.Compression)
	}
	out = append(out, engine.Compressed(engine.AsSet, compression),
		engine.Setting{Name: "cache", Value: inBytes(vars["shared_buffers"]), Source: engine.ReadBack})
	out = append(append(out, d.Connection(cipher)), d.ReadBack(vars, readBack...)...)
	return serverkit.AddChanged(ctx, d.Admin(), changedSettings, out)
}

// inBytes returns a size as other engines have theirs; one that cannot be read stays as it is.
func inBytes(size string) string {
	n, err := quantity.ParseSize(binaryUnits.Replace(size))
	if err != nil {
		return size
	}
	return strconv.FormatInt(n, 10)
}

// binaryUnits replaces the server's units of size, which are powers of 1024.
var binaryUnits = strings.NewReplacer("kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB")

// changedSettings are those that the server has not by default, and the session has not set.
const changedSettings = "SELECT name, current_setting(name) FROM pg_settings " +
	"WHERE source NOT IN ('default', 'override', " +
	"'client', 'session', 'environment variable') AND boot_val IS DISTINCT FROM setting"

const allSettings = "SELECT name, current_setting(name) FROM pg_settings"

// watchedSettings reads the settings of a server that is only watched. Sessions of its
// users may have other settings.
func watchedSettings(ctx context.Context, conn *sqlkit.Admin) ([]engine.Setting, error) {
	vars, err := conn.Map(ctx, allSettings)
	if err != nil {
		return nil, err
	}
	level, _, err := keptLevel(ctx, conn)
	out := []engine.Setting{
		{Name: engine.ServerVersion, Value: vars["server_version"], Source: engine.ReadBack},
		{Name: "durability", Value: string(level), Source: engine.ReadBack},
	}
	return append(out, serverkit.ReadBack(vars, append([]string{isolationSetting}, readBack...)...)...), err
}

// isolationSetting is the level of transactions that begin without an explicit one.
const isolationSetting = "default_transaction_isolation"

// checkSession reads back from a session its schema and what promises rest on.
func (d *db) checkSession(ctx context.Context, c *sqlkit.Admin) error {
	const text = "SELECT current_schema(), current_setting('transaction_read_only'), current_setting('timezone'), " +
		"current_setting('" + isolationSetting + "')"
	return errors.Join(d.durability(ctx, c), c.Query(ctx, text, func(row []string) error {
		return errors.Join(d.CheckSession(row[0], row[1] == "on"), d.CheckZone(row[2], "UTC"), d.CheckLevel(row[3]))
	}))
}

// durability reads the level back, and returns an error if it differs from the requested one.
func (d *db) durability(ctx context.Context, c *sqlkit.Admin) error {
	level, said, err := keptLevel(ctx, c)
	if err != nil {
		return err
	}
	return d.CheckDurability([]model.Durability{level}, said)
}

// keptLevel returns the level that a server provides, and the settings that determine it.
func keptLevel(ctx context.Context, c *sqlkit.Admin) (level model.Durability, said []string, err error) {
	const text = "SELECT current_setting('fsync'), current_setting('synchronous_commit'), " +
		"current_setting('wal_writer_delay')"
	err = c.Query(ctx, text, func(row []string) error {
		delay, err := time.ParseDuration(row[2]) // up to 10 s, in ms or s
		level = levelOf(row[0], row[1], delay)
		said = []string{"fsync = " + row[0], "synchronous_commit = " + row[1], "wal_writer_delay = " + row[2]}
		return err
	})
	return level, said, err
}

// longestDelay is the largest wal_writer_delay at which a crash loses at most about a
// second of commits: three times the delay.
const longestDelay = time.Second / 3

// levelOf returns the level that the settings provide. All values of synchronous_commit
// but off write the log at commit; they differ in the role of replicas.
func levelOf(fsync, synchronousCommit string, delay time.Duration) model.Durability {
	switch {
	case synchronousCommit == "off" && fsync == "on" && delay <= longestDelay:
		return model.DurabilityInterval
	case synchronousCommit == "off":
		return model.DurabilityNone
	case fsync == "off":
		return model.DurabilityProcess
	}
	return model.DurabilityOS
}
