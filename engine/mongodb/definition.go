package mongodb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// catalogName is the collection that says what the others are: the server knows
// no columns. Its documents are called TABLE or TABLE.INDEX; the one without a
// name says who has made the database.
const catalogName = "rumbench.catalog"

// of reports whether an entry of the catalog is that of an object or part of it.
func of(name, object string) bool { return name == object || strings.HasPrefix(name, object+".") }

// definition is a table's in words.
func (l *layout) definition(c model.Compression) string {
	var words []string
	for _, c := range l.Columns {
		word := fmt.Sprintf("%s %s(%d)", c.Name, c.Type, c.Width)
		if c.NotNull {
			word += " not null"
		}
		words = append(words, word)
	}
	return strings.TrimSpace(strings.Join(words, ", ") + ", key " + strings.Join(l.Key, ", ") + " " + string(c))
}

// indexDefinition is the document of an index in a createIndexes. The primary key
// is part of each that is not unique, and comes behind its columns, as then the
// included ones do: so entries are in its order, and it is read from them.
func (l *layout) indexDefinition(ix *model.Index) bson.D {
	columns := ix.Columns
	if !ix.Unique {
		columns = once(slices.Concat(columns, l.Key, ix.Include))
	}
	keys := bson.D{}
	for _, name := range columns {
		keys = append(keys, bson.E{Key: l.path(name), Value: 1})
	}
	d := doc("key", keys, "name", ix.Name, "unique", ix.Unique)
	if nullable := l.nullable(ix.Name); len(nullable) > 0 {
		only := bson.D{}
		for _, name := range nullable {
			only = append(only, l.present(name)...)
		}
		d = append(d, bson.E{Key: "partialFilterExpression", Value: only})
	}
	return d
}

// take makes the database, or looks at the tables and indexes that exist. If it
// must be new, one that exists is refused.
func (d *db) take(ctx context.Context) error {
	names, err := d.at.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return classify("list the collections", err)
	}
	if len(names) == 0 {
		d.ours = true
		host, _ := os.Hostname()
		return d.note(ctx, "", fmt.Sprintf("made by rumbench, process %d on %s, %s", os.Getpid(), host, time.Now().UTC().Format(time.DateTime+" UTC")))
	}
	catalog, err := run(ctx, d.at, doc("find", catalogName, "batchSize", mostRows))
	if err != nil {
		return err
	}
	err = each(lookup(catalog, "cursor", "firstBatch"), func(_ []byte, v bsoncore.Value) error {
		name, definition := text(v.Data, idField), text(v.Data, "text")
		d.catalog[name] = definition
		if d.Attached() { // others may use the database too: what differs is only not used
			return nil
		}
		return d.differs(name, definition)
	})
	if err != nil {
		return err
	}
	if d.Attached() && !d.Server.Force {
		return &engine.ExistsError{Schema: d.Server.Schema, Comment: d.catalog[""]}
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

// differs returns an error if what exists is not what is wanted.
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
		if of(name, object) {
			gone = append(gone, name)
			delete(d.catalog, name)
		}
	}
	_, err := run(ctx, d.at, doc("delete", catalogName, "deletes", bson.A{doc("q", doc(idField, doc("$in", gone)), "limit", 0)}))
	return err
}

// CreateTables creates the collections, all or none of them. With force those of
// their names are replaced.
func (d *db) CreateTables(ctx context.Context) error {
	var done []string
	for _, t := range d.Schema.Tables {
		if err := d.createTable(ctx, t.Name); err != nil {
			for _, name := range done {
				err = errors.Join(err, d.drop(context.WithoutCancel(ctx), name))
			}
			return err
		}
		done = append(done, t.Name)
	}
	d.made = done
	return nil
}

func (d *db) createTable(ctx context.Context, name string) error {
	if d.Attached() && d.Server.Force {
		if err := d.drop(ctx, name); err != nil {
			return err
		}
	}
	create := doc("create", name)
	if d.Compression != "" {
		config := doc("configString", "block_compressor="+string(d.Compression))
		create = append(create, bson.E{Key: "storageEngine", Value: doc("wiredTiger", config)})
	}
	if _, err := run(ctx, d.at, create); err != nil {
		return err
	}
	d.tables[name].numbers.Store(0)
	return d.note(ctx, name, d.wanted[name])
}

// drop removes a collection, and what the catalog says of it.
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
			return fmt.Errorf("index %s.%s exists", table, name) // the server would take it for done
		}
		definition := t.indexDefinition(ix)
		if d.standIn { // its unique indexes have no missing fields, and it does not know partial ones
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

// DropIndex removes a secondary index.
func (d *db) DropIndex(ctx context.Context, table, index string) error {
	if _, err := d.usable(&model.Op{Table: table, Index: index}); err != nil {
		return err
	}
	if _, err := run(ctx, d.at, doc("dropIndexes", table, "index", index)); err != nil {
		return err
	}
	return d.forget(ctx, table+"."+index)
}

// leave removes what is ours from a server that is not.
func (d *db) leave() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	if d.ours {
		err = d.at.Drop(ctx)
	} else {
		for _, name := range d.made {
			err = errors.Join(err, d.drop(ctx, name))
		}
	}
	if err != nil && !errors.Is(err, mongo.ErrClientDisconnected) {
		return fmt.Errorf("could not remove rumbench's objects from database %s of the attached server: %w", d.Server.Schema, err)
	}
	return nil
}
