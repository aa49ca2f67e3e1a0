package sqlkit

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// DB is the part of an engine.DB that SQL databases have in common: tables,
// indexes and sessions. An engine embeds it and adds the rest.
type DB struct {
	// Replace: CreateTables drops tables of the schema that exist.
	Replace bool
	// Deal connects sessions, if they do not connect as everything else does.
	Deal Connector

	dialect *Dialect
	connect Connector
	schema  model.Schema
	admin   *Admin

	mu       sync.Mutex
	sessions map[*Session]bool
	indexes  map[string]bool  // that exist, by their names in the database
	strange  map[string]error // tables that exist with another definition
	foreign  map[string]error // tables that exist and were not made by rumbench, in lower case
}

// Open connects to a database.
func Open(ctx context.Context, connect Connector, d *Dialect, schema model.Schema) (*DB, error) {
	admin, err := Connect(ctx, connect, d)
	if err != nil {
		return nil, err
	}
	return &DB{
		dialect: d, connect: connect, schema: schema, admin: admin,
		sessions: map[*Session]bool{}, indexes: map[string]bool{}, strange: map[string]error{},
	}, nil
}

// Admin returns the connection that definitions are made on.
func (db *DB) Admin() *Admin { return db.admin }

// Speaks implements engine.Speaker.
func (db *DB) Speaks() string { return db.dialect.Speaks }

// Dialect returns the database's dialect.
func (db *DB) Dialect() *Dialect { return db.dialect }

// Connect opens a further connection, which the caller must close.
func (db *DB) Connect(ctx context.Context) (*Admin, error) {
	return Connect(ctx, db.connect, db.dialect)
}

// TableNames returns the names of the schema's tables.
func (db *DB) TableNames() []string {
	return quantity.Texts(db.schema.Tables, func(t model.Table) string { return t.Name })
}

// definition is a statement that makes something, and the one that undoes it; ""
// for none.
type definition struct{ create, undo string }

// SetForeign names the tables that exist in the schema and were not made by rumbench.
// They are neither used nor replaced. Some servers do not distinguish the case of names.
func (db *DB) SetForeign(tables []string) {
	db.mu.Lock()
	defer db.mu.Unlock()
	db.foreign = map[string]error{}
	for _, name := range tables {
		db.foreign[strings.ToLower(name)] = engine.ForeignError(name)
	}
}

// CreateTables creates the schema's tables, all or none of them.
func (db *DB) CreateTables(ctx context.Context) error {
	d := db.dialect
	var definitions []definition
	for i := range db.schema.Tables {
		t := &db.schema.Tables[i]
		if err := db.foreign[strings.ToLower(t.Name)]; err != nil {
			return err
		}
		if db.Replace {
			definitions = append(definitions, definition{create: d.DropTable(t, true)})
		}
		definitions = append(definitions, definition{d.CreateTable(t), d.DropTable(t, false)})
		if d.AfterTable != nil {
			for _, text := range d.AfterTable(d, t) {
				definitions = append(definitions, definition{create: text})
			}
		}
	}
	if err := db.define(ctx, db.admin, definitions); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	clear(db.indexes)
	clear(db.strange)
	return nil
}

// CreateIndexes builds the named secondary indexes, all or none of them.
func (db *DB) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	t, err := db.schema.Table(table)
	if err != nil || len(indexes) == 0 {
		return err
	}
	if err := db.Usable(&model.Op{Table: table}); err != nil {
		return err
	}
	var list []*model.Index
	for _, name := range indexes {
		ix, err := t.Index(name)
		if err != nil {
			return err
		}
		list = append(list, ix)
	}
	c := db.admin
	if db.dialect.Parallel {
		if c, err = db.Connect(ctx); err != nil {
			return err
		}
		defer c.Close()
	}
	var definitions []definition
	for i, text := range db.dialect.CreateIndexes(t, list) {
		definitions = append(definitions, definition{text, db.dialect.DropIndex(t, indexes[i])})
	}
	if err := db.define(ctx, c, definitions); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, name := range indexes {
		db.indexes[IndexName(table, name)] = true
	}
	return nil
}

// DropIndex removes a secondary index.
func (db *DB) DropIndex(ctx context.Context, table, index string) error {
	t, err := db.schema.Table(table)
	if err != nil {
		return err
	}
	if _, err := t.Index(index); err != nil {
		return err
	}
	if err := db.Usable(&model.Op{Table: table}); err != nil {
		return err
	}
	if err := db.admin.Exec(ctx, db.dialect.DropIndex(t, index)); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	delete(db.indexes, IndexName(table, index))
	return nil
}

// ClearTable removes all rows of a table.
func (db *DB) ClearTable(ctx context.Context, table string) error {
	if err := db.Usable(&model.Op{Table: table}); err != nil {
		return err
	}
	return db.admin.Exec(ctx, cmp.Or(db.dialect.Clear, "TRUNCATE TABLE")+" "+db.dialect.Table(table))
}

// define executes definitions. If one fails it undoes those before it, because
// not every database can do that itself. A single statement that makes several
// things makes all or none.
func (db *DB) define(ctx context.Context, c *Admin, definitions []definition) error {
	if db.dialect.Batch {
		texts := quantity.Texts(definitions, func(d definition) string { return d.create })
		return c.Exec(ctx, strings.Join(texts, "; "))
	}
	for i, d := range definitions {
		err := c.Exec(ctx, d.create)
		if err == nil {
			continue
		}
		ctx = context.WithoutCancel(ctx)
		for _, d := range definitions[:i] {
			if d.undo != "" {
				err = errors.Join(err, c.Exec(ctx, d.undo))
			}
		}
		return err
	}
	return nil
}

// NewSession opens a session on a separate connection.
func (db *DB) NewSession(ctx context.Context) (*Session, error) {
	connect := db.connect
	if db.Deal != nil {
		connect = db.Deal
	}
	conn, err := Connect(ctx, connect, db.dialect)
	if err != nil {
		return nil, err
	}
	s := &Session{Admin: conn, db: db, commands: map[string]Stmt{}}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.sessions[s] = true
	return s, nil
}

// EachSession calls f for every open session, while all are idle.
func (db *DB) EachSession(f func(*Session)) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for s := range db.sessions {
		f(s)
	}
}

// Close closes the sessions that are open and the connection for definitions.
func (db *DB) Close() error {
	db.mu.Lock()
	open := db.sessions
	db.sessions = map[*Session]bool{}
	db.mu.Unlock()
	var err error
	for s := range open {
		err = errors.Join(err, s.close())
	}
	return errors.Join(err, db.admin.Close())
}
