package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/internal/server"
	_ "rumbench/internal/server/servertest" // for all tests of engines
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// Shared is a private server that databases attach to, each with a separate schema:
// cases that neither kill a server nor configure it need not start one each.
type Shared struct {
	config   engine.Config
	endpoint server.Endpoint
	opened   atomic.Int64
}

// Share starts a private server until the test's end, as an engine does for a
// configuration.
func Share(t testing.TB, e engine.Engine, c engine.Config) *Shared {
	t.Helper()
	c.Dir = need.TempDir(t)
	db, err := e.Open(t.Context(), c)
	check(t, err)
	t.Cleanup(func() { Discard(db) })
	at := db.(interface{ Endpoint() server.Endpoint }).Endpoint()
	return &Shared{config: guest(e, c, DSN(e, at)), endpoint: at}
}

// Discard closes a database that no one needs any more. A private server is killed: some
// take seconds to stop.
func Discard(db engine.DB) {
	if private, ok := db.(interface{ Kill() }); ok {
		private.Kill()
	}
	_ = db.Close()
}

// guest returns the configuration that attaches to a private server of a
// configuration: without what only configures the server.
func guest(e engine.Engine, c engine.Config, dsn string) engine.Config {
	own := e.Info().Options
	c.Options = maps.Clone(c.Options)
	maps.DeleteFunc(c.Options, func(name string, _ any) bool {
		return !slices.ContainsFunc(own, func(o engine.Option) bool { return o.Name == name })
	})
	c.Dir, c.Cache, c.Page, c.DirectIO, c.Server = "", 0, 0, nil, engine.ServerConfig{DSN: dsn}
	return c
}

// Config returns the configuration of a new database on the server.
func (s *Shared) Config(schema model.Schema) engine.Config {
	c := s.config
	c.Schema, c.Server.Schema = schema, fmt.Sprint("shared", s.opened.Add(1))
	return c
}

// DSN returns the data source name of a server that an engine can attach to, as its
// superuser.
func DSN(e engine.Engine, at server.Endpoint) string {
	switch kinds := e.Info().Servers; {
	case slices.Contains(kinds, server.Postgres):
		return fmt.Sprintf("host=%s port=%d user=%s dbname=postgres", filepath.Dir(at.Socket), at.Port, at.User)
	case slices.Contains(kinds, server.Tarantool):
		return "unix/:" + at.Socket
	case slices.Contains(kinds, server.Mongod):
		return "mongodb://" + url.PathEscape(at.Socket) + "/"
	}
	return fmt.Sprintf("%s@unix(%s)/", at.User, at.Socket)
}

