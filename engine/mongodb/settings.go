package mongodb

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"rumbench/engine"
)

// Watch connects to a server, to ask it only. Durability is its clients' to choose.
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

// Close ends the connection.
func (p *peer) Close() error {
	if p.client != nil {
		disconnect(p.client)
	}
	return nil
}

// Settings reads the server's settings.
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
	add("cache_bytes", fmt.Sprint(number(status, "wiredTiger", "cache", "maximum bytes configured")))
	if p.set != "" {
		add("replica_set", p.set)
		add("oplog", "every write is in the oplog, too, which the figures include")
	}
	if reply, err := p.ask(ctx, doc("getParameter", 1, "journalCommitInterval", 1)); err == nil { // not every user may
		add("journal_commit_interval_ms", fmt.Sprint(number(reply, "journalCommitInterval")))
	}
	return out, nil
}

// Settings reads them back.
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
	add("write_concern", fmt.Sprintf("w: 1, j: %v", d.journal()))
	add("protocol", "commands")
	for _, v := range d.Variables {
		add(v.Name, v.Value)
	}
	if len(d.Schema.Tables) == 0 {
		return out, nil
	}
	stats, err := d.stats(ctx, d.Schema.Tables[0].Name)
	if _, config, ok := strings.Cut(text(stats, "wiredTiger", "creationString"), "block_compressor="); ok {
		name, _, _ := strings.Cut(config, ",")
		out = append(out, engine.Setting{Name: "compression", Value: cmp.Or(name, "none"), Source: engine.ReadBack})
	}
	return out, err
}

// stats returns what the server knows of a table, nothing if that does not exist.
func (d *db) stats(ctx context.Context, table string) ([]byte, error) {
	reply, err := run(ctx, d.at, doc("collStats", table))
	if hasCode(err, codeNoNamespace) {
		return nil, nil
	}
	return reply, err
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
	if d.Private != nil { // else others may have tables there
		reply, err := run(ctx, d.at, doc("dbStats", 1))
		if err != nil {
			return nil, err
		}
		sum = max(sum, number(reply, "storageSize")+number(reply, "indexSize"))
	}
	return append(out, engine.Size{Bytes: sum, Kind: engine.Exact}), nil
}

// FileClass returns what gives the class of a file of the data directory.
func (d *db) FileClass(context.Context) (func(path string) engine.FileClass, error) {
	return d.class, nil
}

// class goes by the path of a file: a private server has a directory for each
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
	case top == d.Server.Schema, strings.HasPrefix(name, d.Server.Schema+".sqlite"): // that is FerretDB's
		return engine.DataFile
	}
	return engine.SystemFile
}

// Settle writes all that is in the cache only.
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
