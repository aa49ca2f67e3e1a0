//go:build native && cgo && linux

package wiredtiger

// #include "binding.h"
import "C"

import (
	"cmp"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/engine/native"
)

// statistic is a reported statistic of the connection. Their numbers differ between versions:
// they are found by WiredTiger's description. Adjacent ones of the same name are added up.
type statistic struct {
	description string
	name, unit  string
	gauge       bool
	factor      float64 // 0: 1
	setting     string  // it is reported as a setting of this name instead
	merging     bool    // it changes while chunks are merged
	storage     string  // it is valid for this storage only; "": for both
	at          int
}

const us, ms = 1e3, 1e6 // in ns

var statistics = []statistic{
	{description: "block-manager: blocks read", name: "wiredtiger.blocks_read", unit: "count"},
	{description: "block-manager: mapped blocks read", name: "wiredtiger.blocks_read", unit: "count"},
	{description: "block-manager: blocks written", name: "wiredtiger.blocks_written", unit: "count"},
	{description: "block-manager: bytes read", name: engine.BytesRead, unit: "bytes"},
	{description: "block-manager: mapped bytes read", name: engine.BytesRead, unit: "bytes"},
	{description: "block-manager: bytes written", name: engine.BytesWritten, unit: "bytes"},
	{description: "log: log bytes written", name: engine.BytesWritten, unit: "bytes"},
	{description: "block-manager: bytes written", name: engine.PageBytes, unit: "bytes", storage: btree},
	{description: "block-manager: bytes written for checkpoint", name: "wiredtiger.checkpoint.bytes_written",
		unit: "bytes"},
	{description: "cache: bytes read into cache", name: "wiredtiger.cache.bytes_read", unit: "bytes"},
	{description: "cache: bytes written from cache", name: "wiredtiger.cache.bytes_written", unit: "bytes"},
	{description: "cache: pages read into cache", name: engine.CacheMisses, unit: "count"},
	{description: "cache: pages requested from the cache", name: engine.CacheLookups, unit: "count"},
	{description: "cache: pages written from cache", name: "wiredtiger.cache.pages_written", unit: "count"},
	{description: "cache: modified pages evicted", name: "wiredtiger.cache.modified_pages_evicted", unit: "count"},
	{description: "cache: unmodified pages evicted", name: "wiredtiger.cache.unmodified_pages_evicted", unit: "count"},
	{description: "cache: application threads page read from disk to cache time (usecs)",
		name: "wiredtiger.cache.application_read_ns", unit: "ns", factor: us},
	{description: "cache: application threads page write from cache to disk time (usecs)",
		name: "wiredtiger.cache.application_write_ns", unit: "ns", factor: us},
	{description: "cache: bytes currently in the cache", name: "wiredtiger.cache.size_bytes", unit: "bytes", gauge: true},
	// lacks the chunks in memory,
	{description: "cache: tracked dirty bytes in the cache", name: engine.DirtyBytes, unit: "bytes", gauge: true,
		storage: btree},
	{description: "cache: maximum bytes configured", setting: "cache_size"},
	{description: "log: maximum log file size", setting: "log.file_max"},
	{description: "log: log bytes written", name: engine.LogBytes, unit: "bytes"},
	{description: "log: log write operations", name: "wiredtiger.log.writes", unit: "count"},
	{description: "log: log sync operations", name: engine.LogSyncs, unit: "count"},
	{description: "log: log sync time duration (usecs)", name: "wiredtiger.log.sync_ns", unit: "ns", factor: us},
	{description: "thread-yield: application thread time waiting for cache (usecs)", name: "wiredtiger.cache.wait_ns",
		unit: "ns", factor: us},
	{description: "transaction: transactions committed", name: "wiredtiger.transactions_committed", unit: "count"},
	{description: "transaction: update conflicts", name: "wiredtiger.update_conflicts", unit: "count"},
	{description: "transaction: transaction checkpoints", name: engine.Checkpoints, unit: "count"},
	{description: "transaction: transaction checkpoint total time (msecs)", name: "wiredtiger.checkpoint.total_ns",
		unit: "ns", factor: ms},
	{description: "checkpoint: total succeed number of checkpoints", name: engine.Checkpoints, unit: "count"},
	{description: "checkpoint: total time (msecs)", name: "wiredtiger.checkpoint.total_ns", unit: "ns", factor: ms},
	{description: "cursor: cursor next calls", name: "wiredtiger.cursor.next", unit: "count"},
	{description: "cursor: Total number of entries skipped by cursor next calls", name: engine.DeadEntries, unit: "count",
		storage: btree},
	{description: "cursor: Total number of entries skipped by cursor prev calls", name: engine.DeadEntries, unit: "count",
		storage: btree},
	{description: "connection: total fsync I/Os", name: "wiredtiger.fsyncs", unit: "count"},
	{description: "connection: total read I/Os", name: "wiredtiger.reads", unit: "count"},
	{description: "connection: total write I/Os", name: "wiredtiger.writes", unit: "count"},
	// chunks count a write again
	{description: "cursor: cursor insert key and value bytes", name: engine.BytesTaken, unit: "bytes", storage: btree},
	{description: "cursor: cursor remove key bytes removed", name: engine.BytesTaken, unit: "bytes", storage: btree},
	{description: "LSM: rows merged in an LSM tree", name: "wiredtiger.lsm.rows_merged", unit: "count", merging: true},
	{description: "LSM: sleep for LSM merge throttle", name: engine.StallTime, unit: "ns", factor: us, storage: lsm},
	{description: "LSM: sleep for LSM checkpoint throttle", name: engine.StallTime, unit: "ns", factor: us, storage: lsm},
	{description: "LSM: merge work units currently queued", name: "wiredtiger.lsm.merges_queued", unit: "count",
		gauge: true},
}

