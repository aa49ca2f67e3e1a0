package kvkit_test

import (
	"bytes"
	"cmp"
	"context"
	"sync"
	"testing"

	"github.com/tidwall/btree"

	"rumbench/engine"
	"rumbench/engine/enginetest"
	"rumbench/engine/kvkit"
	"rumbench/model"
)

// mvcc is an Isolated store in memory: a transaction works on a snapshot, and its
// commit fails if a key that it has read for update or written was changed since.
type mvcc struct {
	kvkit.Store // unused methods
	mu          sync.Mutex
	current     *btree.BTreeG[pair]
	changed     map[string]int // the commit that changed a key
	commits     int
	// disturb, if not nil, is asked before each GetForUpdate and Commit.
	disturb func() error
	limit   int // writes in one transaction; 0: any number
}

type pair struct{ key, value []byte }

func newMVCC() *mvcc {
	less := func(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 }
	return &mvcc{current: btree.NewBTreeGOptions(less, btree.Options{NoLocks: true}), changed: map[string]int{}}
}

func (s *mvcc) Concurrency() kvkit.Concurrency { return kvkit.Isolated }
func (s *mvcc) Counters(o *engine.Sample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Counter("mvcc.commits", "count", float64(s.commits))
	return nil
}
func (s *mvcc) Close() error    { return nil }
func (s *mvcc) MaxEntries() int { return s.limit }

func (s *mvcc) Begin(mode kvkit.Mode) (kvkit.Tx, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &mvccTx{store: s, tree: s.current.Copy(), began: s.commits, watched: map[string]bool{}}
	if mode == kvkit.ReadWrite {
		return updater{t}, nil
	}
	return t, nil
}

type mvccTx struct {
	store   *mvcc
	tree    *btree.BTreeG[pair]
	began   int
	writes  []pair // a nil value deletes
	watched map[string]bool
}

func (t *mvccTx) Get(key []byte) ([]byte, error) {
	p, _ := t.tree.Get(pair{key: key})
	return p.value, nil
}

func (t *mvccTx) Put(key, value []byte) error {
	return t.write(pair{bytes.Clone(key), append([]byte{}, value...)})
}

func (t *mvccTx) Delete(key []byte) error { return t.write(pair{key: bytes.Clone(key)}) }

func (t *mvccTx) write(p pair) error {
	t.writes = append(t.writes, p)
	if t.store.limit > 0 && len(t.writes) > t.store.limit {
		return engine.Errorf(engine.Fatal, "the transaction is too big")
	}
	p.apply(t.tree)
	return nil
}

func (p pair) apply(tree *btree.BTreeG[pair]) {
	if p.value == nil {
		tree.Delete(p)
	} else {
		tree.Set(p)
	}
}

func (t *mvccTx) Iter(lower, upper []byte) (kvkit.Iter, error) {
	it := &gatedIter{at: -1}
	t.tree.Ascend(pair{key: lower}, func(p pair) bool {
		if bytes.Compare(p.key, upper) >= 0 {
			return false
		}
		it.keys, it.values = append(it.keys, p.key), append(it.values, p.value)
		return true
	})
	return it, nil
}

// Commit of blind writes finds no conflicts.
func (t *mvccTx) Commit() error {
	s := t.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range t.watched {
		if s.changed[key] > t.began {
			return engine.Errorf(engine.Conflict, "key %x was changed", key)
		}
	}
	if len(t.writes) == 0 {
		return nil
	}
	s.commits++
	for _, p := range t.writes {
		p.apply(s.current)
		s.changed[string(p.key)] = s.commits
	}
	return nil
}

func (t *mvccTx) Rollback() { t.writes = nil }

// updater is a transaction that reads before it writes.
type updater struct{ *mvccTx }

func (u updater) GetForUpdate(key []byte) ([]byte, error) {
	if err := u.disturbed(); err != nil {
		return nil, err
	}
	u.watched[string(key)] = true
	return u.Get(key)
}

func (u updater) Commit() error {
	if err := u.disturbed(); err != nil {
		return err
	}
	for _, p := range u.writes {
		u.watched[string(p.key)] = true
	}
	return u.mvccTx.Commit()
}

func (u updater) disturbed() error {
	if u.store.disturb == nil {
		return nil
	}
	return u.store.disturb()
}

func (s *mvcc) Settings() []engine.Setting {
	return []engine.Setting{engine.Compressed(engine.AsSet, "none")}
}

func (s *mvcc) Sizes(ranges []kvkit.Range) error {
	for i := range ranges {
		t := &mvccTx{tree: s.current}
		it, _ := t.Iter(ranges[i].Lower, ranges[i].Upper)
		for ok := it.First(); ok; ok = it.Next() {
			ranges[i].Bytes += int64(len(it.Key()))
		}
		ranges[i].Kind = engine.Estimate
	}
	return nil
}

func (s *mvcc) TotalSize() (int64, error) { return int64(s.current.Len()), nil }

func (s *mvcc) Settle(_ context.Context, done *engine.Settling) { done.Nothing("") }

// mvccEngine opens such a store with the options of kvkit.
type mvccEngine struct{}

func (mvccEngine) Info() engine.Info {
	return engine.Info{
		Name: "mvcc", Structure: "versions", Doc: "An isolated store in memory.", Version: "1", Options: kvkit.Options(0),
		Capabilities: []model.Capability{model.CapTransactions, model.CapUnique, model.CapResults},
	}
}

func (mvccEngine) Check(c engine.Config) error {
	_, err := kvkit.NewSwitches(c)
	return cmp.Or(err, c.CheckEmbedded(kvkit.Options(0), model.RepeatableRead))
}

func (e mvccEngine) Open(_ context.Context, c engine.Config) (engine.DB, error) {
	if err := e.Check(c); err != nil {
		return nil, err
	}
	w, _ := kvkit.NewSwitches(c)
	return w.Open(newMVCC(), c)
}

func TestConformance(t *testing.T) {
	enginetest.Run(t, enginetest.Suite{
		Engine: mvccEngine{}, Volatile: true,
		Config:   engine.Config{Durability: model.DurabilityNone},
		Switches: []map[string]any{{"indexes": "blind"}, {"indexes": "blind", "cleanup": "read"}, {"indexes": "blind", "cleanup": "settle"}},
		Refused: []enginetest.Refusal{
			{Knob: "isolation", Config: engine.Config{Isolation: model.Serializable}},
			{Knob: "options.updates", Config: engine.Config{Options: map[string]any{"updates": "merge"}}},
		},
	})
}
