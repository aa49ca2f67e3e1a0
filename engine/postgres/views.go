package postgres

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// The kinds of points: counts, bytes, times whose expression is in milliseconds; and a state.
func count(name, expr string) point { return point{name: name, unit: "count", expr: expr} }
func size(name, expr string) point  { return point{name: name, unit: "bytes", expr: expr} }
func nanos(name, expr string) point { return point{name: name, unit: "ns", expr: expr + " * 1e6"} }
func state(name, expr string) point { return point{name: name, unit: "count", expr: expr, gauge: true} }

// startingAt sets the first major release that has a point, until the first one without it.
func (p point) startingAt(major int) point { p.since = major; return p }
func (p point) until(major int) point      { p.before = major; return p }

// views returns the sources of counters for the tables of a schema; "" means all of the
// server's databases, and the tables of the connected one.
func views(release int, schema string) []view {
	major := release / 10000
	out := []view{engineView(major), clientView(schema), sessionView, checkpointView(major), bgwriterView}
	if major >= 14 {
		out = append(out, walView, walEngineView)
	}
	if major >= readsApart {
		out = append(out, ioView)
	}
	if major >= 17 {
		out = append(out, backendView)
	}
	if major >= 18 {
		out = append(out, walWritesView)
	}
	return append(out, databaseView(schema), deadView(schema), tableView(schema), indexView(schema))
}

// deadView has the row versions that no vacuum has removed yet, and the vacuums.
func deadView(schema string) view {
	v := view{source: "FROM pg_stat_user_tables", points: []point{state(engine.DeadRows, "sum(n_dead_tup)"),
		count(engine.Vacuums, "sum(autovacuum_count)")}}
	if schema != "" {
		v.source += " WHERE schemaname = " + newDialect().Quoted(schema)
	}
	return v
}

// position is the end of the written log, in bytes since the database was made; on a
// standby, of the replayed log.
const position = `CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0'`

// checkpointAfter is the amount of log after which a checkpoint is requested, as the server
// computes it: the log of the previous checkpoint is kept until the next one is done.
const checkpointAfter = `pg_size_bytes(current_setting('max_wal_size')) / (1 + current_setting('checkpoint_completion_target')::float8)`

// structureOf describes the server's tables and log.
func structureOf(ctx context.Context, c *sqlkit.Admin) (engine.Structure, error) {
	out := engine.Structure{Shape: engine.InPlace}
	err := c.Numbers(ctx, "SELECT current_setting('block_size'), "+checkpointAfter, 0, func(_ []string, n []float64) {
		out.Page, out.LogRoom = int64(n[0]), int64(n[1])
	})
	return out, err
}

// The bytes that the server has written to tables and indexes: pages written by
// checkpoints, by the background writer, and by the sessions themselves. Files of the log
// that are filled with zeros in advance are excluded, and so are, before release 17,
// extensions of a table by more than a page.
const (
	pagesWritten15 = `(SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter)::float8 * current_setting('block_size')::float8`
	pagesWritten17 = `(SELECT sum((coalesce(writes, 0) + coalesce(extends, 0))::float8 * op_bytes) FROM pg_stat_io WHERE object <> 'wal')`
	pagesWritten18 = `(SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) FROM pg_stat_io WHERE object <> 'wal')`
)

// engineView has the numbers that mean the same on every engine, except those of the
// cache. The log is counted by its position, which does not lag as its statistics do.
func engineView(major int) view {
	pages, checkpoints := pagesWritten15, "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)"
	switch {
	case major >= 18:
		pages = pagesWritten18
	case major >= 17:
		pages = pagesWritten17
	}
	if major >= 17 {
		checkpoints = "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)"
	}
	source := ""
	if major >= reportsAsked {
		source = "FROM " + flush // the reader's own counts are reported at once
	}
	return view{source: source, points: []point{
		size("engine.bytes_written", "("+position+")::float8 + "+pages), size("engine.page_bytes", pages),
		count(engine.Checkpoints, checkpoints),
		{name: "engine.checkpoint_bytes", unit: "bytes", gauge: true,
			expr: "(" + position + ") - ((SELECT redo_lsn FROM pg_control_checkpoint()) - '0/0')"},
		size("engine.log_bytes", position), size("postgres.wal.position", position),
	}}
}

