package mongodb

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
)

// section is a document in the reply of serverStatus, with our names by the
// server's. Servers and releases differ in what they have. What means the same on
// every engine has its name there.
type section struct {
	prefix string
	kind   engine.CounterKind
	names  map[string]string
	path   []string
}

var sections = []section{
	{"opcounters.", engine.Counter, map[string]string{
		"insert": "insert", "query": "query", "update": "update", "delete": "delete", "getmore": "getmore", "command": "command",
	}, []string{"opcounters"}},
	{"connections.", engine.Counter, map[string]string{"totalCreated": "created"}, []string{"connections"}},
	{"connections.", engine.Gauge, map[string]string{"current": "current", "active": "active"}, []string{"connections"}},
	{"memory.", engine.Gauge, map[string]string{"resident": "resident_bytes", "virtual": "virtual_bytes"}, []string{"mem"}},
	{"network.", engine.Counter, map[string]string{
		"bytesIn": "bytes_in", "bytesOut": "bytes_out", "numRequests": "requests",
	}, []string{"network"}},
	{"document.", engine.Counter, map[string]string{
		"inserted": "inserted", "updated": "updated", "deleted": "deleted", "returned": "returned",
	}, []string{"metrics", "document"}},
	{"executor.", engine.Counter, map[string]string{
		"scanned": "keys_scanned", "scannedObjects": "documents_scanned",
	}, []string{"metrics", "queryExecutor"}},
	{"operation.", engine.Counter, map[string]string{
		"scanAndOrder": "sorts", "writeConflicts": "write_conflicts",
	}, []string{"metrics", "operation"}},
	{"queue.", engine.Gauge, map[string]string{"readers": "readers", "writers": "writers"}, []string{"globalLock", "currentQueue"}},
	{"transactions.", engine.Counter, map[string]string{
		"totalStarted": "started", "totalCommitted": engine.Commits, "totalAborted": "aborted",
	}, []string{"transactions"}},
	{"transactions.", engine.Gauge, map[string]string{"currentOpen": "open"}, []string{"transactions"}},
	{"wiredtiger.cache.", engine.Counter, map[string]string{
		"bytes read into cache": "bytes_read", "bytes written from cache": "bytes_written",
		"pages requested from the cache": engine.CacheLookups, "pages read into cache": engine.CacheMisses,
		"pages written from cache":                                       "pages_written",
		"unmodified pages evicted":                                       "clean_pages_evicted",
		"modified pages evicted":                                         "dirty_pages_evicted",
		"pages evicted by application threads":                           "pages_evicted_by_clients",
		"application threads page read from disk to cache count":         "client_page_reads",
		"application threads page read from disk to cache time (usecs)":  "client_page_read_ns",
		"application threads page write from cache to disk count":        "client_page_writes",
		"application threads page write from cache to disk time (usecs)": "client_page_write_ns",
	}, []string{"wiredTiger", "cache"}},
	{"wiredtiger.cache.", engine.Gauge, map[string]string{
		"bytes currently in the cache": "bytes", "maximum bytes configured": "max_bytes", "tracked dirty bytes in the cache": engine.DirtyBytes,
	}, []string{"wiredTiger", "cache"}},
	{"wiredtiger.blocks.", engine.Counter, map[string]string{
		"bytes read": engine.BytesRead, "bytes written": "bytes_written", "bytes written for checkpoint": "checkpoint_bytes_written",
		"blocks read": "reads", "blocks written": "writes",
	}, []string{"wiredTiger", "block-manager"}},
	{"wiredtiger.log.", engine.Counter, map[string]string{
		"log bytes written": engine.LogBytes, "log bytes of payload data": "payload_bytes",
		"log sync operations": "syncs", "log sync time duration (usecs)": "sync_ns",
	}, []string{"wiredTiger", "log"}},
	{"wiredtiger.transaction.", engine.Counter, map[string]string{
		"transactions committed": "committed", "transactions rolled back": "rolled_back",
		"transaction checkpoints": "checkpoints", "transaction checkpoint total time (msecs)": "checkpoint_ns",
	}, []string{"wiredTiger", "transaction"}},
	{"wiredtiger.transaction.", engine.Gauge, map[string]string{
		"transaction checkpoint currently running": "checkpoint_running",
	}, []string{"wiredTiger", "transaction"}},
}

// tableSections are what collStats counts for a table and its indexes.
var tableSections = []section{
	{"table.", engine.Gauge, map[string]string{
		"storageSize": "bytes", "freeStorageSize": "free_bytes", "totalIndexSize": "index_bytes",
	}, nil},
	{"table.cache.", engine.Counter, map[string]string{
		"bytes read into cache": "bytes_read", "bytes written from cache": "bytes_written",
	}, []string{"wiredTiger", "cache"}},
	{"table.cache.", engine.Gauge, map[string]string{"bytes currently in the cache": "bytes"}, []string{"wiredTiger", "cache"}},
}

// add adds the numbers of sections that the reply has.
func add(sections []section, s *engine.Sample, reply []byte, labels string) {
	for _, x := range sections {
		_ = each(lookup(reply, x.path...), func(key []byte, v bsoncore.Value) error {
			name, known := x.names[string(key)]
			n, ok := v.AsInt64OK()
			if !known || !ok {
				return nil
			}
			p := engine.Point{Name: name, Labels: labels, Kind: x.kind, Unit: "count", Value: float64(n)}
			if strings.Contains(name, "bytes") {
				p.Unit = "bytes"
			}
			switch {
			case strings.HasSuffix(string(key), "(usecs)"):
				p.Unit, p.Value = "ns", p.Value*1e3
			case strings.HasSuffix(string(key), "(msecs)"):
				p.Unit, p.Value = "ns", p.Value*1e6
			case x.prefix == "memory.":
				p.Value *= 1 << 20
			case name == engine.Commits:
				p.Labels = engine.ExplicitOnly + `="true"`
			}
			if !strings.HasPrefix(name, "engine.") {
				p.Name = "mongodb." + x.prefix + name
			}
			s.Points = append(s.Points, p)
			return nil
		})
	}
}

// commands are those that clients work with: the server counts each.
var commands = []string{"find", "getMore", "aggregate", "insert", "update", "delete", "findAndModify", "commitTransaction", "abortTransaction"}

// Counters adds the server's counters.
func (p *peer) Counters(ctx context.Context, s *engine.Sample) error {
	reply, err := p.status(ctx)
	if err != nil {
		return err
	}
	add(sections, s, reply, "")
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
		add(tableSections, s, reply, `table="`+t.Name+`"`)
	}
	return nil
}
