package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
	"rumbench/model"
)

// db is an open database.
type db struct {
	*setup
	peer
	at      *mongo.Database
	concern []byte // of writes, as the end of their commands
	tables  map[string]*layout
	wanted  map[string]string // definitions by TABLE or TABLE.INDEX

	ours bool     // we made the database
	made []string // the collections that we made

	mu       sync.Mutex // guards what follows
	closed   bool
	sessions map[*session]bool
	catalog  map[string]string // definitions of what exists
}

// journal reports whether writes wait for the journal.
func (d *db) journal() bool { return levels[d.Durability] }

// newHost knows what a server's process is called, and a file that its data
// directory has.
func newHost() *serverkit.Host { return serverkit.NewHost("WiredTiger", "mongod", "ferretdb") }

// Open starts a server in the directory, or attaches to one.
func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{
		setup: s, peer: peer{Host: newHost(), uri: c.Server.DSN}, sessions: map[*session]bool{},
		tables: map[string]*layout{}, wanted: map[string]string{}, catalog: map[string]string{},
	}
	concern, err := bson.Marshal(doc("writeConcern", doc("w", 1, "j", d.journal())))
	if err != nil {
		return nil, err
	}
	d.concern = concern[4:]
	for i := range s.Schema.Tables {
		t := newLayout(&s.Schema.Tables[i])
		d.tables[t.Name], d.wanted[t.Name] = t, t.definition(s.Compression)
		for i := range t.Indexes {
			d.wanted[t.Name+"."+t.Indexes[i].Name] = fmt.Sprint(t.indexDefinition(&t.Indexes[i]))
		}
	}
	if err := d.open(ctx); err != nil {
		err = d.Blame(err)
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func (d *db) open(ctx context.Context) error {
	if !d.Attached() {
		if err := d.Start(ctx, d.Setup, d.settings, d.ready); err != nil {
			return err
		}
		if d.replica {
			if err := d.initiate(ctx, d.Private.Endpoint().Port); err != nil {
				return err
			}
		}
	}
	if err := d.meet(ctx); err != nil {
		return err
	}
	d.at = d.client.Database(d.Server.Schema)
	if d.replica && d.set == "" {
		return engine.Refuse("dsn", nil, "it names a replica set, and the server belongs to none")
	}
	if d.Private != nil {
		if err := d.Private.NoteEmpty(d.class); err != nil {
			return err
		}
	}
	return d.take(ctx)
}

// ready connects once, to see whether a private server answers.
func (d *db) ready(ctx context.Context, e server.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := os.Stat(e.Socket); err != nil {
		return err // the driver would wait for it
	}
	d.uri = "mongodb://" + url.PathEscape(e.Socket) + "/"
	c, err := d.connect(ctx)
	if err == nil {
		disconnect(c)
	}
	return err
}

// initiate makes the private server the only node of a replica set. One that was
// reopened listens on another port than its set knows. It has a client of its own,
// which takes the server for what it was before.
func (d *db) initiate(ctx context.Context, port int) error {
	client, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer disconnect(client)
	admin := client.Database("admin")
	node := doc(idField, 0, "host", fmt.Sprintf("127.0.0.1:%d", port))
	config := doc(idField, replicaName, "version", 1, "members", bson.A{node})
	_, err = run(ctx, admin, doc("replSetInitiate", config))
	if hasCode(err, codeAlreadySet) {
		config[1].Value = int32(time.Now().Unix()) // any that is greater
		_, err = run(ctx, admin, doc("replSetReconfig", config, "force", true))
	}
	if err != nil {
		return err
	}
	return engine.AwaitRest(ctx, 50*time.Millisecond, 1, func() (bool, error) {
		hello, err := run(ctx, admin, doc("hello", 1))
		primary, _ := bsoncore.Document(hello).Lookup("isWritablePrimary").BooleanOK()
		return primary, err
	})
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
	for name, text := range d.catalog {
		if of(name, op.Table) {
			if err := d.differs(name, text); err != nil {
				return nil, err
			}
		}
	}
	if op.Index != "" && d.catalog[op.Table+"."+op.Index] == "" {
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
