package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/expect"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// hosted returns a server that is not an engine's, with a connection of its owner's, in whose schema is
// something precious. The tests share the server, and what they make there is dropped.
func hosted(t *testing.T) (*server.Server, *sqlkit.Admin) {
	t.Helper()
	needServer(t)
	if host == nil {
		dir, err := os.MkdirTemp("", "hosted")
		expect.NoError(t, err)
		expect.NoError(t, os.Chmod(dir, 0o755)) // the server runs as another user
		host, err = server.Start(t.Context(), server.Config{
			Kind: server.Postgres, Source: server.Source{Binary: program()}, Dir: dir, Ready: traits.Ready,
			Settings: []server.Setting{{Name: "synchronous_commit", Value: "on"}, {Name: "fsync", Value: "off"}},
		})
		expect.NoError(t, err)
	}
	end, err := traits.Reach("", host.Endpoint(), serverkit.NewHost("").Dial)
	expect.NoError(t, err)
	owner, err := sqlkit.Connect(t.Context(), end.Connect, newDialect())
	expect.NoError(t, err)
	t.Cleanup(func() {
		for _, text := range []string{"DROP SCHEMA IF EXISTS guest, precious CASCADE; DROP TABLE IF EXISTS public.sale; " +
			"DROP OWNED BY bench CASCADE; DROP ROLE bench", "DROP DATABASE IF EXISTS latin", "DROP DATABASE IF EXISTS more"} {
			expect.NoError(t, owner.Exec(context.Background(), text))
		}
		expect.NoError(t, owner.Close())
	})
	expect.NoError(t, owner.Exec(t.Context(), `CREATE SCHEMA precious; CREATE TABLE precious.sale (a int); INSERT INTO precious.sale VALUES (7);
		CREATE ROLE bench LOGIN; GRANT CREATE ON DATABASE postgres TO bench`))
	return host, owner
}

// host is the server of hosted, which ends with the tests.
var host *server.Server

// tests are those of the package.
type tests struct{ *testing.M }

func (m tests) Run() int {
	defer func() {
		if host != nil {
			_ = host.Stop()
			_ = os.RemoveAll(host.Dir)
		}
	}()
	return m.M.Run()
}

// guest is a configuration that attaches to the server.
func guest(s *server.Server) engine.Config {
	e := s.Endpoint()
	return engine.Config{
		Durability: model.DurabilityProcess, Schema: schema(),
		Server: engine.ServerConfig{DSN: fmt.Sprintf("host=%s port=%d user=%s dbname=postgres", filepath.Dir(e.Socket), e.Port, e.User), Schema: "guest"},
	}
}

const everything = `SELECT n.nspname || '.' || c.relname || ' ' || pg_relation_filenode(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE n.nspname NOT LIKE 'pg\_%' AND n.nspname <> 'information_schema' ORDER BY 1`

// What is attached to is left as it was: the schema is made and removed, one
// that exists is refused, and nothing is stopped.
func TestAttached(t *testing.T) {
	s, owner := hosted(t)
	before := answer(t, owner, everything)
	configured := answer(t, owner, "SELECT name || ' ' || setting FROM pg_settings WHERE name <> 'application_name' ORDER BY 1")
	d := open(t, guest(s))
	fill(t, d)
	prepare(t, newSession(t, d), enginetest.SaleInsert(2)).OK(saleRows(0, 2)...)
	expect.Equal(t, answer(t, owner, "SELECT count(*) FROM guest.sale"), "2", "rows")
	expect.Equal(t, answer(t, owner, "SELECT a FROM precious.sale"), "7")
	if pids, reason := d.Processes(); len(pids) != 1 || pids[0] != s.PID() || d.DataDir() != s.DataDir() || d.Died() != nil {
		t.Errorf("processes %v %s, data in %q", pids, reason, d.DataDir())
	}
	if got := settings(t, d); got["durability"] != "process" {
		t.Errorf("%v", got)
	}
	actions, err := d.Settle(t.Context())
	expect.NoError(t, err)
	sizes, err := d.Sizes(t.Context())
	expect.NoError(t, err)
	expect.True(t, len(actions) == 3 && len(sizes) == 7 && sizes[len(sizes)-1].Bytes <= 1<<20, actions, sizes)
	_, err = Engine{}.Open(t.Context(), guest(s))
	expect.True(t, err != nil && strings.Contains(err.Error(), "has a schema guest already (made by rumbench, process ") && strings.Contains(hint.Of(err), "--force"), err, hint.Of(err))
	expect.NoError(t, d.Close())
	expect.NoError(t, d.Close())
	expect.Equal(t, answer(t, owner, everything), before, "what the user has changed")
	expect.Equal(t, answer(t, owner, "SELECT name || ' ' || setting FROM pg_settings WHERE name <> 'application_name' ORDER BY 1"), configured, "the server was configured")
}

