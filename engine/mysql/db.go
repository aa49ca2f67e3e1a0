package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/mysqlwire"
	"rumbench/internal/server"
	"rumbench/model"
)

// db is an open database: what it has in common with other servers is serverkit's.
type db struct {
	*serverkit.DB
	*setup
	connector *mysqlwire.Connector
	status    *status
	version   release
	shared    bool // InnoDB keeps all tables in one file
}

// traits are what distinguishes the servers. Removing tables waits for others no
// longer than lock_wait_timeout.
var traits = &serverkit.Traits{
	Programs: []string{"mysqld", "mariadbd"},
	Schemas: serverkit.Schemas{
		Find:   "SELECT '' FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {text}",
		Create: "CREATE DATABASE {name}",
		Drop:   "DROP DATABASE {name}",
		Exists: func(err error) bool { return errors.Is(err, &mysqlwire.Error{Number: 1007}) },
	},
	// Each release has one variable or two alike.
	Isolation: "SHOW SESSION VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation')",
	Socket: func(ctx context.Context, e server.Endpoint) (sqlkit.Conn, error) {
		c, err := mysqlwire.NewConnector(mysqlwire.Socket(e.User, e.Socket), serverkit.NewHost("").Dial)
		if err != nil {
			return nil, err
		}
		return c.Connect(ctx)
	},
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
	to := d.dsn
	if to == nil {
		e := d.Private.Endpoint()
		to = mysqlwire.Socket(e.User, e.Socket)
	}
	if d.connector, err = mysqlwire.NewConnector(to, d.Dial); err != nil {
		return err
	}
	first, err := sqlkit.Connect(ctx, d.connector.Connect, newDialect("", true))
	if err != nil {
		return err
	}
	defer first.Close()
	if err := d.identify(ctx, first); err != nil {
		return err
	}
	dialect := newDialect(d.storage.tableOptions(d.Compression), d.version.fractions())
	dialect.AsText = d.Protocol == engine.Text
	d.connector.Micros = !d.version.fractions()
	d.connector.Setup = d.sessionSetup(dialect)
	err = d.Begin(ctx, first, serverkit.Client{Connect: d.connector.Connect, Dialect: dialect, Definitions: d.definitions(dialect), Class: d.class})
	if err != nil {
		return err
	}
	conn, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	d.Keep(conn)
	d.status = newStatus(conn, d.version, d.storage.name)
	d.status.waits, d.status.metrics = findTimed(ctx, conn), findMetrics(ctx, conn)
	return nil
}

// sessionSetup are the statements that ready a connection.
func (d *db) sessionSetup(dialect *sqlkit.Dialect) []string {
	out := []string{
		"USE " + dialect.Name(d.Server.Schema),
		// What does not fit is an error, in every release.
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		"SET SESSION wait_timeout = 2147483", // some connections rest for a whole step
	}
	if d.Isolation != model.DefaultIsolation {
		out = append(out, "SET SESSION TRANSACTION ISOLATION LEVEL "+levelName(d.Isolation))
	}
	return out
}

// identify asks the server what it is.
func (d *db) identify(ctx context.Context, c *sqlkit.Admin) error {
	err := c.Query(ctx, "SELECT @@version, @@innodb_file_per_table", func(row []string) error {
		d.version = parseRelease(row[0])
		d.shared = d.storage == innodb && row[1] == "0"
		return nil
	})
	if err != nil {
		return err
	}
	has, err := c.Map(ctx, storages)
	if err == nil && has[d.storage.name] == "" {
		err = engine.Refuse("storage", d.storage.name, "server %s does not have it", d.version.text)
	}
	return err
}

// storages is a query for those that a server has.
const storages = "SELECT ENGINE, SUPPORT FROM information_schema.ENGINES WHERE SUPPORT <> 'NO'"

// FileClass returns what gives the class of a file of the data directory.
func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return d.class, nil
}

func (d *db) class(path string) engine.FileClass { return fileClass(path, d.Server.Schema, d.shared) }

// release is what a server says that it is.
type release struct {
	text         string
	maria        bool
	major, minor int
}

func parseRelease(text string) release {
	r := release{text: text, maria: strings.Contains(text, "MariaDB")}
	// MariaDB may put 5.5.5- in front, for the sake of old replicas.
	fmt.Sscanf(strings.TrimPrefix(text, "5.5.5-"), "%d.%d", &r.major, &r.minor)
	return r
}

func (r release) atLeast(major, minor int) bool {
	return r.major > major || r.major == major && r.minor >= minor
}

// fractions reports whether times have fractions of seconds.
func (r release) fractions() bool { return r.atLeast(5, 6) }

// redoApart reports whether Innodb_data_written leaves the redo log out.
func (r release) redoApart() bool { return r.maria && r.atLeast(10, 5) }

// Watch connects to a running server for its counters only.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := mysqlwire.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host := serverkit.NewHost(traits.Mark, traits.Programs...)
	c, err := mysqlwire.NewConnector(config, host.Dial)
	if err != nil {
		return nil, err
	}
	conn, err := sqlkit.Connect(ctx, c.Connect, newDialect("", true))
	if err != nil {
		return nil, err
	}
	t, err := watched(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &serverkit.Watch{Host: host, Sample: t.sample, Conn: conn}, nil
}

// watched readies the counters of a server of which nothing is known yet.
func watched(ctx context.Context, conn *sqlkit.Admin) (*status, error) {
	version, err := conn.Value(ctx, "SELECT @@version")
	if err != nil {
		return nil, err
	}
	has, err := conn.Map(ctx, storages)
	var names []string
	for _, st := range []*storage{innodb, rocksdb} {
		if has[st.name] != "" {
			names = append(names, st.name)
		}
	}
	t := newStatus(conn, parseRelease(version), names...)
	t.labelled, t.sizes = len(names) > 1, true
	return t, err
}
