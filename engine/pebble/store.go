package pebble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

type store struct {
	db         *pebble.DB
	durability model.Durability
	write      *pebble.WriteOptions
	syncer     *syncer // at level interval, else nil
	effective  []engine.Setting
	stalls     stallClock
	passed     atomic.Int64 // entries of deleted or replaced rows
	cache      int64        // bytes for blocks
	memtable   int64        // bytes of one
}

// Concurrency is Unisolated: Pebble's batches are atomic, but two of them can read the
// same rows before they write.
func (s *store) Concurrency() kvkit.Concurrency { return kvkit.Unisolated }

func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	t := &tx{store: s, reader: s.db}
	switch mode {
	case kvkit.Snapshot:
		t.snapshot = s.db.NewSnapshot()
		t.reader = t.snapshot
	case kvkit.Write:
		t.batch = s.db.NewBatch()
	case kvkit.ReadWrite:
		t.batch = s.db.NewIndexedBatch()
		t.reader = t.batch
	}
	return t, nil
}

func (s *store) Settings() []engine.Setting {
	log := map[model.Durability]string{
		model.DurabilityNone:     "written to the operating system in the background; nothing is synced",
		model.DurabilityInterval: "written to the operating system in the background, and synced once a second",
		model.DurabilityProcess:  "written to the operating system at commit; nothing is synced",
		model.DurabilityOS:       "synced at commit",
	}[s.durability]
	var compression []string // of the levels
	for _, o := range s.effective {
		if strings.HasSuffix(o.Name, ".compression") {
			compression = append(compression, o.Value)
		}
	}
	return append([]engine.Setting{
		engine.Compressed(engine.ReadBack, compression...),
		{Name: "write-ahead log", Value: log, Source: engine.AsSet},
		{Name: "cache", Value: fmt.Sprintf("%s for blocks; cache_size has room for %d memtables besides",
			quantity.Bytes(s.cache), memtables), Source: engine.AsSet},
	}, s.effective...)
}

// Sizes estimates the bytes in sstables; memtables and the log belong to no range.
// Nothing is flushed for it: no step would account for those writes.
func (s *store) Sizes(ranges []kvkit.Range) error {
	for i := range ranges {
		n, err := s.db.EstimateDiskUsage(ranges[i].Lower, ranges[i].Upper)
		if err != nil {
			return err
		}
		ranges[i].Bytes, ranges[i].Kind = int64(n), engine.Estimate
	}
	return nil
}

// Settle flushes the memtables and waits until no compaction runs. Pebble leaves some
// debt that it does not compact.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	rests := func() bool {
		m := s.db.Metrics()
		return m.Compact.NumInProgress == 0 && m.Flush.NumInProgress == 0
	}
	done.Compact(ctx, s.db.Flush, rests, func() uint64 { return s.db.Metrics().Compact.EstimatedDebt })
}

func (s *store) Close() error {
	return errors.Join(s.syncer.stop(), engine.Wrap("close pebble", s.db.Close()))
}

type tx struct {
	store    *store
	reader   pebble.Reader
	batch    *pebble.Batch
	snapshot *pebble.Snapshot
	held     io.Closer // of the last Get's value
	applied  bool      // the batch is visible
	unsynced bool      // the batch's log may still have to be synced
}

func (t *tx) release() {
	if t.held != nil {
		t.held.Close()
		t.held = nil
	}
}

func (t *tx) Get(key []byte) ([]byte, error) {
	t.release()
	value, closer, err := t.reader.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	t.held = closer
	return present(value), nil
}

// present returns a value that is not nil: an empty value is also a value.
func present(value []byte) []byte {
	if value == nil {
		return []byte{}
	}
	return value
}

func (t *tx) Put(key, value []byte) error {
	t.release()
	return t.batch.Set(key, value, nil)
}

func (t *tx) Delete(key []byte) error {
	t.release()
	return t.batch.Delete(key, nil)
}

