package mysql

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// status reads the server's counters on its own connection.
type status struct {
	conn     *sqlkit.Admin
	version  release
	storages []string // those with engine-neutral figures
	labelled bool     // each with its storage, because there are several
	sizes    bool     // table sizes are reported
	waits    timed    // nil: no waits are timed
	metrics  string   // the query for InnoDB's own counters; "" for none

	mu        sync.Mutex
	asked     time.Time            // when sizes were last queried
	lastSizes []engine.Point       // the result of that query
	names     map[string]*variable // by the server's name; nil: not wanted
	observers []*sqlkit.Admin      // the connections that do not serve clients
	own       map[string]float64   // the observers' part of the counters, by the name in lower case
	found     map[string]float64   // by the last sample, by the name in lower case
}

func newStatus(ctx context.Context, conn *sqlkit.Admin, v release, storages ...string) *status {
	return &status{conn: conn, version: v, storages: storages, observers: []*sqlkit.Admin{conn},
		metrics: findMetrics(ctx, conn), names: map[string]*variable{}, own: map[string]float64{}, found: map[string]float64{}}
}

// ofSessions are the counters of which a session knows its part. The server counts the rows
// of its lists, such as that of the counters, as rows that clients read.
const ofSessions = " WHERE VARIABLE_NAME REGEXP " +
	"'^(bytes|com_select|created_tmp|empty|handler|opened|questions|rows|select|sort|table_open_cache)'"

// observe adds a connection that does not serve clients.
func (t *status) observe(conn *sqlkit.Admin) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.observers = append(t.observers, conn)
}

// readOwn reads the observers' part of the counters. The server adds what this reading
// itself takes afterwards: always the same, which no difference has.
func (t *status) readOwn(ctx context.Context) (err error) {
	clear(t.own)
	t.observers = slices.DeleteFunc(t.observers, func(c *sqlkit.Admin) bool {
		one := c.Numbers(ctx, t.version.status("session")+ofSessions, 1, func(row []string, n []float64) {
			t.own[strings.ToLower(row[0])] += n[0]
		})
		if errors.Is(one, sqlkit.ErrClosed) {
			return true
		}
		err = cmp.Or(err, one)
		return false
	})
	return err
}

// sample adds the server's status variables, MyRocks' figures per level, and the
// engine-neutral figures derived from them.
func (t *status) sample(ctx context.Context, s *engine.Sample) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.found)
	if err := t.readOwn(ctx); err != nil {
		return err
	}
	add := func(row []string, n []float64) { t.add(s, row[0], n[0]) }
	if err := t.conn.Numbers(ctx, t.version.status("global"), 1, add); err != nil {
		return err
	}
	for _, name := range t.storages {
		var labels []string
		if t.labelled {
			labels = []string{"storage", name}
		}
		switch name {
		case innodb.name:
			t.neutralInnoDB(s, labels)
			if err := t.innodbCounters(ctx, s); err != nil {
				return err
			}
		case rocksdb.name:
			if err := t.levels(ctx, s, labels); err != nil {
				return err
			}
			t.neutralRocksDB(s, labels)
		case aria.name:
			t.neutral(s, labels, "aria_pagecache_read_requests", "aria_pagecache_reads")
		case myisam.name:
			t.neutral(s, labels, "key_read_requests", "key_reads")
		}
	}
	t.neutralServer(s)
	if err := t.waits.sample(ctx, t, s); err != nil {
		return err
	}
	if t.sizes {
		return t.tableSizes(ctx, s)
	}
	return nil
}

// add adds one status variable, if it is a relevant number and not text, or ON and OFF.
func (t *status) add(s *engine.Sample, name string, n float64) {
	v, ok := t.names[name]
	if !ok {
		v = newVariable(name)
		t.names[name] = v
	}
	if v == nil || math.IsNaN(n) {
		return
	}
	if v.mask != 0 {
		n = float64(uint64(n) & v.mask)
	}
	if v.kind == engine.Counter {
		n = max(0, n-t.own[v.key])
	}
	t.found[v.key] = n
	v.point(s, "", n)
}

