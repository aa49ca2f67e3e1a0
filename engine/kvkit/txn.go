package kvkit

import (
	"context"
	"sync/atomic"

	"rumbench/engine"
	"rumbench/internal/text/hint"
)

// txn is a transaction of a session: the store's, with the kit's state.
type txn struct {
	Tx
	counts *counts
	single bool  // deletes are single deletes
	wrote  bool  // the current operation has written
	writes int   // of all operations
	limit  int   // writes that a transaction of the store holds; 0: any number
	broken error // of the operation after which it can only be rolled back
}

// counts are a session's counts, for the database's counters.
type counts struct {
	lookups atomic.Int64 // rows and entries read by key
	stale   atomic.Int64 // stale index entries met
	retries atomic.Int64 // operations repeated after a conflict
}

func (c *counts) add(o *counts) {
	c.lookups.Add(o.lookups.Load())
	c.stale.Add(o.stale.Load())
	c.retries.Add(o.retries.Load())
}

func (c *counts) sample(s *engine.Sample) {
	s.Counter("kvkit.lookups", "count", float64(c.lookups.Load()))
	s.Counter(engine.RowLookups, "count", float64(c.lookups.Load()))
	s.Counter("kvkit.stale_entries", "count", float64(c.stale.Load()))
	s.Counter("kvkit.conflict_retries", "count", float64(c.retries.Load()))
}

func (t *txn) Get(key []byte) ([]byte, error) {
	t.counts.lookups.Add(1)
	return t.Tx.Get(key)
}

// getForUpdate reads an entry that the operation is going to change: in an
// Isolated store no other transaction changes it before the commit; elsewhere the
// writer is alone, or the row locked.
func (t *txn) getForUpdate(key []byte) ([]byte, error) {
	t.counts.lookups.Add(1)
	if u, ok := t.Tx.(Updater); ok {
		return u.GetForUpdate(key)
	}
	return t.Tx.Get(key)
}

// probe is getForUpdate of a key that is expected not to exist.
func (t *txn) probe(key []byte) ([]byte, error) {
	if p, ok := t.Tx.(Prober); ok {
		t.counts.lookups.Add(1)
		return p.Probe(key)
	}
	return t.getForUpdate(key)
}

// write is called before each write.
func (t *txn) write() error {
	t.wrote = true
	t.writes++
	if t.limit > 0 && t.writes > t.limit {
		return tooLarge(t.limit)
	}
	return nil
}

// tooLarge is the error of a transaction with more writes than the store holds.
func tooLarge(limit int) error {
	return hint.Errorf("change fewer rows in one operation or transaction",
		"a transaction of the engine holds %d rows and index entries", limit)
}

func (t *txn) Put(key, value []byte) error {
	if err := t.write(); err != nil {
		return err
	}
	return t.Tx.Put(key, value)
}

func (t *txn) Delete(key []byte) error {
	if err := t.write(); err != nil {
		return err
	}
	return t.Tx.Delete(key)
}

// remove deletes a row or an entry, which was put once since it was last deleted
// if the database deletes by single deletes.
func (t *txn) remove(key []byte) error {
	if !t.single {
		return t.Delete(key)
	}
	if err := t.write(); err != nil {
		return err
	}
	return t.Tx.(SingleDeleter).SingleDelete(key)
}

func (t *txn) merge(key, operand []byte) error {
	if err := t.write(); err != nil {
		return err
	}
	return t.Tx.(Merger).Merge(key, operand)
}

// do runs an operation in an explicit transaction. One that fails after it has
// written breaks the transaction, because it cannot be rolled back alone; so does
// one that yields to others.
func (t *txn) do(f func(*txn) error) error {
	if t.broken != nil {
		return t.failed("the transaction is broken")
	}
	t.wrote = false
	err := f(t)
	if err != nil && (t.wrote || engine.ClassOf(err).Yields()) {
		t.broken = err
	}
	return err
}

// failed returns the error of a broken transaction, with the class of an operation
// that has yielded.
func (t *txn) failed(subject string) error {
	class := engine.ClassOf(t.broken)
	if !class.Yields() {
		class = engine.Fatal
	}
	return engine.Errorf(class, "%s: an earlier operation failed: %w", subject, t.broken)
}

func (s *session) watch(tx Tx) txn {
	return txn{Tx: tx, counts: &s.counts, single: s.db.switches.SingleDeletes, limit: s.db.maxEntries}
}

// run runs f in a separate transaction. It calls visible, unless that is nil, when the
// writes are visible but not yet durable, if the store knows the difference.
func (s *session) run(mode Mode, f func(*txn) error, visible func()) error {
	tx, err := s.db.begin(mode)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	s.own = s.watch(tx)
	if err := f(&s.own); err != nil || !mode.Writes() {
		return err
	}
	if a, ok := tx.(Applier); ok && visible != nil {
		if err := a.Apply(); err != nil {
			return err
		}
		visible()
	}
	return tx.Commit()
}

// in runs f, which only reads, in the session's explicit transaction, or else in
// a new one.
func (s *session) in(mode Mode, f func(*txn) error) error {
	if s.tx != nil {
		return s.tx.do(f)
	}
	return s.run(mode, f, nil)
}

// write runs f, which writes, in the session's explicit transaction, or else in a
// separate one that is repeated if it yields to others.
//
// In an Unisolated store it first locks the rows of b.keys against other
// operations, and then the values that the operation claims in unique indexes. The
// locks are held until the writes are visible, not until they are durable:
// operations that build on them commit after them, see Applier.
func (b *base) write(ctx context.Context, mode Mode, r *engine.Result, f func(*txn) error) error {
	attempt := func(tx *txn) error {
		r.Rows = 0
		return f(tx)
	}
	if b.tx != nil {
		return b.tx.do(attempt)
	}
	defer b.unlock()
	if b.db.kind == Unisolated {
		b.l.locks.lock(&b.set, &b.keys)
		if b.claim != nil {
			b.values.reset()
			if err := b.run(Read, b.claim, nil); err != nil {
				return err
			}
		}
		b.l.values.lock(&b.valueSet, &b.values)
	}
	repeated, err := engine.Repeat(ctx, func() error { return b.run(mode, attempt, b.unlock) })
	b.counts.retries.Add(repeated)
	return err
}

// isolated is write for an operation that reads rows before it writes them.
func (b *base) isolated(ctx context.Context, mode Mode, r *engine.Result, f func(*txn) error) error {
	if b.db.kind == Isolated {
		mode = ReadWrite
	}
	return b.write(ctx, mode, r, f)
}

func (b *base) unlock() {
	b.l.locks.unlock(&b.set)
	b.l.values.unlock(&b.valueSet)
}
