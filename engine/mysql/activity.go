package mysql

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
)

// activity observes the sessions on its own connection.
type activity struct {
	conn      *sqlkit.Admin
	sessions  string // the query
	waits     bool   // events_waits_current has the latches that sessions wait for
	watched   bool   // all latches are watched: a session that does not wait runs
	rowLocks  bool   // InnoDB counts the sessions that wait for row locks
	lockWaits string // the query for that count
	current   map[string]wait
	seen      []seen
}

// wait is the event that a thread waits for; the innermost of nested events is the last.
type wait struct {
	event uint64
	name  string
}

// seen counts the sessions that do the same.
type seen struct {
	engine.SessionActivity
	sessions int
}

func (d *db) Activity(ctx context.Context) (engine.ActivitySampler, error) {
	return d.Sampler(ctx, func(conn, counters *sqlkit.Admin) (serverkit.Look, error) {
		d.status.observe(conn)
		a := &activity{conn: conn, rowLocks: d.storage == innodb,
			lockWaits: d.version.status("global") + lockWaiters, current: map[string]wait{}}
		number, err := counters.Value(ctx, "SELECT CONNECTION_ID()")
		if err == nil {
			err = a.choose(ctx, number)
		}
		look := serverkit.Look{From: "the process list", Take: a.sample, Threads: fmt.Sprintf(threadNumbers, number)}
		if a.waits {
			look.From = "performance_schema"
		}
		// MySQL has them elsewhere, if that is enabled
		if _, err := conn.Value(ctx, "SELECT COUNT(*) FROM ("+look.Threads+") t"); err != nil {
			look.Threads = fmt.Sprintf(threadNumbersOfMySQL, number)
			if !a.waits {
				look.Threads = ""
			}
		}
		if a.rowLocks {
			look.From += " and InnoDB’s count of waits for rows"
		}
		return look, err
	})
}

// The two places that list sessions. The second is read without a lock that sessions
// need, and exists when performance_schema is on.
const (
	processList = "SELECT ID, COMMAND, STATE FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID NOT IN " +
		"(CONNECTION_ID(), %s)"
	threadList = "SELECT THREAD_ID, PROCESSLIST_COMMAND, PROCESSLIST_STATE FROM performance_schema.threads" +
		" WHERE PROCESSLIST_DB = DATABASE() AND PROCESSLIST_ID NOT IN (CONNECTION_ID(), %s)"
	threadNumbers = "SELECT TID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID NOT IN " +
		"(CONNECTION_ID(), %s)"
	threadNumbersOfMySQL = "SELECT THREAD_OS_ID FROM performance_schema.threads" +
		" WHERE PROCESSLIST_DB = DATABASE() AND PROCESSLIST_ID NOT IN (CONNECTION_ID(), %s)"
	currentWaits = "SELECT THREAD_ID, EVENT_ID, EVENT_NAME FROM performance_schema.events_waits_current WHERE " +
		"END_EVENT_ID IS NULL"
	lockWaiters   = " WHERE VARIABLE_NAME = 'Innodb_row_lock_current_waits'"
	waitsRecorded = "SELECT COUNT(*) FROM performance_schema.setup_consumers WHERE ENABLED = 'YES'" +
		" AND NAME IN ('events_waits_current', 'thread_instrumentation', 'global_instrumentation')"
	latchesMissed = "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE ENABLED = 'NO'" +
		" AND NAME LIKE 'wait/synch/%' AND NAME NOT LIKE 'wait/synch/cond/%'"
)

// choose finds out which events the server counts.
func (a *activity) choose(ctx context.Context, counters string) error {
	a.sessions = fmt.Sprintf(processList, counters)
	if on, err := a.conn.Value(ctx, "SELECT @@performance_schema"); err != nil || on != "1" {
		return err
	}
	recorded, err := a.conn.Value(ctx, waitsRecorded)
	if err != nil || recorded != "3" {
		return nil // reading there may be forbidden
	}
	missed, err := a.conn.Value(ctx, latchesMissed)
	if err != nil {
		return nil
	}
	a.sessions = fmt.Sprintf(threadList, counters)
	a.waits, a.watched = true, missed == "0"
	return nil
}

// sample reports the activity of the sessions. The lists are read one after the other: a
// session may have moved on in between.
func (a *activity) sample(ctx context.Context, add func(engine.SessionActivity, int)) error {
	a.seen = a.seen[:0]
	clear(a.current)
	if a.waits {
		if err := a.conn.Query(ctx, currentWaits, a.noteWait); err != nil {
			return err
		}
	}
	if err := a.conn.Query(ctx, a.sessions, a.noteSession); err != nil {
		return err
	}
	if a.rowLocks {
		n, err := a.conn.Number(ctx, a.lockWaits)
		if err != nil {
			return err
		}
		a.lockRows(int(n))
	}
	for _, s := range a.seen {
		if s.sessions > 0 {
			add(s.SessionActivity, s.sessions)
		}
	}
	return nil
}