// neutralServer adds the counters that the server keeps for all its storages, and the
// sessions but for observers, of which one is active.
func (t *status) neutralServer(s *engine.Sample) {
	f := t.found
	s.Counter(engine.Queries, "count", f["questions"])
	var examined float64
	for _, name := range []string{"first", "key", "last", "next", "prev", "rnd", "rnd_next"} {
		examined += f["handler_read_"+name]
	}
	s.Counter(engine.RowsExamined, "count", examined)
	s.Counter(engine.Spills, "count", f["created_tmp_disk_tables"]+f["sort_merge_passes"])
	s.Counter(engine.Connects, "count", f["connections"])
	s.Counter(engine.Prepares, "count", f["com_stmt_prepare"])
	s.Gauge(engine.Sessions, "count", max(0, f["threads_connected"]-float64(len(t.observers))))
	s.Gauge(engine.SessionsActive, "count", max(0, f["threads_running"]-1))
	// Handler_commit counts each statement of a transaction, Com_commit does not count
	// single statements. InnoDB counts transactions, if this is enabled.
	if n, counted := f["trx_rw_commits"]; counted && len(t.storages) == 1 {
		s.Counter(engine.Commits, "count", n+f["trx_ro_commits"]+f["trx_nl_ro_commits"])
	} else {
		s.Counter(engine.Commits, "count", f["com_commit"], engine.ExplicitOnly, "true")
	}
}

// neutral adds the cache's figures from two variables.
func (t *status) neutral(s *engine.Sample, labels []string, lookups, misses string) {
	if n, ok := t.found[lookups]; ok {
		s.Counter(engine.CacheLookups, "count", n, labels...)
		s.Counter(engine.CacheMisses, "count", t.found[misses], labels...)
	}
}

// neutralInnoDB: pages brought by read-ahead are not misses. If the server's figure of
// data written excludes the redo log, the log is added.
func (t *status) neutralInnoDB(s *engine.Sample, labels []string) {
	t.neutral(s, labels, "innodb_buffer_pool_read_requests", "innodb_buffer_pool_reads")
	f := t.found
	written := f["innodb_data_written"]
	if t.version.redoApart() {
		written += f["innodb_os_log_written"]
	}
	twice := f["innodb_dblwr_pages_written"] * f["innodb_page_size"]
	s.Counter(engine.BytesWritten, "bytes", written, labels...)
	s.Counter(engine.DoubleBytes, "bytes", twice, labels...)
	s.Counter(engine.PageBytes, "bytes", max(0, written-f["innodb_os_log_written"]-twice), labels...)
	s.Counter(engine.BytesRead, "bytes", f["innodb_data_read"], labels...)
	s.Counter(engine.LogBytes, "bytes", f["innodb_os_log_written"], labels...)
	if n, ok := f["innodb_os_log_fsyncs"]; ok { // absent since MariaDB 10.8
		s.Counter(engine.LogSyncs, "count", n, labels...)
	}
	s.Gauge(engine.DirtyBytes, "bytes", f["innodb_buffer_pool_pages_dirty"]*f["innodb_page_size"], labels...)
	s.Gauge(engine.CacheHeld, "bytes", f["innodb_buffer_pool_pages_data"]*f["innodb_page_size"], labels...)
	s.Counter(engine.Stalls, "count", f["innodb_buffer_pool_wait_free"]+f["innodb_log_waits"], labels...)
	s.Counter(engine.LockWaits, "count", f["innodb_row_lock_waits"], labels...)
	s.Gauge(engine.SessionsBlocked, "count", f["innodb_row_lock_current_waits"], labels...)
	if ms, ok := f["innodb_row_lock_time"]; ok {
		rows := []string{"event", "InnoDB row lock", "role", string(engine.RoleRow)}
		s.Counter(engine.WaitTime, "ns", ms*1e6, append(rows, labels...)...)
		s.Counter(engine.Waits, "count", f["innodb_row_lock_waits"], append(rows, labels...)...)
	}
	for _, name := range []string{"innodb_history_list_length", "trx_rseg_history_len"} { // as a variable, or a metric
		if n, ok := f[name]; ok {
			s.Gauge(engine.DeadRows, "count", n, labels...)
			break
		}
	}
	if age, ok := f["innodb_checkpoint_age"]; ok {
		s.Gauge(engine.CheckpointAge, "bytes", age, labels...)
	}
}

func (t *status) neutralRocksDB(s *engine.Sample, labels []string) {
	f := t.found
	s.RocksDB(func(ticker string) float64 { return f[strings.ReplaceAll(ticker, ".", "_")] }, labels...)
	s.Counter(engine.FilterUseful, "count", f["rocksdb_bloom_filter_useful"]+f["rocksdb_bloom_filter_prefix_useful"], labels...)
	s.Counter(engine.Stalls, "count", f["rocksdb_stall_total_slowdowns"]+f["rocksdb_stall_total_stops"], labels...)
	s.Gauge(engine.DirtyBytes, "bytes", f["rocksdb_memtable_unflushed"], labels...)
}

