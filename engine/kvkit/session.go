package kvkit

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// session executes operations of one client. Outside an explicit transaction,
// every operation is a separate transaction.
type session struct {
	db       *database
	tx       *txn // the explicit transaction, nil if none is open
	explicit txn
	own      txn // of an operation outside an explicit transaction
	counts   counts
}

func (s *session) Close() error {
	_ = s.rollback()
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.db.sessions[s] {
		s.db.ended.add(&s.counts)
		delete(s.db.sessions, s)
	}
	return nil
}

func (s *session) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	switch op.Kind {
	case model.Begin:
		return s.prepareBegin(op)
	case model.Commit:
		return stmtFunc(s.commit), nil
	case model.Rollback:
		return stmtFunc(s.rollback), nil
	}
	l, err := s.db.table(op.Table)
	if err != nil {
		return nil, err
	}
	if err := op.Validate(l.table); err != nil {
		return nil, err
	}
	if !l.exists.Load() {
		return nil, fmt.Errorf("table %s does not exist", op.Table)
	}
	if ix := l.index(op.Index); op.Index != "" && !ix.exists.Load() {
		return nil, fmt.Errorf("index %s on table %s does not exist", op.Index, op.Table)
	}
	if err := s.db.allows(l, op); err != nil {
		return nil, err
	}
	base := newBase(s, l, op)
	switch op.Kind {
	case model.Insert:
		return newInsert(base)
	case model.Get:
		return newGet(base)
	case model.Scan:
		return newScan(base)
	case model.Update:
		return newUpdate(base)
	case model.Delete:
		return &deleteStmt{base: base}, nil
	case model.DeleteLowest:
		return &lowestStmt{base: base}, nil
	}
	return nil, fmt.Errorf("operation %s is unknown to kvkit", op.Label())
}

type stmtFunc func() error

func (f stmtFunc) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	return f()
}

func (s *session) prepareBegin(op *model.Op) (engine.Stmt, error) {
	has := s.db.kind.Isolation()
	if has == model.DefaultIsolation {
		return nil, fmt.Errorf("the engine has no transactions of several operations")
	}
	if op.Isolation != model.DefaultIsolation && op.Isolation != has {
		return nil, fmt.Errorf("isolation %s: the engine's transactions are %s", op.Isolation, has)
	}
	return stmtFunc(s.begin), nil
}

func (s *session) begin() error {
	if s.tx != nil {
		return engine.Errorf(engine.Fatal, "begin: a transaction is already open")
	}
	tx, err := s.db.begin(ReadWrite)
	if err == nil {
		s.explicit = s.watch(tx)
		s.tx = &s.explicit
	}
	return err
}

func (s *session) commit() error {
	if s.tx == nil {
		return engine.Errorf(engine.Fatal, "commit: no transaction is open")
	}
	tx := s.tx
	s.tx = nil
	defer tx.Rollback()
	if tx.broken != nil {
		return tx.failed("commit: rolled back")
	}
	return tx.Commit()
}

func (s *session) rollback() error {
	if s.tx != nil {
		s.tx.Rollback()
		s.tx = nil
	}
	return nil
}

// base is the common part of all statements on a table, with memory that is
// reused across executions.
type base struct {
	*session
	l     *layout
	op    *model.Op
	want  int           // arguments of an execution
	row   []model.Value // one element per column of the table
	text  []byte        // text decoded from keys
	keys  arena         // encoded row keys
	spare arena
	key   []byte
	val   []byte
	end   []byte
	set   lockSet
	// values are the keys that the operation claims in unique indexes. claim, if
	// not nil, finds them when the rows are locked.
	values   arena
	valueSet lockSet
	claim    func(*txn) error
}

func newBase(s *session, l *layout, op *model.Op) base {
	return base{session: s, l: l, op: op, want: op.Args(l.table), row: make([]model.Value, len(l.columns))}
}

// start resets the result and checks the number of arguments.
func (b *base) start(args []model.Value, r *engine.Result) error {
	r.Reset()
	if len(args) != b.want {
		return engine.Errorf(engine.Fatal, "operation %s takes %d values, not %d", b.op.Label(), b.want, len(args))
	}
	return nil
}

func (b *base) encodeKeys(args []model.Value) (err error) {
	b.keys.reset()
	n := len(b.l.key)
	for ; len(args) >= n; args = args[n:] {
		for i, c := range b.l.key {
			b.row[c] = args[i]
		}
		if b.keys.buf, err = b.l.appendRowKey(b.keys.buf, b.row); err != nil {
			return err
		}
		b.keys.end()
	}
	return nil
}

