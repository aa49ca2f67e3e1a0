package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// db is an open database.
type db struct {
	*serverkit.Host
	*setup
	reach   reach
	client  *mongo.Client // for definitions, settings and counters
	at      *mongo.Database
	about   about
	concern []byte // of writes, as an element of their commands
	tables  map[string]*layout

	ours bool     // we made the database
	made []string // the collections that we made

	mu       sync.Mutex // guards what follows
	closed   bool
	sessions map[*session]bool
	indexes  map[string]bool  // that exist, as TABLE.INDEX
	strange  map[string]error // tables that exist with another definition
}

// journal reports whether writes wait for the journal.
func (d *db) journal() bool { return levels[d.Durability] }

// programs are what a server's process may be called; dataMark is a file that its
// data directory has.
var programs = []string{"mongod", "ferretdb"}

const dataMark = "WiredTiger"

// Open starts a server in the directory, or attaches to one.
func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{
		Host: serverkit.NewHost(dataMark, programs...), setup: s,
		tables: map[string]*layout{}, sessions: map[*session]bool{}, indexes: map[string]bool{}, strange: map[string]error{},
	}
	d.concern = static(bson.D{{Key: "writeConcern", Value: bson.D{{Key: "w", Value: 1}, {Key: "j", Value: d.journal()}}}})
	for i := range s.Schema.Tables {
		t := &s.Schema.Tables[i]
		d.tables[t.Name] = newLayout(t)
	}
	if err := d.open(ctx); err != nil {
		err = d.Blame(err)
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func (d *db) open(ctx context.Context) (err error) {
	var e server.Endpoint
	if !d.Attached() {
		if err := d.Start(ctx, d.Setup, d.settings, ready); err != nil {
			return err
		}
		e = d.Private.Endpoint()
	}
	d.reach = reachOf(d.Server.DSN, e, d.Dial)
	if d.replica && d.Private != nil {
		if err := d.initiate(ctx, e.Port); err != nil {
			return err
		}
	}
	if d.client, err = d.reach.connect(ctx); err != nil {
		return err
	}
	d.at = d.client.Database(d.Server.Schema)
	if d.about, err = ask(ctx, d.client); err != nil {
		return err
	}
	if d.replica && d.about.set == "" {
		return engine.Refuse("dsn", nil, "it names a replica set, and the server belongs to none")
	}
	if d.Private != nil {
		if err := d.Private.NoteEmpty(d.class); err != nil {
			return err
		}
	}
	if err := d.take(ctx); err != nil {
		return err
	}
	return d.compare(ctx)
}

// readyTime is how long the first answer of a server may take.
const readyTime = 10 * time.Second

// ready connects once, to see whether a private server answers.
func ready(ctx context.Context, e server.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	if _, err := os.Stat(e.Socket); err != nil {
		return err // the driver would wait for it
	}
	c, err := reachOf("", e, func(ctx context.Context, _, address string) (net.Conn, error) { return server.Dial(ctx, address) }).connect(ctx)
	if err == nil {
		disconnect(c)
	}
	return err
}

// initiate makes the private server the only node of a replica set. One that was
// reopened listens on another port than its set knows. It has a client of its own,
// which takes the server for what it was before.
func (d *db) initiate(ctx context.Context, port int) error {
	client, err := d.reach.connect(ctx)
	if err != nil {
		return err
	}
	defer disconnect(client)
	admin := client.Database("admin")
	config := bson.D{{Key: "_id", Value: replicaName}, {Key: "version", Value: 1}, {Key: "members", Value: bson.A{
		bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: fmt.Sprintf("127.0.0.1:%d", port)}},
	}}}
	_, err = command(ctx, admin, bson.D{{Key: "replSetInitiate", Value: config}})
	if hasCode(err, codeAlreadySet) {
		config[1].Value = int32(time.Now().Unix()) // any that is greater
		_, err = command(ctx, admin, bson.D{{Key: "replSetReconfig", Value: config}, {Key: "force", Value: true}})
	}
	if err != nil {
		return err
	}
	return engine.AwaitRest(ctx, 50*time.Millisecond, 1, func() (bool, error) {
		hello, err := command(ctx, admin, bson.D{{Key: "hello", Value: 1}})
		primary, _ := hello.Lookup("isWritablePrimary").BooleanOK()
		return primary, err
	})
}

// about is what a server says of itself.
type about struct {
	version  string
	ferretDB string // its version, where it only speaks the protocol
	set      string // the replica set
}

func ask(ctx context.Context, c *mongo.Client) (a about, err error) {
	admin := c.Database("admin")
	build, err := command(ctx, admin, bson.D{{Key: "buildInfo", Value: 1}})
	if err != nil {
		return a, err
	}
	a.version, _ = build.Lookup("version").StringValueOK()
	a.ferretDB, _ = build.Lookup("ferretdbVersion").StringValueOK()
	hello, err := command(ctx, admin, bson.D{{Key: "hello", Value: 1}})
	a.set, _ = hello.Lookup("setName").StringValueOK()
	return a, err
}

// String returns the version. That of a stand-in says what it is, so that nobody
// takes its figures for MongoDB's; reports show its first word beside the engine.
func (a about) String() string {
	if a.ferretDB != "" {
		return "FerretDB-protocol-test (not MongoDB; FerretDB " + a.ferretDB + ")"
	}
	return a.version
}

// usable returns the table of an operation. It is an error if the table was made
// for something else, or if the index does not exist: the server would go another
// way.
func (d *db) usable(op *model.Op) (*layout, error) {
	t := d.tables[op.Table]
	if t == nil {
		return nil, fmt.Errorf("schema has no table %q", op.Table)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.strange[op.Table]; err != nil {
		return nil, err
	}
	if op.Index != "" && !d.indexes[op.Table+"."+op.Index] {
		return nil, fmt.Errorf("operation %s: the index does not exist", op.Label())
	}
	return t, nil
}

// Close ends the sessions, removes what was made on a server that is not ours,
// and stops one that is. Closing again does nothing.
func (d *db) Close() error {
	d.mu.Lock()
	again, open := d.closed, d.sessions
	d.closed, d.sessions = true, map[*session]bool{}
	d.mu.Unlock()
	if again {
		return nil
	}
	for s := range open {
		s.end()
	}
	var err error
	if d.client != nil {
		if d.Attached() {
			err = d.leave()
		}
		disconnect(d.client)
	}
	if d.Private != nil {
		err = errors.Join(err, d.Private.Stop())
	}
	return err
}