func (a *activity) noteWait(row []string) error {
	thread := row[0]
	id, err := strconv.ParseUint(row[1], 10, 64)
	if err == nil && id >= a.current[thread].event {
		a.current[thread] = wait{id, row[2]}
	}
	return err
}

func (a *activity) noteSession(row []string) error {
	if d, ok := doing(row[1], row[2], a.current[row[0]].name, a.watched); ok {
		a.count(d, 1)
	}
	return nil
}

func (a *activity) count(d engine.SessionActivity, sessions int) {
	for i := range a.seen {
		if a.seen[i].SessionActivity == d {
			a.seen[i].sessions += sessions
			return
		}
	}
	a.seen = append(a.seen, seen{d, sessions})
}

// rowStages are the stages in which statements meet locked rows, the likeliest first.
var rowStages = []string{"updating", "statistics", "sending data", "executing", "update", "deleting from main table",
	"init for update"}

// lockRows counts n sessions as waiting for rows. InnoDB counts them; in the list they
// look as if they worked.
func (a *activity) lockRows(n int) {
	likely := func(s seen) int {
		if i := slices.Index(rowStages, strings.ToLower(s.Event)); i >= 0 {
			return i
		}
		return len(rowStages)
	}
	slices.SortStableFunc(a.seen, func(x, y seen) int { return cmp.Compare(likely(x), likely(y)) })
	moved := 0
	for i := range a.seen {
		s := &a.seen[i]
		if s.Role == engine.RoleExecuting || s.Role == engine.RoleCPU {
			k := min(n-moved, s.sessions)
			s.sessions -= k
			moved += k
		}
	}
	if moved > 0 {
		a.count(engine.SessionActivity{State: engine.Waiting, Role: engine.RoleRow, Event: "InnoDB row lock"}, moved)
	}
}

// doing returns the activity of a session from its entry in the list. Whether a session
// in a statement is on a CPU is known only if every latch of the server is watched.
func doing(command, state, wait string, watched bool) (engine.SessionActivity, bool) {
	stage := strings.ToLower(state)
	switch {
	case command == "" || command == "Connect" || command == "Daemon":
		return engine.SessionActivity{}, false // it is being set up, or belongs to no client
	case command == "Sleep" || clientStages[stage]:
		return engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: command}, true
	}
	if role := waitRole(wait); role != "" && role != engine.RoleClient {
		return engine.SessionActivity{State: engine.Waiting, Role: role, Event: strings.TrimPrefix(wait, "wait/")}, true
	}
	d := engine.SessionActivity{State: engine.Running, Role: engine.RoleExecuting, Event: state}
	switch {
	case strings.HasPrefix(stage, "waiting"):
		d.State, d.Role = engine.Waiting, engine.RoleOther
	case watched:
		d.Role = engine.RoleCPU
	}
	d.Role = cmp.Or(stages[stage], d.Role)
	return d, true
}

// clientStages are those in which a statement waits for its client.
var clientStages = map[string]bool{"reading from net": true, "receiving from client": true}

// stages are the roles of the stages of a statement, in lower case; all others mean that the
// statement is being executed. The names are those of both servers, MariaDB 10.2 to 11 and MySQL
// 5.6 to 9. A commit both writes and waits, and no stage distinguishes the two.
var stages = map[string]engine.Role{
	"waiting for row lock": engine.RoleRow, // MyRocks
	"waiting for table":    engine.RoleMetadata, "waiting for tables": engine.RoleMetadata,
	"waiting for table flush":         engine.RoleMetadata,
	"waiting for table metadata lock": engine.RoleMetadata, "waiting for table level lock": engine.RoleMetadata,
	"waiting for schema metadata lock":           engine.RoleMetadata,
	"waiting for stored function metadata lock":  engine.RoleMetadata,
	"waiting for stored procedure metadata lock": engine.RoleMetadata,
	"waiting for trigger metadata lock":          engine.RoleMetadata,
	"waiting for event metadata lock":            engine.RoleMetadata,
	"waiting for tablespace metadata lock":       engine.RoleMetadata,
	"waiting for global read lock":               engine.RoleMetadata, "waiting for backup lock": engine.RoleMetadata,
	"waiting for global metadata lock": engine.RoleMetadata,
	"waiting for commit lock":          engine.RoleCommit, "waiting for handler commit": engine.RoleCommit,
	"commit": engine.RoleCommit,
	"waiting for prior transaction to commit": engine.RoleCommit,
	"waiting for semi-sync ack from slave":    engine.RoleCommit,
	"waiting for semi-sync ack from replica":  engine.RoleCommit, "waiting for semisync ack from slave": engine.RoleCommit,
	"waiting for other threads to commit": engine.RoleCommit, "waiting for group commit": engine.RoleCommit,
	"preparing for group commit": engine.RoleCommit,
	"writing to net":             engine.RoleNetwork, "sending to client": engine.RoleNetwork,
}
