package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// db is an open database: tables, indexes and sessions are sqlkit's.
type db struct {
	*sqlkit.DB
	*setup
	connector *connector
	server    *server.Server // nil: attached
	place     place
	status    *status
	version   release
	strange   error // tables that exist have another definition
	shared    bool  // InnoDB keeps all tables in one file

	mu     sync.Mutex
	closed bool
}

// Open starts a server in the directory, or attaches to one.
func (Engine) Open(ctx context.Context, c engine.Config) (_ engine.DB, err error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{setup: s}
	defer func() {
		if err != nil {
			_ = d.Close()
		}
	}()
	socket := ""
	if s.dsn == nil {
		if d.server, err = startServer(ctx, s); err != nil {
			return nil, err
		}
		socket = d.server.Endpoint().Socket
	}
	if d.connector, err = newConnector(s.dsn, socket); err != nil {
		return nil, err
	}
	if err := d.begin(ctx); err != nil {
		return nil, d.blame(err)
	}
	return d, nil
}

func startServer(ctx context.Context, s *setup) (*server.Server, error) {
	return server.Start(ctx, server.Config{
		Kind: s.Server.Kind, Binary: s.Server.Binary, Dir: s.Dir, Log: s.Server.Log, Settings: s.settings,
		Ready: func(ctx context.Context, e server.Endpoint) error { return ping(ctx, e.Socket) },
	})
}

// blame says of a failure that the server has died of it, if it has.
func (d *db) blame(err error) error {
	if err != nil && d.server != nil && engine.ClassOf(err) == engine.Gone {
		d.server.Wait(time.Second)
		return errors.Join(err, d.server.Died())
	}
	return err
}

// begin finds out what server this is, makes the schema, and readies the
// connections for it.
func (d *db) begin(ctx context.Context) error {
	first, err := sqlkit.Connect(ctx, d.connector, newDialect("", true))
	if err != nil {
		return err
	}
	defer first.Close()
	if err := d.identify(ctx, first); err != nil {
		return err
	}
	dialect := newDialect(d.storage.tableOptions(d.Compression), d.version.fractions())
	if d.Protocol == engine.Text {
		dialect.Literal = func(dst []byte, v model.Value) []byte { return literal(dst, v, d.version.fractions()) }
	}
	if err := dialect.CheckSchema(d.Schema); err != nil {
		return err
	}
	if d.server != nil {
		if err := d.server.NoteEmpty(d.class); err != nil {
			return err
		}
	}
	if err := d.place.take(ctx, first, d.Server.Schema, d.dsn != nil && !d.Server.Force); err != nil {
		return err
	}
	d.connector.micros = !dialect.NativeTime
	d.connector.setup = []string{
		"USE " + d.place.quoted(),
		// What does not fit is an error, in every release.
		"SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'",
		"SET SESSION wait_timeout = 2147483", // some connections rest for a whole step
	}
	if d.Isolation != model.DefaultIsolation {
		d.connector.setup = append(d.connector.setup, "SET SESSION TRANSACTION ISOLATION LEVEL "+levelName(d.Isolation))
	}
	if d.DB, err = sqlkit.Open(ctx, d.connector, dialect, d.Schema); err != nil {
		return err
	}
	// With force the tables may be replaced before anybody uses them.
	if d.strange = d.checkDefinitions(ctx); d.strange != nil && !d.Server.Force {
		return d.strange
	}
	conn, err := d.Connect(ctx)
	if err != nil {
		return err
	}
	d.status = newStatus(conn, d.version, d.storage.name)
	d.status.waits, d.status.metrics = findTimed(ctx, conn), findMetrics(ctx, conn)
	return nil
}

// identify asks the server what it is.
func (d *db) identify(ctx context.Context, c *sqlkit.Conn) error {
	err := c.Query(ctx, "SELECT @@version, @@innodb_file_per_table", func(row []sqldriver.Value) error {
		d.version = parseRelease(sqlkit.Text(row[0]))
		d.shared = d.storage == innodb && sqlkit.Text(row[1]) == "0"
		return nil
	})
	if err != nil {
		return err
	}
	found := false
	err = c.Query(ctx, "SHOW ENGINES", func(row []sqldriver.Value) error {
		if strings.EqualFold(sqlkit.Text(row[0]), d.storage.name) && sqlkit.Text(row[1]) != "NO" {
			found = true
		}
		return nil
	})
	if err == nil && !found {
		err = &engine.KnobError{Knob: "storage", Value: d.storage.name, Reason: fmt.Sprintf("server %s does not have it", d.version.text)}
	}
	return err
}

// CreateTables creates the tables and checks that they got the storage asked for.
func (d *db) CreateTables(ctx context.Context) error {
	if d.dsn != nil && d.Server.Force {
		if err := d.place.clear(ctx, d.Admin(), d.tableNames()); err != nil {
			return err
		}
	}
	if err := d.DB.CreateTables(ctx); err != nil {
		return err
	}
	d.place.made, d.strange = d.tableNames(), nil
	return d.checkStorage(ctx)
}

// checkStorage refuses tables of ours that have another storage than was asked for.
func (d *db) checkStorage(ctx context.Context) error {
	return d.Admin().Query(ctx, "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()", func(row []sqldriver.Value) error {
		name, got := sqlkit.Text(row[0]), sqlkit.Text(row[1])
		if slices.Contains(d.tableNames(), name) && !strings.EqualFold(got, d.storage.name) {
			return fmt.Errorf("table %s has storage %s, not %s", name, got, d.storage.name)
		}
		return nil
	})
}

func (d *db) tableNames() (names []string) {
	for _, t := range d.Schema.Tables {
		names = append(names, t.Name)
	}
	return names
}

// Processes are the server's.
func (d *db) Processes() (pids []int, why string) { return d.connector.processes() }

// DataDir is where the server keeps its data, if it is on this host.
func (d *db) DataDir() string {
	if d.server != nil {
		return d.server.DataDir()
	}
	return d.connector.dataDir()
}

// Died tells how the server ended.
func (d *db) Died() error {
	if d.server == nil {
		return nil
	}
	return d.server.Died()
}

// FileClass tells the files of the data directory apart.
func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return d.class, nil
}

func (d *db) class(path string) engine.FileClass { return fileClass(path, d.Server.Schema, d.shared) }

// Empty is what the files of a private server took before it held anything.
func (d *db) Empty() map[engine.FileClass]int64 {
	if d.server == nil {
		return nil
	}
	return d.server.Empty()
}

// Close ends the sessions, removes what was made on a server that is not ours,
// and stops one that is. Closing again does nothing.
func (d *db) Close() error {
	d.mu.Lock()
	again := d.closed
	d.closed = true
	d.mu.Unlock()
	if again {
		return nil
	}
	died := d.Died() != nil // then only its death is worth telling
	var err error
	if d.status != nil {
		err = errors.Join(err, d.status.conn.Close())
	}
	if d.DB != nil {
		err = errors.Join(err, d.DB.Close())
	}
	if d.dsn != nil {
		err = errors.Join(err, d.place.leave(d.connector))
	}
	if d.server == nil {
		return err
	}
	if died {
		err = nil
	}
	return errors.Join(err, d.server.Stop())
}
