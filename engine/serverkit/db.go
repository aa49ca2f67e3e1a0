// Package serverkit makes an engine of a SQL database server: it starts a private one
// or attaches to one, makes a schema there and removes it again, compares the existing
// tables with the wanted ones, and knows the server's process, its files and its death.
//
// It knows no server and no protocol. The differences of one server from others
// are in its Rules, its Traits and its sqlkit.Dialect; settings, counters, sizes
// and rest are the engine's own.
package serverkit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
	"rumbench/internal/server"
	"rumbench/internal/text/secret"
)

// Traits distinguish a kind of server from others.
type Traits struct {
	Programs []string // possible names of a server's process
	Mark     string   // a file that a data directory has; "": unknown
	Schemas  Schemas
	// Serving is a query for the session of the server that serves a connection.
	Serving string
	// Identity is a query whose rows together identify the process of a server that runs; it may ask any user.
	Identity string
	// Reach returns a connector to the server of a data source name, or of a private
	// server's endpoint if that is empty. It connects by dial.
	Reach func(dsn string, e server.Endpoint, dial wire.Dial) (Connector, error)
	// Remote returns the data source name of a private server, for clients on other machines.
	Remote func(e server.Endpoint) string
	// Dialect is the dialect of connections to a server about which nothing is known yet.
	Dialect *sqlkit.Dialect
}

// Connector makes connections to a server.
type Connector interface {
	Connect(context.Context) (sqlkit.Conn, error)
}

// hiding returns the way to connect by a connector, without the secrets of a data source
// name in its errors.
func hiding(c Connector, dsn string) sqlkit.Connector {
	return func(ctx context.Context) (sqlkit.Conn, error) {
		conn, err := c.Connect(ctx)
		return conn, secret.Error(err, dsn)
	}
}

// hidden connects to the first gateway without showing the DSN's secrets.
func hidden(d *DB) sqlkit.Connector { return hiding(d.Connector, d.setup.Server.DSN) }

// Sample adds counters to a sample.
type Sample func(context.Context, *engine.Sample) error

// Describe asks a server how it keeps tables; nil if that is unknown.
type Describe func(context.Context, *sqlkit.Admin) (engine.Structure, error)

func (f Describe) ask(ctx context.Context, conn *sqlkit.Admin) (out engine.Structure, err error) {
	if f != nil {
		out, err = f(ctx, conn)
	}
	return out, engine.Wrap("read the structure", err)
}

// DB is the part of an engine.DB that databases on servers have in common. An
// engine embeds it and adds the rest.
type DB struct {
	*sqlkit.DB
	*Host
	Connector Connector // to the server

	setup    *Setup
	traits   *Traits
	client   Client
	place    place
	gateways []*gateway // the first is the server that everything but sessions uses

	counting sync.Mutex // of the gateways' last counters

	dealing sync.Mutex // of the following, and of the gateways' sessions
	dealt   int        // sessions

	closed atomic.Bool
}

// New returns a database that is still to be opened.
func New(s *Setup, t *Traits) *DB {
	d := &DB{setup: s, traits: t, Host: NewHost(t.Mark, t.Programs...),
		place: place{Schemas: t.Schemas, schema: s.Server.Schema}}
	first := func(ctx context.Context) (sqlkit.Conn, error) { return hidden(d)(ctx) }
	d.gateways = []*gateway{{Host: d.Host, connect: first}}
	return d
}

// Client is the access to a database once its server is known.
type Client struct {
	Dialect     *sqlkit.Dialect
	Definitions sqlkit.Definitions
	// Setup are the statements that every session begins with: it looks names up in the schema.
	Setup []string
	// Check reads back from a session its schema and what promises rest on.
	Check func(context.Context, *sqlkit.Admin) error
	// Class returns the classes of files in the data directory, as of now.
	Class func(context.Context, *sqlkit.Admin) (func(path string) engine.FileClass, error)
	// Counters readies the counters of a gateway, which are read on a separate connection.
	Counters  func(ctx context.Context, c *sqlkit.Admin, first bool) (Sample, error)
	Structure Describe
	// TextLogs is a query of the directory of the data, and the files of logs for people; "" if there is none.
	TextLogs string
	Adapt    func(Connector) // prepares the connector of a further gateway; nil: that needs nothing
}

// Open starts the server, unless one is attached to, has the engine identify it on a
// first connection, and connects. If it fails, the error reports whether its server
// has died.
func (d *DB) Open(ctx context.Context, identify func(context.Context, *sqlkit.Admin) (Client, error)) (err error) {
	var e server.Endpoint
	if !d.setup.Attached() {
		if err := d.Start(ctx, d.setup, d.traits.Ready); err != nil {
			return err
		}
		e = d.Private.Endpoint()
	}
	if d.Connector, err = d.traits.Reach(d.setup.Server.DSN, e, d.Dial); err == nil {
		err = d.setup.Opening(ctx, func(ctx context.Context) error { return d.begin(ctx, identify) })
	}
	if err != nil {
		err = d.Blame(err)
		_ = d.Close()
	}
	return err
}

// Ready connects once, to see whether a private server answers.
func (t *Traits) Ready(ctx context.Context, e server.Endpoint) error {
	connector, err := t.Reach("", e, dial)
	if err != nil {
		return err
	}
	c, err := meet(ctx, connector.Connect, t.Dialect)
	if err != nil {
		return err
	}
	return c.Close()
}