// limit is more than the number of statistics of any version.
const limit = 2048

// findStatistics finds the reported statistics that this version has.
func (s *store) findStatistics(se *session) error {
	names := make([]byte, limit*128)
	n, err := se.statistics(make([]C.int64_t, limit), names)
	if err != nil {
		return err
	}
	at := map[string]int{}
	for i, name := range strings.SplitN(string(names), "\n", n+1)[:n] {
		at[name] = i
	}
	for _, st := range statistics {
		if i, ok := at[st.description]; ok && (st.storage == "" || st.storage == s.set.storage) {
			st.at = i
			s.statistics = append(s.statistics, st)
		}
	}
	return nil
}

// statistics reads the statistics of the connection, and their names unless names is nil.
// It returns their number.
func (se *session) statistics(values []C.int64_t, names []byte) (int, error) {
	var n C.int
	p, room := pointer(names)
	err := call(func(a *arena) C.int {
		n = C.wt_stats(se.s, a.text("statistics:"), &values[0], C.int(len(values)), p, room)
		return min(n, 0)
	})
	if err != nil {
		return 0, fmt.Errorf("read statistics: %w", err)
	}
	return int(n), nil
}

// read returns the statistics of the connection.
func (s *store) read() (values []C.int64_t, err error) {
	values = make([]C.int64_t, limit)
	return values, s.with(func(se *session) error {
		_, err := se.statistics(values, nil)
		return err
	})
}

func (s *store) Counters(out *engine.Sample) error {
	values, err := s.read()
	if err != nil {
		return err
	}
	var sum float64
	for i, st := range s.statistics {
		sum += float64(values[st.at]) * cmp.Or(st.factor, 1)
		if i+1 < len(s.statistics) && s.statistics[i+1].name == st.name {
			continue
		}
		switch {
		case st.setting != "":
		case st.gauge:
			out.Gauge(st.name, st.unit, sum)
		default:
			out.Counter(st.name, st.unit, sum)
		}
		sum = 0
	}
	native.Counters(out)
	return nil
}
