package postgres

import (
	"cmp"
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// readBack are the settings that results tell, as far as the release has them.
var readBack = []string{
	"shared_buffers", "max_wal_size", "min_wal_size", "checkpoint_timeout", "checkpoint_completion_target",
	"fsync", "synchronous_commit", "wal_sync_method", "full_page_writes", "wal_compression", "wal_level", "wal_buffers", "wal_writer_delay", "wal_writer_flush_after",
	"autovacuum", isolationSetting, "block_size", "data_checksums", "server_encoding",
	"effective_cache_size", "effective_io_concurrency", "work_mem", "maintenance_work_mem",
	"max_parallel_workers_per_gather", "max_parallel_maintenance_workers", "plan_cache_mode", "random_page_cost",
	"max_connections", "track_io_timing", "track_wal_io_timing", "huge_pages", "huge_pages_status", "io_method",
	"jit", "default_toast_compression",
}

// Settings are read back from a session that is as clients' are.
func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	level, err := d.durability(ctx)
	if err != nil {
		return nil, err
	}
	values, err := d.show(ctx, append(slices.Clone(readBack), d.variables()...)...)
	if err != nil {
		return nil, err
	}
	out := []engine.Setting{
		{Name: "durability", Value: string(level), Source: engine.ReadBack},
		{Name: "protocol", Value: string(cmp.Or(d.Protocol, engine.Prepared)), Source: engine.AsSet},
	}
	for _, v := range values {
		if v.name == isolationSetting {
			if err := d.checkIsolation(v.value); err != nil {
				return nil, err
			}
			v.name = "isolation"
			if v.value == levelName(model.ReadUncommitted) {
				v.value = "read committed (the server does not implement read uncommitted)"
			}
		}
		out = append(out, engine.Setting{Name: v.name, Value: v.value, Source: engine.ReadBack})
	}
	if d.Compression != "" {
		// The columns' storage was made so, or compared when the database was opened.
		out = append(out, engine.Setting{Name: "compression", Value: string(d.Compression), Source: engine.AsSet})
	}
	err = d.Admin().Query(ctx, "SELECT current_setting('server_version')", func(row []sqldriver.Value) error {
		out = append(out, engine.Setting{Name: engine.ServerVersion, Value: sqlkit.Text(row[0]), Source: engine.ReadBack})
		return nil
	})
	return out, err
}

// isolationSetting is the level of transactions that are begun without one.
const isolationSetting = "default_transaction_isolation"

// checkIsolation refuses another level than the one that was asked for.
func (d *db) checkIsolation(level string) error {
	if d.Isolation == model.DefaultIsolation || level == levelName(d.Isolation) {
		return nil
	}
	return &engine.KnobError{Knob: "isolation", Value: d.Isolation.String(), Reason: "the server made it " + level}
}

// checkSession reads back what was set for a session.
func (d *db) checkSession(ctx context.Context, s *sqlkit.Session) error {
	if d.Isolation == model.DefaultIsolation {
		return nil
	}
	return s.Query(ctx, "SELECT current_setting("+literal(isolationSetting)+")", func(row []sqldriver.Value) error {
		return d.checkIsolation(sqlkit.Text(row[0]))
	})
}

type namedValue struct{ name, value string }

// show reads settings, in the order of their names, those that the server has.
func (d *db) show(ctx context.Context, names ...string) (out []namedValue, err error) {
	for i, n := range names {
		names[i] = strings.ToLower(n)
	}
	text := "SELECT name, current_setting(name) FROM pg_settings WHERE lower(name) IN " + among(names) + " ORDER BY lower(name)"
	err = d.Admin().Query(ctx, text, func(row []sqldriver.Value) error {
		out = append(out, namedValue{sqlkit.Text(row[0]), sqlkit.Text(row[1])})
		return nil
	})
	return out, err
}

// durability reads the level back, and refuses another than was asked for.
func (d *db) durability(ctx context.Context) (model.Durability, error) {
	var fsync, synchronous string
	var delay int
	text := "SELECT current_setting('fsync'), current_setting('synchronous_commit'), setting FROM pg_settings WHERE name = 'wal_writer_delay'"
	err := d.Admin().Query(ctx, text, func(row []sqldriver.Value) (err error) {
		fsync, synchronous = sqlkit.Text(row[0]), sqlkit.Text(row[1])
		delay, err = strconv.Atoi(sqlkit.Text(row[2]))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read back the durability: %w", err)
	}
	level := levelOf(fsync, synchronous, time.Duration(delay)*time.Millisecond)
	if level == d.Durability {
		return level, nil
	}
	reason := fmt.Sprintf("with fsync %s, synchronous_commit %s and wal_writer_delay %d ms the server keeps level %s", fsync, synchronous, delay, level)
	if d.server == nil {
		reason += ", and it is never configured from here: set durability: " + string(level)
	} else {
		reason += ": leave those out of the options, or set durability: " + string(level)
	}
	return "", &engine.KnobError{Knob: "durability", Value: string(d.Durability), Reason: reason}
}

// longestDelay is the wal_writer_delay up to which a crash loses about a second
// of commits at most: three times of it.
const longestDelay = time.Second / 3

// levelOf is the level that the settings keep. All values of synchronous_commit
// but off write the log at the commit; they differ in what replicas do.
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