// begin makes the schema on the first connection, connects for definitions, and
// compares those that exist with the schema's. Before that it notes the sizes
// of a private server's files while the server is empty.
func (d *DB) begin(ctx context.Context, identify func(context.Context, *sqlkit.Admin) (Client, error)) error {
	first, err := meet(ctx, hidden(d), d.traits.Dialect)
	if err != nil {
		return err
	}
	defer first.Close()
	c, err := Hello(ctx, func(ctx context.Context) (Client, error) { return identify(ctx, first) })
	if err != nil {
		return err
	}
	d.client = c
	c.Dialect.Schema, c.Dialect.AsText = d.setup.Server.Schema, d.setup.Protocol == engine.Text
	if err := c.Dialect.CheckSchema(d.setup.Schema); err != nil {
		return err
	}
	if d.Private != nil {
		var class func(path string) engine.FileClass
		if class, err = c.Class(ctx, first); err == nil {
			err = d.NoteEmpty(class)
		}
	} else {
		_, err = Hello(ctx, func(ctx context.Context) (any, error) { return nil, d.checkPooling(ctx, first) })
	}
	if err != nil {
		return err
	}
	if err := d.enter(ctx, first); err != nil {
		return err
	}
	if d.DB, err = sqlkit.Open(ctx, d.connect, c.Dialect, d.setup.Schema); err != nil {
		return err
	}
	d.Admin().KeepOpen(d.connect, d.Private != nil) // only rumbench ends connections to a private server
	d.Replace = d.setup.Attached() && d.setup.Server.Force
	if err := d.findForeign(ctx); err != nil {
		return err
	}
	if err := d.Compare(ctx, c.Definitions, d.setup.Attached()); err != nil {
		return err
	}
	if err := d.openGateways(ctx); err != nil {
		return err
	}
	if len(d.gateways) > 1 {
		d.Deal = d.deal
	}
	if d.setup.Server.Join {
		return nil // the servers are measured by the process that has made the schema
	}
	return d.count(ctx)
}

// enter makes the schema, or finds the one that another process has made.
func (d *DB) enter(ctx context.Context, first *sqlkit.Admin) error {
	if d.setup.Server.Join {
		return d.place.join(ctx, first, d.client.Dialect)
	}
	return d.place.take(ctx, first, d.client.Dialect, d.setup.Attached() && !d.setup.Server.Force)
}

// Reach implements engine.Reachable.
func (d *DB) Reach(ctx context.Context) (a engine.Route, err error) {
	if d.Private == nil {
		a.DSNs = d.setup.Server.DSNs()
	} else if e := d.Private.Endpoint(); e.Address == server.ThisMachine {
		return a, errors.New("the private server is reached from its own machine only")
	} else {
		a.DSNs = []string{d.traits.Remote(e)}
	}
	first, err := d.traits.identity(ctx, d.Admin())
	a.Servers = []string{first}
	for _, g := range d.gateways[1:] {
		a.Servers = append(a.Servers, g.id)
	}
	return a, err
}

// Refresh implements engine.Reachable.
func (d *DB) Refresh(ctx context.Context) error {
	return d.Compare(ctx, d.client.Definitions, d.setup.Attached())
}

// errJoined refuses changes by a process that has joined what another has made.
var errJoined = errors.New("this process has joined a schema: another one makes and removes its tables")

// findForeign finds the tables in the schema of an attached server that are not ours.
func (d *DB) findForeign(ctx context.Context) error {
	if !d.setup.Attached() {
		return nil
	}
	_, foreign, err := d.place.tables(ctx, d.Admin(), d.client.Dialect)
	d.SetForeign(foreign)
	return err
}

// FileClass implements engine.Classifier.
func (d *DB) FileClass(ctx context.Context) (func(path string) engine.FileClass, error) {
	return d.client.Class(ctx, d.Admin())
}

// Structure implements engine.Structured.
func (d *DB) Structure(ctx context.Context) (engine.Structure, error) {
	return d.client.Structure.ask(ctx, d.Admin())
}

// CreateTables creates the tables, all or none of them. With force, tables that an
// earlier run has left are replaced on a server that was attached to.
func (d *DB) CreateTables(ctx context.Context) error {
	if d.setup.Server.Join {
		return errJoined
	}
	if err := d.findForeign(ctx); err != nil {
		return err
	}
	d.place.made = d.TableNames()
	return d.DB.CreateTables(ctx)
}

// Owns reports whether tables were made since the database was opened.
func (d *DB) Owns() bool { return len(d.place.made) > 0 }

// EachTable calls f for every table, for atOnce tables at the same time, each on
// a separate connection.
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

// Close ends the sessions, removes the tables and the schema made on an
// attached server, and stops a private one. Closing again does nothing.
func (d *DB) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	var err error
	for _, g := range d.gateways {
		if g.counters != nil {
			err = errors.Join(err, g.counters.Close())
		}
	}
	if d.DB != nil {
		err = errors.Join(err, d.DB.Close())
	}
	if d.Private == nil {
		err = errors.Join(err, d.place.leave(hidden(d), d.client.Dialect))
	}
	return d.Stop(err)
}