// levelKinds are the figures of a level: cumulative since the server started, or current values.
var levelKinds = map[string]variable{
	"NumFiles":     {name: "mysql.rocksdb.level.files", kind: engine.Gauge, unit: "count", scale: 1},
	"SizeBytes":    {name: "mysql.rocksdb.level.bytes", kind: engine.Gauge, unit: "bytes", scale: 1},
	"Score":        {name: "mysql.rocksdb.level.score", kind: engine.Gauge, unit: "ratio", scale: 1},
	"ReadGB":       {name: "mysql.rocksdb.level.compaction_read", kind: engine.Counter, unit: "bytes", scale: 1 << 30},
	"WriteGB":      {name: "mysql.rocksdb.level.compaction_written", kind: engine.Counter, unit: "bytes", scale: 1 << 30},
	"CompSec":      {name: "mysql.rocksdb.level.compaction_ns", kind: engine.Counter, unit: "ns", scale: 1e9},
	"CompMergeCPU": {name: "mysql.rocksdb.level.compaction_cpu_ns", kind: engine.Counter, unit: "ns", scale: 1e9},
	"CompCount":    {name: "mysql.rocksdb.level.compactions", kind: engine.Counter, unit: "count", scale: 1},
	"KeyDrop":      {name: "mysql.rocksdb.level.keys_dropped", kind: engine.Counter, unit: "count", scale: 1},
}

const levelQuery = "SELECT LEVEL, TYPE, VALUE FROM information_schema.ROCKSDB_COMPACTION_STATS WHERE CF_NAME = 'default' AND LEVEL <> 'Sum'"

// levels adds the work that compactions did at each level, and the work still pending.
//
// The debt is estimated from the scores: a level is compacted when its score passes 1,
// and the part above is then due.
func (t *status) levels(ctx context.Context, s *engine.Sample, labels []string) error {
	size, score := map[string]float64{}, map[string]float64{}
	flushes, compactions := 0.0, 0.0
	err := t.conn.Numbers(ctx, levelQuery, 2, func(row []string, n []float64) {
		level := strings.TrimPrefix(row[0], "L")
		switch row[1] {
		case "SizeBytes":
			size[level] = n[0]
		case "Score":
			score[level] = n[0]
		case "CompCount":
			if level == "0" { // whose files are flushed
				flushes = n[0]
			} else {
				compactions += n[0]
			}
		}
		if v, ok := levelKinds[row[1]]; ok {
			v.point(s, `level="`+level+`"`, n[0])
		}
	})
	if err != nil {
		return err
	}
	debt := 0.0
	for level, n := range score {
		if n > 1 {
			debt += size[level] * (1 - 1/n)
		}
	}
	s.Gauge(engine.CompactionDebt, "bytes", debt, labels...)
	s.Counter(engine.Flushes, "count", flushes, labels...)
	s.Counter(engine.Compactions, "count", compactions, labels...)
	const held = "SELECT VALUE FROM information_schema.ROCKSDB_DBSTATS WHERE STAT_TYPE = 'DB_BLOCK_CACHE_USAGE' AND @@rocksdb_use_direct_reads"
	return t.conn.Numbers(ctx, held, 0, func(_ []string, n []float64) { s.Gauge(engine.CacheHeld, "bytes", n[0], labels...) })
}

// sizesEvery is the interval at which the sizes of tables are queried: a server opens its
// tables for the query.
const sizesEvery = 10 * time.Second

// tableSizes adds the size of the largest tables that are not the server's own.
func (t *status) tableSizes(ctx context.Context, s *engine.Sample) error {
	if time.Since(t.asked) < sizesEvery {
		s.Points = append(s.Points, t.lastSizes...)
		return nil
	}
	const query = "SELECT TABLE_SCHEMA, TABLE_NAME, ENGINE, TABLE_ROWS, DATA_LENGTH, INDEX_LENGTH FROM information_schema.TABLES WHERE TABLE_TYPE = 'BASE TABLE' AND TABLE_SCHEMA NOT IN ('mysql', 'sys', 'performance_schema', 'information_schema') ORDER BY DATA_LENGTH + INDEX_LENGTH DESC LIMIT 100"
	start := len(s.Points)
	err := t.conn.Numbers(ctx, query, 3, func(row []string, n []float64) {
		labels := `database="` + row[0] + `",table="` + row[1] + `"`
		for i, v := range []variable{{name: "rows", unit: "count"}, {name: "data_bytes", unit: "bytes"}, {name: "index_bytes", unit: "bytes"}} {
			v.name, v.kind, v.scale = "mysql.table."+v.name, engine.Gauge, 1
			v.point(s, labels, n[i])
		}
	})
	t.asked, t.lastSizes = time.Now(), slices.Clone(s.Points[start:])
	return err
}

