package postgres

import "fmt"

// The units of points.
const (
	inUnits = "count"
	inBytes = "bytes"
	inNanos = "ns"
)

// views are the sources of counters for the tables of a schema; "" is for all
// of the server's databases, and the tables of the one that is connected to.
func views(release int, schema string) []view {
	major := release / 10000
	out := []view{
		engineView(major),
		{prefix: "postgres.", points: sessionPoints, from: "FROM pg_stat_activity WHERE pid <> pg_backend_pid()"}, // who samples is no load
		checkpointView(major),
		{prefix: "postgres.bgwriter.", points: bgwriterPoints, from: "FROM pg_stat_bgwriter"},
	}
	if major >= 14 {
		out = append(out, view{prefix: "postgres.wal.", points: walPoints, from: "FROM pg_stat_wal"})
	}
	if major >= readsApart {
		out = append(out, cacheView(schema), ioView)
	}
	if major >= 17 {
		out = append(out, backendView)
	}
	if major >= 18 {
		out = append(out, walWritesView)
	}
	return append(out, databaseView(schema), tableView(schema), indexView(schema))
}

// position is how far the log has been written, in bytes since the database
// was made, and on a standby, replayed.
const position = `CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'`

// What the server has written of tables and indexes, in bytes: pages written
// by checkpoints, by the background writer, and by the sessions themselves.
// Files of the log that are filled with zeros in advance are not in it, nor,
// before release 17, what extends a table by more than a page.
const (
	pagesWritten15 = `(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter)::float8 * current_setting('block_size')::float8`
	pagesWritten17 = `(SELECT sum((coalesce(writes, 0) + coalesce(extends, 0))::float8 * op_bytes) FROM pg_stat_io WHERE object <> 'wal')`
	pagesWritten18 = `(SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) FROM pg_stat_io WHERE object <> 'wal')`
)

// engineView has the numbers that mean the same on every engine, but for those
// of the cache. The log is counted by its position, which does not lag as its
// statistics do.
func engineView(major int) view {
	pages := pagesWritten15
	switch {
	case major >= 18:
		pages = pagesWritten18
	case major >= 17:
		pages = pagesWritten17
	}
	return view{points: []point{
		{name: "engine.bytes_written", unit: inBytes, expr: "(" + position + ")::float8 + " + pages},
		{name: "engine.checkpoint_bytes", unit: inBytes, gauge: true, expr: "(" + position + ") - ((SELECT redo_lsn FROM pg_control_checkpoint()) - '0/0')"},
		{name: "postgres.wal.position", unit: inBytes, expr: position},
	}}
}

// readsApart is the release from which on pages read are told apart from new
// pages. Before it every page that a row or an entry adds to a table or index
// counts as one that was read, in pg_stat_database and in pg_statio alike; those
// that an index build adds do not count. So neither what was read nor what was
// missed is known: growth cannot be subtracted, as it holds index builds and
// what a vacuum has cut off.
const readsApart = 16

// cacheView has what means the same on every engine of the server's own cache.
// Pages that are missed there may come from the page cache.
func cacheView(schema string) view {
	v := view{from: "FROM pg_stat_database WHERE datname = current_database()", points: []point{
		{name: "engine.cache_lookups", unit: inUnits, expr: "sum(blks_hit) + sum(blks_read)"},
		{name: "engine.cache_misses", unit: inUnits, expr: "sum(blks_read)"},
		{name: "engine.bytes_read", unit: inBytes, expr: "sum(blks_read) * current_setting('block_size')::float8"},
	}}
	if schema == "" {
		v.from = "FROM pg_stat_database"
	}
	return v
}

