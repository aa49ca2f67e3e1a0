package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
)

// db is an open database: tables, indexes and sessions are sqlkit's.
type db struct {
	*sqlkit.DB
	*setup
	connector *connector
	server    *server.Server // nil: attached
	host      host
	about     about
	place     place
	reader    *reader // of counters

	mu      sync.Mutex
	indexes map[string]bool  // that exist, by their names in the database
	strange map[string]error // tables that exist with another definition, on a server that was attached to with force
	closed  bool
}

// about is what a server tells of itself.
type about struct {
	release  int    // such as 150018
	database uint32 // the number of the database that we are in
}

// Open starts a server in the directory, or attaches to one.
func (Engine) Open(ctx context.Context, c engine.Config) (_ engine.DB, err error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{setup: s}
	config := s.attached
	if config == nil {
		if config, err = d.start(ctx); err != nil {
			return nil, err
		}
	}
	d.connector = newConnector(config, s.Server.Schema)
	s.sessionParams(d.connector.config.RuntimeParams)
	if err := d.begin(ctx); err != nil {
		err = d.blame(err)
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// begin finds out what server this is, makes the schema, and readies what is
// needed of connections.
func (d *db) begin(ctx context.Context) error {
	first, err := d.connector.open(ctx)
	if err != nil {
		return err
	}
	d.reader = &reader{conn: first}
	d.host = findHost(first, d.server)
	if d.DB, err = sqlkit.Open(ctx, d.connector, d.dialect(), d.Schema); err != nil {
		return err
	}
	if d.about, err = ask(ctx, d.Admin()); err != nil {
		return err
	}
	if _, err := d.durability(ctx); err != nil {
		return err
	}
	if err := d.noteEmpty(ctx); err != nil {
		return err
	}
	if err := d.place.take(ctx, d.Admin(), d.Server.Schema, d.server == nil && !d.Server.Force); err != nil {
		return err
	}
	if err := d.look(ctx); err != nil {
		return err
	}
	return d.reader.prepare(ctx, views(d.about.release, d.Server.Schema), d.about.release)
}

// ask asks a server what it is, and refuses one that cannot be used.
func ask(ctx context.Context, c *sqlkit.Conn) (a about, err error) {
	const text = "SELECT current_setting('server_version_num'), current_setting('server_version'), d.oid, pg_encoding_to_char(d.encoding) FROM pg_database d WHERE d.datname = current_database()"
	err = c.Query(ctx, text, func(row []sqldriver.Value) error {
		a.release, _ = strconv.Atoi(sqlkit.Text(row[0]))
		if a.release/10000 < oldest {
			return fmt.Errorf("the server is postgres %s; %d is the oldest that can be used", sqlkit.Text(row[1]), oldest)
		}
		oid, _ := strconv.ParseUint(sqlkit.Text(row[2]), 10, 32)
		a.database = uint32(oid)
		if e := sqlkit.Text(row[3]); e != "UTF8" && e != "SQL_ASCII" {
			return &advised{fmt.Errorf("the database has encoding %s, which cannot hold every text", e), "name a database with encoding UTF8 in the dsn"}
		}
		return nil
	})
	return a, err
}

// start starts a private server and returns the way to it.
func (d *db) start(ctx context.Context) (_ *pgconn.Config, err error) {
	if d.server, err = startServer(ctx, d.setup); err != nil {
		return nil, err
	}
	config, err := privateConfig(d.server.Endpoint())
	if err != nil {
		_ = d.server.Stop()
		return nil, err
	}
	return config, nil
}

// dyingTime is how long a server may take to be gone when its connections have broken.
const dyingTime = time.Second

// blame says of a failure that the server has died of it, if it has.
func (d *db) blame(err error) error {
	if d.server == nil || engine.ClassOf(err) != engine.Gone {
		return err
	}
	d.server.Wait(dyingTime)
	if died := d.server.Died(); died != nil {
		return engine.Classify(engine.Gone, fmt.Errorf("%w: %w", died, err))
	}
	return err
}

// CreateTables creates the tables, all or none of them. With force those of
// their names are replaced, on a server that was attached to.
func (d *db) CreateTables(ctx context.Context) error {
	var texts []string
	if d.server == nil && d.Server.Force {
		for _, t := range d.Schema.Tables {
			texts = append(texts, "DROP TABLE IF EXISTS "+quote(t.Name))
		}
	}
	texts = append(texts, createTables(d.Schema, d.Compression)...)
	if err := d.Admin().Exec(ctx, strings.Join(texts, "; ")); err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.Schema.Tables {
		d.place.made = append(d.place.made, t.Name)
		delete(d.strange, t.Name)
		for _, ix := range t.Indexes {
			delete(d.indexes, sqlkit.IndexName(t.Name, ix.Name))
		}
	}
	return nil
}

// CreateIndexes builds secondary indexes, one after the other.
func (d *db) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	if err := d.strangeness(table); err != nil {
		return err
	}
	if err := d.DB.CreateIndexes(ctx, table, indexes...); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, name := range indexes {
		d.indexes[sqlkit.IndexName(table, name)] = true
	}
	return nil
}

// DropIndex removes a secondary index.
func (d *db) DropIndex(ctx context.Context, table, index string) error {
	if err := d.DB.DropIndex(ctx, table, index); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.indexes, sqlkit.IndexName(table, index))
	return nil
}

// strangeness is the error of using a table that was made by somebody else for
// something else.
func (d *db) strangeness(table string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.strange[table]
}

func (d *db) hasIndex(table, index string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return index == "" || d.indexes[sqlkit.IndexName(table, index)]
}

// Counters adds the counters of the server, the database, and the tables and
// indexes of the schema.
func (d *db) Counters(ctx context.Context, s *engine.Sample) error { return d.reader.Counters(ctx, s) }

// tableNames are the names of the schema's tables.
func (d *db) tableNames() (names []string) {
	for _, t := range d.Schema.Tables {
		names = append(names, t.Name)
	}
	return names
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
	var err error
	if d.reader != nil {
		err = d.reader.Close()
	}
	if d.DB != nil {
		err = errors.Join(err, d.DB.Close())
	}
	if d.server == nil {
		return errors.Join(err, d.place.leave(d.connector))
	}
	return errors.Join(err, d.server.Stop())
}

// among is a list of texts, for the end of a condition.
func among(names []string) string {
	texts := slices.Clone(names)
	for i, n := range texts {
		texts[i] = literal(n)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}
