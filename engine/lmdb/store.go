//go:build native && cgo && linux

package lmdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/PowerDNS/lmdb-go/lmdb"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/engine/native"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// store keeps every space of kvkit in a named database.
type store struct {
	env        *lmdb.Env
	dir        string
	durability model.Durability
	spaces     []lmdb.DBI
	readers    sync.Pool // of *tx that only read, between transactions
}

// Concurrency returns SingleWriter: Begin waits for LMDB's own lock.
func (s *store) Concurrency() kvkit.Concurrency { return kvkit.SingleWriter }

// Begin begins a transaction. One that writes is bound to its thread: the goroutine stays
// on it until the end.
func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	if !mode.Writes() {
		t := s.readers.Get().(*tx)
		if t.err == nil {
			t.err = t.txn.Renew()
		}
		return t, classify(t.err)
	}
	runtime.LockOSThread()
	txn, err := s.env.BeginTxn(nil, 0)
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("begin: %w", classify(err))
	}
	txn.RawRead = true
	return &tx{store: s, txn: txn, writes: true}, nil
}

// newReader returns a transaction that is ready for Renew. The pool keeps its slot
// in the table of readers.
func (s *store) newReader() *tx {
	txn, err := s.env.BeginTxn(nil, lmdb.Readonly)
	if err != nil {
		return &tx{store: s, err: err}
	}
	txn.RawRead, txn.Pooled = true, true
	txn.Reset()
	return &tx{store: s, txn: txn}
}

func (s *store) Settings() []engine.Setting {
	flags, _ := s.env.Flags()
	sync := "at commit: data, then the meta page"
	if flags&lmdb.NoSync != 0 {
		sync = "left to the operating system"
	}
	out := []engine.Setting{
		{Name: "sync", Value: sync, Source: engine.ReadBack},
		{Name: "writemap", Value: strconv.FormatBool(flags&lmdb.WriteMap != 0), Source: engine.ReadBack},
		{Name: "readahead", Value: strconv.FormatBool(flags&lmdb.NoReadahead == 0), Source: engine.ReadBack},
		{Name: "page_size", Value: strconv.Itoa(pageSize), Source: engine.AsSet},
		{Name: "cache", Value: "the page cache (the file is mapped)", Source: engine.AsSet},
		engine.Compressed(engine.AsSet, "none"),
	}
	if info, err := s.env.Info(); err == nil {
		out = append(out, engine.Setting{Name: "map_size", Value: strconv.FormatInt(info.MapSize, 10),
			Source: engine.ReadBack},
			engine.Setting{Name: "max_readers", Value: strconv.Itoa(int(info.MaxReaders)), Source: engine.ReadBack})
	}
	return out
}

func (s *store) view(f func(*lmdb.Txn) error) error {
	t, err := s.Begin(kvkit.Snapshot)
	if err != nil {
		return err
	}
	defer t.Rollback()
	return classify(f(t.(*tx).txn))
}

// Sizes returns the bytes of the pages that each space takes.
func (s *store) Sizes(ranges []kvkit.Range) error {
	return s.view(func(txn *lmdb.Txn) error {
		for i := range ranges {
			st, err := txn.Stat(s.space(ranges[i].Lower))
			if err != nil {
				return err
			}
			ranges[i].Kind = engine.Exact
			ranges[i].Bytes = int64(st.BranchPages+st.LeafPages+st.OverflowPages) * int64(st.PSize)
		}
		return nil
	})
}

// Structure returns the pages, and the additional pages that a commit writes: the path
// down the list of free pages, the page of all spaces, and the meta page.
func (s *store) Structure() (engine.Structure, error) {
	out := engine.Structure{Shape: engine.CopyOnWrite, Page: pageSize}
	err := s.view(func(txn *lmdb.Txn) error {
		free, err := txn.Stat(freeList)
		if err == nil {
			out.Commit = int64(free.Depth+2) * pageSize
		}
		return err
	})
	return out, err
}

