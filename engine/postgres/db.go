package postgres

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// db is an open database: the part it shares with other servers is serverkit's.
type db struct {
	*serverkit.DB
	*setup
	about about
	own   own

	watching atomic.Pointer[sqlkit.Admin] // looks at the sessions; nil: nobody does
}

// own counts our own statements, but for a reader's. Looks at the sessions read no table, so
// the server reports their transactions only with others; reported is the number of those looks.
type own struct{ looks, reported, reports atomic.Int64 }

// about is the information that a server reports about itself.
type about struct {
	release  int    // such as 150018
	database uint32 // the number of the current database
}

// traits are the features that distinguish the server.
var traits = &serverkit.Traits{
	Programs: []string{"postgres", "postmaster"},
	Mark:     "PG_VERSION",
	Schemas: serverkit.Schemas{
		Find: "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = {text}",
		Tables: "SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n " +
			"ON n.oid = c.relnamespace WHERE n.nspname = {text} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')",
		Create: "CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS {comment}",
		Drop:   "DROP SCHEMA IF EXISTS {name}",
		Used:   func(err error) bool { return pgwire.HasState(err, pgwire.Dependent) },
		Hurry:  "SET lock_timeout = '1min'",
		Exists: func(err error) bool { return pgwire.HasState(err, pgwire.DuplicateSchema) },
	},
	Serving: pidText,
	Identity: "SELECT extract(epoch FROM pg_postmaster_start_time()), current_setting('port'), " +
		"current_setting('server_version')",
	Dialect: newDialect(),
	Reach: func(dsn string, e server.Endpoint, dial wire.Dial) (serverkit.Connector, error) {
		if dsn != "" {
			return pgwire.ParseDSN(dsn, dial)
		}
		return pgwire.Socket(e.User, "postgres",
			func(ctx context.Context) (net.Conn, error) { return dial(ctx, "unix", e.Socket) })
	},
	Remote: func(e server.Endpoint) string {
		u := url.URL{Scheme: "postgres", User: url.UserPassword(e.User, e.Password), Path: "postgres",
			Host: net.JoinHostPort(e.Address, strconv.Itoa(e.Port)), RawQuery: "sslmode=disable"}
		return u.String()
	},
}

func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{DB: serverkit.New(s.Setup, traits), setup: s}
	if err := d.Open(ctx, d.identify); err != nil {
		return nil, err
	}
	return d, nil
}

// identify asks the server for its identity and prepares the connections for it.
func (d *db) identify(ctx context.Context, first *sqlkit.Admin) (c serverkit.Client, err error) {
	if d.about, err = ask(ctx, first); err != nil {
		return c, err
	}
	if err := d.durability(ctx, first); err != nil {
		return c, err
	}
	dialect := newDialect()
	dialect.AfterTable = d.afterTable
	return serverkit.Client{Dialect: dialect, Definitions: d.definitions(dialect), Class: d.classes, Counters: d.counters,
		Structure: structureOf, Setup: []string{d.sessionSetup(dialect)}, Check: d.checkSession,
		TextLogs: "SELECT current_setting('data_directory', true), COALESCE(pg_current_logfile(), '')"}, nil
}

// counters prepares the counters of a gateway; the first's exclude our own statements.
func (d *db) counters(ctx context.Context, conn *sqlkit.Admin, first bool) (serverkit.Sample, error) {
	counted := &own{}
	if first {
		counted = &d.own
	}
	return newReader(ctx, conn, d.about.release, d.Server.Schema, counted)
}

// ask asks a server for its identity, and refuses one that cannot be used.
func ask(ctx context.Context, c *sqlkit.Admin) (a about, err error) {
	const text = "SELECT current_setting('server_version_num'), current_setting('server_version')," +
		" d.oid, pg_encoding_to_char(d.encoding) FROM pg_database d WHERE d.datname = current_database()"
	err = c.Query(ctx, text, func(row []string) error {
		a.release, _ = strconv.Atoi(row[0])
		if a.release/10000 < oldest {
			return fmt.Errorf("the server is postgres %s; %d is the oldest that can be used", row[1], oldest)
		}
		oid, _ := strconv.ParseUint(row[2], 10, 32)
		a.database = uint32(oid)
		if e := row[3]; e != "UTF8" && e != "SQL_ASCII" {
			return hint.With(fmt.Errorf("the database has encoding %s, which cannot hold every text", e),
				"name a database with encoding UTF8 in the dsn")
		}
		return nil
	})
	return a, err
}

func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	return traits.Watch(ctx, dsn, func(ctx context.Context, conn *sqlkit.Admin) (serverkit.Watched, error) {
		about, err := ask(ctx, conn)
		if err != nil {
			return serverkit.Watched{}, err
		}
		sample, err := newReader(ctx, conn, about.release, "", &own{})
		settings := func(ctx context.Context) ([]engine.Setting, error) { return watchedSettings(ctx, conn) }
		return serverkit.Watched{Sample: sample, Settings: settings, Structure: structureOf}, err
	})
}
