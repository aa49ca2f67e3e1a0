package bbolt

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"

	bolt "go.etcd.io/bbolt"

	"rumbench/engine"
	"rumbench/engine/kvkit"
)

// store keeps every space of kvkit, that is every table and index, in its own bucket.
type store struct {
	db      *bolt.DB
	page    int // in bytes; bolt.DB.Info is not safe while the file grows
	fill    float64
	commits atomic.Int64 // of writers
}

func (s *store) Concurrency() kvkit.Concurrency { return kvkit.SingleWriter }

func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	b, err := s.db.Begin(mode.Writes())
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &tx{store: s, tx: b}, nil
}

func (s *store) Settings() []engine.Setting {
	sync := "left to the operating system"
	if !s.db.NoSync {
		sync = "at commit"
	}
	return []engine.Setting{
		{Name: "sync", Value: sync, Source: engine.ReadBack},
		{Name: "page_size", Value: strconv.Itoa(s.page), Source: engine.ReadBack},
		{Name: "freelist", Value: string(s.db.FreelistType), Source: engine.ReadBack},
		{Name: "sync_freelist", Value: strconv.FormatBool(!s.db.NoFreelistSync), Source: engine.ReadBack},
		{Name: "fill_percent", Value: strconv.Itoa(int(s.fill * 100)), Source: engine.AsSet},
		{Name: "cache", Value: "the page cache (the file is mapped)", Source: engine.AsSet},
		engine.Compressed(engine.AsSet, "none"),
	}
}

// Sizes returns the bytes of the pages that each bucket takes.
func (s *store) Sizes(ranges []kvkit.Range) error {
	return s.db.View(func(tx *bolt.Tx) error {
		for i := range ranges {
			r := &ranges[i]
			r.Kind = engine.Exact
			if b := tx.Bucket(r.Lower[:kvkit.SpaceLen]); b != nil {
				st := b.Stats()
				r.Bytes = int64(st.LeafAlloc + st.BranchAlloc)
			}
		}
		return nil
	})
}

// Counters adds bbolt's statistics. Its page counts do not distinguish single
// pages from runs of pages, so bytes written are known from process and device
// only.
func (s *store) Counters(out *engine.Sample) error {
	st := s.db.Stats()
	out.Counter("bbolt.tx.reads", "count", float64(st.TxN))
	out.Counter("bbolt.tx.pages_allocated", "count", float64(st.TxStats.GetPageCount()))
	out.Counter("bbolt.tx.bytes_allocated", "bytes", float64(st.TxStats.GetPageAlloc()))
	out.Counter(engine.PageWrites, "count", float64(st.TxStats.GetWrite()))
	out.Counter("bbolt.tx.write_ns", "ns", float64(st.TxStats.GetWriteTime()))
	out.Counter("bbolt.tx.splits", "count", float64(st.TxStats.GetSplit()))
	out.Counter("bbolt.tx.spills", "count", float64(st.TxStats.GetSpill()))
	out.Counter("bbolt.tx.spill_ns", "ns", float64(st.TxStats.GetSpillTime()))
	out.Counter("bbolt.tx.rebalances", "count", float64(st.TxStats.GetRebalance()))
	out.Counter("bbolt.tx.cursors", "count", float64(st.TxStats.GetCursorCount()))
	out.Gauge("bbolt.free_pages", "count", float64(st.FreePageN))
	out.Gauge("bbolt.pending_pages", "count", float64(st.PendingPageN))
	out.Counter(engine.WriteCommits, "count", float64(s.commits.Load()))
	return nil
}

// Structure returns the pages, and the additional pages that a commit writes: the page of
// all buckets, the header, and the list of free pages.
func (s *store) Structure() (engine.Structure, error) {
	pages := 2
	if !s.db.NoFreelistSync {
		pages += s.db.Stats().FreelistInuse/s.page + 1
	}
	return engine.Structure{Shape: engine.CopyOnWrite, Page: int64(s.page), Commit: int64(pages * s.page)}, nil
}

