package mongodb

import (
	"context"
	_ "embed" // for the names of counters
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
)

// Watch connects to a server, only to query it. Its clients choose the durability.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	if _, err := parseDSN(dsn); err != nil {
		return nil, err
	}
	p := &peer{Host: newHost(), uri: dsn}
	if err := p.meet(ctx); err != nil {
		_ = p.Close()
		return nil, err
	}
	return p, nil
}

func (p *peer) Close() error {
	if p.client != nil {
		disconnect(p.client)
	}
	return nil
}

func (p *peer) Settings(ctx context.Context) (out []engine.Setting, err error) {
	status, err := p.status(ctx)
	if err != nil {
		return nil, err
	}
	add := func(name, value string) {
		if value != "" && value != "0" {
			out = append(out, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
		}
	}
	add(engine.ServerVersion, p.version)
	if p.standIn {
		add("protocol_test", "the server only speaks the protocol: its figures say nothing of MongoDB's")
	}
	add("storage", text(status, "storageEngine", "name"))
	add("cache", fmt.Sprint(number(status, "wiredTiger", "cache", "maximum bytes configured")))
	if p.set != "" {
		add("replica_set", p.set)
		add("oplog", "every write is in the oplog, too, which the figures include")
	}
	if reply, err := p.ask(ctx, doc("getParameter", 1, "journalCommitInterval", 1)); err == nil { // may be denied
		add("journal_commit_interval_ms", fmt.Sprint(number(reply, "journalCommitInterval")))
	}
	return out, nil
}

func (d *db) Settings(ctx context.Context) ([]engine.Setting, error) {
	out, err := d.peer.Settings(ctx)
	if err != nil {
		return nil, err
	}
	add := func(name, value string) {
		out = append(out, engine.Setting{Name: name, Value: value, Source: engine.AsSet})
	}
	add("durability", string(d.Durability))
	if d.replica {
		add("isolation", "repeatable-read (snapshot)")
	} else {
		add("isolation", "each document for itself: the server is not a replica set")
	}
	add("write_concern", fmt.Sprintf("w: 1, j: %v", d.journal))
	add("protocol", "commands")
	for _, v := range d.Variables {
		add(v.Name, v.Value)
	}
	if len(d.Schema.Tables) == 0 {
		return out, nil
	}
	stats, err := d.stats(ctx, d.Schema.Tables[0].Name)
	compression := "unknown"
	if _, config, ok := strings.Cut(text(stats, "wiredTiger", "creationString"), "block_compressor="); ok {
		compression, _, _ = strings.Cut(config, ",")
	}
	return append(out, engine.Compressed(engine.ReadBack, compression)), err
}

// stats returns the server's statistics of a table, nothing if the table does not exist.
func (d *db) stats(ctx context.Context, table string) ([]byte, error) {
	reply, err := run(ctx, d.at, doc("collStats", table))
	if hasCode(err, codeNoNamespace) {
		return nil, nil
	}
	return reply, err
}

// Sizes reports the size of every table and index. The index of the primary key belongs
// to its table.
func (d *db) Sizes(ctx context.Context) (out []engine.Size, err error) {
	var sum int64
	add := func(object string, bytes int64) {
		out = append(out, engine.Size{Object: object, Bytes: bytes, Kind: engine.Exact})
		sum += bytes
	}
	for _, t := range d.Schema.Tables {
		reply, err := d.stats(ctx, t.Name)
		if err != nil {
			return nil, err
		}
		if reply == nil {
			continue
		}
		for _, ix := range t.Indexes {
			if bytes := number(reply, "indexSizes", ix.Name); bytes > 0 {
				add(t.Name+"."+ix.Name, bytes)
			}
		}
		add(t.Name, number(reply, "storageSize")+number(reply, "indexSizes", "_id_"))
	}
	if d.Private != nil { // on another server others may have tables there
		reply, err := run(ctx, d.at, doc("dbStats", 1))
		if err != nil {
			return nil, err
		}
		sum = max(sum, number(reply, "storageSize")+number(reply, "indexSize"))
	}
	return append(out, engine.Size{Bytes: sum, Kind: engine.Exact}), nil
}

func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return d.class, nil
}

// class decides by the path of a file: a private server has a directory for each
// database.
func (d *db) class(file string) engine.FileClass {
	top, _, _ := strings.Cut(strings.TrimPrefix(file, "data/"), "/")
	switch name := path.Base(file); {
	case strings.HasPrefix(name, "WiredTigerLog."):
		return engine.RedoFile
	case strings.HasPrefix(name, "WiredTigerPreplog."), strings.HasPrefix(name, "WiredTigerTmplog."):
		return engine.SpareFile
	case top == "tmp", top == "_tmp":
		return engine.TempFile
	case top == d.Server.Schema, strings.HasPrefix(name, d.Server.Schema+".sqlite"): // of FerretDB
		return engine.DataFile
	}
	return engine.SystemFile
}