// With force a schema may exist: only tables that an earlier run has left are replaced, and
// only by CreateTables. The user's are neither used nor replaced.
func TestForce(t *testing.T) {
	s, owner := hosted(t)
	enginetest.Force(t, Engine{}, guest(s), owner, enginetest.SaleInsert(2), enginetest.SaleRow(1), "market")
}

// A schema of ours stays if others have made more than tables in it.
func TestOthersInOurSchema(t *testing.T) {
	s, owner := hosted(t)
	d := open(t, guest(s))
	fill(t, d)
	expect.NoError(t, owner.Exec(t.Context(), "CREATE FUNCTION guest.theirs() RETURNS int LANGUAGE sql AS 'SELECT 1'"))
	expect.NoError(t, d.Close())
	expect.Equal(t, answer(t, owner, "SELECT guest.theirs()"), "1")
	expect.Equal(t, answer(t, owner, "SELECT count(*) FROM pg_tables WHERE schemaname = 'guest'"), "0",
		"tables are left")
}

// A user who may do no more than make a schema can run, too.
func TestUnprivileged(t *testing.T) {
	s, owner := hosted(t)
	c := guest(s)
	c.Server.DSN = strings.Replace(c.Server.DSN, "user=postgres", "user=bench", 1)
	d := open(t, c)
	fill(t, d)
	prepare(t, newSession(t, d), enginetest.SaleInsert(2)).OK(saleRows(0, 2)...)
	if p, ok := points(t, d)[engine.Sessions]; ok {
		t.Errorf("%+v, though the server hides the sessions of others", p)
	}
	actions, err := d.Settle(t.Context())
	expect.NoError(t, err)
	if last := actions[len(actions)-1]; last.Name != "checkpoint" || !strings.HasPrefix(last.Detail, "not done") {
		t.Errorf("%+v", last)
	}
	settings(t, d)
	expect.NoError(t, d.Close())
	expect.NoError(t, owner.Exec(t.Context(), "REVOKE CREATE ON DATABASE postgres FROM bench"))
	if _, err := (Engine{}).Open(t.Context(), c); err == nil || !strings.Contains(hint.Of(err), "GRANT CREATE") {
		t.Errorf("%v; hint %q", err, hint.Of(err))
	}
}

// Another durability than the server's is refused, and the schema is not made.
func TestOtherDurability(t *testing.T) {
	s, owner := hosted(t)
	c := guest(s)
	c.Durability = model.DurabilityOS
	_, err := Engine{}.Open(t.Context(), c)
	var knob *engine.KnobError
	expect.True(t, errors.As(err, &knob) && knob.Knob == "durability" && strings.Contains(err.Error(), "set durability: process"), err)
	expect.NoError(t, owner.Exec(t.Context(), "ALTER ROLE bench SET synchronous_commit = off"))
	c.Durability = model.DurabilityNone
	c.Server.DSN = strings.Replace(c.Server.DSN, "user=postgres", "user=bench", 1)
	d := open(t, c) // what is in force for the role counts
	expect.NoError(t, d.Close())
	expect.Equal(t, answer(t, owner, "SELECT count(*) FROM pg_namespace WHERE nspname = 'guest'"), "0",
		"a schema was left")
}