func (t *tx) SingleDelete(key []byte) error {
	t.release()
	return t.batch.SingleDelete(key, nil)
}

// DeleteRange implements kvkit.RangeDeleter.
func (t *tx) DeleteRange(lower, upper []byte) error {
	t.release()
	return t.batch.DeleteRange(lower, upper, nil)
}

func (t *tx) Merge(key, operand []byte) error {
	t.release()
	return t.batch.Merge(key, operand, nil)
}

// Probe reads by an iterator: unlike Get it uses the filters of the last level. They
// cover whole keys, because the default comparer takes a key as its prefix.
func (t *tx) Probe(key []byte) ([]byte, error) {
	t.release()
	it, err := t.reader.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, err
	}
	if !it.SeekPrefixGE(key) {
		return nil, it.Close()
	}
	t.held = it
	value, err := it.ValueAndErr()
	return present(value), err
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	t.release()
	it, err := t.reader.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	return iter{it, &t.store.passed}, nil
}

// Apply makes the batch visible: it is in the log's buffer and in a memtable.
// The log is written in order, and each file is synced to its end before the
// next one begins.
func (t *tx) Apply() error {
	t.release()
	if !t.store.write.Sync {
		t.applied = true
		err := t.batch.Commit(t.store.write)
		t.store.syncer.committed()
		return err
	}
	err := t.store.db.ApplyNoSyncWait(t.batch, t.store.write)
	t.applied, t.unsynced = true, err == nil
	return err
}

func (t *tx) Commit() (err error) {
	if !t.applied {
		err = t.Apply()
	}
	return errors.Join(err, t.close())
}

func (t *tx) Rollback() {
	t.release()
	t.close()
}

// close ends the transaction. It waits for the sync of an applied batch, which must not
// be closed earlier.
func (t *tx) close() (err error) {
	if t.unsynced {
		err = t.batch.SyncWait()
		t.unsynced = false
	}
	if t.batch != nil {
		err = errors.Join(err, t.batch.Close())
		t.batch = nil
	}
	if t.snapshot != nil {
		err = errors.Join(err, t.snapshot.Close())
		t.snapshot = nil
	}
	return err
}

type iter struct {
	*pebble.Iterator
	passed *atomic.Int64
}

// Close counts the entries that the iterator passed over: steps inside that nobody asked for.
// Backward, each entry takes a step more to find its latest version.
func (i iter) Close() error {
	const asked, done = pebble.InterfaceCall, pebble.InternalIterCall
	st := i.Stats()
	n := st.ForwardStepCount[done] - st.ForwardStepCount[asked]
	n += st.ReverseStepCount[done] - st.ReverseStepCount[asked] - st.ReverseSeekCount[asked]
	if n > 0 {
		i.passed.Add(int64(n))
	}
	return i.Iterator.Close()
}

func (i iter) Value() ([]byte, error) { return i.Iterator.ValueAndErr() }

// stallClock sums the time in which Pebble stalled writes.
type stallClock struct {
	mu      sync.Mutex
	since   time.Time
	total   time.Duration
	count   int64
	stalled bool
}

func (c *stallClock) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.stalled = time.Now(), true
	c.count++
}

func (c *stallClock) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stalled {
		c.total += time.Since(c.since)
		c.stalled = false
	}
}

func (c *stallClock) read() (count int64, total time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total = c.total
	if c.stalled {
		total += time.Since(c.since)
	}
	return c.count, total
}

