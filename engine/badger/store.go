package badger

import (
	"bytes"
	"context"
	"errors"
	"expvar"
	"fmt"
	"reflect"
	"strconv"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

type store struct{ db *badger.DB }

// Concurrency returns Isolated: a commit fails if data that it read has changed since.
func (s *store) Concurrency() kvkit.Concurrency { return kvkit.Isolated }

// entrySize is a generous mean size of a key with its value. A transaction is
// limited in both its entries and their bytes.
const entrySize = 256

// MaxEntries returns the maximum number of writes in a transaction.
func (s *store) MaxEntries() int {
	return int(min(s.db.MaxBatchCount(), s.db.MaxBatchSize()/entrySize)) - 2 // its own last entry, and "less than"
}

func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	return &tx{txn: s.db.NewTransaction(mode.Writes())}, nil
}

// readBack are the options that results show, as Badger's fields are called.
var readBack = []string{
	"SyncWrites", "ZSTDCompressionLevel", "BlockCacheSize", "IndexCacheSize", "BlockSize", "BloomFalsePositive",
	"MemTableSize", "NumMemtables", "BaseTableSize", "BaseLevelSize", "LevelSizeMultiplier", "NumLevelZeroTables",
	"NumLevelZeroTablesStall", "NumCompactors", "ValueThreshold", "ValueLogFileSize", "DetectConflicts",
}

// Settings reads back the options with which Badger runs.
func (s *store) Settings() []engine.Setting {
	o := s.db.Opts()
	out := []engine.Setting{engine.Compressed(engine.ReadBack, [...]string{"none", "snappy", "zstd"}[o.Compression])}
	for _, name := range readBack {
		value := fmt.Sprint(reflect.ValueOf(o).FieldByName(name))
		if name == "BlockCacheSize" {
			name = "cache"
		}
		out = append(out, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
	}
	return out
}

// Sizes estimates the bytes in tables; memtables and logs belong to no range. A table
// that covers several ranges counts in equal parts.
func (s *store) Sizes(ranges []kvkit.Range) error {
	for i := range ranges {
		ranges[i].Kind = engine.Estimate
	}
	var in []*kvkit.Range
	for _, t := range s.db.Tables() {
		in = in[:0]
		for i := range ranges {
			if r := &ranges[i]; bytes.Compare(t.Right, r.Lower) >= 0 && bytes.Compare(t.Left, r.Upper) < 0 {
				in = append(in, r)
			}
		}
		for _, r := range in {
			r.Bytes += int64(t.OnDiskSize) / int64(len(in))
		}
	}
	return nil
}

// Settle flushes the memtables, compacts all tables into one level, and rewrites
// the files of the value log that are half empty.
func (s *store) Settle(ctx context.Context, done *engine.Settling) {
	done.Do("flush memtables", func() (string, error) { return "", s.flush() })
	done.Do("flatten", func() (string, error) {
		before := s.db.LevelsToString()
		err := s.db.Flatten(s.db.Opts().NumCompactors)
		return fmt.Sprintf("levels before:\n%safter:\n%s", before, s.db.LevelsToString()), err
	})
	done.Do("collect the value log's garbage", func() (string, error) {
		files := 0
		for ctx.Err() == nil {
			if err := s.db.RunValueLogGC(0.5); errors.Is(err, badger.ErrNoRewrite) {
				break
			} else if err != nil {
				return "", err
			}
			files++
		}
		return fmt.Sprintf("%d files rewritten", files), ctx.Err()
	})
}

// flush flushes the memtables by dropping a key: Badger has no separate call for it.
func (s *store) flush() error {
	key := []byte("rumbench: flush") // in none of kvkit's spaces
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, nil) }); err != nil {
		return err
	}
	return s.db.DropPrefix(key)
}

func (s *store) Close() error { return engine.Wrap("close badger", s.db.Close()) }

func classify(err error) error {
	switch {
	case errors.Is(err, badger.ErrConflict):
		return engine.Classify(engine.Conflict, err)
	case errors.Is(err, badger.ErrDBClosed), errors.Is(err, badger.ErrBlockedWrites):
		return engine.Classify(engine.Gone, err)
	case errors.Is(err, badger.ErrTxnTooBig):
		return hint.With(engine.Classify(engine.Fatal, err),
			"raise options.memtable_size, or write less at once: a transaction holds 15 % of a memtable")
	}
	return err
}

type tx struct {
	txn   *badger.Txn
	value []byte // of the last Get
}

func (t *tx) Get(key []byte) ([]byte, error) {
	item, err := t.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, classify(err)
	}
	return copyValue(&t.value, item)
}

// copyValue copies the item's value to a buffer that is reused.
func copyValue(dst *[]byte, item *badger.Item) (_ []byte, err error) {
	if *dst == nil {
		*dst = []byte{} // an empty value is also a value
	}
	*dst, err = item.ValueCopy(*dst)
	return *dst, classify(err)
}

// GetForUpdate is Get: Badger checks all keys that a transaction has read when it
// commits, including those that did not exist.
func (t *tx) GetForUpdate(key []byte) ([]byte, error) { return t.Get(key) }

// Put copies key and value, because Badger keeps them until the commit.
func (t *tx) Put(key, value []byte) error {
	both := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return classify(t.txn.Set(both[:len(key):len(key)], both[len(key):]))
}

func (t *tx) Delete(key []byte) error { return classify(t.txn.Delete(bytes.Clone(key))) }

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	return &iter{txn: t.txn, lower: lower, upper: upper}, nil
}