// The password of the port is asked for, and the server's process is found
// through it, too.
func TestPort(t *testing.T) {
	s, owner := hosted(t)
	e := s.Endpoint()
	for password, ok := range map[string]bool{"wrong": false, e.Password: true} {
		c := guest(s)
		c.Server.DSN = fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres", e.User, password, e.Port)
		db, err := Engine{}.Open(t.Context(), c)
		expect.Equal(t, (err == nil), ok, "password", password, err)
		if err != nil {
			expect.True(t, engine.ClassOf(err) == engine.Fatal && strings.Contains(hint.Of(err), "password"),
				err, "hint", hint.Of(err))
			continue
		}
		if pids, reason := db.(engine.Hosted).Processes(); len(pids) != 1 || pids[0] != s.PID() {
			t.Errorf("%v %s", pids, reason)
		}
		expect.NoError(t, db.Close())
	}
	expect.NoError(t, owner.Exec(t.Context(), "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0"))
	c := guest(s)
	c.Server.DSN = strings.Replace(c.Server.DSN, "dbname=postgres", "dbname=latin", 1)
	expect.Refused((Engine{}).Open(t.Context(), c))(t, "encoding LATIN1")
	c.Server.DSN = strings.Replace(c.Server.DSN, "dbname=latin", "dbname=none", 1)
	if _, err := (Engine{}).Open(t.Context(), c); err == nil || !strings.Contains(hint.Of(err), "must exist") {
		t.Error(err)
	}
	c.Server.DSN = "host=/no/such/directory user=me"
	if _, err := (Engine{}).Open(t.Context(), c); engine.ClassOf(err) != engine.Gone {
		t.Error(err)
	}
}