// Settle only writes the dirty data in the cache.
func (d *db) Settle(ctx context.Context) ([]engine.SettleAction, error) {
	var s engine.Settling
	s.Do("fsync", func() (string, error) {
		_, err := d.ask(ctx, doc("fsync", 1))
		switch {
		case hasCode(err, codeNoCommand, codeNotImplemented):
			return "not done: the server has no such command", nil
		case hasCode(err, codeUnauthorized) && d.Attached():
			return "not done: the user may not", nil
		}
		return "", err
	})
	s.Do("wait for checkpoints", func() (string, error) {
		return "", engine.AwaitRest(ctx, 100*time.Millisecond, 3, func() (bool, error) {
			status, err := d.status(ctx)
			return number(status, "wiredTiger", "transaction", "transaction checkpoint currently running") == 0, err
		})
	})
	return s.Result()
}

// section is a document in the reply of serverStatus or collStats, with our names by the
// server's. Servers and releases differ in the figures they have. Figures that mean the
// same on every engine have the engine-neutral names.
type section struct {
	Path   []string
	Prefix string
	Kind   engine.CounterKind
	Names  map[string]string
}

// sections are those of serverStatus, and tableSections those of collStats, which
// describe a table and its indexes.
var sections, tableSections = readSections()

func readSections() (server, table []section) {
	var status struct{ Server, Table []section }
	if err := json.Unmarshal(counters, &status); err != nil {
		panic(err) // it is part of the program
	}
	return status.Server, status.Table
}

//go:embed counters.json
var counters []byte

func add(sections []section, s *engine.Sample, reply []byte, labels string) {
	for _, x := range sections {
		_ = each(lookup(reply, x.Path...), func(key []byte, v bsoncore.Value) error {
			name, found := x.Names[string(key)]
			n, ok := v.AsInt64OK()
			if !found || !ok {
				return nil
			}
			p := engine.Point{Name: name, Labels: labels, Kind: x.Kind, Unit: "count", Value: float64(n)}
			if strings.Contains(name, "bytes") {
				p.Unit = "bytes"
			}
			switch {
			case strings.HasSuffix(string(key), "(usecs)"):
				p.Unit, p.Value = "ns", p.Value*1e3
			case strings.HasSuffix(string(key), "(msecs)"):
				p.Unit, p.Value = "ns", p.Value*1e6
			case x.Prefix == "memory.":
				p.Value *= 1 << 20
			case name == engine.Commits:
				p.Labels = engine.ExplicitOnly + `="true"`
			}
			if !strings.HasPrefix(name, "engine.") {
				p.Name = "mongodb." + x.Prefix + name
			}
			s.Points = append(s.Points, p)
			return nil
		})
	}
}

// commands are the commands that clients use: the server counts each.
var commands = []string{"find", "getMore", "aggregate", "insert", "update", "delete", "findAndModify",
	"commitTransaction", "abortTransaction"}

func (p *peer) Counters(ctx context.Context, s *engine.Sample) error {
	reply, err := p.status(ctx)
	if err != nil {
		return err
	}
	add(sections, s, reply, "")
	p.own.Add(1)
	for i := range s.Points {
		if c := &s.Points[i]; c.Name == "mongodb.opcounters.command" || c.Name == "mongodb.network.requests" {
			c.Value -= float64(p.own.Load())
		}
	}
	if counts := lookup(reply, "metrics", "commands"); counts != nil {
		var queries int64
		for _, name := range commands {
			n := number(counts, name, "total")
			s.Counter("mongodb.commands", "count", float64(n), "command", name)
			queries += n
		}
		s.Counter(engine.Queries, "count", float64(queries))
	}
	if storage := lookup(reply, "wiredTiger"); storage != nil {
		written := number(storage, "block-manager", "bytes written") + number(storage, "log", "log bytes written")
		s.Counter(engine.BytesWritten, "bytes", float64(written))
		s.Counter(engine.LogSyncs, "count", float64(number(storage, "log", "log sync operations")))
	}
	return nil
}

// Counters adds the server's counters, and those of each table.
func (d *db) Counters(ctx context.Context, s *engine.Sample) error {
	if err := d.peer.Counters(ctx, s); err != nil {
		return err
	}
	for _, t := range d.Schema.Tables {
		reply, err := d.stats(ctx, t.Name)
		if err != nil {
			return err
		}
		d.own.Add(1)
		add(tableSections, s, reply, `table="`+t.Name+`"`)
	}
	return nil
}
