package mysql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// commonVariables are the variables that are read back for every storage.
var commonVariables = []string{
	"version_comment", "log_bin", "sync_binlog", "autocommit", "max_connections", "performance_schema", "query_cache_type",
	"character_set_server", "sql_mode", "large_pages", "flush", "thread_handling", "autoinc_lock_mode",
}

// readBack are the variables of each storage that affect the measurement.
var readBack = map[string][]string{
	"innodb": {
		"innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit", "innodb_flush_log_at_timeout", "innodb_flush_method",
		"innodb_page_size", "innodb_doublewrite",
		"innodb_log_file_size", "innodb_log_files_in_group", "innodb_log_file_buffering", "innodb_redo_log_capacity",
		"innodb_io_capacity", "innodb_io_capacity_max",
		"innodb_change_buffering", "innodb_adaptive_hash_index", "innodb_flush_neighbors", "innodb_file_per_table",
		"innodb_use_native_aio",
		"innodb_max_dirty_pages_pct", "innodb_max_dirty_pages_pct_lwm", "innodb_purge_threads", "innodb_read_io_threads",
		"innodb_write_io_threads",
		"innodb_autoinc_lock_mode", "innodb_version", "innodb_checksum_algorithm", "innodb_lock_wait_timeout",
		"innodb_stats_persistent",
	},
	"rocksdb": {
		"rocksdb_block_cache_size", "rocksdb_flush_log_at_trx_commit", "rocksdb_manual_wal_flush", "rocksdb_use_direct_reads",
		"rocksdb_use_direct_io_for_flush_and_compaction", "rocksdb_block_size", "rocksdb_default_cf_options",
		"rocksdb_override_cf_options",
		"rocksdb_max_background_jobs", "rocksdb_max_total_wal_size",
		"rocksdb_cache_index_and_filter_blocks", "rocksdb_allow_concurrent_memtable_write", "rocksdb_write_policy",
		"rocksdb_lock_wait_timeout",
		"rocksdb_bulk_load", "rocksdb_stats_level", "rocksdb_perf_context_level", "innodb_buffer_pool_size",
	},
	"aria":   {"aria_pagecache_buffer_size", "aria_group_commit", "aria_checkpoint_interval", "aria_log_purge_type"},
	"myisam": {"key_buffer_size", "flush_time", "concurrent_insert", "delay_key_write"},
}

// cfWanted are the options of MyRocks' files that are read back: a misspelt word in an
// option string is not always an error.
var cfWanted = []string{
	"compression_type", "compression_per_level", "bottommost_compression", "table_factory::filter_policy",
	"table_factory::block_size", "write_buffer_size",
	"max_write_buffer_number", "max_bytes_for_level_base", "target_file_size_base",
	"level_compaction_dynamic_level_bytes", "level0_file_num_compaction_trigger",
}

const sessionVariables = "SHOW SESSION VARIABLES"

// Settings reads the settings back from a connection that is set up like those of sessions.
func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	vars, err := d.Admin().Map(ctx, sessionVariables)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(d.checkVariables(vars), d.honoured(vars)); err != nil {
		return nil, err
	}
	source := engine.AsSet // the level is inherent to the storage
	if d.storage.levels != nil {
		source = engine.ReadBack
	}
	out := []engine.Setting{
		{Name: engine.ServerVersion, Value: d.version.text, Source: engine.ReadBack},
		{Name: "storage", Value: d.storage.name, Source: engine.ReadBack},
		{Name: "durability", Value: string(d.Durability), Source: source},
		{Name: "isolation", Value: isolationOf(vars), Source: engine.ReadBack},
		d.SentAs(),
	}
	out = append(out, d.ReadBack(vars, slices.Concat(commonVariables, readBack[d.storage.name])...)...)
	if d.waits {
		if d.status.waits == nil {
			return nil, engine.Refuse("options."+optWaits, true, "the server does not time waits")
		}
		out = append(out, engine.Setting{Name: optWaits,
			Value: fmt.Sprintf("%d kinds of waits are timed", len(d.status.waits)), Source: engine.ReadBack})
	}
	cipher, err := d.Admin().Value(ctx, "SHOW SESSION STATUS LIKE 'Ssl_cipher'")
	if err != nil {
		return nil, err
	}
	if out, err = d.addChanged(ctx, append(out, d.Connection(cipher))); err != nil {
		return nil, err
	}
	if d.storage.direct != nil {
		out = append(out, engine.Bypasses(d.storage.bypasses(vars)))
	}
	if size, ok := vars[d.storage.cache]; ok {
		out = append(out, engine.Setting{Name: "cache", Value: size, Source: engine.ReadBack})
	}
	for i := range out {
		out[i].Aside = d.storage.name != innodb.name && strings.HasPrefix(out[i].Name, "innodb_")
	}
	return d.fileOptions(ctx, out)
}

