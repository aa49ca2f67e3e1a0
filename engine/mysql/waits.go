package mysql

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
)

// optWaits asks for a private server that times the waits of its sessions.
const optWaits = "waits"

// waitSettings make a server time every wait from its start: later, objects
// that exist already would be left out.
var waitSettings = []server.Setting{
	{Name: "performance_schema", Value: "1"},
	{Name: "performance-schema-instrument", Value: "wait/%=ON"},
	{Name: "performance-schema-consumer-events-waits-current", Value: "1"},
	{Name: "performance-schema-consumer-global-instrumentation", Value: "1"},
	{Name: "performance-schema-consumer-thread-instrumentation", Value: "1"},
}

// waitSetting reads back how many kinds of waits are timed, where that was
// asked for.
func (d *db) waitSetting(ctx context.Context) ([]engine.Setting, error) {
	if !d.waits {
		return nil, nil
	}
	if d.status.waits == nil {
		return nil, &engine.KnobError{Knob: "options." + optWaits, Value: "true", Reason: "the server does not time waits"}
	}
	return []engine.Setting{{Name: optWaits, Value: fmt.Sprintf("%d kinds of waits are timed", len(d.status.waits.events)), Source: engine.ReadBack}}, nil
}

// timed reads the sums of the waits that the server times. They are those of
// our user's sessions: the sums of the whole server hold its own threads, which
// wait for work most of the time.
type timed struct {
	events map[string]string // the labels of those that are timed, by their names
}

const (
	timedEvents = "SELECT NAME FROM performance_schema.setup_instruments WHERE NAME LIKE 'wait/%' AND ENABLED = 'YES' AND TIMED = 'YES'"
	timedSums   = "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT FROM performance_schema.events_waits_summary_by_user_by_event_name WHERE USER = SUBSTRING_INDEX(USER(), '@', 1)"
)

// findTimed finds out which waits the server times; nil if it times none, or
// does not let us look.
func findTimed(ctx context.Context, c *sqlkit.Admin) *timed {
	if on, err := c.Value(ctx, "SELECT @@performance_schema"); err != nil || on != "1" {
		return nil
	}
	t := &timed{events: map[string]string{}}
	err := c.Query(ctx, timedEvents, func(row []string) error {
		name := row[0]
		if role := waitRole(name); role != "" {
			t.events[name] = `event="` + strings.TrimPrefix(name, "wait/") + `",role="` + string(role) + `"`
		}
		return nil
	})
	if err != nil || len(t.events) == 0 {
		return nil
	}
	return t
}

// sample adds the sums. A wait that never was is told too: it may be later, and
// growth is only known from a sample before.
func (t *timed) sample(ctx context.Context, c *sqlkit.Admin, s *engine.Sample) error {
	if t == nil {
		return nil
	}
	return c.Query(ctx, timedSums, func(row []string) error {
		labels, ok := t.events[row[0]]
		if !ok {
			return nil
		}
		count, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			return err
		}
		picoseconds, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			return err
		}
		s.Points = append(s.Points,
			engine.Point{Name: engine.Waits, Labels: labels, Kind: engine.Counter, Unit: "count", Value: count},
			engine.Point{Name: engine.WaitTime, Labels: labels, Kind: engine.Counter, Unit: "ns", Value: picoseconds / 1e3})
		return nil
	})
}

// waitRole is the role of an instrument of performance_schema; "" of one that
// is no wait of its own: a call of the storage encloses all waits in it.
func waitRole(name string) engine.Role {
	if name == "idle" {
		return engine.RoleClient
	}
	rest, ok := strings.CutPrefix(name, "wait/")
	if !ok || strings.HasPrefix(rest, "io/table/") {
		return ""
	}
	for _, r := range waitRoles {
		if strings.HasPrefix(rest, r.begins) && strings.Contains(rest, r.holds) {
			return r.role
		}
	}
	return engine.RoleOther
}

// waitRoles are the roles of instruments, the first that fits. Servers and
// releases have named their latches differently: a name of MySQL's stands
// beside MariaDB's.
var waitRoles = []struct {
	begins, holds string
	role          engine.Role
}{
	{"io/socket/", "", engine.RoleNetwork},
	{"lock/metadata/", "", engine.RoleMetadata},
	{"lock/table/", "", engine.RoleMetadata},

	// Files.
	{"io/file/innodb/", "log", engine.RoleLog}, // innodb_log_file, innodb_os_log_file
	{"io/file/sql/", "binlog", engine.RoleLog},
	{"io/file/aria/", "translog", engine.RoleLog},
	{"io/file/", "", engine.RoleIO},

	// The SQL layer.
	{"synch/", "/sql/MDL_", engine.RoleMetadata}, // MDL_lock::rwlock, MDL_wait::LOCK_wait_status
	{"synch/", "/sql/LOCK_table_", engine.RoleMetadata},
	{"synch/", "/sql/LOCK_open", engine.RoleMetadata},
	{"synch/", "/sql/TABLE_SHARE::", engine.RoleMetadata},
	{"synch/", "/sql/LOCK_tdc", engine.RoleMetadata},
	{"synch/", "/mysys/THR_LOCK", engine.RoleMetadata},
	{"synch/", "/sql/MYSQL_BIN_LOG::", engine.RoleCommit},
	{"synch/", "/sql/LOCK_commit", engine.RoleCommit}, // LOCK_commit_ordered, LOCK_commit_queue
	{"synch/", "/sql/LOCK_prepare_ordered", engine.RoleCommit},
	{"synch/", "/sql/LOCK_after_binlog_sync", engine.RoleCommit},
	{"synch/", "/sql/LOCK_wait_commit", engine.RoleCommit},
	{"synch/", "/sql/COND_wait_commit", engine.RoleCommit},
	{"synch/", "/sql/COND_prepare_ordered", engine.RoleCommit},

	// InnoDB.
	{"synch/", "/innodb/trx_rseg", engine.RoleSnapshot},
	{"synch/", "/innodb/rseg", engine.RoleSnapshot},
	{"synch/", "/innodb/trx_", engine.RoleSnapshot}, // trx_sys_mutex, trx_sys_shard_mutex, trx_sys_serialisation_mutex, trx_mutex
	{"synch/", "/innodb/read_view", engine.RoleSnapshot},
	{"synch/", "/innodb/lock_", engine.RoleRow}, // lock_latch, lock_wait_mutex, lock_sys_*, lock_mutex
	{"synch/", "/innodb/index_tree", engine.RoleIndex},
	{"synch/", "/innodb/btr_search", engine.RoleIndex},
	{"synch/", "/innodb/buf_", engine.RoleBuffer},
	{"synch/", "/innodb/flush_list", engine.RoleBuffer},
	{"synch/", "/innodb/hash_table_", engine.RoleBuffer},
	{"synch/", "/innodb/page_", engine.RoleBuffer},
	{"synch/", "/innodb/log", engine.RoleLog}, // log_sys_mutex, log_writer_mutex, log_sn_lock
	{"synch/", "/innodb/fil_", engine.RoleIO},
	{"synch/", "/innodb/dict_", engine.RoleMetadata},
}
