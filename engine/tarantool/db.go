package tarantool

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/tarantool/iproto"
	"rumbench/internal/server"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

// program is loaded into the server.
//
//go:embed rumbench.lua
var program string

type db struct {
	*serverkit.Host
	*setup
	module  string // the global table that holds the program
	admin   *conn
	*reader          // of counters
	made    []string // tables that were made, or begun to be made

	mu      sync.Mutex
	strange map[string]string // descriptions of the tables that differ from the wanted ones
	foreign []string          // tables that rumbench has not made
	conns   map[*conn]bool    // the open ones
	closed  atomic.Bool
}

// programs is the name of a server's process, and mark a file that its data directory contains.
const (
	programs = "tarantool"
	mark     = "*.snap"
)

func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{Host: serverkit.NewHost(mark, programs), setup: s, module: "rumbench_" + rand.Text(), conns: map[*conn]bool{}}
	if err := d.open(ctx); err != nil {
		return nil, errors.Join(d.Blame(err), d.Close())
	}
	return d, nil
}

func (d *db) open(ctx context.Context) (err error) {
	if !d.Attached() {
		if err := d.Start(ctx, d.Setup, ready); err != nil {
			return err
		}
		d.address = socket(d.Private.Endpoint())
	}
	return d.Opening(ctx, d.begin)
}

// begin connects, loads the program and examines the tables that exist.
func (d *db) begin(ctx context.Context) (err error) {
	if d.admin, err = d.connect(ctx); err != nil {
		return err
	}
	again := func(ctx context.Context) (*iproto.Conn, error) {
		c, err := d.checked(ctx)
		if err != nil {
			return nil, err
		}
		return c.Conn, nil
	}
	d.admin.kept.Keep(again, false)
	if d.Private != nil {
		if err := d.NoteEmpty(fileClass); err != nil {
			return err
		}
	}
	if err := d.admin.eval(ctx, nil, program, d.module, d.Server.Schema); err != nil {
		return fmt.Errorf("load rumbench's functions: %w", err)
	}
	if err := d.compare(ctx); err != nil {
		return err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	c.kept.Keep(again, true)
	d.reader = &reader{conn: c}
	return nil
}

// connect opens a connection that Close closes.
func (d *db) connect(ctx context.Context) (*conn, error) {
	c, err := d.checked(ctx)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.conns[c] = true
	}
	return c, err
}

// checked opens a connection, and reads back what promises rest on: a proxy may lead to
// another server.
func (d *db) checked(ctx context.Context) (*conn, error) {
	c, err := connect(ctx, d.address, d.Dial)
	if err != nil {
		return nil, err
	}
	if _, err := d.vars(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func socket(e server.Endpoint) address { return address{network: "unix", host: e.Socket, user: e.User} }

// ready connects once, to check whether a private server answers.
func ready(ctx context.Context, e server.Endpoint) error {
	c, err := connect(ctx, socket(e), serverkit.NewHost("").Dial)
	if err != nil {
		return err
	}
	// The server listens before it is ready to write, and grants its rights last.
	return errors.Join(c.eval(ctx, nil, "box.ctl.wait_rw(0.1)"), c.Close())
}

// do calls one of the program's functions on a connection.
func (d *db) do(ctx context.Context, c *conn, into any, function string, args ...string) error {
	return engine.Wrap(function, c.eval(ctx, into, "return "+d.module+"."+function+"(...)", args...))
}

// compare examines the tables that exist: tables whose definitions differ from the
// schema's are refused, as a step would measure something else; on a server that is
// attached to they are only not used.
func (d *db) compare(ctx context.Context) error {
	var found struct {
		Exist, Foreign []string
		Strange        map[string]string
	}
	if err := d.do(ctx, d.admin, &found, "compare", encode(d.definitions())); err != nil {
		return err
	}
	if d.Attached() && !d.Server.Force && len(found.Exist) > 0 {
		return &engine.ExistsError{Schema: d.Server.Schema, Comment: "space " + d.Server.Schema + "." + found.Exist[0],
			Ours: len(found.Foreign) == 0}
	}
	d.strange, d.foreign = found.Strange, found.Foreign
	for _, subject := range found.Strange {
		if !d.Attached() {
			return errors.New(subject + wrongShape)
		}
	}
	return nil
}

const wrongShape = "; the parameters that shape the tables must be those of the load"

// definitions returns the definitions of the schema's tables as the program makes them,
// each a text.
func (d *db) definitions() (out []string) {
	for _, t := range d.Schema.Tables {
		out = append(out, encode(struct {
			model.Table
			Storage string
		}{t, d.Storage}))
	}
	return out
}

func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // values of our own types always encode
	}
	return string(b)
}