// AwaitActivity samples until so many sessions do the same.
func AwaitActivity(t *testing.T, a engine.ActivitySampler, state engine.SessionState, role engine.Role, sessions int) {
	t.Helper()
	for {
		n := 0
		check(t, a.Sample(context.Background(), func(d engine.SessionActivity, k int) {
			if d.State == state && d.Role == role {
				n += k
			}
		}))
		if n == sessions {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// testDied: a server that was killed is gone to its sessions, and its death is reported once.
func testDied(t *testing.T, s Suite) {
	db := s.openAt(t, need.TempDir(t))
	check(t, db.CreateTables(t.Context()))
	c, idle := newClient(t, db), newClient(t, db)
	push, count := c.prepare(pushOp), idle.prepare(countOp)
	_, _, err := collect(push, ints(1, 2, 3, 4, 5)...)
	check(t, err)
	mortal := db.(interface{ Died() error })
	check(t, mortal.Died())
	pids, reason := db.(engine.Hosted).Processes()
	failIf(t, len(pids) != 1, "processes %v, %s", pids, reason)
	check(t, syscall.Kill(pids[0], syscall.SIGKILL))
	for mortal.Died() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	gone := func(subject string, run func() error) {
		t.Helper()
		err := run()
		for ; err == nil; err = run() { // a server's processes may end each for itself
			time.Sleep(10 * time.Millisecond)
		}
		failIf(t, engine.ClassOf(err) != engine.Gone, "%s: %v of class %s", subject, err, engine.ClassOf(err))
	}
	for range 2 {
		gone("insert", func() error { _, _, err := collect(push, ints(1, 2, 3, 4, 5)...); return err })
		gone("count", func() error { _, _, err := collect(count); return err })
	}
	gone("counters", func() error { return db.Counters(t.Context(), &engine.Sample{}) })
	gone("session", func() error { _, err := db.Session(t.Context()); return err })
	for subject, err := range map[string]error{"died": mortal.Died(), "close": db.Close()} {
		failIf(t, err == nil || !strings.Contains(err.Error(), "signal: killed"), "%s: %v", subject, err)
	}
	check(t, db.Close())
}

// testJoined: a second process uses the tables of a first by the address of its server, and makes and
// removes nothing.
func testJoined(t *testing.T, s Suite) {
	if len(s.Engine.Info().Servers) == 0 {
		return
	}
	const address = "127.0.0.2" // of this machine, but not the one that private servers have
	config := s.config(need.TempDir(t))
	config.Server.Listen = address
	var knob *engine.KnobError
	if err := s.Engine.Check(config); errors.As(err, &knob) && knob.Knob == "listen" {
		t.Skip(err)
	}
	db, err := s.Engine.Open(t.Context(), config)
	check(t, err)
	t.Cleanup(func() { Discard(db) })
	route, err := db.(engine.Reachable).Reach(t.Context())
	check(t, err)
	dsn := route.DSNs[0]
	failIf(t, !strings.Contains(dsn, address), "it is reached at %q", dsn)

	join := config
	join.Dir, join.Server.Listen, join.Server.DSN, join.Server.Join = "", "", dsn, true
	join.Server.Schema = "absent"
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil || !strings.Contains(err.Error(), "absent"), "joined a schema that does not exist: %v", err)
	join.Server.Schema = config.Server.Schema
	join.Server.DSN = strings.Replace(dsn, "@", "wrong@", 1)
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil, "joined with a wrong password")
	join.Server.DSN, join.Server.Expected = dsn, []string{"another process"}
	_, err = s.Engine.Open(t.Context(), join)
	failIf(t, err == nil || !strings.Contains(err.Error(), "another server"), "joined another server: %v", err)
	join.Server.Expected = route.Servers
	testUnrelated(t, s, &config, dsn)

	check(t, db.CreateTables(context.Background()))
	createIndexes(t, db, s.schema())
	newClient(t, db).do(pushOp, ints(1, 2, 3, 4, 5)...)
	joined, err := s.Engine.Open(t.Context(), join)
	check(t, err)
	failIf(t, joined.CreateTables(context.Background()) == nil, "a process that has joined can make tables")
	newClient(t, joined).do(pushOp, ints(6, 7, 8, 9, 10)...)
	check(t, joined.Close())
	_, rows := newClient(t, db).do(model.Op{Kind: model.Scan, Table: "queue", Index: "queue_v", Columns: []string{"v"}})
	failIf(t, len(rows) != 10, "the first process finds %d rows, want 10", len(rows))
}

// testUnrelated: two servers that do not have the same database are no cluster, and nothing is left on them; two names
// of one server are none either.
func testUnrelated(t *testing.T, s Suite, first *engine.Config, dsn string) {
	t.Helper()
	config := *first
	config.Dir, config.Server.Listen = need.TempDir(t), "127.0.0.3"
	otherDB, err := s.Engine.Open(t.Context(), config)
	check(t, err)
	t.Cleanup(func() { Discard(otherDB) })
	route, err := otherDB.(engine.Reachable).Reach(t.Context())
	check(t, err)
	attached := engine.Config{Storage: first.Storage, Durability: first.Durability, Protocol: first.Protocol,
		Schema: first.Schema, Server: engine.ServerConfig{DSN: dsn, Schema: "of_cluster"}}
	wants := map[string]string{route.DSNs[0]: "does not have the database", dsn: "lead to the same server"}
	for gateway, want := range wants {
		attached.Server.Gateways = []string{gateway}
		_, err = s.Engine.Open(t.Context(), attached)
		failIf(t, err == nil || !strings.Contains(err.Error(), want), "opened: %v, want %q", err, want)
	}
	attached.Server.Gateways = nil
	alone, err := s.Engine.Open(t.Context(), attached) // the schema may not exist
	check(t, err)
	check(t, alone.Close())
}

// Owner is a connection of the owner of a server with SQL.
type Owner interface {
	Exec(ctx context.Context, text string) error
	Query(ctx context.Context, text string, each func(row []string) error) error
}

// Force checks what force does on a server with SQL to a schema guest that exists: only tables that an
// earlier run has left are replaced, with rows and indexes, and only by CreateTables. The user's are
// neither used nor replaced. c attaches to the server, whose owner is there too. insert inserts two
// rows into table sale, which has the index.
func Force(t *testing.T, e engine.Engine, c engine.Config, owner Owner, insert model.Op, row []any,
	index string) {
	t.Helper()
	ctx := t.Context()
	ask := func(query, want string) {
		t.Helper()
		var got []string
		check(t, owner.Query(ctx, query, func(row []string) error { got = append(got, row[0]); return nil }))
		failIf(t, strings.Join(got, " ") != want, "%s: %q, want %q", query, got, want)
	}
	for _, text := range []string{"CREATE SCHEMA guest", "CREATE TABLE guest.sale (a int)",
		"CREATE TABLE guest.other (a int)", "INSERT INTO guest.other VALUES (8)"} {
		check(t, owner.Exec(ctx, text))
	}
	_, err := e.Open(ctx, c)
	failIf(t, err == nil || strings.Contains(hint.Of(err), "--force"), "a schema of the user's: %v; hint %q", err,
		hint.Of(err))
	c.Server.Force = true
	d := openConfig(t, e, c)
	_, err = newClient(t, d).s.Prepare(ctx, &insert)
	for subject, err := range map[string]error{"used": err, "changed": d.CreateIndexes(ctx, "sale", index),
		"cleared": d.ClearTable(ctx, "sale"), "replaced": d.CreateTables(ctx)} {
		failIf(t, err == nil || !strings.Contains(err.Error(), "sale exists, and rumbench did not make it") ||
			strings.Contains(hint.Of(err), "--force"), "a table of the user's was %s: %v; hint %q", subject, err, hint.Of(err))
	}
	check(t, owner.Exec(ctx, "DROP TABLE guest.sale"))
	const rows, tables = "SELECT COUNT(*) FROM guest.sale",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'guest'"
	fill := func(d engine.DB) {
		c := newClient(t, d)
		c.do(insert, Values(append(append([]any{}, row...), row...))...)
		check(t, c.s.Close())
		ask(rows, "2")
	}
	check(t, d.CreateTables(ctx))
	check(t, d.CreateIndexes(ctx, "sale", index))
	fill(d)
	check(t, d.CreateTables(ctx)) // anew
	ask(rows, "0")
	check(t, d.Close())
	ask(tables, "other")

	// Steps on tables that another run has made leave them.
	first := openConfig(t, e, c)
	check(t, first.CreateTables(ctx))
	check(t, first.CreateIndexes(ctx, "sale", index))
	second := openConfig(t, e, c)
	fill(second)
	check(t, second.Close())
	ask(rows, "2")
	third := openConfig(t, e, c)
	check(t, third.CreateTables(ctx))
	_, err = newClient(t, third).s.Prepare(ctx,
		&model.Op{Kind: model.Scan, Table: "sale", Index: index, Columns: []string{"id"}})
	failIf(t, err == nil, "an index of a table that was replaced is there")
	check(t, third.CreateIndexes(ctx, "sale", index))
	check(t, third.Close())
	ask("SELECT a FROM guest.other", "8")
}