func (s *store) Counters(out *engine.Sample) error {
	m := s.db.Metrics()
	out.Counter("pebble.wal.bytes_in", "bytes", float64(m.WAL.BytesIn))
	out.Counter("pebble.wal.bytes_written", "bytes", float64(m.WAL.BytesWritten))
	out.Gauge("pebble.wal.size_bytes", "bytes", float64(m.WAL.Size))
	out.Counter(engine.Flushes, "count", float64(m.Flush.Count))
	out.Counter(engine.Compactions, "count", float64(m.Compact.Count-m.Compact.MoveCount)) // moved files are not rewritten
	out.Counter("pebble.compact.duration_ns", "ns", float64(m.Compact.Duration))
	out.Gauge("pebble.compact.debt_bytes", "bytes", float64(m.Compact.EstimatedDebt))
	out.Gauge("pebble.compact.in_progress", "count", float64(m.Compact.NumInProgress))
	out.Counter("pebble.block_cache.hits", "count", float64(m.BlockCache.Hits))
	out.Counter("pebble.filter.hits", "count", float64(m.Filter.Hits))
	out.Counter(engine.DeadEntries, "count", float64(s.passed.Load()))
	out.Counter(engine.FilterUseful, "count", float64(m.Filter.Hits))
	out.Counter("pebble.filter.misses", "count", float64(m.Filter.Misses))
	out.Counter("pebble.block_cache.misses", "count", float64(m.BlockCache.Misses))
	out.Gauge("pebble.block_cache.size_bytes", "bytes", float64(m.BlockCache.Size))
	out.Gauge("pebble.memtable.size_bytes", "bytes", float64(m.MemTable.Size))
	out.Gauge("pebble.table.obsolete_bytes", "bytes", float64(m.Table.ObsoleteSize))
	out.Gauge("pebble.tombstones", "count", float64(m.Keys.TombstoneCount))
	out.Gauge(engine.SortedRuns, "count", float64(m.ReadAmp()))
	count, total := s.stalls.read()
	out.Counter("pebble.write_stalls", "count", float64(count))
	out.Counter("pebble.write_stall_ns", "ns", float64(total))
	var flushed, compacted, read uint64
	for i := range m.Levels {
		l := &m.Levels[i]
		flushed += l.TableBytesFlushed
		compacted += l.TableBytesCompacted
		read += l.TableBytesRead
		level := strconv.Itoa(i)
		out.Gauge("pebble.level.tables", "count", float64(l.TablesCount), "level", level)
		out.Gauge("pebble.level.size_bytes", "bytes", float64(l.TablesSize), "level", level)
		out.Counter("pebble.level.compacted_bytes", "bytes", float64(l.TableBytesCompacted), "level", level)
		if s := l.Score; quantity.Finite(s) {
			out.Gauge("pebble.level.score", "ratio", s, "level", level)
		}
	}
	out.Counter("pebble.flushed_bytes", "bytes", float64(flushed))
	out.Counter("pebble.compacted_bytes", "bytes", float64(compacted))
	out.Counter("pebble.compaction_read_bytes", "bytes", float64(read))
	// The cache's lookups include those of compactions; Pebble does not separate them.
	out.Counter(engine.CacheLookups, "count", float64(m.BlockCache.Hits+m.BlockCache.Misses))
	out.Counter(engine.CacheMisses, "count", float64(m.BlockCache.Misses))
	out.Counter(engine.BytesWritten, "bytes", float64(m.WAL.BytesWritten+flushed+compacted))
	out.Counter(engine.LogBytes, "bytes", float64(m.WAL.BytesWritten))
	out.Counter(engine.FlushBytes, "bytes", float64(flushed))
	out.Counter(engine.CompactedBytes, "bytes", float64(compacted))
	out.Counter(engine.BytesTaken, "bytes", float64(m.WAL.BytesIn))
	// the log of unflushed data; memtables are allocated in advance
	out.Gauge(engine.DirtyBytes, "bytes", float64(m.WAL.Size))
	out.Gauge(engine.CompactionDebt, "bytes", float64(m.Compact.EstimatedDebt))
	out.Counter(engine.Stalls, "count", float64(count))
	out.Counter(engine.StallTime, "ns", float64(total))
	return nil
}

// Structure returns the size of memtables.
func (s *store) Structure() (engine.Structure, error) {
	return engine.Structure{Shape: engine.Leveled, Memtable: s.memtable}, nil
}
