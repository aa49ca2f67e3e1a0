package mongodb

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/engine/serverkit"
)

// Settings reads them back.
func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	out, err := settings(ctx, d.client, d.about)
	if err != nil {
		return nil, err
	}
	isolation := "each document for itself: the server is not a replica set"
	if d.replica {
		isolation = "repeatable-read (snapshot)"
	}
	for _, s := range [][2]string{
		{"durability", string(d.Durability)}, {"isolation", isolation},
		{"write_concern", fmt.Sprintf("w: 1, j: %v", d.journal())}, {"protocol", "commands"},
	} {
		out = append(out, engine.Setting{Name: s[0], Value: s[1], Source: engine.AsSet})
	}
	for _, v := range d.Variables {
		out = append(out, engine.Setting{Name: v.Name, Value: v.Value, Source: engine.AsSet})
	}
	compressor, err := d.compressor(ctx)
	if compressor != "" {
		out = append(out, engine.Setting{Name: "compression", Value: compressor, Source: engine.ReadBack})
	}
	return out, err
}

// settings are those of a server, whoever uses it.
func settings(ctx context.Context, c *mongo.Client, a about) ([]engine.Setting, error) {
	admin := c.Database("admin")
	status, err := command(ctx, admin, bson.D{{Key: "serverStatus", Value: 1}})
	if err != nil {
		return nil, err
	}
	out := []engine.Setting{{Name: engine.ServerVersion, Value: a.String(), Source: engine.ReadBack}}
	add := func(name, value string) {
		if value != "" {
			out = append(out, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
		}
	}
	if a.ferretDB != "" {
		add("protocol_test", "the server only speaks the protocol: its figures say nothing of MongoDB's")
	}
	storage, _ := status.Lookup("storageEngine", "name").StringValueOK()
	add("storage", storage)
	if cache, ok := status.Lookup("wiredTiger", "cache", "maximum bytes configured").AsInt64OK(); ok {
		add("cache_bytes", fmt.Sprint(cache))
	}
	if a.set != "" {
		add("replica_set", a.set)
		add("oplog", "every write is in the oplog, too, which the figures include")
	}
	if reply, err := command(ctx, admin, bson.D{{Key: "getParameter", Value: 1}, {Key: "journalCommitInterval", Value: 1}}); err == nil {
		if ms, ok := reply.Lookup("journalCommitInterval").AsInt64OK(); ok {
			add("journal_commit_interval_ms", fmt.Sprint(ms))
		}
	}
	return out, nil
}

// compressor returns the compressor of the first table, "" if it is not known.
func (d *db) compressor(ctx context.Context) (string, error) {
	if len(d.Schema.Tables) == 0 {
		return "", nil
	}
	reply, err := command(ctx, d.at, bson.D{{Key: "collStats", Value: d.Schema.Tables[0].Name}})
	if hasCode(err, codeUnauthorized, codeNoNamespace) {
		err = nil
	}
	text, _ := reply.Lookup("wiredTiger", "creationString").StringValueOK()
	_, after, ok := strings.Cut(text, "block_compressor=")
	if !ok {
		return "", err
	}
	name, _, _ := strings.Cut(after, ",")
	if name == "" {
		name = "none"
	}
	return name, err
}

// Sizes reports what every table and index takes. The index of the primary key
// belongs to its table.
func (d *db) Sizes(ctx context.Context) (out []engine.Size, err error) {
	var sum int64
	add := func(object string, bytes int64) {
		out = append(out, engine.Size{Object: object, Bytes: bytes, Kind: engine.Exact})
		sum += bytes
	}
	for _, t := range d.Schema.Tables {
		reply, err := command(ctx, d.at, bson.D{{Key: "collStats", Value: t.Name}})
		if hasCode(err, codeNoNamespace) {
			continue
		}
		if err != nil {
			return nil, err
		}
		table := number(reply, "storageSize")
		err = each(lookup(reply, "indexSizes"), func(name []byte, v bsoncore.Value) error {
			bytes, _ := v.AsInt64OK()
			if string(name) == "_id_" {
				table += bytes
			} else {
				add(t.Name+"."+string(name), bytes)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		add(t.Name, table)
	}
	total := sum
	if d.Private != nil { // else others may have tables there
		reply, err := command(ctx, d.at, bson.D{{Key: "dbStats", Value: 1}})
		if err != nil {
			return nil, err
		}
		total = max(sum, number(reply, "storageSize")+number(reply, "indexSize"))
	}
	return append(out, engine.Size{Bytes: total, Kind: engine.Exact}), nil
}

// FileClass returns what gives the class of a file of the data directory.
func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return d.class, nil
}

// class goes by the path of a file: a private server has a directory for each
// database.
func (d *db) class(file string) engine.FileClass {
	file = strings.TrimPrefix(file, "data/")
	top, _, _ := strings.Cut(file, "/")
	switch name := path.Base(file); {
	case strings.HasPrefix(name, "WiredTigerLog."):
		return engine.RedoFile
	case strings.HasPrefix(name, "WiredTigerPreplog."), strings.HasPrefix(name, "WiredTigerTmplog."):
		return engine.SpareFile
	case top == "tmp", top == "_tmp":
		return engine.TempFile
	case top == d.Server.Schema, strings.HasPrefix(name, d.Server.Schema+".sqlite"): // that is FerretDB's
		return engine.DataFile
	}
	return engine.SystemFile
}

// restEvery is how often the end of checkpoints is looked for.
const restEvery = 100 * time.Millisecond

// Settle writes all that is in the cache only.
func (d *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	admin := d.client.Database("admin")
	var s engine.Settling
	s.Do("fsync", func() (string, error) {
		before, err := d.dirty(ctx)
		if err != nil {
			return "", err
		}
		_, err = command(ctx, admin, bson.D{{Key: "fsync", Value: 1}})
		switch {
		case hasCode(err, codeNoCommand, codeNotImplemented):
			return "not done: the server has no such command", nil
		case hasCode(err, codeUnauthorized) && d.Attached():
			return "not done: the user may not", nil
		case err != nil:
			return "", err
		}
		after, err := d.dirty(ctx)
		return fmt.Sprintf("%d dirty bytes in the cache before, %d after", before, after), err
	})
	s.Do("wait for checkpoints", func() (string, error) {
		return "", engine.AwaitRest(ctx, restEvery, 3, func() (bool, error) {
			status, err := command(ctx, admin, bson.D{{Key: "serverStatus", Value: 1}})
			return number(status, "wiredTiger", "transaction", "transaction checkpoint currently running") == 0, err
		})
	})
	return s.Result()
}

func (d *db) dirty(ctx context.Context) (int64, error) {
	status, err := command(ctx, d.client.Database("admin"), bson.D{{Key: "serverStatus", Value: 1}})
	return number(status, "wiredTiger", "cache", "tracked dirty bytes in the cache"), err
}

// watch is a connection for counters.
type watch struct {
	*serverkit.Host
	client *mongo.Client
	about  about
}

// Counters adds the server's counters.
func (w *watch) Counters(ctx context.Context, s *engine.Sample) error {
	return sample(ctx, w.client, s)
}

// Settings reads the server's settings. Durability is its clients' to choose.
func (w *watch) Settings(ctx context.Context) ([]engine.Setting, error) {
	return settings(ctx, w.client, w.about)
}

// Close ends the connection.
func (w *watch) Close() error {
	disconnect(w.client)
	return nil
}