// uniqueKeys sorts b.keys and removes repeated ones.
func (b *base) uniqueKeys() {
	b.keys.unique(&b.spare)
	b.keys, b.spare = b.spare, b.keys
}

// fetch reads the row of an encoded key into b.row and reports whether it exists. The
// row's texts are valid until the next call on the transaction.
func (b *base) fetch(tx *txn, key []byte) (bool, error) {
	value, err := tx.Get(key)
	return b.decode(key, value, err)
}

// fetchForUpdate is fetch of a row that the operation is going to change; its texts are
// valid until the next row is fetched.
func (b *base) fetchForUpdate(tx *txn, key []byte) (bool, error) {
	value, err := tx.getForUpdate(key)
	if len(value) > 0 { // an empty value is a row, too
		b.val = append(b.val[:0], value...)
		value = b.val
	}
	return b.decode(key, value, err)
}

func (b *base) decode(key, value []byte, err error) (bool, error) {
	if err != nil || value == nil || b.l.hides(value) {
		return false, err
	}
	b.text = b.text[:0]
	return true, b.l.decodeRow(key, value, b.row, &b.text)
}

// putRow writes b.row, with its encoded key, and its entries in the existing indexes.
func (b *base) putRow(tx *txn, key []byte) error {
	if err := b.putOnlyRow(tx, key); err != nil {
		return err
	}
	return b.putEntries(tx, b.l.indexes)
}

// putEntries writes b.row's entries in those of the indexes that exist.
func (b *base) putEntries(tx *txn, indexes []*indexLayout) error {
	for _, ix := range indexes {
		if ix.exists.Load() {
			if err := b.putEntry(tx, ix); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *base) putOnlyRow(tx *txn, key []byte) (err error) {
	if b.end, err = b.l.appendRow(b.end[:0], b.row); err != nil {
		return err
	}
	return tx.Put(key, b.end)
}

func (b *base) putEntry(tx *txn, ix *indexLayout) (err error) {
	if b.key, b.end, err = b.l.appendEntry(b.key[:0], b.end[:0], ix, b.row); err != nil {
		return err
	}
	return tx.Put(b.key, b.end)
}

// deleteEntries removes b.row's entries from the existing indexes.
func (b *base) deleteEntries(tx *txn) (err error) {
	for _, ix := range b.l.indexes {
		if !ix.exists.Load() {
			continue
		}
		if b.key, err = b.l.appendEntryKey(b.key[:0], ix, b.row); err != nil {
			return err
		}
		if err := tx.remove(b.key); err != nil {
			return err
		}
	}
	return nil
}

func hasUnique(l *layout) bool {
	return slices.ContainsFunc(l.indexes, func(ix *indexLayout) bool { return ix.index.Unique })
}

// expectNone reads a key that is expected not to exist before it is put.
func (b *base) expectNone(tx *txn, key []byte) ([]byte, error) {
	if b.db.switches.Filter && b.db.kind != Isolated {
		return tx.probe(key)
	}
	return tx.getForUpdate(key)
}

// refuseEqual returns an error of class Duplicate if the unique index holds the
// row's values for a row other than the one with encoded key own. NULL equals
// nothing. It leaves the key of the row's entry in b.key.
func (b *base) refuseEqual(tx *txn, ix *indexLayout, row []model.Value, own []byte) (err error) {
	if b.key, err = b.l.appendEntryKey(b.key[:0], ix, row); err != nil || !ix.byValue(row) {
		return err
	}
	value, err := b.expectNone(tx, b.key)
	if err == nil && value != nil && (own == nil || !bytes.HasPrefix(value, own[2:])) {
		err = engine.Errorf(engine.Duplicate, "index %s: another row has the value", ix.index.Name)
	}
	return err
}

// claimOf appends to b.values the keys of a row's entries in unique indexes among
// a list.
func (b *base) claimOf(indexes []*indexLayout, row []model.Value) (err error) {
	for _, ix := range indexes {
		if !ix.byValue(row) || !ix.exists.Load() {
			continue
		}
		if b.values.buf, err = b.l.appendEntryKey(b.values.buf, ix, row); err != nil {
			return err
		}
		b.values.end()
	}
	return nil
}
