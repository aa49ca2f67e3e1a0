package mongodb

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
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

type db struct {
	*setup
	peer
	at      *mongo.Database
	concern []byte // of writes, appended to their commands
	tables  map[string]*layout
	wanted  map[string]string // definitions by TABLE or TABLE.INDEX

	ours    bool              // rumbench has created the database
	made    map[string]string // the collections that this process has created, with their ids
	foreign []string          // those that rumbench has not created

	mu       sync.Mutex // guards the fields below
	closed   bool
	sessions map[*session]bool
	catalog  map[string]string // definitions of the existing objects
}

// newHost knows the names of a server's process, and a file that its data directory contains.
func newHost() *serverkit.Host { return serverkit.NewHost("WiredTiger", "mongod", "ferretdb") }

func (Engine) Open(ctx context.Context, c engine.Config) (engine.DB, error) {
	s, err := newSetup(ctx, c)
	if err != nil {
		return nil, err
	}
	d := &db{
		setup: s, peer: peer{Host: newHost(), uri: c.Server.DSN}, sessions: map[*session]bool{},
		tables: map[string]*layout{}, wanted: map[string]string{}, catalog: map[string]string{},
	}
	concern, _ := newCommand(doc("writeConcern", doc("w", 1, "j", d.journal))).fill(nil, nil)
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
		if err := d.Start(ctx, d.Setup, d.ready); err != nil {
			return err
		}
		if d.replica {
			if err := d.initiate(ctx, d.Private.Endpoint().Port); err != nil {
				return err
			}
		}
		if err := d.NoteEmpty(d.class); err != nil {
			return err
		}
	}
	return d.Opening(ctx, d.begin)
}

// begin connects, and creates the database or examines it.
func (d *db) begin(ctx context.Context) error {
	if err := d.meet(ctx); err != nil {
		return err
	}
	d.at = d.client.Database(d.Server.Schema)
	if err := d.checkServer(ctx, d.client); err != nil {
		return err
	}
	if d.replica && d.set == "" {
		return engine.Refuse("dsn", nil, "it names a replica set, and the server belongs to none")
	}
	return d.take(ctx)
}

// ready connects once, to check whether a private server answers.
func (d *db) ready(ctx context.Context, e server.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := os.Stat(e.Socket); err != nil {
		return err // the driver would wait for it
	}
	d.uri, d.socket = "mongodb://%2Fprivate.sock/", e.Socket
	c, err := d.connect(ctx, 0)
	if err == nil {
		disconnect(c)
	}
	return err
}