// variable describes how a number of the server is reported.
type variable struct {
	key   string // the server's name in lower case
	name  string
	kind  engine.CounterKind
	unit  string
	scale float64
	mask  uint64 // the bits that count; 0: all
}

// point adds its value, unless it is NaN.
func (v *variable) point(s *engine.Sample, labels string, n float64) {
	if !math.IsNaN(n) {
		s.Points = append(s.Points, engine.Point{Name: v.name, Labels: labels, Kind: v.kind, Unit: v.unit, Value: n * v.scale})
	}
}

// newVariable returns the meaning of a status variable; nil if it does not describe the
// server's work for its clients.
func newVariable(name string) *variable {
	key := strings.ToLower(name)
	if !slices.Contains(ofGalera, key) &&
		slices.ContainsFunc(unwanted, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
		return nil
	}
	v := &variable{key: key, name: "mysql." + key, kind: engine.Counter, unit: "count", scale: 1}
	if isGauge(key) {
		v.kind = engine.Gauge
	}
	switch {
	case strings.HasSuffix(key, "_bytes"), strings.Contains(key, "bytes_"), strings.HasSuffix(key, "data_read"), strings.HasSuffix(key, "data_written"),
		strings.HasSuffix(key, "os_log_written"), strings.Contains(key, "_lsn_"), strings.HasPrefix(key, "memory_used"), strings.HasPrefix(key, "innodb_mem_"),
		strings.HasPrefix(key, "innodb_checkpoint_"), key == "innodb_page_size", key == "rocksdb_memtable_total", key == "rocksdb_memtable_unflushed", key == "innodb_page_compression_saved", key == "qcache_free_memory", key == "max_memory_used":
		v.unit = "bytes"
	case strings.HasSuffix(key, "_micros"):
		v.unit = "us"
	case strings.HasPrefix(key, "innodb_row_lock_time"):
		v.unit = "ms"
	case key == "busy_time", key == "cpu_time", key == "query_time", strings.HasPrefix(key, "uptime"):
		v.unit = "s"
	}
	if key == "innodb_ibuf_size" || key == "innodb_ibuf_segment_size" {
		v.mask = 0xffffffff // MariaDB 10.11 leaves garbage in the upper half
	}
	return v
}

// unwanted are prefixes of the names of variables that describe the setup, or features
// that no benchmark uses.
var unwanted = []string{"wsrep", "ssl_", "performance_schema", "feature_", "acl_", "rpl_", "slave", "com_show", "com_create", "com_drop", "com_alter", "com_grant",
	"com_revoke", "com_rename", "com_change", "com_xa", "com_install", "com_uninstall", "com_stmt_reprepare", "com_help", "com_ha_", "com_preload", "com_slave",
	"com_start_", "com_stop_", "com_reset", "com_purge", "com_repair", "com_kill", "com_get", "com_compound", "com_release", "com_backup", "com_empty", "com_assign", "com_binlog",
	"delayed", "not_flushed_delayed", "innodb_have_", "innodb_encryption", "innodb_num_pages_", "innodb_defragment", "innodb_onlineddl", "tc_log", "threadpool", "master_gtid", "transactions_gtid",
	"executed_", "compression", "column_", "access_denied", "flush_commands", "stack_usage", "last_query_cost", "binlog_snapshot"}

// ofGalera are the variables of a cluster's node that benchmarks are about: what it sends and applies, transactions that
// lost against those of other nodes, and how long it made the others wait.
var ofGalera = []string{"wsrep_replicated", "wsrep_replicated_bytes", "wsrep_received", "wsrep_received_bytes",
	"wsrep_local_commits", "wsrep_local_cert_failures", "wsrep_local_bf_aborts", "wsrep_local_replays",
	"wsrep_flow_control_paused_ns", "wsrep_flow_control_sent", "wsrep_flow_control_recv"}

