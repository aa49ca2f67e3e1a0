//go:build native && cgo && linux

package wiredtiger

// #include "binding.h"
import "C"

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/engine/fsize"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
)

// store keeps every space of kvkit in a table.
type store struct {
	conn       *C.WT_CONNECTION
	dir        string
	set        settings
	spaces     int
	reserve    C.int     // 1: GetForUpdate reserves rows
	pool       sync.Pool // of *session, between transactions
	closing    sync.RWMutex
	closed     bool
	tables     map[string]string // the configuration of the last one
	statistics []statistic
}

// Concurrency returns Isolated for the B-tree: transactions have a snapshot, and the
// second writer of a row fails. In an LSM tree WiredTiger misses writers of a row that
// has left the newest chunk since the snapshot, and their updates would be lost.
func (s *store) Concurrency() kvkit.Concurrency {
	if s.set.storage == lsm {
		return kvkit.Unisolated
	}
	return kvkit.Isolated
}

// entryMemory is the memory of an uncommitted entry in the cache.
const entryMemory = 200

// MaxEntries returns the maximum number of writes in a transaction: WiredTiger repeatedly
// rolls back one that fills a tenth of its cache, and half of that is safe.
func (s *store) MaxEntries() int { return int(s.set.cache / 20 / entryMemory) }

func (s *store) with(f func(*session) error) error {
	se := s.pool.Get().(*session)
	if se.err != nil {
		return se.err
	}
	defer s.pool.Put(se)
	return f(se)
}

func (s *store) Settings() []engine.Setting {
	out := []engine.Setting{
		{Name: "library", Value: C.GoString(C.wt_version()), Source: engine.ReadBack},
		{Name: "storage", Value: s.set.storage, Source: engine.ReadBack},
		engine.Compressed(engine.ReadBack, s.tables["block_compressor"]),
		{Name: "cache", Value: strconv.FormatInt(s.set.cache, 10), Source: engine.AsSet},
		{Name: "connection", Value: s.set.connection, Source: engine.AsSet},
	}
	if values, err := s.read(); err == nil {
		for _, st := range s.statistics {
			if st.setting != "" {
				out = append(out, engine.Setting{Name: st.setting, Value: strconv.FormatInt(int64(values[st.at]), 10),
					Source: engine.ReadBack})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.tables)) {
		if value := s.tables[name]; value != "" {
			out = append(out, engine.Setting{Name: "table." + name, Value: value, Source: engine.ReadBack})
		}
	}
	return out
}

// Sizes returns the allocated bytes of the files of each table.
func (s *store) Sizes(ranges []kvkit.Range) error {
	sums, err := fsize.ByClass(s.dir, tableOf)
	if err != nil {
		return err
	}
	for i := range ranges {
		r := &ranges[i]
		r.Bytes, r.Kind = sums[fmt.Sprint("s", kvkit.SpaceOf(r.Lower))].Allocated, engine.Exact
	}
	return nil
}

// tableOf returns the table of a file, such as s3.wt, s3-000001.lsm and s3-000001.bf.
func tableOf(path string) string {
	name := filepath.Base(path)
	if i := strings.IndexAny(name, "-."); i >= 0 {
		return name[:i]
	}
	return name
}

// Settle writes a checkpoint, and waits until the chunks of LSM trees have been
// merged.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	done.Do("checkpoint", func() (string, error) {
		return "", s.with(func(se *session) error { return failure(C.wt_checkpoint(se.s)) })
	})
	if s.set.storage == lsm {
		done.Do("wait for merges", func() (string, error) {
			before, last := s.chunks(), ""
			err := engine.AwaitRest(ctx, 200*time.Millisecond, 10, func() (bool, error) {
				now, err := s.progress()
				rest := now == last
				last = now
				return rest, err
			})
			return fmt.Sprintf("%d chunks before, %d after", before, s.chunks()), err
		})
	}
}

// chunks counts the files of LSM trees.
func (s *store) chunks() int {
	files, _ := fs.Glob(os.DirFS(s.dir), "*.lsm")
	return len(files)
}

// progress returns a text that changes while chunks are merged.
func (s *store) progress() (string, error) {
	values, err := s.read()
	text := fmt.Sprint(s.chunks())
	for _, st := range s.statistics {
		if err == nil && st.merging {
			text += fmt.Sprint(" ", values[st.at])
		}
	}
	return text, err
}

func (s *store) Close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	s.closed = true
	return engine.Wrap("close wiredtiger", failure(C.wt_close(s.conn))) // with all sessions
}

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