var sessionPoints = []point{
	{name: "sessions.open", unit: inUnits, gauge: true, expr: "count(*) FILTER (WHERE backend_type = 'client backend')"},
	{name: "sessions.active", unit: inUnits, gauge: true, expr: "count(*) FILTER (WHERE backend_type = 'client backend' AND state = 'active')"},
	{name: "sessions.idle_in_transaction", unit: inUnits, gauge: true, expr: "count(*) FILTER (WHERE state LIKE 'idle in transaction%')"},
	{name: "sessions.waiting_for_lock", unit: inUnits, gauge: true, expr: "count(*) FILTER (WHERE wait_event_type = 'Lock')"},
	{name: "autovacuum.workers", unit: inUnits, gauge: true, expr: "count(*) FILTER (WHERE backend_type = 'autovacuum worker')"},
}

// checkpointView reads what the checkpointer does, which has had a view of its
// own since release 17.
func checkpointView(major int) view {
	v := view{prefix: "postgres.checkpoint.", from: "FROM pg_stat_bgwriter", points: []point{
		{name: "timed", unit: inUnits, expr: "checkpoints_timed"},
		{name: "requested", unit: inUnits, expr: "checkpoints_req"},
		{name: "write_ns", unit: inNanos, expr: "checkpoint_write_time * 1e6"},
		{name: "sync_ns", unit: inNanos, expr: "checkpoint_sync_time * 1e6"},
		{name: "pages_written", unit: inUnits, expr: "buffers_checkpoint"},
	}}
	if major >= 17 {
		v.from = "FROM pg_stat_checkpointer"
		v.points = []point{
			{name: "timed", unit: inUnits, expr: "num_timed"},
			{name: "requested", unit: inUnits, expr: "num_requested"},
			{name: "done", unit: inUnits, expr: "num_done", since: 18},
			{name: "write_ns", unit: inNanos, expr: "write_time * 1e6"},
			{name: "sync_ns", unit: inNanos, expr: "sync_time * 1e6"},
			{name: "pages_written", unit: inUnits, expr: "buffers_written"},
		}
	}
	return v
}

var bgwriterPoints = []point{
	{name: "pages_written", unit: inUnits, expr: "buffers_clean"},
	{name: "rounds_cut_short", unit: inUnits, expr: "maxwritten_clean"},
	{name: "pages_allocated", unit: inUnits, expr: "buffers_alloc"},
	{name: "pages_written_by_sessions", unit: inUnits, expr: "buffers_backend", before: 17},
	{name: "syncs_by_sessions", unit: inUnits, expr: "buffers_backend_fsync", before: 17},
}

// backendView is what bgwriterPoints no longer have.
var backendView = view{prefix: "postgres.bgwriter.", points: []point{
	{name: "pages_written_by_sessions", unit: inUnits, expr: "sum(coalesce(writes, 0) + coalesce(extends, 0))"},
	{name: "syncs_by_sessions", unit: inUnits, expr: "sum(fsyncs)"},
}, from: "FROM pg_stat_io WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')"}

var walPoints = []point{
	{name: "records", unit: inUnits, expr: "wal_records"},
	{name: "full_page_images", unit: inUnits, expr: "wal_fpi"},
	{name: "bytes", unit: inBytes, expr: "wal_bytes"},
	{name: "buffers_full", unit: inUnits, expr: "wal_buffers_full"},
	{name: "writes", unit: inUnits, expr: "wal_write", before: 18},
	{name: "syncs", unit: inUnits, expr: "wal_sync", before: 18},
	{name: "write_ns", unit: inNanos, expr: "wal_write_time * 1e6", before: 18},
	{name: "sync_ns", unit: inNanos, expr: "wal_sync_time * 1e6", before: 18},
}

// walWritesView is what walPoints no longer have.
var walWritesView = view{prefix: "postgres.wal.", points: []point{
	{name: "writes", unit: inUnits, expr: "sum(writes)"},
	{name: "syncs", unit: inUnits, expr: "sum(fsyncs)"},
	{name: "write_ns", unit: inNanos, expr: "sum(write_time) * 1e6"},
	{name: "sync_ns", unit: inNanos, expr: "sum(fsync_time) * 1e6"},
}, from: "FROM pg_stat_io WHERE object = 'wal'"}