// Counters adds the figures that LMDB provides: it counts no I/O, so bytes written are
// known from process and device only.
func (s *store) Counters(out *engine.Sample) error {
	info, err := s.env.Info()
	if err != nil {
		return classify(err)
	}
	out.Counter("lmdb.txn_id", "count", float64(info.LastTxnID))
	out.Gauge("lmdb.last_page", "count", float64(info.LastPNO))
	out.Gauge("lmdb.readers", "count", float64(info.NumReaders))
	native.Counters(out)
	out.Counter(engine.WriteCommits, "count", float64(info.LastTxnID))
	return s.view(func(txn *lmdb.Txn) error {
		var sum lmdb.Stat
		for _, dbi := range s.spaces {
			st, err := txn.Stat(dbi)
			if err != nil {
				return err
			}
			sum.BranchPages += st.BranchPages
			sum.LeafPages += st.LeafPages
			sum.OverflowPages += st.OverflowPages
		}
		pages, err := freePages(txn)
		out.Gauge("lmdb.pages", "count", float64(sum.BranchPages), "kind", "branch")
		out.Gauge("lmdb.pages", "count", float64(sum.LeafPages), "kind", "leaf")
		out.Gauge("lmdb.pages", "count", float64(sum.OverflowPages), "kind", "overflow")
		out.Gauge("lmdb.pages", "count", float64(pages), "kind", "free")
		return err
	})
}

// freeList is LMDB's own database of reusable pages.
const freeList = lmdb.DBI(0)

// freePages counts the reusable pages. Each value there is a list of pages, after their number.
func freePages(txn *lmdb.Txn) (n uint64, err error) {
	c, err := txn.OpenCursor(freeList)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for {
		_, v, err := c.Get(nil, nil, lmdb.Next)
		if lmdb.IsNotFound(err) {
			return n, nil
		}
		if err != nil || len(v) < 8 {
			return n, err
		}
		n += binary.NativeEndian.Uint64(v)
	}
}

// Settle syncs the file if commits are synced: LMDB has no background work and never
// shrinks its file.
func (s *store) Settle(_ context.Context, done *engine.Settling) {
	if s.durability != model.DurabilityOS {
		done.Nothing("nothing is synced at level " + string(s.durability))
		return
	}
	done.Do("sync the file", func() (string, error) { return "", classify(s.env.Sync(true)) })
}

func (s *store) Close() error { return engine.Wrap("close lmdb", classify(s.env.Close())) }

func (s *store) space(key []byte) lmdb.DBI { return s.spaces[kvkit.SpaceOf(key)] }

type tx struct {
	store  *store
	txn    *lmdb.Txn
	writes bool
	ended  bool
	err    error // from its creation, if it only reads
}

func (t *tx) Get(key []byte) ([]byte, error) {
	v, err := t.txn.Get(t.store.space(key), key[kvkit.SpaceLen:])
	if lmdb.IsNotFound(err) {
		return nil, nil
	}
	return unpad(v), classify(err)
}

func (t *tx) Put(key, value []byte) error {
	return classify(t.txn.Put(t.store.space(key), key[kvkit.SpaceLen:], pad(value), 0))
}

// pad adds a zero to a value of zeros only, including the empty one, and unpad removes
// it. lmdb-go touches the byte after an empty value, which may be beyond the end of the
// file, where the process is killed.
func pad(value []byte) []byte {
	if !zeros(value) {
		return value
	}
	return append(bytes.Clone(value), 0)
}

func unpad(value []byte) []byte {
	if len(value) == 0 || !zeros(value) {
		return value
	}
	return value[:len(value)-1]
}