// Settle syncs the file: bbolt has no background work and never shrinks it.
func (s *store) Settle(_ context.Context, done *engine.Settling) {
	done.Do("sync the file", func() (string, error) { return "", s.db.Sync() })
}

func (s *store) Close() error {
	if err := s.db.Sync(); err != nil {
		s.db.Close()
		return fmt.Errorf("close bbolt: %w", err)
	}
	return s.db.Close()
}

type tx struct {
	store   *store
	tx      *bolt.Tx
	buckets [8]*bolt.Bucket // of the first spaces, looked up once
}

func (t *tx) bucket(key []byte, create bool) (*bolt.Bucket, error) {
	n := kvkit.SpaceOf(key)
	if int(n) < len(t.buckets) && t.buckets[n] != nil {
		return t.buckets[n], nil
	}
	b := t.tx.Bucket(key[:kvkit.SpaceLen])
	if b == nil && create {
		var err error
		if b, err = t.tx.CreateBucket(bytes.Clone(key[:kvkit.SpaceLen])); err != nil {
			return nil, err
		}
	}
	if b != nil {
		b.FillPercent = t.store.fill
		if int(n) < len(t.buckets) {
			t.buckets[n] = b
		}
	}
	return b, nil
}

// within returns the key without its space, never empty, as bbolt requires.
func within(key []byte) []byte { return key[kvkit.SpaceLen:] }

func (t *tx) Get(key []byte) ([]byte, error) {
	b, err := t.bucket(key, false)
	if b == nil {
		return nil, err
	}
	return b.Get(within(key)), nil
}

func (t *tx) Put(key, value []byte) error {
	b, err := t.bucket(key, true)
	if err != nil {
		return err
	}
	// bbolt keeps the value until the commit, and the key only until Put returns. Until
	// then Get returns the value as it is, and nil means that there is none.
	return b.Put(within(key), append([]byte{}, value...))
}

func (t *tx) Delete(key []byte) error {
	b, err := t.bucket(key, false)
	if b == nil {
		return err
	}
	return b.Delete(within(key))
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	b, err := t.bucket(lower, false)
	if err != nil {
		return nil, err
	}
	it := &iter{space: lower[:kvkit.SpaceLen], lower: within(lower)}
	if bytes.Equal(upper[:kvkit.SpaceLen], it.space) {
		it.upper = within(upper)
	}
	if b != nil {
		it.cursor = b.Cursor()
	}
	return it, nil
}

func (t *tx) Commit() error {
	err := t.tx.Commit()
	if err == nil {
		t.store.commits.Add(1)
	}
	return err
}

func (t *tx) Rollback() { t.tx.Rollback() }

type iter struct {
	cursor       *bolt.Cursor // nil: the bucket does not exist
	space        []byte
	lower, upper []byte // inside the bucket; upper nil: to its end
	key, value   []byte
	full         []byte
}

func (i *iter) at(key, value []byte) bool {
	i.key, i.value = key, value
	return key != nil && bytes.Compare(key, i.lower) >= 0 && (i.upper == nil || bytes.Compare(key, i.upper) < 0)
}

func (i *iter) First() bool { return i.cursor != nil && i.at(i.cursor.Seek(i.lower)) }

func (i *iter) Last() bool {
	if i.cursor == nil {
		return false
	}
	if i.upper == nil {
		return i.at(i.cursor.Last())
	}
	if k, _ := i.cursor.Seek(i.upper); k == nil {
		return i.at(i.cursor.Last())
	}
	return i.at(i.cursor.Prev())
}

func (i *iter) Next() bool { return i.at(i.cursor.Next()) }
func (i *iter) Prev() bool { return i.at(i.cursor.Prev()) }

func (i *iter) Key() []byte {
	i.full = append(append(i.full[:0], i.space...), i.key...)
	return i.full
}

func (i *iter) Value() ([]byte, error) { return i.value, nil }
func (i *iter) Close() error           { return nil }