// ioView tells who reads and writes what. Most of its rows never count anything.
var ioView = view{
	prefix: "postgres.io.",
	labels: []label{{"context", "context"}, {"object", "object"}, {"process", "backend_type"}},
	points: []point{
		{name: "reads", unit: inUnits, expr: "reads"},
		{name: "read_bytes", unit: inBytes, expr: "reads * op_bytes", before: 18},
		{name: "read_bytes", unit: inBytes, expr: "read_bytes", since: 18},
		{name: "read_ns", unit: inNanos, expr: "read_time * 1e6"},
		{name: "writes", unit: inUnits, expr: "writes"},
		{name: "write_bytes", unit: inBytes, expr: "writes * op_bytes", before: 18},
		{name: "write_bytes", unit: inBytes, expr: "write_bytes", since: 18},
		{name: "write_ns", unit: inNanos, expr: "write_time * 1e6"},
		{name: "extends", unit: inUnits, expr: "extends"},
		{name: "extend_bytes", unit: inBytes, expr: "extends * op_bytes", before: 18},
		{name: "extend_bytes", unit: inBytes, expr: "extend_bytes", since: 18},
		{name: "extend_ns", unit: inNanos, expr: "extend_time * 1e6"},
		{name: "hits", unit: inUnits, expr: "hits"},
		{name: "evictions", unit: inUnits, expr: "evictions"},
		{name: "reuses", unit: inUnits, expr: "reuses"},
		{name: "syncs", unit: inUnits, expr: "fsyncs"},
		{name: "sync_ns", unit: inNanos, expr: "fsync_time * 1e6"},
	},
	from: "FROM pg_stat_io WHERE coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) + coalesce(fsyncs, 0) > 0",
}

func databaseView(schema string) view {
	v := view{prefix: "postgres.database.", points: databasePoints, from: "FROM pg_stat_database WHERE datname = current_database()"}
	if schema == "" {
		v.labels = []label{{"database", "datname"}}
		v.from = "FROM pg_stat_database WHERE datname IS NOT NULL AND datname NOT LIKE 'template_'"
	}
	return v
}

var databasePoints = []point{
	{name: "sessions", unit: inUnits, gauge: true, expr: "numbackends"},
	{name: "commits", unit: inUnits, expr: "xact_commit"},
	{name: "rollbacks", unit: inUnits, expr: "xact_rollback"},
	{name: "pages_read", unit: inUnits, expr: "blks_read"},
	{name: "pages_hit", unit: inUnits, expr: "blks_hit"},
	{name: "read_ns", unit: inNanos, expr: "blk_read_time * 1e6"},
	{name: "write_ns", unit: inNanos, expr: "blk_write_time * 1e6"},
	{name: "rows_read", unit: inUnits, expr: "tup_returned"},
	{name: "rows_fetched", unit: inUnits, expr: "tup_fetched"},
	{name: "rows_inserted", unit: inUnits, expr: "tup_inserted"},
	{name: "rows_updated", unit: inUnits, expr: "tup_updated"},
	{name: "rows_deleted", unit: inUnits, expr: "tup_deleted"},
	{name: "conflicts", unit: inUnits, expr: "conflicts"},
	{name: "deadlocks", unit: inUnits, expr: "deadlocks"},
	{name: "temp_files", unit: inUnits, expr: "temp_files"},
	{name: "temp_bytes", unit: inBytes, expr: "temp_bytes"},
	{name: "active_ns", unit: inNanos, expr: "active_time * 1e6", since: 14},
	{name: "idle_in_transaction_ns", unit: inNanos, expr: "idle_in_transaction_time * 1e6", since: 14},
}

// mostWatched is how many tables and indexes of a database that we only watch
// are read: the busiest ones.
const mostWatched = 200

// scope limits a view of tables or indexes to a schema; without one it names
// the schema in a label, and takes the busiest.
func scope(v view, schema, busy string) view {
	if schema != "" {
		v.from += " WHERE s.schemaname = " + newDialect().Quoted(schema)
		return v
	}
	v.from += fmt.Sprintf(" ORDER BY %s DESC NULLS LAST LIMIT %d", busy, mostWatched)
	at := 0
	for at < len(v.labels) && v.labels[at].name < "schema" { // labels are sorted
		at++
	}
	v.labels = append(v.labels[:at:at], append([]label{{"schema", "s.schemaname"}}, v.labels[at:]...)...)
	return v
}