func zeros(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

func (t *tx) Delete(key []byte) error {
	err := t.txn.Del(t.store.space(key), key[kvkit.SpaceLen:], nil)
	if lmdb.IsNotFound(err) {
		return nil
	}
	return classify(err)
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	c, err := t.txn.OpenCursor(t.store.space(lower))
	if err != nil {
		return nil, classify(err)
	}
	return &iter{cursor: c, space: lower[:kvkit.SpaceLen], lower: lower, upper: upper}, nil
}

func (t *tx) Commit() error {
	defer t.end()
	t.ended = true
	return classify(t.txn.Commit())
}

func (t *tx) Rollback() {
	switch {
	case !t.writes:
		t.txn.Reset()
		t.store.readers.Put(t)
	case !t.ended:
		t.ended = true
		t.txn.Abort()
		t.end()
	}
}

func (t *tx) end() { runtime.UnlockOSThread() }

// iter is a cursor in the database of a space; the keys there do not include the space.
type iter struct {
	cursor       *lmdb.Cursor
	space        []byte
	lower, upper []byte
	key, value   []byte // key with its space
	err          error
}

// seek moves the cursor and reports whether there is an entry.
func (i *iter) seek(op uint, key []byte) bool {
	k, v, err := i.cursor.Get(key, nil, op)
	if err != nil {
		if !lmdb.IsNotFound(err) {
			i.err = errors.Join(i.err, err)
		}
		return false
	}
	i.key, i.value = append(append(i.key[:0], i.space...), k...), unpad(v)
	return true
}

// move moves the cursor and reports whether it is inside the range.
func (i *iter) move(op uint, key []byte) bool {
	return i.seek(op, key) && bytes.Compare(i.key, i.lower) >= 0 && bytes.Compare(i.key, i.upper) < 0
}

func (i *iter) First() bool {
	if len(i.lower) == kvkit.SpaceLen {
		return i.move(lmdb.First, nil)
	}
	return i.move(lmdb.SetRange, i.lower[kvkit.SpaceLen:])
}

func (i *iter) Last() bool {
	if bytes.HasPrefix(i.upper, i.space) && i.seek(lmdb.SetRange, i.upper[kvkit.SpaceLen:]) {
		return i.move(lmdb.Prev, nil)
	}
	return i.move(lmdb.Last, nil)
}

func (i *iter) Next() bool             { return i.move(lmdb.Next, nil) }
func (i *iter) Prev() bool             { return i.move(lmdb.Prev, nil) }
func (i *iter) Key() []byte            { return i.key }
func (i *iter) Value() ([]byte, error) { return i.value, nil }

func (i *iter) Close() error {
	i.cursor.Close()
	return classify(i.err)
}

func version() string {
	major, minor, patch, _ := lmdb.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

// open opens or creates the database, with a named database for each space.
func open(c engine.Config, set settings) (_ engine.DB, err error) {
	if err := engine.CheckDir(c.Dir, "data.mdb"); err != nil {
		return nil, err
	}
	native.SetSyncs(set.sync)
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, classify(err)
	}
	s := &store{env: env, dir: c.Dir, durability: c.Durability, spaces: make([]lmdb.DBI, kvkit.Spaces(c.Schema))}
	if err := s.open(set); err != nil {
		env.Close()
		return nil, fmt.Errorf("open lmdb in %s: %w", c.Dir, classify(err))
	}
	s.readers = sync.Pool{New: func() any { return s.newReader() }}
	return set.switches.Open(s, c)
}

func (s *store) open(set settings) error {
	flags := uint(lmdb.NoTLS)
	if set.writeMap {
		flags |= lmdb.WriteMap
	}
	if !set.readahead {
		flags |= lmdb.NoReadahead
	}
	if !set.sync {
		flags |= lmdb.NoSync
	}
	if err := errors.Join(s.env.SetMapSize(set.mapSize), s.env.SetMaxDBs(len(s.spaces)), s.env.SetMaxReaders(1024),
		s.env.Open(s.dir, flags, 0o644)); err != nil {
		return err
	}
	return s.env.Update(func(txn *lmdb.Txn) (err error) {
		for i := range s.spaces {
			if s.spaces[i], err = txn.OpenDBI(fmt.Sprint("space ", i), lmdb.Create); err != nil {
				return err
			}
		}
		return nil
	})
}

// classify gives an error of LMDB its class, and makes the errors of the operating system
// that LMDB passes on recognizable.
func classify(err error) error {
	var op *lmdb.OpError
	if !errors.As(err, &op) {
		return err
	}
	if no, ok := op.Errno.(syscall.Errno); ok {
		err = fmt.Errorf("%s: %w", op.Op, no)
		if no == syscall.EIO { // LMDB returns it for a write that was cut short
			err = hint.With(err, "the disk may be full")
		}
		return err
	}
	switch op.Errno {
	case lmdb.Panic, lmdb.Corrupted, lmdb.PageNotFound:
		return engine.Classify(engine.Gone, err)
	case lmdb.MapFull:
		return hint.With(engine.Classify(engine.Fatal, err), "raise options.map_size")
	}
	return err
}
