package mongodb

import (
	"context"
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
)

// section is a document in the reply of serverStatus. Servers and releases differ
// in those that they have. The numbers are named by the server's names; those that
// mean the same on every engine have its names.
type section struct {
	path             []string
	prefix           string
	counters, gauges map[string]string
}

var sections = []section{
	{[]string{"opcounters"}, "mongodb.opcounters.", map[string]string{
		"insert": "insert", "query": "query", "update": "update", "delete": "delete", "getmore": "getmore", "command": "command",
	}, nil},
	{[]string{"connections"}, "mongodb.connections.", map[string]string{"totalCreated": "created"},
		map[string]string{"current": "current", "active": "active"}},
	{[]string{"mem"}, "mongodb.memory.", nil, map[string]string{"resident": "resident_bytes", "virtual": "virtual_bytes"}},
	{[]string{"network"}, "mongodb.network.", map[string]string{
		"bytesIn": "bytes_in", "bytesOut": "bytes_out", "numRequests": "requests",
	}, nil},
	{[]string{"metrics", "document"}, "mongodb.document.", map[string]string{
		"inserted": "inserted", "updated": "updated", "deleted": "deleted", "returned": "returned",
	}, nil},
	{[]string{"metrics", "queryExecutor"}, "mongodb.executor.", map[string]string{
		"scanned": "keys_scanned", "scannedObjects": "documents_scanned",
	}, nil},
	{[]string{"metrics", "operation"}, "mongodb.operation.", map[string]string{
		"scanAndOrder": "sorts", "writeConflicts": "write_conflicts",
	}, nil},
	{[]string{"globalLock", "currentQueue"}, "mongodb.queue.", nil, map[string]string{"readers": "readers", "writers": "writers"}},
	{[]string{"transactions"}, "mongodb.transactions.", map[string]string{
		"totalStarted": "started", "totalCommitted": engine.Commits, "totalAborted": "aborted",
	}, map[string]string{"currentOpen": "open"}},
	{[]string{"wiredTiger", "cache"}, "mongodb.wiredtiger.cache.", map[string]string{
		"bytes read into cache": "bytes_read", "bytes written from cache": "bytes_written",
		"pages requested from the cache": engine.CacheLookups, "pages read into cache": engine.CacheMisses,
		"pages written from cache": "pages_written",
		"unmodified pages evicted": "clean_pages_evicted", "modified pages evicted": "dirty_pages_evicted",
		"pages evicted by application threads":                           "pages_evicted_by_clients",
		"application threads page read from disk to cache count":         "client_page_reads",
		"application threads page read from disk to cache time (usecs)":  "client_page_read_ns",
		"application threads page write from cache to disk count":        "client_page_writes",
		"application threads page write from cache to disk time (usecs)": "client_page_write_ns",
	}, map[string]string{
		"bytes currently in the cache": "bytes", "maximum bytes configured": "max_bytes",
		"tracked dirty bytes in the cache": engine.DirtyBytes,
	}},
	{[]string{"wiredTiger", "block-manager"}, "mongodb.wiredtiger.blocks.", map[string]string{
		"bytes read": engine.BytesRead, "bytes written": "bytes_written", "bytes written for checkpoint": "checkpoint_bytes_written",
		"blocks read": "reads", "blocks written": "writes",
	}, nil},
	{[]string{"wiredTiger", "log"}, "mongodb.wiredtiger.log.", map[string]string{
		"log bytes written": engine.LogBytes, "log bytes of payload data": "payload_bytes",
		"log sync operations": "syncs", "log sync time duration (usecs)": "sync_ns",
	}, nil},
	{[]string{"wiredTiger", "transaction"}, "mongodb.wiredtiger.transaction.", map[string]string{
		"transactions committed": "committed", "transactions rolled back": "rolled_back",
		"transaction checkpoints": "checkpoints", "transaction checkpoint total time (msecs)": "checkpoint_ns",
	}, map[string]string{"transaction checkpoint currently running": "checkpoint_running"}},
}

// tableSections are what collStats counts for a table and its indexes.
var tableSections = []section{
	{nil, "mongodb.table.", nil, map[string]string{
		"storageSize": "bytes", "freeStorageSize": "free_bytes", "totalIndexSize": "index_bytes",
	}},
	{[]string{"wiredTiger", "cache"}, "mongodb.table.cache.", map[string]string{
		"bytes read into cache": "bytes_read", "bytes written from cache": "bytes_written",
	}, map[string]string{"bytes currently in the cache": "bytes"}},
}

// add adds the numbers of the section that the reply has.
func (x *section) add(s *engine.Sample, doc []byte, labels ...string) {
	if len(x.path) > 0 {
		doc = lookup(doc, x.path...)
	}
	_ = each(doc, func(key []byte, v bsoncore.Value) error {
		whole, isNumber := v.AsInt64OK()
		counter, counts := x.counters[string(key)]
		gauge, shows := x.gauges[string(key)]
		if !isNumber || !counts && !shows {
			return nil
		}
		name := counter + gauge
		unit, n := unitOf(name), float64(whole)*factor(x.prefix, string(key))
		if !strings.HasPrefix(name, "engine.") {
			name = x.prefix + name
		}
		switch {
		case shows:
			s.Gauge(name, unit, n, labels...)
		case name == engine.Commits:
			s.Counter(name, unit, n, engine.ExplicitOnly, "true")
		default:
			s.Counter(name, unit, n, labels...)
		}
		return nil
	})
}

func unitOf(name string) string {
	switch {
	case strings.HasSuffix(name, "_ns"):
		return "ns"
	case strings.Contains(name, "bytes"):
		return "bytes"
	}
	return "count"
}

// factor is what a number of the server's is multiplied by.
func factor(prefix, name string) float64 {
	switch {
	case strings.HasSuffix(name, "(usecs)"):
		return 1e3
	case strings.HasSuffix(name, "(msecs)"):
		return 1e6
	case prefix == "mongodb.memory.":
		return 1 << 20
	}
	return 1
}

// commands are those that clients work with: the server counts each.
var commands = []string{"find", "getMore", "aggregate", "insert", "update", "delete", "findAndModify", "commitTransaction", "abortTransaction"}

// Counters adds the server's counters.
func (p *peer) Counters(ctx context.Context, s *engine.Sample) error {
	reply, err := p.status(ctx)
	if err != nil {
		return err
	}
	for i := range sections {
		sections[i].add(s, reply)
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
		for i := range tableSections {
			tableSections[i].add(s, reply, "table", t.Name)
		}
	}
	return nil
}
