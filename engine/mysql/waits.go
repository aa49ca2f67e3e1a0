package mysql

import (
	"context"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
)

// optWaits requests a private server that times the waits of its sessions.
const optWaits = "waits"

// waitSettings make a server time every wait from its start: if enabled later, existing
// objects would be left out.
var waitSettings = []server.Setting{
	{Name: "performance_schema", Value: "1"},
	{Name: "performance-schema-instrument", Value: "wait/%=ON"},
	{Name: "performance-schema-consumer-events-waits-current", Value: "1"},
	{Name: "performance-schema-consumer-global-instrumentation", Value: "1"},
	{Name: "performance-schema-consumer-thread-instrumentation", Value: "1"},
}

// timed reads the sums of the waits that the server times, and holds the labels of each
// by its name. They belong to our user's sessions: the sums of the whole server include
// its own threads, which wait for work most of the time.
type timed map[string]string

const (
	timedEvents = "SELECT NAME FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/%' AND ENABLED = 'YES' " +
		"AND TIMED = 'YES'"
	timedSums = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM " +
		"performance_schema.events_waits_summary_by_user_by_event_name" +
		" WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)"
)

// findTimed returns the waits that the server times; nil if it times none, or denies access.
func findTimed(ctx context.Context, c *sqlkit.Admin) timed {
	if on, err := c.Value(ctx, "SELECT @@performance_schema"); err != nil || on != "1" {
		return nil
	}
	t := timed{}
	err := c.Query(ctx, timedEvents, func(row []string) error {
		name := row[0]
		if role := waitRole(name); role != "" {
			t[name] = `event="` + strings.TrimPrefix(name, "wait/") + `",role="` + string(role) + `"`
		}
		return nil
	})
	if err != nil || len(t) == 0 {
		return nil
	}
	return t
}

// sample adds the sums. A wait that has not occurred yet is added too: it may occur
// later, and growth can be computed only against an earlier sample.
func (w timed) sample(ctx context.Context, t *status, s *engine.Sample) error {
	if w == nil {
		return nil
	}
	return t.conn.Numbers(ctx, timedSums, 1, func(row []string, n []float64) {
		if labels, ok := w[row[0]]; ok {
			s.Points = append(s.Points,
				engine.Point{Name: engine.Waits, Labels: labels, Kind: engine.Counter, Unit: "count", Value: n[0]},
				// from picoseconds
				engine.Point{Name: engine.WaitTime, Labels: labels, Kind: engine.Counter, Unit: "ns", Value: n[1] / 1e3})
		}
	})
}

// waitRole returns the role of an instrument of performance_schema; "" if it is not a
// separate wait: a call of the storage encloses all waits in it.
func waitRole(name string) engine.Role {
	if name == "idle" {
		return engine.RoleClient
	}
	tail, ok := strings.CutPrefix(name, "wait/")
	if !ok || strings.HasPrefix(tail, "io/table/") {
		return ""
	}
	for _, r := range waitRoles {
		holds := func(part string) bool { return strings.Contains(tail, part) }
		if strings.HasPrefix(tail, r.begins) && (r.holds == "" || slices.ContainsFunc(strings.Fields(r.holds), holds)) {
			return r.role
		}
	}
	return engine.RoleOther
}

// waitRoles are the roles of instruments, and the first match counts: by the prefix
// of the name and the words in it. Servers and releases name their latches differently:
// MySQL's names are next to MariaDB's.
var waitRoles = []struct {
	begins string
	role   engine.Role
	holds  string
}{
	{"io/socket/", engine.RoleNetwork, ""},
	{"lock/metadata/", engine.RoleMetadata, ""},
	{"lock/table/", engine.RoleMetadata, ""},

	// Files.
	{"io/file/innodb/", engine.RoleLog, "log"}, // innodb_log_file, innodb_os_log_file
	{"io/file/sql/", engine.RoleLog, "binlog"},
	{"io/file/aria/", engine.RoleLog, "translog"},
	{"io/file/", engine.RoleIO, ""},

	// The SQL layer: MDL_lock::rwlock, MDL_wait::LOCK_wait_status; LOCK_commit_ordered,
	// LOCK_commit_queue.
	{"synch/", engine.RoleMetadata,
		"/sql/MDL_ /sql/LOCK_table_ /sql/LOCK_open /sql/TABLE_SHARE:: /sql/LOCK_tdc /mysys/THR_LOCK"},
	{"synch/", engine.RoleCommit, "/sql/MYSQL_BIN_LOG:: /sql/LOCK_commit /sql/LOCK_prepare_ordered " +
		"/sql/LOCK_after_binlog_sync"},
	{"synch/", engine.RoleCommit, "/sql/LOCK_wait_commit /sql/COND_wait_commit /sql/COND_prepare_ordered"},

	// InnoDB: trx_sys_mutex, trx_sys_shard_mutex, trx_sys_serialisation_mutex, trx_mutex;
	// lock_latch, lock_wait_mutex, lock_sys_*, lock_mutex; log_sys_mutex,
	// log_writer_mutex, log_sn_lock.
	{"synch/", engine.RoleSnapshot, "/innodb/trx_rseg /innodb/rseg /innodb/trx_ /innodb/read_view"},
	{"synch/", engine.RoleRow, "/innodb/lock_"},
	{"synch/", engine.RoleIndex, "/innodb/index_tree /innodb/btr_search"},
	{"synch/", engine.RoleBuffer, "/innodb/buf_ /innodb/flush_list /innodb/hash_table_ /innodb/page_"},
	{"synch/", engine.RoleLog, "/innodb/log"},
	{"synch/", engine.RoleIO, "/innodb/fil_"},
	{"synch/", engine.RoleMetadata, "/innodb/dict_"},
}