func TestWatch(t *testing.T) {
	s, owner := hosted(t)
	expect.NoError(t, owner.Exec(t.Context(), "CREATE INDEX shiny ON precious.sale (a)"))
	w, err := Engine{}.Watch(t.Context(), guest(s).Server.DSN)
	expect.NoError(t, err)
	defer w.Close()
	got := points(t, w)
	for _, key := range []string{
		engine.BytesWritten, engine.LogBytes, engine.Commits, engine.Sessions, engine.SessionsActive, engine.SessionsBlocked, engine.CheckpointAge, "postgres.sessions.open", `postgres.database.pages_read{database="postgres"}`, `postgres.database.commits{database="postgres"}`,
		`postgres.table.rows_inserted{schema="precious",table="sale"}`, `postgres.index.scans{index="shiny",schema="precious"}`,
	} {
		if _, ok := got[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
	expect.NoError(t, owner.Exec(t.Context(), "DROP TABLE precious.sale"))
	expect.NoError(t, owner.Exec(t.Context(), "CREATE DATABASE more"))
	got = points(t, w)
	if _, ok := got[`postgres.database.commits{database="more"}`]; !ok {
		t.Error("a new database is not reported")
	}
	for key := range got {
		expect.True(t, !strings.Contains(key, "precious"), key, "is reported for a table that is gone")
	}
	if pids, reason := w.Processes(); len(pids) != 1 || pids[0] != s.PID() || w.DataDir() != s.DataDir() {
		t.Errorf("processes %v %s, data in %q", pids, reason, w.DataDir())
	}
	expect.NoError(t, w.Close())
	expect.NoError(t, w.Close())
	expect.Equal(t, engine.ClassOf(w.Counters(context.Background(), &engine.Sample{})), engine.Gone)
	expect.Refused((Engine{}).Watch(t.Context(), "nonsense"))(t, "", "nonsense was accepted")
}

// bouncer is a configuration that attaches through PgBouncer.
func bouncer(t *testing.T, s *server.Server, mode, settings string) engine.Config {
	t.Helper()
	c := guest(s)
	port := enginetest.PgBouncer(t, s.Endpoint(), mode, settings)
	c.Server.DSN = fmt.Sprintf("postgres://bench@127.0.0.1:%d/postgres", port)
	return c
}

// A pooler that keeps sessions works, whether it ignores parameters of connections or
// refuses them; the user's tables of the same names are not touched, also with force.
func TestPooler(t *testing.T) {
	s, owner := hosted(t)
	expect.NoError(t, owner.Exec(t.Context(), "CREATE TABLE public.sale (id int, precious text); INSERT INTO public.sale VALUES (1, 'mine')"))
	before := answer(t, owner, everything)
	for _, ignored := range []string{"", "ignore_startup_parameters = search_path,extra_float_digits,default_transaction_isolation"} {
		for _, protocol := range engine.Protocols() {
			for _, force := range []bool{false, true} {
				c := bouncer(t, s, "session", ignored)
				c.Protocol, c.Server.Force, c.Isolation = protocol, force, model.RepeatableRead
				d := open(t, c)
				fill(t, d)
				prepare(t, newSession(t, d), enginetest.SaleInsert(2)).OK(saleRows(0, 2)...)
				expect.Equal(t, answer(t, owner, "SELECT count(*) FROM guest.sale"), "2", "rows in our table")
				expect.Equal(t, settings(t, d)["isolation"], "repeatable read", "isolation")
				expect.NoError(t, d.Close())
				expect.Equal(t, answer(t, owner, everything), before, "what the user has changed")
			}
		}
	}
	expect.Equal(t, answer(t, owner, "SELECT string_agg(precious, ' ') FROM public.sale"), "mine",
		"the user's table has")
}

// A pooler that lends sessions for a transaction is refused, before a schema is made and
// before a setting gets into a session that other clients use.
func TestTransactionPooling(t *testing.T) {
	s, owner := hosted(t)
	before := answer(t, owner, everything)
	for mode, want := range map[string]string{"transaction": "gives each transaction another session", "statement": "not allowed in statement pooling mode"} {
		c := bouncer(t, s, mode, "ignore_startup_parameters = search_path,extra_float_digits")
		_, err := Engine{}.Open(t.Context(), c)
		expect.True(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(hint.Of(err), "PgBouncer"),
			mode, err, "hint", hint.Of(err))
		expect.Equal(t, answer(t, owner, everything), before, mode, "what the user has changed")
		other, err := pgwire.ParseDSN(c.Server.DSN, serverkit.NewHost("").Dial)
		expect.NoError(t, err)
		user, err := sqlkit.Connect(t.Context(), other.Connect, newDialect())
		expect.NoError(t, err)
		expect.Equal(t, answer(t, user, "SELECT current_schema() || ' ' || current_setting('search_path')"), `public "$user", public`, mode)
		expect.NoError(t, user.Close())
	}
}

// A pool with fewer sessions than are wanted is reported with the pooler's setting.
func TestSmallPool(t *testing.T) {
	s, _ := hosted(t)
	c := bouncer(t, s, "session", "default_pool_size = 4\nquery_wait_timeout = 2")
	d := open(t, c)
	var err error
	for n := 0; n < 9 && err == nil; n++ {
		_, err = d.Session(t.Context())
	}
	expect.True(t, err != nil && strings.Contains(hint.Of(err), "default_pool_size"), err, "hint", hint.Of(err))
}

// Connections that a proxy or the server ends because they are idle are opened again: those
// that are used between steps.
func TestIdleConnections(t *testing.T) {
	s, owner := hosted(t)
	for _, way := range []string{"haproxy", "server"} {
		c := guest(s)
		if way == "haproxy" {
			e := s.Endpoint()
			c.Server.DSN = fmt.Sprintf("postgres://%s:%s@127.0.0.1:%d/postgres", e.User, e.Password, enginetest.HAProxy(t, e, "4s"))
		}
		d := open(t, c)
		fill(t, d)
		prepare(t, newSession(t, d), enginetest.SaleInsert(2)).OK(saleRows(0, 2)...)
		pid := answer(t, d.Admin(), pidText)
		if way == "server" {
			answer(t, owner, "SELECT pg_terminate_backend("+pid+")")
		}
		for answer(t, owner, "SELECT count(*) FROM pg_stat_activity WHERE pid = "+pid) != "0" {
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(time.Second) // a connection that was just used is not tried
		plan, err := d.Explain(t.Context(), &model.Op{Kind: model.Get, Table: "sale", Columns: []string{"id"}})
		expect.True(t, err == nil && len(plan.Access) == 1, way, plan, err)
		expect.NoError(t, d.Counters(t.Context(), &engine.Sample{})) // their connection is idle for longer
		expect.NoError(t, d.Close())
	}
}

// A server that falls silent while a database is opened is an error.
func TestSilent(t *testing.T) {
	needServer(t)
	enginetest.Silent(t, Engine{}, config(""), func(port int) string {
		return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", port)
	})
}