// statementsView counts the statements if the extension pg_stat_statements is in a
// schema. Its sum is useless once it had to drop some of them.
func statementsView(schema string) view {
	schema = newDialect().Name(schema)
	return view{points: []point{count("engine.queries",
		"SELECT CASE WHEN (SELECT dealloc FROM "+schema+".pg_stat_statements_info) = 0 THEN sum(calls) END FROM "+schema+
			".pg_stat_statements(false)")}}
}

// statementsSchema is a query for the schema of that extension, if it has the view that
// reports dropped statements, as in PostgreSQL 14 and later.
const statementsSchema = `SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = 'pg_stat_statements_info' WHERE e.extname = 'pg_stat_statements'`

// readsApart is the first release that counts pages read separately from new pages.
// Before it every page that a row or an entry adds to a table or index counts as read, in
// pg_stat_database and in pg_statio alike; those that an index build adds do not count.
// So neither reads nor misses are known when rows change: growth cannot be subtracted, as
// it includes index builds and the pages that a vacuum has truncated.
const readsApart = 16

// databases are the counters of databases, with those of the connected one's catalogs, which
// our own queries read most. The catalogs that databases share count for none.
const databases = `FROM pg_stat_database LEFT JOIN (SELECT sum(pg_stat_get_tuples_returned(oid)) AS returned,
sum(pg_stat_get_tuples_fetched(oid)) AS fetched, sum(pg_stat_get_blocks_hit(oid)) AS hit,
sum(pg_stat_get_blocks_fetched(oid) - pg_stat_get_blocks_hit(oid)) AS missed
FROM pg_class WHERE relnamespace = 'pg_catalog'::regnamespace AND NOT relisshared) catalogs ON datname = current_database() `

// clientView has the figures of transactions, and of the server's own cache, that mean
// the same on every engine. Pages that this cache misses may come from the page cache.
func clientView(schema string) view {
	const hits, missed = "sum(blks_hit) - sum(coalesce(hit, 0))", "sum(blks_read) - sum(coalesce(missed, 0))"
	v := view{source: databases + "WHERE datname = current_database()", points: []point{
		count("engine.commits", "sum(xact_commit)"), count("engine.connections", "sum(sessions)").startingAt(14),
		count("engine.spills", "sum(temp_files)"), size("engine.temp_bytes", "sum(temp_bytes)"),
		count("engine.rows_examined", "sum(tup_returned) - sum(coalesce(returned, 0))"),
		count("engine.cache_lookups", hits+" + "+missed).startingAt(readsApart),
		count("engine.cache_misses", missed).startingAt(readsApart),
		count("engine.cache_hits", hits).until(readsApart), count("engine.pages_taken", missed).until(readsApart),
		count("engine.rows_changed", "sum(tup_inserted) + sum(tup_updated) + sum(tup_deleted)").until(readsApart),
		size("engine.bytes_read", "("+missed+") * current_setting('block_size')::float8").startingAt(readsApart),
	}}
	if schema == "" {
		v.source = databases + "WHERE datname IS NOT NULL"
	}
	return v
}

// sessionsWhere counts the sessions that meet a condition, unless the server hides the
// activity of some from this user.
func sessionsWhere(condition string) string {
	return "CASE WHEN coalesce(bool_and(query IS DISTINCT FROM '<insufficient privilege>'), true) THEN count(*) FILTER " +
		"(WHERE " + condition + ") END"
}

const (
	isClient  = "backend_type = 'client backend'"
	isWorking = isClient + " AND state = 'active'"
	isBlocked = "wait_event_type = 'Lock'"
)

// sessionView leaves out the session that samples, which is not load.
var sessionView = view{source: "FROM pg_stat_activity WHERE pid <> pg_backend_pid()", points: []point{
	state("engine.sessions", sessionsWhere(isClient)), state("postgres.sessions.open", sessionsWhere(isClient)),
	state("engine.sessions_active", sessionsWhere(isWorking)), state("postgres.sessions.active", sessionsWhere(isWorking)),
	state("engine.sessions_blocked", sessionsWhere(isBlocked)),
	state("postgres.sessions.waiting_for_lock", sessionsWhere(isBlocked)),
	state("postgres.sessions.idle_in_transaction", sessionsWhere("state LIKE 'idle in transaction%'")),
	{name: engine.OldestSnapshot, unit: "s", gauge: true,
		expr: "coalesce(max(extract(epoch FROM now() - xact_start)) FILTER (WHERE backend_xmin IS NOT NULL), 0)"},
	state("postgres.autovacuum.workers", sessionsWhere("backend_type = 'autovacuum worker'")),
}}

