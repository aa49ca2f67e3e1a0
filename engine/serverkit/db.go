// Package serverkit makes an engine of a SQL database server: it starts a
// private one or attaches to one, makes a schema there and removes it again,
// compares what exists with what is wanted, and knows the server's process, its
// files and its death.
//
// It knows no server and no protocol. What one does differently from another is
// in its Rules, its Traits and its sqlkit.Dialect; settings, counters, sizes and
// rest are the engine's own.
package serverkit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// Traits are what distinguishes a kind of servers.
type Traits struct {
	Programs []string // what a server's process may be called
	Mark     string   // a file that a data directory has; "": not known
	Schemas  Schemas
	// Isolation is a query for the level of a session's transactions.
	Isolation string
	// Socket connects to a private server.
	Socket func(ctx context.Context, e server.Endpoint) (sqlkit.Conn, error)
}

// DB is the part of an engine.DB that databases on servers have in common. An
// engine embeds it and adds the rest.
type DB struct {
	*sqlkit.DB
	*Host
	Private *server.Server // nil: attached

	setup    *Setup
	traits   *Traits
	client   Client
	place    place
	counters io.Closer

	mu     sync.Mutex
	closed bool
}

// pingTime is how long the first answer of a server may take.
const pingTime = 10 * time.Second

// Start starts the server with these settings, unless one is attached to. What
// comes then may Fail.
func Start(ctx context.Context, s *Setup, t *Traits, settings []server.Setting) (*DB, error) {
	d := &DB{setup: s, traits: t, Host: NewHost(t.Mark, t.Programs...), place: place{Schemas: t.Schemas, schema: s.Server.Schema}}
	if s.Attached() {
		return d, nil
	}
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	d.Private, err = server.Start(ctx, server.Config{
		Kind: s.Server.Kind, Binary: s.Server.Binary, Dir: s.Dir, Log: s.Server.Log, Settings: settings, Ready: t.Ready,
	})
	if err != nil {
		return nil, err
	}
	d.looked, d.pid, d.dir = true, d.Private.PID(), d.Private.DataDir()
	return d, nil
}

// Ready connects once, to see whether a private server answers.
func (t *Traits) Ready(ctx context.Context, e server.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	c, err := t.Socket(ctx, e)
	if err != nil {
		return err
	}
	return c.Close()
}

// dyingTime is how long a server may take to be gone when its connections have broken.
const dyingTime = time.Second

// Fail closes a database that could not be opened. The error says whether its
// server has died of it.
func (d *DB) Fail(err error) error {
	if d.Private != nil && engine.ClassOf(err) == engine.Gone {
		d.Private.Wait(dyingTime)
		if died := d.Died(); died != nil {
			err = engine.Classify(engine.Gone, fmt.Errorf("%w: %w", died, err))
		}
	}
	_ = d.Close()
	return err
}

// Client is how a database is used once its server is known.
type Client struct {
	Connect     sqlkit.Connector // connections look names up in the schema
	Dialect     *sqlkit.Dialect
	Definitions sqlkit.Definitions
	Class       func(path string) engine.FileClass
}

// Begin makes the schema on the first connection, connects for definitions, and
// compares those that exist with the schema's. Before that it notes what the
// files of a private server take that holds nothing yet.
func (d *DB) Begin(ctx context.Context, first *sqlkit.Admin, c Client) (err error) {
	if err := c.Dialect.CheckSchema(d.setup.Schema); err != nil {
		return err
	}
	if d.Private != nil {
		if err := d.Private.NoteEmpty(c.Class); err != nil {
			return err
		}
	}
	d.client = c
	if err := d.place.take(ctx, first, c.Dialect, d.setup.Attached() && !d.setup.Server.Force); err != nil {
		return err
	}
	if d.DB, err = sqlkit.Open(ctx, c.Connect, c.Dialect, d.setup.Schema); err != nil {
		return err
	}
	d.Replace = d.setup.Attached() && d.setup.Server.Force
	return d.Compare(ctx, c.Definitions, d.setup.Attached())
}

// Keep has the connection of the counters be closed with the database, before
// all others.
func (d *DB) Keep(counters io.Closer) { d.counters = counters }

// CreateTables creates the tables, all or none of them. With force those of
// their names are replaced, on a server that was attached to.
func (d *DB) CreateTables(ctx context.Context) error {
	err := d.DB.CreateTables(ctx)
	if err == nil {
		d.place.made = d.TableNames()
	}
	return err
}

// Owns reports whether tables were made since the database was opened.
func (d *DB) Owns() bool { return len(d.place.made) > 0 }

// NewSession opens a session and reads back what was set for it.
func (d *DB) NewSession(ctx context.Context) (*sqlkit.Session, error) {
	s, err := d.DB.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	if d.setup.Isolation == model.DefaultIsolation {
		return s, nil
	}
	err = s.Query(ctx, d.traits.Isolation, func(row []string) error { return d.CheckLevel(row[len(row)-1]) })
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// EachTable does something with every table, with so many at the same time, each
// on a connection of its own.
func (d *DB) EachTable(ctx context.Context, atOnce int, f func(c *sqlkit.Admin, i int, table string) error) error {
	names := d.TableNames()
	errs := make([]error, len(names))
	turns := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, name := range names {
		wg.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			c, err := d.Connect(ctx)
			if err == nil {
				err = errors.Join(f(c, i, name), c.Close())
			}
			errs[i] = err
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Died returns how a private server ended that was not asked to.
func (d *DB) Died() error {
	if d.Private == nil {
		return nil
	}
	return d.Private.Died()
}

// Empty is what the files of a private server took before it held anything.
func (d *DB) Empty() map[engine.FileClass]int64 {
	if d.Private == nil {
		return nil
	}
	return d.Private.Empty()
}

// Close ends the sessions, removes what was made on a server that is not ours,
// and stops one that is. Closing again does nothing.
func (d *DB) Close() error {
	d.mu.Lock()
	again := d.closed
	d.closed = true
	d.mu.Unlock()
	if again {
		return nil
	}
	died := d.Died() != nil
	var err error
	if d.counters != nil {
		err = d.counters.Close()
	}
	if d.DB != nil {
		err = errors.Join(err, d.DB.Close())
	}
	switch {
	case d.Private == nil:
		return errors.Join(err, d.place.leave(d.client))
	case died: // which has caused all other errors
		return d.Private.Stop()
	}
	return errors.Join(err, d.Private.Stop())
}
