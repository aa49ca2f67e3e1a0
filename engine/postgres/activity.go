package postgres

import (
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

// activityText queries the activity of our sessions. It uses the function behind the view
// pg_stat_activity, without the view's joins; values that are the same for all rows are
// determined once. The server hides the state of other users' sessions. The session that
// samples is not counted as load.
const activityText = `SELECT state, wait_event_type, wait_event, count(*) FROM pg_stat_get_activity(NULL) ` +
	`WHERE datid = %d AND pid NOT IN (%d, %d) AND application_name = (SELECT current_setting('application_name')) ` +
	`AND backend_type = 'client backend' AND state IS NOT NULL GROUP BY 1, 2, 3`

// processText queries the processes of the same sessions.
const processText = `SELECT pid FROM pg_stat_get_activity(NULL) WHERE datid = %d AND pid NOT IN (%d, %d) ` +
	`AND application_name = (SELECT current_setting('application_name')) AND backend_type = 'client backend'`

func (d *db) Activity(ctx context.Context) (engine.ActivitySampler, error) {
	return d.Sampler(ctx, func(conn, counters *sqlkit.Admin) (look serverkit.Look, err error) {
		own, err := conn.Number(ctx, pidText)
		if err != nil {
			return look, err
		}
		other, err := counters.Number(ctx, pidText)
		if err != nil {
			return look, err
		}
		stmt, err := conn.Prepare(ctx, fmt.Sprintf(activityText, d.about.database, int(own), int(other)))
		look.From, look.Threads = "pg_stat_activity", fmt.Sprintf(processText, d.about.database, int(own), int(other))
		d.watching.Store(conn)
		look.Take = func(ctx context.Context, add func(engine.SessionActivity, int)) error {
			d.own.looks.Add(1)
			return conn.Use(ctx, func(sqlkit.Conn) error {
				return stmt.Query(ctx, nil, activityTypes, func(row []model.Value) error { return noteDoing(row, add) })
			})
		}
		return look, err
	})
}

// pidText queries the process that serves a connection.
const pidText = "SELECT pg_backend_pid()"

var errUntracked = errors.New("the server does not show what its sessions do: track_activities is off")

// activityTypes are those of activityText's columns.
var activityTypes = []model.Type{model.String, model.String, model.String, model.Int}

func noteDoing(row []model.Value, add func(engine.SessionActivity, int)) error {
	state := string(row[0].Buf())
	if state == "disabled" {
		return errUntracked
	}
	if d, ok := doing(state, string(row[1].Buf()), string(row[2].Buf())); ok {
		add(d, int(row[3].Int()))
	}
	return nil
}

// doing returns the activity of a session from its state. State and wait are not read at the same
// instant: an idle session that waits for nothing is between the two, and is left out.
func doing(state, kind, event string) (engine.SessionActivity, bool) {
	name := kind + ":" + event
	switch idle := strings.HasPrefix(state, "idle"); {
	case kind == "Client" && event == "ClientRead":
		return engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: state}, true
	case idle && kind == "":
		return engine.SessionActivity{}, false
	case kind == "":
		return engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU}, true
	}
	return engine.SessionActivity{State: engine.Waiting, Role: roleOf(kind, event), Event: name}, true
}

// roleOf returns the role of a wait event. Releases have renamed events, but mostly in
// case and suffix: before 13 a latch was called WALWriteLock or wal_insert, before 17 a
// sync of the log WALSync.
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

// roles are the events of releases 12 to 18, by type, without case and underscores; the
// first match counts, "*" matches all others of the type.
var roles = []struct {
	kind   string
	role   engine.Role
	events string
}{
	{"Lock", engine.RoleRow, "tuple transactionid spectoken speculativetoken"}, // spectoken in 14 and later
	{"Lock", engine.RoleMetadata, "relation object virtualxid page frozenid"},
	{"Lock", engine.RoleBuffer, "extend"}, // a table is extended by new pages

	{"LWLock", engine.RoleSnapshot, "procarray xidgen xactslru xactbuffer subtransslru subtransbuffer"},
	{"LWLock", engine.RoleSnapshot, "clog clogcontrol clogtruncation subtrans subtranscontrol"}, // until 12
	{"LWLock", engine.RoleSnapshot, "committs committsslru committsbuffer"},
	{"LWLock", engine.RoleSnapshot, "serializablexacthash serializablefinishedlist serialslru serialbuffer serialcontrol"},
	{"LWLock", engine.RoleRow, "multixactgen multixactoffsetslru multixactmemberslru multixactoffsetbuffer " +
		"multixactmemberbuffer"},
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
	{"IPC", engine.RoleBuffer, "bufferio"},        // in 14 and later
	{"IPC", engine.RoleIndex, "btreepage"},
	{"IPC", engine.RoleIO, "checkpointstart checkpointdone aioiocompletion"}, // the last in 18 and later

	{"IO", engine.RoleLog, "walsync walwrite walread walinitsync walinitwrite walsyncmethodassign"},
	{"IO", engine.RoleIO, "*"},

	{"Client", engine.RoleNetwork, "*"},
}
