// Package memory is an ordered in-memory engine, the reference against which others are
// checked. Nothing outlives the process.
package memory

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"rumbench/engine"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// Engine is the engine, for the registry.
type Engine struct{}

func (Engine) Info() engine.Info {
	return engine.Info{
		Name:         "memory",
		Structure:    "B-tree in memory, copy on write",
		Doc:          "Ordered engine in memory, the reference that others are checked against.",
		Version:      engine.ModuleVersion("github.com/tidwall/btree"),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
	}
}

// Check refuses every knob: there is nothing to configure.
func (Engine) Check(c engine.Config) error { return c.CheckDiskless(model.Serializable) }

// Open opens an empty database.
func (e Engine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	if err := e.Check(c); err != nil {
		return nil, err
	}
	s := &store{}
	s.current.Store(btree.NewBTreeGOptions(func(a, b item) bool {
		return bytes.Compare(a.key, b.key) < 0
	}, btree.Options{NoLocks: true}))
	return kvkit.Switches{}.Open(s, c)
}

type item struct{ key, value []byte }

type tree = btree.BTreeG[item]

// store publishes an immutable version of a tree. A writing transaction works on
// a copy, which shares all unchanged nodes.
type store struct {
	current atomic.Pointer[tree]
	writer  sync.Mutex
	commits atomic.Int64
}

func (s *store) Concurrency() kvkit.Concurrency { return kvkit.SingleWriter }

func (s *store) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	if !mode.Writes() {
		return &tx{tree: s.current.Load()}, nil
	}
	s.writer.Lock()
	return &tx{store: s, tree: s.current.Load().Copy()}, nil
}

func (s *store) Settings() []engine.Setting {
	return []engine.Setting{engine.Compressed(engine.AsSet, "none")}
}

// Sizes returns the bytes of keys and values, without the tree's overhead.
func (s *store) Sizes(ranges []kvkit.Range) error {
	t := s.current.Load()
	for i := range ranges {
		r := &ranges[i]
		r.Kind = engine.Exact
		t.Ascend(item{key: r.Lower}, func(it item) bool {
			if bytes.Compare(it.key, r.Upper) >= 0 {
				return false
			}
			r.Bytes += int64(len(it.key) + len(it.value))
			return true
		})
	}
	return nil
}

func (s *store) TotalSize() (int64, error) {
	var n int64
	s.current.Load().Scan(func(it item) bool {
		n += int64(len(it.key) + len(it.value))
		return true
	})
	return n, nil
}

func (s *store) Counters(out *engine.Sample) error {
	out.Gauge("memory.keys", "count", float64(s.current.Load().Len()))
	out.Counter("memory.commits", "count", float64(s.commits.Load()))
	return nil
}

func (s *store) Settle(_ context.Context, done *engine.Settling) { done.Nothing("") }

func (s *store) Close() error { return nil }

type tx struct {
	store *store // nil: only reads
	tree  *tree
	ended bool
}

func (t *tx) Get(key []byte) ([]byte, error) {
	it, ok := t.tree.Get(item{key: key})
	if !ok {
		return nil, nil
	}
	return it.value, nil
}

func (t *tx) Put(key, value []byte) error {
	both := make([]byte, 0, len(key)+len(value))
	both = append(append(both, key...), value...)
	t.tree.Set(item{key: both[:len(key):len(key)], value: both[len(key):]})
	return nil
}

func (t *tx) Delete(key []byte) error {
	t.tree.Delete(item{key: key})
	return nil
}

func (t *tx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	return &iter{it: t.tree.Iter(), lower: lower, upper: upper}, nil
}

func (t *tx) Commit() error {
	if t.store != nil && !t.ended {
		t.store.current.Store(t.tree)
		t.store.commits.Add(1)
		t.end()
	}
	return nil
}

func (t *tx) Rollback() { t.end() }

func (t *tx) end() {
	if t.store != nil && !t.ended {
		t.ended = true
		t.store.writer.Unlock()
	}
}

type iter struct {
	it           btree.IterG[item]
	lower, upper []byte
}

func (i *iter) First() bool { return i.it.Seek(item{key: i.lower}) && i.inside() }

func (i *iter) Last() bool {
	if i.it.Seek(item{key: i.upper}) {
		return i.it.Prev() && i.inside()
	}
	return i.it.Last() && i.inside()
}

func (i *iter) Next() bool { return i.it.Next() && i.inside() }
func (i *iter) Prev() bool { return i.it.Prev() && i.inside() }

func (i *iter) inside() bool {
	k := i.it.Item().key
	return bytes.Compare(k, i.lower) >= 0 && bytes.Compare(k, i.upper) < 0
}

func (i *iter) Key() []byte            { return i.it.Item().key }
func (i *iter) Value() ([]byte, error) { return i.it.Item().value, nil }

func (i *iter) Close() error {
	i.it.Release()
	return nil
}
