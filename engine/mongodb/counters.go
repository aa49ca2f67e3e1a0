package mongodb

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
)

// section is a document in the reply of serverStatus. Servers and releases differ
// in those that they have.
type section struct {
	path   []string
	prefix string
	points map[string]point // by the server's names
}

// point is a number in a section.
type point struct {
	name, unit string
	gauge      bool
	times      float64 // to get the unit; 0: once
	means      string  // the series that means the same on every engine
}

func counter(name, unit string) point { return point{name: name, unit: unit} }
func gauge(name, unit string) point   { return point{name: name, unit: unit, gauge: true} }
func (p point) as(means string) point { p.means = means; return p }
func (p point) by(n float64) point    { p.times = n; return p }

// commands are those that clients work with: the server counts each.
var commands = []string{"find", "getMore", "aggregate", "insert", "update", "delete", "findAndModify", "commitTransaction", "abortTransaction"}

var sections = []section{
	{[]string{"opcounters"}, "opcounters.", map[string]point{
		"insert": counter("insert", "count"), "query": counter("query", "count"), "update": counter("update", "count"),
		"delete": counter("delete", "count"), "getmore": counter("getmore", "count"), "command": counter("command", "count"),
	}},
	{[]string{"connections"}, "connections.", map[string]point{
		"current": gauge("current", "count"), "active": gauge("active", "count"), "totalCreated": counter("created", "count"),
	}},
	{[]string{"mem"}, "memory.", map[string]point{
		"resident": gauge("resident_bytes", "bytes").by(1 << 20), "virtual": gauge("virtual_bytes", "bytes").by(1 << 20),
	}},
	{[]string{"network"}, "network.", map[string]point{
		"bytesIn": counter("bytes_in", "bytes"), "bytesOut": counter("bytes_out", "bytes"), "numRequests": counter("requests", "count"),
	}},
	{[]string{"metrics", "document"}, "document.", map[string]point{
		"inserted": counter("inserted", "count"), "updated": counter("updated", "count"),
		"deleted": counter("deleted", "count"), "returned": counter("returned", "count"),
	}},
	{[]string{"metrics", "queryExecutor"}, "executor.", map[string]point{
		"scanned": counter("keys_scanned", "count"), "scannedObjects": counter("documents_scanned", "count"),
	}},
	{[]string{"metrics", "operation"}, "operation.", map[string]point{
		"scanAndOrder": counter("sorts", "count"), "writeConflicts": counter("write_conflicts", "count"),
	}},
	{[]string{"globalLock", "currentQueue"}, "queue.", map[string]point{
		"readers": gauge("readers", "count"), "writers": gauge("writers", "count"),
	}},
	{[]string{"transactions"}, "transactions.", map[string]point{
		"totalStarted": counter("started", "count"), "totalCommitted": counter("committed", "count").as(engine.Commits),
		"totalAborted": counter("aborted", "count"), "currentOpen": gauge("open", "count"),
	}},
	{[]string{"wiredTiger", "cache"}, "wiredtiger.cache.", map[string]point{
		"bytes currently in the cache": gauge("bytes", "bytes"), "maximum bytes configured": gauge("max_bytes", "bytes"),
		"tracked dirty bytes in the cache": gauge("dirty_bytes", "bytes").as(engine.DirtyBytes),
		"bytes read into cache":            counter("bytes_read", "bytes"), "bytes written from cache": counter("bytes_written", "bytes"),
		"pages requested from the cache": counter("page_lookups", "count").as(engine.CacheLookups),
		"pages read into cache":          counter("pages_read", "count").as(engine.CacheMisses),
		"pages written from cache":       counter("pages_written", "count"),
		"unmodified pages evicted":       counter("clean_pages_evicted", "count"), "modified pages evicted": counter("dirty_pages_evicted", "count"),
		"pages evicted by application threads":                           counter("pages_evicted_by_clients", "count"),
		"application threads page read from disk to cache count":         counter("client_page_reads", "count"),
		"application threads page read from disk to cache time (usecs)":  counter("client_page_read_ns", "ns").by(1000),
		"application threads page write from cache to disk count":        counter("client_page_writes", "count"),
		"application threads page write from cache to disk time (usecs)": counter("client_page_write_ns", "ns").by(1000),
	}},
	{[]string{"wiredTiger", "block-manager"}, "wiredtiger.blocks.", map[string]point{
		"bytes read": counter("bytes_read", "bytes").as(engine.BytesRead), "bytes written": counter("bytes_written", "bytes").as(engine.BytesWritten),
		"bytes written for checkpoint": counter("checkpoint_bytes_written", "bytes"),
		"blocks read":                  counter("reads", "count"), "blocks written": counter("writes", "count"),
	}},
	{[]string{"wiredTiger", "log"}, "wiredtiger.log.", map[string]point{
		"log bytes written": counter("bytes_written", "bytes").as(engine.LogBytes), "log bytes of payload data": counter("payload_bytes", "bytes"),
		"log sync operations": counter("syncs", "count"), "log sync time duration (usecs)": counter("sync_ns", "ns").by(1000),
	}},
	{[]string{"wiredTiger", "transaction"}, "wiredtiger.transaction.", map[string]point{
		"transactions committed": counter("committed", "count"), "transactions rolled back": counter("rolled_back", "count"),
		"transaction checkpoints": counter("checkpoints", "count"), "transaction checkpoint currently running": gauge("checkpoint_running", "count"),
		"transaction checkpoint total time (msecs)": counter("checkpoint_ns", "ns").by(1e6),
	}},
}