// initiate makes the private server the only node of a replica set. A reopened one
// listens on a different port from the one in its configuration. It uses a separate
// client, whose view of the server is from before the change.
func (d *db) initiate(ctx context.Context, port int) error {
	client, err := d.connect(ctx, 0)
	if err != nil {
		return err
	}
	defer disconnect(client)
	admin := client.Database("admin")
	node := doc(idField, 0, "host", fmt.Sprintf("127.0.0.1:%d", port))
	config := doc(idField, replicaName, "version", 1, "members", bson.A{node})
	_, err = run(ctx, admin, doc("replSetInitiate", config))
	if hasCode(err, codeAlreadySet) {
		config[1].Value = int32(time.Now().Unix()) // any greater value
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

// Close ends the sessions, removes the objects that were created on a server that is not
// ours, and stops one that is. Closing again does nothing.
func (d *db) Close() (err error) {
	d.mu.Lock()
	again, open := d.closed, slices.Collect(maps.Keys(d.sessions))
	d.closed = true
	d.mu.Unlock()
	if again {
		return nil
	}
	for _, s := range open {
		_ = s.Close()
	}
	if d.client != nil {
		if d.Attached() {
			err = d.leave()
		}
		disconnect(d.client)
	}
	return d.Stop(err)
}

// catalogName is the collection that describes the others: the server knows no columns.
// Its documents are named TABLE or TABLE.INDEX; the one without a name names the creator
// of the database. That of a table has the collection's id: a collection of the same name
// that a user creates later is the user's.
const catalogName = "rumbench.catalog"

// belongs reports whether an entry of the catalog describes an object or a part of it.
func belongs(name, object string) bool { return name == object || strings.HasPrefix(name, object+".") }

// take creates the database, or examines the tables and indexes that exist. If it must be
// new, an existing one is refused.
func (d *db) take(ctx context.Context) error {
	ids, err := idsOf(ctx, d.at, bson.D{})
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		d.ours = true
		return d.note(ctx, "", serverkit.Maker())
	}
	catalog, err := run(ctx, d.at, doc("find", catalogName, "batchSize", maxRows))
	if err != nil {
		return err
	}
	err = each(lookup(catalog, "cursor", "firstBatch"), func(_ []byte, v bsoncore.Value) error {
		name, definition := text(v.Data, idField), text(v.Data, "text")
		if ours, err := created(ctx, d.at, name, ids[name], text(v.Data, "id")); !ours {
			return err
		}
		d.catalog[name] = definition
		if d.Attached() { // others may use the database too: differing objects are only not used
			return nil
		}
		return d.differs(name, definition)
	})
	if err != nil {
		return err
	}
	d.foreign, d.ours = others(ids, d.catalog), strings.HasPrefix(d.catalog[""], engine.Mark)
	if d.Attached() && !d.Server.Force {
		return &engine.ExistsError{Schema: d.Server.Schema, Comment: d.catalog[""], Ours: len(d.foreign) == 0}
	}
	for name, t := range d.tables {
		if d.catalog[name] != "" && t.AutoColumn() >= 0 {
			reply, err := run(ctx, d.at, doc("find", name, "sort", doc(idField, -1), "limit", 1, "projection", doc(idField, 1)))
			if err != nil {
				return err
			}
			t.numbers.Store(number(reply, "cursor", "firstBatch", "0", idField))
		}
	}
	return nil
}

func idsOf(ctx context.Context, at *mongo.Database, filter bson.D) (map[string]string, error) {
	specifications, err := at.ListCollectionSpecifications(ctx, filter)
	ids := map[string]string{}
	for i := range specifications {
		ids[specifications[i].Name] = "none"
		if id := specifications[i].UUID; id != nil {
			ids[specifications[i].Name] = hex.EncodeToString(id.Data)
		}
	}
	return ids, classify("list the collections", err)
}

// created reports whether rumbench has created a collection that its catalog lists with an id. It
// has none if the process was killed before it could note it: then the collection is still empty.
func created(ctx context.Context, at *mongo.Database, name, id, noted string) (bool, error) {
	if id == "" || noted != "" {
		return id == "" || id == noted, nil
	}
	reply, err := run(ctx, at, doc("find", name, "limit", 1))
	return err == nil && len(lookup(reply, "cursor", "firstBatch", "0")) == 0, err
}

// others returns the collections that rumbench has not created.
func others(ids, catalog map[string]string) (names []string) {
	for name := range ids {
		if name != catalogName && catalog[name] == "" {
			names = append(names, name)
		}
	}
	return names
}

// differs returns an error if the existing definition is not the wanted one.
func (d *db) differs(name, text string) error {
	const advice = "the parameters that shape the tables must be those of the load"
	want, ok := d.wanted[name]
	switch {
	case name == "" || ok && want == text:
		return nil
	case ok:
		return fmt.Errorf("%s exists with another definition: it is %q, and %q is wanted; %s", name, text, want, advice)
	}
	return fmt.Errorf("the database holds %s, which is not wanted: %s", name, advice)
}

// note adds to the catalog.
func (d *db) note(ctx context.Context, name, text string) error {
	_, err := run(ctx, d.at, doc("insert", catalogName, "documents", bson.A{doc(idField, name, "text", text)}))
	if err == nil {
		d.mu.Lock()
		d.catalog[name] = text
		d.mu.Unlock()
	}
	return err
}

// forget removes an object and its parts from the catalog.
func (d *db) forget(ctx context.Context, object string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	gone := bson.A{}
	for name := range d.catalog {
		if belongs(name, object) {
			gone = append(gone, name)
			delete(d.catalog, name)
		}
	}
	_, err := run(ctx, d.at, doc("delete", catalogName, "deletes",
		bson.A{doc("q", doc(idField, doc("$in", gone)), "limit", 0)}))
	return err
}

// CreateTables creates the collections, all or none of them. With force, those that an
// earlier run has left are replaced.
func (d *db) CreateTables(ctx context.Context) error {
	for name := range d.tables {
		if slices.Contains(d.foreign, name) {
			return engine.ForeignError(name)
		}
	}
	d.made = map[string]string{}
	for _, t := range d.Schema.Tables {
		if err := d.createTable(ctx, t.Name); err != nil {
			for name := range d.made {
				err = errors.Join(err, d.drop(context.WithoutCancel(ctx), name))
			}
			d.made = nil
			return err
		}
	}
	return nil
}

// createTable notes the collection before it creates it, so that what a killed process
// leaves is known as ours.
func (d *db) createTable(ctx context.Context, name string) error {
	if d.Attached() && d.Server.Force && d.catalog[name] != "" {
		if err := d.drop(ctx, name); err != nil {
			return err
		}
	}
	create := doc("create", name)
	if d.Compression != "" {
		config := doc("configString", "block_compressor="+string(d.Compression))
		create = append(create, bson.E{Key: "storageEngine", Value: doc("wiredTiger", config)})
	}
	if err := d.note(ctx, name, d.wanted[name]); err != nil {
		return err
	}
	d.tables[name].numbers.Store(0)
	if _, err := run(ctx, d.at, create); err != nil {
		return errors.Join(err, d.forget(context.WithoutCancel(ctx), name))
	}
	ids, err := idsOf(ctx, d.at, doc("name", name))
	if err != nil {
		return err
	}
	d.made[name] = ids[name]
	_, err = run(ctx, d.at, doc("update", catalogName, "updates",
		bson.A{doc("q", doc(idField, name), "u", doc("$set", doc("id", ids[name])))}))
	return err
}

// drop removes a collection, and its entries in the catalog.
func (d *db) drop(ctx context.Context, name string) error {
	if err := d.at.Collection(name).Drop(ctx); err != nil {
		return classify("drop "+name, err)
	}
	return d.forget(ctx, name)
}

// CreateIndexes builds the named secondary indexes in one pass.
func (d *db) CreateIndexes(ctx context.Context, table string, indexes ...string) error {
	t, err := d.usable(&model.Op{Table: table})
	if err != nil || len(indexes) == 0 {
		return err
	}
	var list bson.A
	for _, name := range indexes {
		ix, err := t.Index(name)
		if err != nil {
			return err
		}
		if _, err := d.usable(&model.Op{Table: table, Index: name}); err == nil {
			return fmt.Errorf("index %s.%s exists", table, name) // the server would report success
		}
		definition := t.indexDefinition(ix)
		if d.standIn { // its unique indexes leave out missing fields, and it does not support partial ones
			definition = slices.DeleteFunc(definition, func(e bson.E) bool { return e.Key == "partialFilterExpression" })
		}
		list = append(list, definition)
	}
	_, err = run(ctx, d.at, doc("createIndexes", table, "indexes", list))
	for _, name := range indexes {
		if err == nil {
			err = d.note(ctx, table+"."+name, d.wanted[table+"."+name])
		}
	}
	return err
}

func (d *db) DropIndex(ctx context.Context, table, index string) error {
	if _, err := d.usable(&model.Op{Table: table, Index: index}); err != nil {
		return err
	}
	if _, err := run(ctx, d.at, doc("dropIndexes", table, "index", index)); err != nil {
		return err
	}
	return d.forget(ctx, table+"."+index)
}

// ClearTable removes all documents of a collection. Unlike drop and create, this keeps
// its indexes and options as they are.
func (d *db) ClearTable(ctx context.Context, table string) error {
	if _, err := d.usable(&model.Op{Table: table}); err != nil {
		return err
	}
	_, err := run(ctx, d.at, doc("delete", table, "deletes", bson.A{doc("q", bson.D{}, "limit", 0)}))
	return err
}

// leave removes our objects from a server that is not ours.
func (d *db) leave() (err error) {
	if !d.ours && len(d.made) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), serverkit.LeaveTime)
	defer cancel()
	var ids map[string]string
	if err = ping(ctx, d.client); err == nil {
		calm(ctx, d)
		ids, err = idsOf(ctx, d.at, bson.D{})
	}
	for name, id := range d.made {
		if err == nil && ids[name] == id { // a concurrent run may have replaced it (--force)
			err = d.drop(ctx, name)
		}
	}
	if d.ours && err == nil { // unless others use it now
		if ids, err = idsOf(ctx, d.at, bson.D{}); err == nil && len(others(ids, nil)) == 0 {
			err = d.at.Drop(ctx)
		}
	}
	if err != nil {
		err = fmt.Errorf("could not remove rumbench's objects from database %s of the attached server: %w", d.Server.Schema,
			err)
	}
	return err
}

// calm waits until no operation of ours works on our collections, for a few seconds at most. One whose client
// was interrupted goes on for a moment in the server: an insert would bring a collection back that is
// removed meanwhile, and then it is nobody's.
func calm(ctx context.Context, d *db) {
	const tries, pause = 100, 50 * time.Millisecond
	names := bson.A{}
	for name := range d.made {
		names = append(names, d.Server.Schema+"."+name)
	}
	for range tries {
		r, err := d.ask(ctx,
			doc("currentOp", 1, "$ownOps", true, "active", true, "ns", doc("$in", names)))
		if err != nil || len(lookup(r, "inprog", "0")) == 0 { // it cannot be asked, or there is none
			return
		}
		time.Sleep(pause)
	}
}

// usable returns the table of an operation. It is an error if the table was made for something
// else, or if the index does not exist: the server would choose a different access path.
func (d *db) usable(op *model.Op) (*layout, error) {
	t := d.tables[op.Table]
	switch {
	case t == nil:
		return nil, fmt.Errorf("schema has no table %q", op.Table)
	case slices.Contains(d.foreign, op.Table):
		return nil, engine.ForeignError(op.Table)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, text := range d.catalog {
		if belongs(name, op.Table) {
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
