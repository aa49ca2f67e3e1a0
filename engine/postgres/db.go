package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/hint"
	"rumbench/internal/pgwire"
	"rumbench/internal/server"
)

// db is an open database: what it has in common with other servers is serverkit's.
type db struct {
	*serverkit.DB
	*setup
	config *pgwire.Config // of the sessions
	about  about
	reader *reader // of counters
}

// about is what a server says of itself.
type about struct {
	release  int    // such as 150018
	database uint32 // the number of the database that we are in
}

// traits are what distinguishes the server.
var traits = &serverkit.Traits{
	Programs: []string{"postgres", "postmaster"},
	Mark:     "PG_VERSION",
	Schemas: serverkit.Schemas{
		Find:   "SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname = {text}",
		Create: "CREATE SCHEMA {name}; COMMENT ON SCHEMA {name} IS {comment}",
		Drop:   "DROP SCHEMA {name} CASCADE",
		Hurry:  "SET lock_timeout = '1min'",
		Exists: func(err error) bool { return pgwire.HasState(err, pgwire.DuplicateSchema) },
	},
	Isolation: "SELECT current_setting('" + isolationSetting + "')",
	Socket: func(ctx context.Context, e server.Endpoint) (sqlkit.Conn, error) {
		config, err := socketConfig(e)
		if err != nil {
			return nil, err
		}
		return pgwire.Connect(ctx, config)
	},
}

// socketConfig leads to a private server's socket.
func socketConfig(e server.Endpoint) (*pgwire.Config, error) {
	return pgwire.Socket(e.User, "postgres", func(ctx context.Context) (net.Conn, error) { return server.Dial(ctx, e.Socket) })
}

// Open starts a server in the directory, or attaches to one.
func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	kit, err := serverkit.Start(ctx, s.Setup, traits, s.settings)
	if err != nil {
		return nil, err
	}
	d := &db{DB: kit, setup: s}
	if err := d.begin(ctx); err != nil {
		return nil, d.Fail(err)
	}
	return d, nil
}

// begin finds out what server this is and readies the connections for it.
func (d *db) begin(ctx context.Context) (err error) {
	if d.config = d.dsn; d.Private != nil {
		if d.config, err = socketConfig(d.Private.Endpoint()); err != nil {
			return err
		}
	} else {
		d.config.DialFunc = d.Dial
	}
	d.sessionParams(d.config.RuntimeParams)
	counters, err := pgwire.Connect(ctx, d.config)
	if err != nil {
		return err
	}
	d.reader = &reader{conn: counters}
	d.Keep(d.reader)
	dialect := newDialect()
	dialect.AsText = d.Protocol == engine.Text
	dialect.AfterTable = d.afterTable
	first, err := sqlkit.Connect(ctx, d.connect, dialect)
	if err != nil {
		return err
	}
	defer first.Close()
	if d.about, err = ask(ctx, first); err != nil {
		return err
	}
	if err := d.durability(ctx, first); err != nil {
		return err
	}
	client := serverkit.Client{Connect: d.connect, Dialect: dialect, Definitions: d.definitions(dialect)}
	if d.Private != nil {
		if client.Class, err = d.classes(ctx, first); err != nil {
			return err
		}
	}
	if err := d.Begin(ctx, first, client); err != nil {
		return err
	}
	return d.reader.prepare(ctx, views(d.about.release, d.Server.Schema), d.about.release)
}

func (d *db) connect(ctx context.Context) (sqlkit.Conn, error) { return pgwire.Connect(ctx, d.config) }

// ask asks a server what it is, and refuses one that cannot be used.
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
			return hint.With(fmt.Errorf("the database has encoding %s, which cannot hold every text", e), "name a database with encoding UTF8 in the dsn")
		}
		return nil
	})
	return a, err
}

// Counters adds the counters of the server, the database, and the tables and
// indexes of the schema.
func (d *db) Counters(ctx context.Context, s *engine.Sample) error { return d.reader.Counters(ctx, s) }

// Watch connects to a server for its counters.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := pgwire.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host := serverkit.NewHost(traits.Mark, traits.Programs...)
	config.DialFunc = host.Dial
	c, err := pgwire.Connect(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	r := &reader{conn: c}
	if err := r.begin(ctx, config); err != nil {
		return nil, fmt.Errorf("watch postgres: %w", errors.Join(err, r.Close()))
	}
	return &serverkit.Watch{Host: host, Sample: r.Counters, Conn: r}, nil
}

// begin readies the counters of a server of which nothing is known yet.
func (r *reader) begin(ctx context.Context, config *pgwire.Config) error {
	connect := func(ctx context.Context) (sqlkit.Conn, error) { return pgwire.Connect(ctx, config) }
	c, err := sqlkit.Connect(ctx, connect, newDialect())
	if err != nil {
		return err
	}
	defer c.Close()
	about, err := ask(ctx, c)
	if err != nil {
		return err
	}
	return r.prepare(ctx, views(about.release, ""), about.release)
}