// sample adds what the server counts.
func sample(ctx context.Context, c *mongo.Client, s *engine.Sample) error {
	reply, err := command(ctx, c.Database("admin"), bson.D{{Key: "serverStatus", Value: 1}, {Key: "repl", Value: 0}, {Key: "locks", Value: 0}})
	if err != nil {
		return err
	}
	means := map[string]float64{}
	for i := range sections {
		sections[i].add(s, reply, means)
	}
	counts := lookup(reply, "metrics", "commands")
	var queries float64
	for _, name := range commands {
		if one := lookup(counts, name); one != nil {
			n := float64(number(one, "total"))
			s.Counter("mongodb.commands", "count", n, "command", name)
			queries += n
		}
	}
	if counts != nil {
		s.Counter(engine.Queries, "count", queries)
	}
	if log, ok := means[engine.LogBytes]; ok {
		means[engine.BytesWritten] += log // pages are what was put there
	}
	for _, m := range engine.Meanings() {
		value, ok := means[m.Name]
		switch {
		case !ok:
		case m.Name == engine.Commits:
			s.Counter(m.Name, m.Unit, value, engine.ExplicitOnly, "true")
		case m.Kind == engine.Gauge:
			s.Gauge(m.Name, m.Unit, value)
		default:
			s.Counter(m.Name, m.Unit, value)
		}
	}
	return nil
}

// add adds the numbers of the section that the reply has, and stores those that
// mean the same on every engine.
func (x *section) add(s *engine.Sample, doc []byte, means map[string]float64) {
	if len(x.path) > 0 {
		doc = lookup(doc, x.path...)
	}
	_ = each(doc, func(name []byte, v bsoncore.Value) error {
		p, ok := x.points[string(name)]
		whole, isNumber := v.AsInt64OK()
		if !ok || !isNumber {
			return nil
		}
		n := float64(whole)
		if p.times != 0 {
			n *= p.times
		}
		if p.means != "" {
			means[p.means] = n
		}
		if p.gauge {
			s.Gauge("mongodb."+x.prefix+p.name, p.unit, n)
		} else {
			s.Counter("mongodb."+x.prefix+p.name, p.unit, n)
		}
		return nil
	})
}

// tableStats are what collStats counts for a table and its indexes.
var tableStats = []section{
	{nil, "table.", map[string]point{
		"storageSize": gauge("bytes", "bytes"), "freeStorageSize": gauge("free_bytes", "bytes"), "totalIndexSize": gauge("index_bytes", "bytes"),
	}},
	{[]string{"wiredTiger", "cache"}, "table.cache.", map[string]point{
		"bytes currently in the cache": gauge("bytes", "bytes"),
		"bytes read into cache":        counter("bytes_read", "bytes"), "bytes written from cache": counter("bytes_written", "bytes"),
	}},
}

// Counters adds the server's counters, and those of each table.
func (d *db) Counters(ctx context.Context, s *engine.Sample) error {
	if err := sample(ctx, d.client, s); err != nil {
		return err
	}
	for _, t := range d.Schema.Tables {
		reply, err := command(ctx, d.at, bson.D{{Key: "collStats", Value: t.Name}})
		if hasCode(err, codeUnauthorized, codeNoNamespace) {
			continue
		}
		if err != nil {
			return err
		}
		first := len(s.Points)
		for i := range tableStats {
			tableStats[i].add(s, reply, nil)
		}
		for i := range s.Points[first:] {
			s.Points[first+i].Labels = `table="` + t.Name + `"`
		}
	}
	return nil
}

// Watch connects to a server, to ask it only.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	if _, err := parseDSN(dsn); err != nil {
		return nil, err
	}
	w := &watch{Host: serverkit.NewHost(dataMark, programs...)}
	var err error
	if w.client, err = reachOf(dsn, server.Endpoint{}, w.Dial).connect(ctx); err != nil {
		return nil, err
	}
	if w.about, err = ask(ctx, w.client); err != nil {
		disconnect(w.client)
		return nil, err
	}
	return w, nil
}
