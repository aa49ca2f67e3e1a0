package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/engine/mysql/mysqlwire"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
	"rumbench/internal/server"
	"rumbench/model"
)

// db is an open database: the part it shares with other servers is serverkit's.
type db struct {
	*serverkit.DB
	*setup
	status  *status
	version release
	galera  bool // several nodes of one cluster are used
	shared  bool // InnoDB keeps all tables in one file
}

// traits are the features that distinguish the servers. Removing tables waits for others
// no longer than lock_wait_timeout.
var traits = &serverkit.Traits{
	Programs: []string{"mysqld", "mariadbd"},
	Schemas: serverkit.Schemas{
		// The text after M! is for MariaDB only: MySQL's schemas have no comment.
		Find: "SELECT CONCAT('' /*M!100500 , SCHEMA_COMMENT */) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = {text}",
		// DROP DATABASE drops routines and events as well.
		Tables: "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = {text} " +
			"UNION ALL SELECT CONCAT('routine ', ROUTINE_NAME), '' FROM information_schema.ROUTINES " +
			"WHERE ROUTINE_SCHEMA = {text} " +
			"UNION ALL SELECT CONCAT('event ', EVENT_NAME), '' FROM information_schema.EVENTS " +
			"WHERE EVENT_SCHEMA = {text}",
		Create: "CREATE DATABASE {name} /*M!100500 COMMENT {comment} */",
		Drop:   "DROP DATABASE IF EXISTS {name}",
		Exists: func(err error) bool { return errors.Is(err, &mysqlwire.Error{Number: 1007}) },
	},
	Serving: "SELECT CONNECTION_ID()",
	Identity: "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('hostname', 'port', 'pid_file', 'datadir', 'server_id', " +
		"'server_uuid', 'server_uid', 'wsrep_node_address', 'wsrep_node_name')",
	Dialect: newDialect(nil, true),
	Reach: func(dsn string, e server.Endpoint, dial wire.Dial) (serverkit.Connector, error) {
		if dsn == "" {
			return mysqlwire.NewConnector(mysqlwire.Socket(e.User, e.Socket), dial)
		}
		config, err := mysqlwire.ParseDSN(dsn)
		if err != nil {
			return nil, err
		}
		return mysqlwire.NewConnector(config, dial)
	},
	Remote: func(e server.Endpoint) string { return mysqlwire.RemoteDSN(e.User, e.Password, e.Address, e.Port) },
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
	if err := d.ask(ctx, first); err != nil {
		return c, err
	}
	dialect := newDialect(func(t *model.Table) string { return d.storage.tableOptions(t, d.Compression) },
		d.version.fractions())

	adapt := func(c serverkit.Connector) { c.(*mysqlwire.Connector).Micros = !d.version.fractions() }
	adapt(d.Connector)
	return serverkit.Client{Dialect: dialect, Definitions: d.definitions(dialect), Class: d.classes, Counters: d.counters,
		Structure: d.storage.describe, Setup: d.sessionSetup(dialect), Check: d.checkSession, Adapt: adapt,
		TextLogs: "SELECT @@datadir, @@general_log_file, @@slow_query_log_file, @@log_error"}, nil
}

// counters prepares the counters of the storage, with the server's waits.
func (d *db) counters(ctx context.Context, conn *sqlkit.Admin, first bool) (serverkit.Sample, error) {
	s := newStatus(ctx, conn, d.version, d.storage.name)
	s.waits = findTimed(ctx, conn)
	if first {
		d.status = s
	}
	return s.sample, nil
}

// sessionSetup returns the statements that prepare a connection.
func (d *db) sessionSetup(dialect *sqlkit.Dialect) []string {
	out := []string{
		"USE " + dialect.Name(d.Server.Schema),
		// A value that does not fit is an error, in every release.
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		"SET SESSION wait_timeout = 2147483", // some connections are idle for a whole step
		"SET SESSION autocommit = 1, time_zone = '" + utc + "'",
	}
	if d.Isolation != model.DefaultIsolation {
		out = append(out, "SET SESSION TRANSACTION ISOLATION LEVEL "+levelName(d.Isolation))
	}
	if d.galera {
		out = append(out, caughtUp...)
	}
	return out
}

// caughtUp has a session of a Galera cluster see everything that was committed through any node before it began.
var caughtUp = []string{
	"SET SESSION wsrep_sync_wait = 15", "BEGIN", "ROLLBACK", "SET SESSION wsrep_sync_wait = DEFAULT",
}