// checkpointView reads the activity of the checkpointer, which has its own view in
// release 17 and later.
func checkpointView(major int) view {
	v := view{prefix: "postgres.checkpoint.", source: "FROM pg_stat_bgwriter", points: []point{
		count("timed", "checkpoints_timed"), count("requested", "checkpoints_req"),
		nanos("write_ns", "checkpoint_write_time"), nanos("sync_ns", "checkpoint_sync_time"),
		count("pages_written", "buffers_checkpoint"),
	}}
	if major >= 17 {
		v.source = "FROM pg_stat_checkpointer"
		v.points = []point{
			count("timed", "num_timed"), count("requested", "num_requested"), count("done", "num_done").startingAt(18),
			nanos("write_ns", "write_time"), nanos("sync_ns", "sync_time"), count("pages_written", "buffers_written"),
		}
	}
	return v
}

var bgwriterView = view{prefix: "postgres.bgwriter.", source: "FROM pg_stat_bgwriter", points: []point{
	count("pages_written", "buffers_clean"), count("rounds_cut_short", "maxwritten_clean"),
	count("pages_allocated", "buffers_alloc"), count("pages_written_by_sessions", "buffers_backend").until(17),
	count("syncs_by_sessions", "buffers_backend_fsync").until(17),
}}

// backendView has the points that bgwriterView no longer has.
var backendView = view{prefix: "postgres.bgwriter.", points: []point{
	count("pages_written_by_sessions", "sum(coalesce(writes, 0) + coalesce(extends, 0))"),
	count("syncs_by_sessions", "sum(fsyncs)"),
}, source: "FROM pg_stat_io WHERE object = 'relation' AND backend_type NOT IN ('checkpointer', 'background writer')"}

var walView = view{prefix: "postgres.wal.", source: "FROM pg_stat_wal", points: []point{
	count("records", "wal_records"), count("full_page_images", "wal_fpi"), size("bytes", "wal_bytes"),
	count("buffers_full", "wal_buffers_full"), count("writes", "wal_write").until(18),
	count("syncs", "wal_sync").until(18),
	nanos("write_ns", "wal_write_time").until(18), nanos("sync_ns", "wal_sync_time").until(18),
}}

// walEngineView has the figures of the log that mean the same on every engine.
var walEngineView = view{source: "FROM pg_stat_wal", points: []point{
	size("engine.full_page_bytes", "wal_fpi * current_setting('block_size')::float8"),
	count("engine.log_syncs", "wal_sync").until(18),
}}

// walWritesView has the points that walView and walEngineView no longer have.
var walWritesView = view{source: "FROM pg_stat_io WHERE object = 'wal'", points: []point{
	count("postgres.wal.writes", "sum(writes)"), count("postgres.wal.syncs", "sum(fsyncs)"),
	nanos("postgres.wal.write_ns", "sum(write_time)"), nanos("postgres.wal.sync_ns", "sum(fsync_time)"),
	count("engine.log_syncs", "sum(fsyncs)"),
}}

// ioView shows which processes read and write which objects. Most of its rows never count
// anything.
var ioView = view{
	prefix: "postgres.io.",
	labels: []label{{"context", "context"}, {"object", "object"}, {"process", "backend_type"}},
	points: []point{
		count("reads", "reads"), size("read_bytes", "reads * op_bytes").until(18),
		size("read_bytes", "read_bytes").startingAt(18), nanos("read_ns", "read_time"), count("writes", "writes"),
		size("write_bytes", "writes * op_bytes").until(18), size("write_bytes", "write_bytes").startingAt(18),
		nanos("write_ns", "write_time"), count("extends", "extends"),
		size("extend_bytes", "extends * op_bytes").until(18), size("extend_bytes", "extend_bytes").startingAt(18),
		nanos("extend_ns", "extend_time"), count("hits", "hits"), count("evictions", "evictions"),
		count("reuses", "reuses"), count("syncs", "fsyncs"), nanos("sync_ns", "fsync_time"),
	},
	source: "FROM pg_stat_io WHERE coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) " +
		"+ coalesce(fsyncs, 0) > 0",
}

