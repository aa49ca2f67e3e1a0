package postgres

import (
	"context"
	"testing"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/model"
)

func TestDoing(t *testing.T) {
	for _, c := range []struct {
		name, state, kind, event string
		want                     engine.SessionActivity
		left                     bool // out
	}{
		{name: "on a processor", state: "active", want: engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU}},
		{name: "between statements", state: "idle in transaction", kind: "Client", event: "ClientRead", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "idle in transaction"}},
		{name: "between transactions", state: "idle", kind: "Client", event: "ClientRead", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "idle"}},
		{name: "rows to come", state: "active", kind: "Client", event: "ClientRead", want: engine.SessionActivity{State: engine.Client, Role: engine.RoleClient, Event: "active"}},
		{name: "between two looks", state: "idle", left: true},
		{name: "rows to be read", state: "active", kind: "Client", event: "ClientWrite", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleNetwork, Event: "Client:ClientWrite"}},
		{name: "row", state: "active", kind: "Lock", event: "transactionid", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleRow, Event: "Lock:transactionid"}},
		{name: "unknown", state: "active", kind: "LWLock", event: "Moon", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleOther, Event: "LWLock:Moon"}},
		{name: "unknown type", state: "active", kind: "Moon", event: "Full", want: engine.SessionActivity{State: engine.Waiting, Role: engine.RoleOther, Event: "Moon:Full"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := doing(c.state, c.kind, c.event)
			expect.True(t, ok != c.left && got == c.want, "got", got, ok)
		})
	}
}

func TestRoleOf(t *testing.T) {
	for _, c := range []struct {
		kind  string
		names []string // of all releases
		want  engine.Role
	}{
		{"LWLock", []string{"ProcArrayLock", "ProcArray"}, engine.RoleSnapshot},
		{"LWLock", []string{"CLogControlLock", "XactSLRU"}, engine.RoleSnapshot},
		{"LWLock", []string{"buffer_content", "BufferContent"}, engine.RoleBuffer},
		{"LWLock", []string{"lock_manager", "LockManager"}, engine.RoleMetadata},
		{"LWLock", []string{"WALWriteLock", "WALWrite"}, engine.RoleLog},
		{"LWLock", []string{"wal_insert", "WALInsert"}, engine.RoleLog},
		{"IO", []string{"WALSync", "WalSync"}, engine.RoleLog},
		{"IO", []string{"DataFileRead", "SomethingNew"}, engine.RoleIO},
		{"IPC", []string{"ClogGroupUpdate", "XactGroupUpdate", "ProcArrayGroupUpdate"}, engine.RoleCommit},
		{"IPC", []string{"BufferIO"}, engine.RoleBuffer},
		{"Lock", []string{"transactionid", "tuple"}, engine.RoleRow},
		{"Lock", []string{"relation"}, engine.RoleMetadata},
		{"Lock", []string{"extend"}, engine.RoleBuffer},
		{"BufferPin", []string{"BufferPin"}, engine.RoleBuffer},
		{"Timeout", []string{"SpinDelay"}, engine.RoleOther},
	} {
		for _, name := range c.names {
			expect.Equal(t, roleOf(c.kind, name), c.want, c.kind, name)
		}
	}
}

// blocked runs a statement that is to wait, on a connection of its own.
func blocked(t *testing.T, d *db, text string) (ended <-chan error) {
	t.Helper()
	c := connect(t, d)
	done := make(chan error, 1)
	go func() { done <- c.Exec(context.WithoutCancel(t.Context()), text) }()
	return done
}

func connect(t *testing.T, d *db) *sqlkit.Admin {
	t.Helper()
	c, err := d.Connect(t.Context())
	expect.NoError(t, err)
	t.Cleanup(func() { expect.NoError(t, c.Close()) })
	return c
}

func TestActivity(t *testing.T) {
	d := open(t, config(need.TempDir(t)))
	fill(t, d)
	a, err := d.Activity(t.Context())
	expect.NoError(t, err)
	defer func() { expect.NoError(t, a.Close()) }()
	s := newSession(t, d)
	var r engine.Result
	expect.NoError(t, prepare(t, s, model.Op{Kind: model.Begin}).Stmt.Exec(t.Context(), nil, &r))
	enginetest.AwaitActivity(t, a, engine.Client, engine.RoleClient, 2) // in its transaction, and that for definitions
	expect.NoError(t, prepare(t, s, model.Op{Kind: model.Commit}).Stmt.Exec(t.Context(), nil, &r))

	holder := connect(t, d)
	expect.NoError(t, holder.Exec(t.Context(), `INSERT INTO link VALUES (1, 'a', '', 0, 0)`))
	expect.NoError(t, holder.Exec(t.Context(), `BEGIN; UPDATE link SET version = 1 WHERE "from" = 1`))
	const update = `UPDATE link SET version = version + 1 WHERE "from" = 1`
	one, two := blocked(t, d, update), blocked(t, d, update)
	enginetest.AwaitActivity(t, a, engine.Waiting, engine.RoleRow, 2)
	expect.NoError(t, holder.Exec(t.Context(), "COMMIT"))
	expect.NoError(t, <-one)
	expect.NoError(t, <-two)

	expect.NoError(t, holder.Exec(t.Context(), "BEGIN; LOCK TABLE link IN ACCESS EXCLUSIVE MODE"))
	one = blocked(t, d, "SELECT count(*) FROM link")
	enginetest.AwaitActivity(t, a, engine.Waiting, engine.RoleMetadata, 1)
	expect.NoError(t, holder.Exec(t.Context(), "COMMIT"))
	expect.NoError(t, <-one)
}