func (d *db) tableNames() []string {
	return quantity.Texts(d.Schema.Tables, func(t model.Table) string { return t.Name })
}

// CreateTables creates the schema's tables, all or none of them. With force, those that an
// earlier run has left are replaced, on a server that is attached to.
func (d *db) CreateTables(ctx context.Context) error {
	for _, name := range d.tableNames() {
		if slices.Contains(d.foreign, name) {
			return engine.ForeignError(name)
		}
	}
	replace := ""
	if d.Attached() && d.Server.Force {
		replace = "replace"
	}
	d.made = d.tableNames()
	if err := d.do(ctx, d.admin, nil, "create", encode(d.definitions()), replace); err != nil {
		return err
	}
	d.mu.Lock()
	clear(d.strange)
	d.mu.Unlock()
	return nil
}

// CreateIndexes builds secondary indexes one after the other, all or none.
func (d *db) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	t, err := d.usable(table)
	if err != nil || len(indexes) == 0 {
		return err
	}
	var list []model.Index
	for _, name := range indexes {
		ix, err := t.Index(name)
		if err != nil {
			return err
		}
		list = append(list, *ix)
	}
	return d.do(ctx, d.admin, nil, "create_indexes", table, encode(list))
}

func (d *db) DropIndex(ctx context.Context, table, index string) error {
	t, err := d.usable(table)
	if err != nil {
		return err
	}
	if _, err := t.Index(index); err != nil {
		return err
	}
	return d.do(ctx, d.admin, nil, "drop_index", table, index)
}

func (d *db) ClearTable(ctx context.Context, table string) error {
	if _, err := d.usable(table); err != nil {
		return err
	}
	return d.do(ctx, d.admin, nil, "clear", table)
}

// usable returns a table, or an error if it was made for something else.
func (d *db) usable(table string) (*model.Table, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.foreign, table) {
		return nil, engine.ForeignError(table)
	}
	if subject, ok := d.strange[table]; ok {
		return nil, errors.New(subject + wrongShape)
	}
	return d.Schema.Table(table)
}

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	return &session{conn: c, db: d}, nil
}

// Close ends the sessions, removes the objects that were created on a server that is
// attached to, and stops a private one.
func (d *db) Close() (err error) {
	if d.closed.Swap(true) {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.conns {
		err = errors.Join(err, c.Close())
	}
	if d.Attached() && d.admin != nil {
		err = errors.Join(err, d.leave())
	}
	return d.Stop(err)
}

// leave removes our objects from a server that is not ours, on a new connection: others
// may be broken.
func (d *db) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), serverkit.LeaveTime)
	defer cancel()
	c, err := connect(ctx, d.address, d.Dial)
	if err == nil {
		if d.made != nil {
			err = d.do(ctx, c, nil, "drop", encode(d.made))
		}
		err = errors.Join(err, c.eval(ctx, nil, "local m = rawget(_G, ...) if m then m.unload() end", d.module), c.Close())
	}
	if err != nil {
		return fmt.Errorf("could not remove rumbench's tables %s.* from the attached server: %w",
			strconv.Quote(d.Server.Schema), err)
	}
	return nil
}