// bypasses reports whether the first of the settings for direct I/O is on.
func (st *storage) bypasses(vars map[string]string) bool {
	d := st.direct[0]
	return strings.HasPrefix(vars[d.Name], d.Value) || d.Value == "1" && vars[d.Name] == "ON"
}

// addChanged adds the variables that the server has not by default, if it reports which these are.
func (d *db) addChanged(ctx context.Context, out []engine.Setting) ([]engine.Setting, error) {
	query := "SELECT VARIABLE_NAME, GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES " +
		"WHERE GLOBAL_VALUE_ORIGIN NOT IN ('COMPILE-TIME', 'AUTO') AND GLOBAL_VALUE <> DEFAULT_VALUE"
	switch {
	case d.version.maria && d.version.atLeast(10, 1):
	case !d.version.maria && d.version.atLeast(8, 0):
		query = "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.variables_info JOIN " +
			"performance_schema.global_variables USING (VARIABLE_NAME) WHERE VARIABLE_SOURCE <> 'COMPILED'"
	default:
		return out, nil
	}
	return serverkit.AddChanged(ctx, d.Admin(), query, out)
}

// promised are the variables that promises rest on. Each release has one of those for the
// isolation and for reading, or both with the same value.
var promised = []string{
	innodbFlush, innodbTimeout, "innodb_flush_method", rocksdbFlush, rocksdbManual, rocksdbNoLog, "log_bin", "sync_binlog",
	"autocommit", "time_zone", "transaction_isolation", "tx_isolation", "transaction_read_only", "tx_read_only",
}

// checkSession reads back from a session its schema and what promises rest on.
func (d *db) checkSession(ctx context.Context, c *sqlkit.Admin) error {
	schema, err := c.Value(ctx, "SELECT DATABASE()")
	if err != nil {
		return err
	}
	vars, err := c.Map(ctx, sessionVariables+" WHERE Variable_name IN "+newDialect(nil, true).QuotedList(promised))
	if err != nil {
		return err
	}
	if strings.EqualFold(schema, d.Server.Schema) { // servers may fold the case of names
		schema = d.Server.Schema
	}
	readOnly := cmp.Or(vars["transaction_read_only"], vars["tx_read_only"]) == "ON"
	return errors.Join(d.CheckSession(schema, readOnly), d.CheckZone(vars["time_zone"], utc), d.checkVariables(vars))
}

// checkVariables refuses variables that break a promise.
func (s *setup) checkVariables(vars map[string]string) error {
	var durability error
	if s.storage.levels != nil {
		durability = s.CheckDurability(s.storage.given(vars))
	}
	if vars["autocommit"] == "OFF" {
		return errors.New("the session has autocommit = OFF: statements would not be committed")
	}
	return errors.Join(durability, s.CheckLevel(isolationOf(vars)))
}

func isolationOf(vars map[string]string) string {
	return strings.ToLower(cmp.Or(vars["transaction_isolation"], vars["tx_isolation"]))
}