// gauges are the variables that are states; for all others only the difference of two
// samples is meaningful.
var gauges = []string{
	"aria_pagecache_blocks_not_flushed", "aria_pagecache_blocks_unused", "aria_pagecache_blocks_used",
	"innodb_buffer_pool_pages_data", "innodb_buffer_pool_bytes_data", "innodb_buffer_pool_pages_dirty", "innodb_buffer_pool_bytes_dirty",
	"innodb_buffer_pool_pages_free", "innodb_buffer_pool_pages_misc", "innodb_buffer_pool_pages_old", "innodb_buffer_pool_pages_total", "innodb_buffer_pool_pages_latched",
	"innodb_checkpoint_age", "innodb_checkpoint_max_age", "innodb_checkpoint_target_age", "innodb_history_list_length", "innodb_purge_undo_no", "innodb_purge_trx_id",
	"innodb_ibuf_free_list", "innodb_ibuf_segment_size", "innodb_ibuf_size", "innodb_page_size", "innodb_num_open_files", "innodb_available_undo_logs",
	"innodb_data_pending_fsyncs", "innodb_data_pending_reads", "innodb_data_pending_writes", "innodb_os_log_pending_fsyncs", "innodb_os_log_pending_writes",
	"innodb_row_lock_current_waits", "innodb_row_lock_time_avg", "innodb_row_lock_time_max", "innodb_current_row_locks",
	"innodb_buffer_pool_load_incomplete", "innodb_read_views_memory", "innodb_descriptors_memory",
	"key_blocks_not_flushed", "key_blocks_unused", "key_blocks_used", "key_blocks_warm",
	"max_memory_used", "max_used_connections", "memory_used", "memory_used_initial",
	"open_files", "open_streams", "open_table_definitions", "open_tables", "prepared_stmt_count",
	"qcache_free_blocks", "qcache_free_memory", "qcache_queries_in_cache", "qcache_total_blocks",
	"rocksdb_memtable_total", "rocksdb_memtable_unflushed", "rocksdb_manual_compactions_running", "rocksdb_num_iterators",
	"table_open_cache_active_instances", "threads_cached", "threads_connected", "threads_running",
	// In MySQL 8 and later.
	"innodb_redo_log_logical_size", "innodb_redo_log_physical_size", "innodb_redo_log_capacity_resized", "innodb_redo_log_read_only", "innodb_redo_log_enabled",
	"innodb_undo_tablespaces_total", "innodb_undo_tablespaces_implicit", "innodb_undo_tablespaces_explicit", "innodb_undo_tablespaces_active",
	"innodb_buffer_pool_resize_status_code", "innodb_buffer_pool_resize_status_progress", "global_connection_memory", "error_log_buffered_bytes",
	"innodb_redo_log_checkpoint_lsn", "innodb_redo_log_flushed_to_disk_lsn", "innodb_redo_log_current_lsn",
}

func isGauge(key string) bool {
	return slices.Contains(gauges, key) || strings.HasPrefix(key, "innodb_mem_")
}

// innodbMetrics are the counters of InnoDB for which not every server has a status
// variable: how locks ended, the kinds of transactions, and the number of old versions
// that wait for purge. Servers count the commits only when configured to
// (innodb_monitor_enable = module_trx).
var innodbMetrics = map[string]engine.CounterKind{
	"lock_deadlocks": engine.Counter, "lock_timeouts": engine.Counter,
	"trx_rw_commits": engine.Counter, "trx_ro_commits": engine.Counter, "trx_nl_ro_commits": engine.Counter, "trx_rollbacks": engine.Counter,
	"trx_rseg_history_len": engine.Gauge,
}

// findMetrics returns the query for those metrics that the server counts; "" if it denies access.
func findMetrics(ctx context.Context, c *sqlkit.Admin) string {
	const column = "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' AND TABLE_NAME = 'INNODB_METRICS' AND COLUMN_NAME IN ('STATUS', 'ENABLED')"
	name, err := c.Value(ctx, column)
	if err != nil || name == "" {
		return ""
	}
	enabled := "STATUS = 'enabled'"
	if name == "ENABLED" { // MariaDB
		enabled = "ENABLED = 1"
	}
	query := "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE " + enabled + " AND NAME IN ('" + strings.Join(slices.Sorted(maps.Keys(innodbMetrics)), "', '") + "')"
	if _, err := c.Value(ctx, query); err != nil {
		return ""
	}
	return query
}

func (t *status) innodbCounters(ctx context.Context, s *engine.Sample) error {
	err := t.conn.Numbers(ctx, "SELECT coalesce(max(timestampdiff(SECOND, trx_started, now())), 0) FROM "+
		"information_schema.INNODB_TRX", 0, func(_ []string, n []float64) { s.Gauge(engine.OldestSnapshot, "s", n[0]) })
	if t.metrics == "" || err != nil {
		return err
	}
	return t.conn.Numbers(ctx, t.metrics, 1, func(row []string, n []float64) {
		v := variable{name: "mysql.innodb_metrics." + row[0], kind: innodbMetrics[row[0]], unit: "count", scale: 1}
		v.point(s, "", n[0])
		t.found[row[0]] = n[0]
	})
}