func (t *tx) Commit() error { return classify(t.txn.Commit()) }

func (t *tx) Rollback() { t.txn.Discard() }

// iter is an iterator of one direction, which First or Last sets: Next or Prev then moves it.
type iter struct {
	txn          *badger.Txn
	lower, upper []byte
	it           *badger.Iterator
	item         *badger.Item
	value        []byte
}

func (i *iter) First() bool {
	i.open(badger.IteratorOptions{Prefix: commonPrefix(i.lower, i.upper)})
	i.it.Seek(i.lower)
	return i.at()
}

func (i *iter) Last() bool {
	i.open(badger.IteratorOptions{Reverse: true})
	i.it.Seek(i.upper)
	if i.at(); i.it.Valid() && bytes.Equal(i.item.Key(), i.upper) {
		i.it.Next()
	}
	return i.at()
}

func (i *iter) open(o badger.IteratorOptions) {
	i.Close()
	i.it = i.txn.NewIterator(o)
}

func (i *iter) Next() bool {
	i.it.Next()
	return i.at()
}

func (i *iter) Prev() bool { return i.Next() }

// at reports whether the iterator is inside the range.
func (i *iter) at() bool {
	if !i.it.Valid() {
		return false
	}
	i.item = i.it.Item()
	return bytes.Compare(i.item.Key(), i.lower) >= 0 && bytes.Compare(i.item.Key(), i.upper) < 0
}

func (i *iter) Key() []byte            { return i.item.Key() }
func (i *iter) Value() ([]byte, error) { return copyValue(&i.value, i.item) }

func (i *iter) Close() error {
	if i.it != nil {
		i.it.Close()
		i.it = nil
	}
	return nil
}

func commonPrefix(a, b []byte) []byte {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// counted are Badger's statistics. They belong to the process, and this process has one database.
// Bytes put into memtables are estimates that Badger calls written to level 0, and nothing counts
// the bytes written to their logs: bytes written are known from process and device only.
var counted = []struct{ name, unit, as string }{
	{"badger_get_num_user", "count", "badger.gets"},
	{"badger_get_with_result_num_user", "count", "badger.gets_found"},
	{"badger_put_num_user", "count", "badger.puts"},
	{"badger_iterator_num_user", "count", "badger.iterators"},
	{"badger_get_num_memtable", "count", "badger.memtable.gets"},
	{"badger_write_bytes_user", "bytes", engine.BytesTaken},
	{"badger_write_bytes_l0", "bytes", "badger.memtable.put_bytes"},
	{"badger_read_bytes_lsm", "bytes", "badger.value_bytes_read"},
	{"badger_write_num_vlog", "count", "badger.value_log.writes"},
	{"badger_write_bytes_vlog", "bytes", "badger.value_log.bytes_written"},
	{"badger_read_num_vlog", "count", "badger.value_log.reads"},
	{"badger_read_bytes_vlog", "bytes", "badger.value_log.bytes_read"},
}

// countedByLevel are the statistics by level; Badger names the levels "l0", "l1" and so on.
var countedByLevel = []struct{ name, unit, as string }{
	{"badger_write_bytes_compaction", "bytes", "badger.level.compacted_bytes"},
	{"badger_get_num_lsm", "count", "badger.level.gets"},
	{"badger_hit_num_lsm_bloom_filter", "count", "badger.level.filtered"},
}

func (s *store) Counters(out *engine.Sample) error {
	for _, c := range counted {
		if v, ok := expvar.Get(c.name).(*expvar.Int); ok {
			out.Counter(c.as, c.unit, float64(v.Value()))
		}
	}
	if v, ok := expvar.Get("badger_compaction_current_num_lsm").(*expvar.Int); ok {
		out.Gauge("badger.compacting_tables", "count", float64(v.Value()))
	}
	for _, c := range countedByLevel {
		m, ok := expvar.Get(c.name).(*expvar.Map)
		if !ok {
			continue
		}
		m.Do(func(kv expvar.KeyValue) {
			if v, ok := kv.Value.(*expvar.Int); ok {
				out.Counter(c.as, c.unit, float64(v.Value()), "level", kv.Key)
			}
		})
	}
	var files []float64
	for _, l := range s.db.Levels() {
		files = append(files, float64(l.NumTables))
		level := "l" + strconv.Itoa(l.Level)
		out.Gauge("badger.level.tables", "count", float64(l.NumTables), "level", level)
		out.Gauge("badger.level.size_bytes", "bytes", float64(l.Size), "level", level)
		out.Gauge("badger.level.stale_bytes", "bytes", float64(l.StaleDatSize), "level", level)
		if quantity.Finite(l.Score) {
			out.Gauge("badger.level.score", "ratio", l.Score, "level", level)
		}
	}
	out.Runs(files)
	if m := s.db.BlockCacheMetrics(); m != nil {
		addCache(out, "badger.block_cache", m)
		// Lookups include those of compactions; indexes have their own cache.
		out.Counter(engine.CacheLookups, "count", float64(m.Hits()+m.Misses()))
		out.Counter(engine.CacheMisses, "count", float64(m.Misses()))
	}
	if m := s.db.IndexCacheMetrics(); m != nil {
		addCache(out, "badger.index_cache", m)
	}
	return nil
}

func addCache(out *engine.Sample, name string, m *ristretto.Metrics) {
	out.Counter(name+".hits", "count", float64(m.Hits()))
	out.Counter(name+".misses", "count", float64(m.Misses()))
	out.Gauge(name+".size_bytes", "bytes", float64(m.CostAdded()-m.CostEvicted()))
}