func tableView(schema string) view {
	return scope(view{
		prefix: "postgres.table.",
		labels: []label{{"table", "s.relname"}},
		points: tablePoints,
		from:   "FROM pg_stat_user_tables s JOIN pg_statio_user_tables io ON io.relid = s.relid",
	}, schema, "coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0) + s.n_tup_ins + s.n_tup_upd + s.n_tup_del")
}

var tablePoints = []point{
	{name: "rows_live", unit: inUnits, gauge: true, expr: "s.n_live_tup"},
	{name: "rows_dead", unit: inUnits, gauge: true, expr: "s.n_dead_tup"},
	{name: "rows_since_analyze", unit: inUnits, gauge: true, expr: "s.n_mod_since_analyze"},
	{name: "rows_since_vacuum", unit: inUnits, gauge: true, expr: "s.n_ins_since_vacuum", since: 13},
	{name: "rows_inserted", unit: inUnits, expr: "s.n_tup_ins"},
	{name: "rows_updated", unit: inUnits, expr: "s.n_tup_upd"},
	{name: "rows_updated_hot", unit: inUnits, expr: "s.n_tup_hot_upd"},
	{name: "rows_updated_elsewhere", unit: inUnits, expr: "s.n_tup_newpage_upd", since: 16},
	{name: "rows_deleted", unit: inUnits, expr: "s.n_tup_del"},
	{name: "scans", unit: inUnits, expr: "s.seq_scan"},
	{name: "scan_rows", unit: inUnits, expr: "s.seq_tup_read"},
	{name: "index_scans", unit: inUnits, expr: "s.idx_scan"},
	{name: "index_rows", unit: inUnits, expr: "s.idx_tup_fetch"},
	{name: "vacuums", unit: inUnits, expr: "s.vacuum_count"},
	{name: "autovacuums", unit: inUnits, expr: "s.autovacuum_count"},
	{name: "analyzes", unit: inUnits, expr: "s.analyze_count"},
	{name: "autoanalyzes", unit: inUnits, expr: "s.autoanalyze_count"},
	{name: "vacuum_ns", unit: inNanos, expr: "s.total_vacuum_time * 1e6", since: 18},
	{name: "autovacuum_ns", unit: inNanos, expr: "s.total_autovacuum_time * 1e6", since: 18},
	{name: "pages_read", unit: inUnits, expr: "io.heap_blks_read"},
	{name: "pages_hit", unit: inUnits, expr: "io.heap_blks_hit"},
	{name: "index_pages_read", unit: inUnits, expr: "io.idx_blks_read"},
	{name: "index_pages_hit", unit: inUnits, expr: "io.idx_blks_hit"},
	{name: "toast_pages_read", unit: inUnits, expr: "io.toast_blks_read"},
	{name: "toast_pages_hit", unit: inUnits, expr: "io.toast_blks_hit"},
}

func indexView(schema string) view {
	return scope(view{
		prefix: "postgres.index.",
		labels: []label{{"index", "s.indexrelname"}},
		points: indexPoints,
		from:   "FROM pg_stat_user_indexes s JOIN pg_statio_user_indexes io ON io.indexrelid = s.indexrelid",
	}, schema, "s.idx_tup_read + io.idx_blks_hit + io.idx_blks_read")
}

var indexPoints = []point{
	{name: "scans", unit: inUnits, expr: "s.idx_scan"},
	{name: "entries_read", unit: inUnits, expr: "s.idx_tup_read"},
	{name: "rows_fetched", unit: inUnits, expr: "s.idx_tup_fetch"},
	{name: "pages_read", unit: inUnits, expr: "io.idx_blks_read"},
	{name: "pages_hit", unit: inUnits, expr: "io.idx_blks_hit"},
}
