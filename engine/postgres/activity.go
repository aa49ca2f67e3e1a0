package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/model"
)

// activity looks at the sessions on a connection of its own.
type activity struct {
	conn *conn
	stmt *stmt
}

// activityText asks what our sessions do. The function behind the view
// pg_stat_activity does without its joins, and what is the same for all rows is
// found once. Of other users' sessions the server tells no state. Who counts is
// no load.
const activityText = `SELECT state, wait_event_type, wait_event, count(*)::text FROM pg_stat_get_activity(NULL) ` +
	`WHERE datid = %d AND pid NOT IN (%d, %d) AND application_name = (SELECT current_setting('application_name')) ` +
	`AND backend_type = 'client backend' AND state IS NOT NULL GROUP BY 1, 2, 3`

// Activity opens a sampler.
func (d *db) Activity(ctx context.Context) (engine.ActivitySampler, error) {
	c, err := d.connector.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch the sessions: %w", err)
	}
	a := &activity{conn: c}
	if err := a.prepare(ctx, fmt.Sprintf(activityText, d.about.database, c.pg.PID(), d.reader.pid())); err != nil {
		_ = c.Close()
		return nil, fmt.Errorf("watch the sessions: %w", err)
	}
	return a, nil
}

func (a *activity) prepare(ctx context.Context, text string) (err error) {
	a.stmt, err = a.conn.prepare(ctx, text)
	return err
}

// pid is the process that serves the reader's connection, 0 when it is closed.
func (r *reader) pid() uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.conn == nil {
		return 0
	}
	return r.conn.pg.PID()
}

// Source is the view that the figures are known by.
func (a *activity) Source() string { return "pg_stat_activity" }

var errUntracked = errors.New("the server does not tell what its sessions do: track_activities is off")

// Sample tells what the sessions do.
func (a *activity) Sample(ctx context.Context, add func(engine.Doing, int)) error {
	err := a.stmt.QueryValues(ctx, nil, nil, activityTypes, func(row []model.Value) error {
		n, err := strconv.Atoi(string(row[3].Buf()))
		switch d, ok := doing(string(row[0].Buf()), string(row[1].Buf()), string(row[2].Buf())); {
		case err != nil:
			return err
		case string(row[0].Buf()) == "disabled":
			return errUntracked
		case ok:
			add(d, n)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("watch the sessions: %w", err)
	}
	return nil
}

// activityTypes are those of activityText's columns.
var activityTypes = []model.Type{model.String, model.String, model.String, model.String}

// Close closes the connection.
func (a *activity) Close() error { return a.conn.Close() }

// doing reads a session's state. State and wait are not read at one instant: an
// idle session that waits for nothing is between the two, and tells nothing.
func doing(state, kind, event string) (engine.Doing, bool) {
	name := kind + ":" + event
	switch idle := strings.HasPrefix(state, "idle"); {
	case kind == "Client" && event == "ClientRead":
		return engine.Doing{State: engine.Client, Role: engine.RoleClient, Event: state}, true
	case idle && kind == "":
		return engine.Doing{}, false
	case kind == "":
		return engine.Doing{State: engine.Running, Role: engine.RoleCPU}, true
	}
	return engine.Doing{State: engine.Waiting, Role: roleOf(kind, event), Event: name}, true
}

// roleOf is the role of a wait event. Releases have renamed events, but mostly
// in their case and by an ending: before 13 a latch was called WALWriteLock or
// wal_insert, before 17 a sync of the log WALSync.
func roleOf(kind, event string) engine.Role {
	plain := strings.ToLower(strings.ReplaceAll(event, "_", ""))
	if kind == "LWLock" {
		plain = strings.TrimSuffix(plain, "lock")
	}
	for _, r := range roles {
		if r.kind == kind && (r.events == "*" || slices.Contains(strings.Fields(r.events), plain)) {
			return r.role
		}
	}
	return engine.RoleOther
}

// roles are the events of releases 12 to 18, by type, without case and
// underscores; the first that fits counts, "*" is all others of the type.
var roles = []struct {
	kind   string
	role   engine.Role
	events string
}{
	{"Lock", engine.RoleRow, "tuple transactionid spectoken speculativetoken"}, // spectoken from 14 on
	{"Lock", engine.RoleMetadata, "relation object virtualxid page frozenid"},
	{"Lock", engine.RoleBuffer, "extend"}, // a table grows by new pages

	{"LWLock", engine.RoleSnapshot, "procarray xidgen xactslru xactbuffer subtransslru subtransbuffer"},
	{"LWLock", engine.RoleSnapshot, "clog clogcontrol clogtruncation subtrans subtranscontrol"}, // until 12
	{"LWLock", engine.RoleSnapshot, "committs committsslru committsbuffer"},
	{"LWLock", engine.RoleSnapshot, "serializablexacthash serializablefinishedlist serialslru serialbuffer serialcontrol"},
	{"LWLock", engine.RoleRow, "multixactgen multixactoffsetslru multixactmemberslru multixactoffsetbuffer multixactmemberbuffer"},
	{"LWLock", engine.RoleRow, "multixactoffsetcontrol multixactmembercontrol"}, // until 12
	{"LWLock", engine.RoleRow, "predicatelockmanager serializablepredicatelist perxactpredicatelist"},
	{"LWLock", engine.RoleMetadata, "lockmanager lockfastpath relationmapping relcacheinit sinvalread sinvalwrite"},
	{"LWLock", engine.RoleMetadata, "proc"}, // until 12: the fast path
	{"LWLock", engine.RoleBuffer, "buffercontent buffermapping bufferio relationextension"},
	{"LWLock", engine.RoleLog, "walwrite walinsert walbufmapping"},
	{"LWLock", engine.RoleCommit, "syncrep twophasestate"},

	{"BufferPin", engine.RoleBuffer, "*"},

	{"IPC", engine.RoleCommit, "procarraygroupupdate xactgroupupdate syncrep"},
	{"IPC", engine.RoleCommit, "cloggroupupdate"}, // until 12
	{"IPC", engine.RoleBuffer, "bufferio"},        // from 14 on
	{"IPC", engine.RoleIndex, "btreepage"},
	{"IPC", engine.RoleIO, "checkpointstart checkpointdone aioiocompletion"}, // the last from 18 on

	{"IO", engine.RoleLog, "walsync walwrite walread walinitsync walinitwrite walsyncmethodassign"},
	{"IO", engine.RoleIO, "*"},

	{"Client", engine.RoleNetwork, "*"},
}