func databaseView(schema string) view {
	v := view{prefix: "postgres.database.", source: databases + "WHERE datname = current_database()",
		points: []point{
			state("sessions", "numbackends"), count("commits", "xact_commit"), count("rollbacks", "xact_rollback"),
			count("pages_read", "blks_read - coalesce(missed, 0)"), count("pages_hit", "blks_hit - coalesce(hit, 0)"),
			nanos("read_ns", "blk_read_time"), nanos("write_ns", "blk_write_time"),
			count("rows_read", "tup_returned - coalesce(returned, 0)"),
			count("rows_fetched", "tup_fetched - coalesce(fetched, 0)"),
			count("rows_inserted", "tup_inserted"), count("rows_updated", "tup_updated"), count("rows_deleted", "tup_deleted"),
			count("conflicts", "conflicts"), count("deadlocks", "deadlocks"), count("temp_files", "temp_files"),
			size("temp_bytes", "temp_bytes"), nanos("active_ns", "active_time").startingAt(14),
			nanos("idle_in_transaction_ns", "idle_in_transaction_time").startingAt(14),
		}}
	if schema == "" {
		v.labels = []label{{"database", "datname"}}
		v.source = databases + "WHERE datname IS NOT NULL AND datname NOT LIKE 'template_'"
	}
	return v
}

// maxWatched is the number of tables and indexes that are read of a database that is
// only watched: the busiest ones.
const maxWatched = 200

// scope limits a view of tables or indexes to a schema; without one it names the schema
// in a label, and takes the busiest.
func scope(v view, schema, busy string) view {
	if schema != "" {
		v.source += " WHERE s.schemaname = " + newDialect().Quoted(schema)
		return v
	}
	v.source += fmt.Sprintf(" ORDER BY %s DESC NULLS LAST LIMIT %d", busy, maxWatched)
	index := 0
	for index < len(v.labels) && v.labels[index].name < "schema" { // labels are sorted
		index++
	}
	v.labels = append(v.labels[:index:index], append([]label{{"schema", "s.schemaname"}}, v.labels[index:]...)...)
	return v
}

func tableView(schema string) view {
	return scope(view{
		prefix: "postgres.table.",
		labels: []label{{"table", "s.relname"}},
		points: []point{
			state("rows_live", "s.n_live_tup"), state("rows_dead", "s.n_dead_tup"),
			state("rows_since_analyze", "s.n_mod_since_analyze"),
			state("rows_since_vacuum", "s.n_ins_since_vacuum").startingAt(13),
			count("rows_inserted", "s.n_tup_ins"), count("rows_updated", "s.n_tup_upd"),
			count("rows_updated_hot", "s.n_tup_hot_upd"),
			count("rows_updated_elsewhere", "s.n_tup_newpage_upd").startingAt(16), count("rows_deleted", "s.n_tup_del"),
			count("scans", "s.seq_scan"), count("scan_rows", "s.seq_tup_read"), count("index_scans", "s.idx_scan"),
			count("index_rows", "s.idx_tup_fetch"), count("vacuums", "s.vacuum_count"),
			count("autovacuums", "s.autovacuum_count"),
			count("analyzes", "s.analyze_count"), count("autoanalyzes", "s.autoanalyze_count"),
			nanos("vacuum_ns", "s.total_vacuum_time").startingAt(18),
			nanos("autovacuum_ns", "s.total_autovacuum_time").startingAt(18),
			count("pages_read", "io.heap_blks_read"), count("pages_hit", "io.heap_blks_hit"),
			count("index_pages_read", "io.idx_blks_read"), count("index_pages_hit", "io.idx_blks_hit"),
			count("toast_pages_read", "io.toast_blks_read"), count("toast_pages_hit", "io.toast_blks_hit"),
		},
		source: "FROM pg_stat_user_tables s JOIN pg_statio_user_tables io ON io.relid = s.relid",
	}, schema, "coalesce(s.seq_tup_read, 0) + coalesce(s.idx_tup_fetch, 0) + s.n_tup_ins + s.n_tup_upd + s.n_tup_del")
}

func indexView(schema string) view {
	return scope(view{
		prefix: "postgres.index.",
		labels: []label{{"index", "s.indexrelname"}},
		points: []point{
			count("scans", "s.idx_scan"), count("entries_read", "s.idx_tup_read"), count("rows_fetched", "s.idx_tup_fetch"),
			count("pages_read", "io.idx_blks_read"), count("pages_hit", "io.idx_blks_hit"),
		},
		source: "FROM pg_stat_user_indexes s JOIN pg_statio_user_indexes io ON io.indexrelid = s.indexrelid",
	}, schema, "s.idx_tup_read + io.idx_blks_hit + io.idx_blks_read")
}
