package sqlkit

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"

	"rumbench/engine"
	"rumbench/model"
)

// DB is the part of an engine.DB that SQL databases have in common: tables,
// indexes and sessions. An engine embeds it and adds the rest.
type DB struct {
	dialect   *Dialect
	connector driver.Connector
	schema    model.Schema
	admin     *Conn

	mu       sync.Mutex
	sessions map[*Session]bool
}

// Open connects to a database. The connector makes every connection ready for use.
func Open(ctx context.Context, connector driver.Connector, d *Dialect, schema model.Schema) (*DB, error) {
	admin, err := Connect(ctx, connector, d)
	if err != nil {
		return nil, err
	}
	return &DB{dialect: d, connector: connector, schema: schema, admin: admin, sessions: map[*Session]bool{}}, nil
}

// Admin is the connection that definitions are made on.
func (db *DB) Admin() *Conn { return db.admin }

// Connect opens a further connection, which is its opener's to close.
func (db *DB) Connect(ctx context.Context) (*Conn, error) {
	return Connect(ctx, db.connector, db.dialect)
}

// CreateTables creates the schema's tables, all or none of them.
func (db *DB) CreateTables(ctx context.Context) error {
	var make, undo []string
	for i := range db.schema.Tables {
		make = append(make, db.dialect.CreateTable(&db.schema.Tables[i]))
		undo = append(undo, db.dialect.DropTable(&db.schema.Tables[i]))
	}
	return define(ctx, db.admin, make, undo)
}

// CreateIndexes builds the named secondary indexes, all or none of them.
func (db *DB) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	t, err := db.schema.Table(table)
	if err != nil || len(indexes) == 0 {
		return err
	}
	var list []*model.Index
	var undo []string
	for _, name := range indexes {
		ix, err := t.Index(name)
		if err != nil {
			return err
		}
		list = append(list, ix)
		undo = append(undo, db.dialect.DropIndex(t, name))
	}
	c := db.admin
	if db.dialect.Parallel {
		if c, err = db.Connect(ctx); err != nil {
			return err
		}
		defer c.Close()
	}
	return define(ctx, c, db.dialect.CreateIndexes(t, list), undo)
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
	return db.admin.Exec(ctx, db.dialect.DropIndex(t, index))
}

// define executes definitions. If one fails it undoes those before it, because
// not every database can do that itself. A single statement that makes several
// things makes all or none.
func define(ctx context.Context, c *Conn, make, undo []string) error {
	for i, text := range make {
		err := c.Exec(ctx, text)
		if err == nil {
			continue
		}
		ctx = context.WithoutCancel(ctx)
		for _, text := range undo[:i] {
			err = errors.Join(err, c.Exec(ctx, text))
		}
		return err
	}
	return nil
}

// Session opens a session on a connection of its own.
func (db *DB) Session(ctx context.Context) (engine.Session, error) {
	s, err := db.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// NewSession is Session for engines that add something to it.
func (db *DB) NewSession(ctx context.Context) (*Session, error) {
	conn, err := db.connector.Connect(ctx)
	if err != nil {
		return nil, db.dialect.classify("open session", err)
	}
	s := &Session{db: db, conn: conn, commands: map[string]driver.StmtExecContext{}}
	db.mu.Lock()
	db.sessions[s] = true
	db.mu.Unlock()
	return s, nil
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