const utc = "+00:00"

func (d *db) ask(ctx context.Context, c *sqlkit.Admin) error {
	err := c.Query(ctx, "SELECT @@version, @@innodb_file_per_table", func(row []string) error {
		d.version = parseRelease(row[0])
		d.shared = d.storage == innodb && row[1] == "0"
		return nil
	})
	if err != nil {
		return err
	}
	if len(d.Server.Gateways) > 0 {
		wsrep, err := c.Map(ctx, "SHOW VARIABLES LIKE 'wsrep_on'")
		if err != nil {
			return err
		}
		d.galera = wsrep["wsrep_on"] == "ON"
	}
	has, err := c.Map(ctx, storages)
	if err == nil && has[d.storage.name] == "" {
		err = engine.Refuse("storage", d.storage.name, "server %s does not have it", d.version.text)
	}
	return err
}

// storages is a query for the storages that a server has.
const storages = "SELECT ENGINE, SUPPORT FROM information_schema.ENGINES WHERE SUPPORT <> 'NO'"

func (d *db) classes(context.Context, *sqlkit.Admin) (func(path string) engine.FileClass, error) {
	return func(path string) engine.FileClass { return fileClass(path, d.Server.Schema, d.shared) }, nil
}

type release struct {
	text         string
	maria        bool
	major, minor int
}

func parseRelease(text string) release {
	r := release{text: text, maria: strings.Contains(text, "MariaDB")}
	// MariaDB may prepend 5.5.5-, for old replicas.
	fmt.Sscanf(strings.TrimPrefix(text, "5.5.5-"), "%d.%d", &r.major, &r.minor)
	return r
}

func (r release) atLeast(major, minor int) bool {
	return r.major > major || r.major == major && r.minor >= minor
}

// fractions reports whether times have fractions of seconds.
func (r release) fractions() bool { return r.atLeast(5, 6) }

// redoApart reports whether Innodb_data_written excludes the redo log.
func (r release) redoApart() bool { return r.maria && r.atLeast(10, 5) }

// status returns a query for the status variables of a scope. The server counts what SHOW
// STATUS does for none of its sessions.
func (r release) status(scope string) string {
	schema := "information_schema"
	if !r.maria && r.atLeast(5, 7) {
		schema = "performance_schema"
	}
	return "SELECT VARIABLE_NAME, VARIABLE_VALUE FROM " + schema + "." + scope + "_status"
}

func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	return traits.Watch(ctx, dsn, func(ctx context.Context, conn *sqlkit.Admin) (serverkit.Watched, error) {
		t, err := watched(ctx, conn)
		if err != nil {
			return serverkit.Watched{}, err
		}
		w := serverkit.Watched{Sample: t.sample, Settings: t.settings}
		if len(t.storages) == 1 { // tables of several storages have no common structure
			w.Structure = storageOf(t.storages[0]).describe
		}
		return w, nil
	})
}

// watched prepares the counters of a server of which nothing is known yet.
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
	t := newStatus(ctx, conn, parseRelease(version), names...)
	t.labelled, t.sizes = len(names) > 1, true
	return t, err
}

// way is a shortcut for a first load: the variables that begin and end it.
type way struct{ on, off []string }

// The shortcuts. In bulk mode, secondary indexes are filled in their own order, and the
// rows become part of the table at the end.
var (
	withoutUnique = way{[]string{"unique_checks = 0"}, []string{"unique_checks = 1"}}
	inBulk        = way{
		[]string{"rocksdb_bulk_load_allow_sk = 1", "rocksdb_bulk_load_allow_unsorted = 1", "rocksdb_bulk_load = 1"},
		[]string{"rocksdb_bulk_load = 0"},
	}
)

// session is a session that can take shortcuts in a first load.
type session struct {
	*sqlkit.Session
	ways  []way
	begun bool
}

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &session{Session: s, ways: d.ways}, nil
}

func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Load && !s.begun {
		s.begun = true
		for _, w := range s.ways {
			if err := s.set(ctx, w.on); err != nil {
				return nil, err
			}
		}
	}
	return s.Session.Prepare(ctx, op)
}

func (s *session) EndLoad(ctx context.Context) (err error) {
	if s.begun {
		s.begun = false
		for _, w := range s.ways {
			err = errors.Join(err, s.set(ctx, w.off))
		}
	}
	return err
}

func (s *session) set(ctx context.Context, assignments []string) error {
	return s.Exec(ctx, "SET SESSION "+strings.Join(assignments, ", SESSION "))
}
