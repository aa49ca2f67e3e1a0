package mongodb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"rumbench/engine"
	"rumbench/model"
)

// catalogName is the collection that says what the others are: the server knows
// no columns. Its document without a name says who has made the database.
const catalogName = "rumbench.catalog"

// entry is a document of the catalog.
type entry struct {
	Name string `bson:"_id"`
	Text string `bson:"text"`
}

// definition is a table's in words.
func (t *layout) definition() string {
	var words []string
	for _, c := range t.Columns {
		word := fmt.Sprintf("%s %s(%d)", c.Name, c.Type, c.Width)
		if c.NotNull {
			word += " not null"
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ") + ", key " + strings.Join(t.Key, ", ")
}

// indexDefinition is the document of an index in a createIndexes. The primary key
// is part of each that is not unique, and comes behind its columns, as then the
// included ones do: so entries are in its order, and it is read from them.
func (t *layout) indexDefinition(ix *model.Index) bson.D {
	keys := bson.D{}
	add := func(columns []string) {
		for _, name := range columns {
			if path := t.path(name); !slices.ContainsFunc(keys, func(e bson.E) bool { return e.Key == path }) {
				keys = append(keys, bson.E{Key: path, Value: 1})
			}
		}
	}
	add(ix.Columns)
	if !ix.Unique {
		add(t.Key)
		add(ix.Include)
	}
	d := bson.D{{Key: "key", Value: keys}, {Key: "name", Value: ix.Name}}
	if ix.Unique {
		d = append(d, bson.E{Key: "unique", Value: true})
	}
	if partial(t, ix.Name) {
		only := bson.D{}
		for _, name := range ix.Columns {
			if c := t.column(name); !c.NotNull && !slices.Contains(t.Key, name) {
				only = append(only, bson.E{Key: t.path(name), Value: bson.D{{Key: "$gte", Value: least(c)}}})
			}
		}
		d = append(d, bson.E{Key: "partialFilterExpression", Value: only})
	}
	return d
}

// take makes the database. If it must be new, one that exists is refused.
func (d *db) take(ctx context.Context) error {
	names, err := d.at.ListCollectionNames(ctx, bson.D{})
	if err != nil {
		return classify("list the collections", err)
	}
	if len(names) > 0 {
		if !d.Attached() || d.Server.Force {
			return nil
		}
		var made entry
		_ = d.at.Collection(catalogName).FindOne(ctx, bson.D{{Key: idField, Value: ""}}).Decode(&made)
		return &engine.ExistsError{Schema: d.Server.Schema, Comment: made.Text}
	}
	d.ours = true
	host, _ := os.Hostname()
	return d.note(ctx, entry{"", fmt.Sprintf("made by rumbench, process %d on %s, %s", os.Getpid(), host, time.Now().UTC().Format(time.DateTime+" UTC"))})
}

func (d *db) note(ctx context.Context, e entry) error {
	_, err := d.at.Collection(catalogName).InsertOne(ctx, e)
	return classify("write the catalog", err)
}

// compare looks at the tables and indexes that exist. Those that are defined
// otherwise than the schema's are refused; in a database that others may use too
// they are only not used.
func (d *db) compare(ctx context.Context) error {
	const advice = "the parameters that shape the tables must be those of the load"
	cursor, err := d.at.Collection(catalogName).Find(ctx, bson.D{{Key: idField, Value: bson.D{{Key: "$gt", Value: ""}}}})
	if err != nil {
		return classify("read the catalog", err)
	}
	var is []entry
	if err := cursor.All(ctx, &is); err != nil {
		return classify("read the catalog", err)
	}
	for _, e := range is {
		table, index, _ := strings.Cut(e.Name, ".")
		want, ok := d.wanted(table, index)
		switch {
		case ok && want == e.Text && index != "":
			d.indexes[e.Name] = true
			continue
		case ok && want == e.Text:
			if err := d.findNumber(ctx, d.tables[table]); err != nil {
				return err
			}
			continue
		case ok:
			err = fmt.Errorf("%s exists with another definition: it is %q, and %q is wanted; %s", e.Name, e.Text, want, advice)
		default:
			err = fmt.Errorf("the database holds %s, which is not wanted: %s", e.Name, advice)
		}
		if !d.Attached() {
			return err
		}
		d.strange[table] = err
	}
	return nil
}

// wanted returns the definition of a table or index.
func (d *db) wanted(table, index string) (string, bool) {
	t := d.tables[table]
	if t == nil || index == "" {
		return t.text(d.Compression), t != nil
	}
	ix, err := t.Index(index)
	if err != nil {
		return "", false
	}
	return fmt.Sprint(t.indexDefinition(ix)), true
}

// text is the definition of a table with its compression.
func (t *layout) text(c model.Compression) string {
	if t == nil {
		return ""
	}
	return strings.TrimSpace(t.definition() + " " + string(c))
}

// findNumber finds the greatest number of an Auto column.
func (d *db) findNumber(ctx context.Context, t *layout) error {
	if t.AutoColumn() < 0 {
		return nil
	}
	reply, err := command(ctx, d.at, bson.D{
		{Key: "find", Value: t.Name}, {Key: "sort", Value: bson.D{{Key: idField, Value: -1}}}, {Key: "limit", Value: 1},
		{Key: "projection", Value: bson.D{{Key: idField, Value: 1}}},
	})
	if err == nil {
		n, _ := reply.Lookup("cursor", "firstBatch", "0", idField).AsInt64OK()
		t.numbers.Store(n)
	}
	return err
}

// CreateTables creates the collections, all or none of them. With force those of
// their names are replaced.
func (d *db) CreateTables(ctx context.Context) (err error) {
	var done []string
	for i := range d.Schema.Tables {
		t := d.tables[d.Schema.Tables[i].Name]
		if d.Attached() && d.Server.Force {
			if err = d.drop(ctx, t.Name); err != nil {
				break
			}
		}
		if err = d.createTable(ctx, t); err != nil {
			break
		}
		done = append(done, t.Name)
	}
	if err != nil {
		ctx = context.WithoutCancel(ctx)
		for _, name := range done {
			err = errors.Join(err, d.drop(ctx, name))
		}
		return err
	}
	d.made = done
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.indexes)
	clear(d.strange)
	return nil
}

func (d *db) createTable(ctx context.Context, t *layout) error {
	create := bson.D{{Key: "create", Value: t.Name}}
	if d.Compression != "" {
		config := "block_compressor=" + string(d.Compression)
		create = append(create, bson.E{Key: "storageEngine", Value: bson.D{{Key: "wiredTiger", Value: bson.D{{Key: "configString", Value: config}}}}})
	}
	if _, err := command(ctx, d.at, create); err != nil {
		return err
	}
	t.numbers.Store(0)
	return d.note(ctx, entry{t.Name, t.text(d.Compression)})
}

// drop removes a collection, and what the catalog says of it.
func (d *db) drop(ctx context.Context, name string) error {
	err := d.at.Collection(name).Drop(ctx)
	if err == nil {
		_, err = d.at.Collection(catalogName).DeleteMany(ctx, bson.D{{Key: idField, Value: bson.D{{Key: "$regex", Value: "^" + regexp.QuoteMeta(name) + "(\\.|$)"}}}})
	}
	return classify("drop "+name, err)
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
		if d.about.ferretDB != "" { // its unique indexes have no missing fields, and it does not know partial ones
			definition = slices.DeleteFunc(definition, func(e bson.E) bool { return e.Key == "partialFilterExpression" })
		}
		list = append(list, definition)
	}
	if _, err := command(ctx, d.at, bson.D{{Key: "createIndexes", Value: table}, {Key: "indexes", Value: list}}); err != nil {
		return err
	}
	for _, name := range indexes {
		text, _ := d.wanted(table, name)
		if err := d.note(ctx, entry{table + "." + name, text}); err != nil {
			return err
		}
		d.mu.Lock()
		d.indexes[table+"."+name] = true
		d.mu.Unlock()
	}
	return nil
}

// DropIndex removes a secondary index.
func (d *db) DropIndex(ctx context.Context, table, index string) error {
	if _, err := d.usable(&model.Op{Table: table, Index: index}); err != nil {
		return err
	}
	if _, err := command(ctx, d.at, bson.D{{Key: "dropIndexes", Value: table}, {Key: "index", Value: index}}); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.indexes, table+"."+index)
	d.mu.Unlock()
	_, err := d.at.Collection(catalogName).DeleteOne(ctx, bson.D{{Key: idField, Value: table + "." + index}})
	return classify("write the catalog", err)
}

// leaveTime is how long it may take to remove tables.
const leaveTime = 10 * time.Minute

// leave removes what is ours from a server that is not.
func (d *db) leave() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
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