// settings reads the settings of a server that is only watched. Durability is that of its
// default storage.
func (t *status) settings(ctx context.Context) ([]engine.Setting, error) {
	vars, err := t.conn.Map(ctx, "SHOW GLOBAL VARIABLES")
	if err != nil {
		return nil, err
	}
	out := []engine.Setting{{Name: engine.ServerVersion, Value: t.version.text, Source: engine.ReadBack}}
	names := slices.Concat([]string{"default_storage_engine", "transaction_isolation", "tx_isolation"}, commonVariables)
	for _, st := range []*storage{innodb, rocksdb} {
		if slices.Contains(t.storages, st.name) {
			names = append(names, readBack[st.name]...)
		}
		if strings.EqualFold(vars["default_storage_engine"], st.name) {
			levels, _ := st.given(vars)
			out = append(out, engine.Setting{Name: "durability", Value: string(levels[0]), Source: engine.ReadBack})
		}
	}
	return append(out, serverkit.ReadBack(vars, names...)...), nil
}

// given returns the levels of durability that a server provides, and the variables that
// determine them.
func (st *storage) given(vars map[string]string) (got []model.Durability, said []string) {
	got = st.levels(vars)
	if vars[rocksdbNoLog] == "ON" && st == rocksdb || vars["innodb_flush_method"] == "nosync" &&
		st == innodb {
		got = []model.Durability{model.DurabilityNone}
	}
	// A commit that is only in an unsynced binary log is undone after a crash of the
	// operating system.
	if vars["log_bin"] == "ON" && vars["sync_binlog"] != "1" && slices.Contains(got, model.DurabilityOS) {
		got = []model.Durability{model.DurabilityProcess}
	}
	for _, name := range []string{innodbFlush, innodbTimeout, rocksdbFlush, rocksdbManual, "log_bin", "sync_binlog"} {
		if v, ok := vars[name]; ok {
			said = append(said, name+" = "+v)
		}
	}
	return got, said
}

// honoured checks that the common knobs took effect: servers round sizes, and some do not
// report it. Durability and compression are compared separately.
func (d *db) honoured(vars map[string]string) error {
	if d.Attached() {
		return nil
	}
	for _, k := range d.storage.knobs(d.Config) {
		got, ok := vars[k.Name]
		if !ok || k.name == "durability" || k.name == "compression" || d.Sets(k.Name) { // an option overrides the knob
			continue
		}
		if !strings.EqualFold(got, k.Value) && !(k.Value == "1" && got == "ON") {
			return engine.Refuse(k.name, k.asked, "the server made it %s = %s; ask for that", k.Name, got)
		}
	}
	return nil
}

// fileOptions adds the compression, and the options with which MyRocks makes its files.
func (d *db) fileOptions(ctx context.Context, out []engine.Setting) ([]engine.Setting, error) {
	if d.storage != rocksdb {
		return append(out, engine.Compressed(engine.AsSet, string(d.Compression))), nil
	}
	found, err := d.Admin().Map(ctx,
		"SELECT OPTION_TYPE, VALUE FROM information_schema.ROCKSDB_CF_OPTIONS WHERE CF_NAME = 'default'")
	if err != nil {
		return nil, err
	}
	for _, name := range cfWanted {
		if value, ok := found[name]; ok {
			out = append(out, engine.Setting{Name: "rocksdb cf default " + name, Value: value, Source: engine.ReadBack})
		}
	}
	var compression []string
	for _, name := range []string{"compression_type", "bottommost_compression"} { // old releases lack the second
		if value, ok := found[name]; ok {
			compression = append(compression, value)
		}
	}
	out = append(out, engine.Compressed(engine.ReadBack, compression...))
	if d.Compression == "" || d.Attached() {
		return out, nil
	}
	if got := found["compression_type"]; got != compressionNames[d.Compression] &&
		!strings.Contains(fmt.Sprint(d.Options[cfOptions]), "compression") {
		return nil, engine.Refuse("compression", d.Compression, "the server made it %s", got)
	}
	return out, nil
}
