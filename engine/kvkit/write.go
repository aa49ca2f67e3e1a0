package kvkit

import (
	"bytes"
	"context"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// deleteStmt deletes rows by primary key. It reads them first to find their
// index entries, unless it is blind.
type deleteStmt struct{ base }

func (s *deleteStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	if err := s.encodeKeys(args); err != nil {
		return err
	}
	if s.deletesBlind() {
		s.uniqueKeys()
		return s.write(ctx, Write, r, func(tx *txn) error { return s.deleteRows(tx, r) })
	}
	mode := Write
	if s.keys.len() > 1 {
		mode = ReadWrite // keys may repeat
	}
	return s.isolated(ctx, mode, r, func(tx *txn) error { return s.deleteKeys(tx, r) })
}

// deletesBlind reports whether the operation may leave the index entries of rows
// that it deletes.
func (b *base) deletesBlind() bool {
	return b.op.Blind && b.db.switches.BlindIndexes && !hasUnique(b.l)
}

// deleteRows deletes the rows of b.keys, which exist, and leaves their entries.
func (b *base) deleteRows(tx *txn, r *engine.Result) error {
	for i := range b.keys.len() {
		if err := tx.remove(b.keys.at(i)); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

// deleteKeys deletes the existing rows of b.keys.
func (b *base) deleteKeys(tx *txn, r *engine.Result) error {
	for i := range b.keys.len() {
		key := b.keys.at(i)
		found, err := b.fetchForUpdate(tx, key)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := b.deleteEntries(tx); err != nil {
			return err
		}
		if err := tx.remove(key); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

// lowestStmt deletes the rows with the lowest keys at or above a cursor.
type lowestStmt struct{ base }

func (s *lowestStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	remove := s.deleteKeys
	if s.tx == nil && s.deletesBlind() {
		remove = s.deleteRows
	}
	if s.tx == nil && s.db.kind != SingleWriter {
		s.l.locks.lockLowest(&s.set)
		defer s.unlock()
	}
	if s.db.kind != Unisolated {
		return s.isolated(ctx, Write, r, func(tx *txn) error {
			if err := s.collect(tx, args[0]); err != nil {
				return err
			}
			return remove(tx, r)
		})
	}
	if err := s.in(Read, func(tx *txn) error { return s.collect(tx, args[0]) }); err != nil {
		return err
	}
	return s.isolated(ctx, Write, r, func(tx *txn) error { return remove(tx, r) })
}

// collect sets s.keys to the keys of the rows.
func (s *lowestStmt) collect(tx *txn, cursor model.Value) (err error) {
	s.keys.reset()
	s.row[s.l.key[0]] = cursor
	if s.key, err = s.l.appendRowKey(s.key[:0], s.row); err != nil {
		return err
	}
	s.end = appendSpace(s.end[:0], s.l.space+1)
	return each(tx, s.key, s.end, s.op.Rows, func(it Iter) (bool, error) {
		if s.l.tagged {
			if value, err := it.Value(); err != nil || s.l.hides(value) {
				return true, err
			}
		}
		s.keys.add(it.Key())
		return s.keys.len() < s.op.Rows, nil
	})
}

// updateStmt changes columns of rows by primary key, or of all rows that an
// index finds by equality.
type updateStmt struct {
	base
	set     []int
	changed []*indexLayout // indexes on columns that are set
	merge   bool           // by key, as an operand
	operand []byte
	given   []model.Value // of the execution, one per column set
	find    *scanStmt     // finds the keys of an update by index, else nil
	old     []model.Value
	mode    Mode
}

func newUpdate(b base) (engine.Stmt, error) {
	s := &updateStmt{base: b, old: make([]model.Value, len(b.row))}
	for _, a := range b.op.Set {
		s.set = append(s.set, b.l.table.Column(a.Column))
	}
	for _, ix := range b.l.indexes {
		touched := func(c int) bool { return slices.Contains(ix.columns, c) || slices.Contains(ix.include, c) }
		if slices.ContainsFunc(s.set, touched) {
			s.changed = append(s.changed, ix)
		}
	}
	s.mode = Write
	if slices.ContainsFunc(s.changed, func(ix *indexLayout) bool { return ix.index.Unique }) {
		s.mode = ReadWrite // rows of one execution may conflict
		s.claim = s.claimNew
	}
	s.merge = b.op.Blind && b.op.Index == "" && b.db.switches.MergeUpdates && b.l.canAdd(b.op.Set)
	if b.op.Index == "" {
		return s, nil
	}
	find, err := newScan(newBase(b.session, b.l, &model.Op{
		Kind: model.Scan, Table: b.op.Table, Index: b.op.Index, Equal: b.op.Equal, Columns: b.l.table.Key,
	}))
	if err != nil {
		return nil, err
	}
	s.find = find.(*scanStmt)
	return s, nil
}

func (s *updateStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	values, where := args[:len(s.set)], args[len(s.set):]
	if s.find == nil {
		if err := s.encodeKeys(where); err != nil {
			return err
		}
		if s.op.KeyCount() > 1 { // a repeated key counts once
			s.uniqueKeys()
		}
		if s.merges() {
			return s.execMerge(ctx, values, r)
		}
	} else if s.db.kind == Unisolated {
		if err := s.in(Read, func(tx *txn) error { return s.findKeys(tx, where) }); err != nil {
			return err
		}
	}
	s.given = values
	return s.isolated(ctx, s.mode, r, func(tx *txn) error {
		if s.find != nil && s.db.kind != Unisolated {
			if err := s.findKeys(tx, where); err != nil {
				return err
			}
		}
		return s.updateKeys(tx, values, where, r)
	})
}

// findKeys sets s.keys to the keys of the rows that the index finds.
func (s *updateStmt) findKeys(tx *txn, where []model.Value) error {
	s.keys.reset()
	if err := s.find.findRanges(where); err != nil || len(s.find.ranges) == 0 {
		return err
	}
	err := each(tx, s.find.ranges[0].lower, s.find.ranges[0].upper, 0, func(it Iter) (bool, error) {
		s.text = s.text[:0]
		key, _, err := s.l.splitEntry(s.find.ix, it, s.row, &s.text)
		s.keys.buf = append(appendSpace(s.keys.buf, s.l.space), key...)
		s.keys.end()
		return true, err
	})
	if s.find.stale {
		s.uniqueKeys() // a row may have several entries
	}
	return err
}

// claimNew claims the values that the rows will have in unique indexes.
func (s *updateStmt) claimNew(tx *txn) error {
	for i := range s.keys.len() {
		found, err := s.fetch(tx, s.keys.at(i))
		if err != nil {
			return err
		}
		if found {
			s.change(s.given)
			if err := s.claimOf(s.changed, s.row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *updateStmt) updateKeys(tx *txn, values, where []model.Value, r *engine.Result) error {
	for i := range s.keys.len() {
		found, err := s.fetchForUpdate(tx, s.keys.at(i))
		if err != nil {
			return err
		}
		if !found || !s.stillMatches(where) {
			continue
		}
		if err := s.updateRow(tx, s.keys.at(i), values); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

// merges reports whether the execution reads nothing: the rows are known to exist
// and to be changed by an operand, and indexes on the columns set are blind, with
// entries that follow from the arguments.
func (s *updateStmt) merges() bool {
	return s.merge && !slices.ContainsFunc(s.changed, func(ix *indexLayout) bool {
		return ix.exists.Load() && (!s.db.switches.BlindIndexes || ix.index.Unique || !s.follows(ix))
	})
}

// follows reports whether the new entry in an index follows from the key and the
// values set.
func (s *updateStmt) follows(ix *indexLayout) bool {
	return !slices.ContainsFunc(slices.Concat(ix.columns, ix.include), func(c int) bool {
		i := slices.Index(s.set, c)
		return !slices.Contains(s.l.key, c) && (i < 0 || s.op.Set[i].Add)
	})
}

func (s *updateStmt) execMerge(ctx context.Context, values []model.Value, r *engine.Result) (err error) {
	if s.operand, err = s.l.appendChanges(s.operand[:0], s.op.Set, s.set, values); err != nil {
		return err
	}
	return s.write(ctx, Write, r, func(tx *txn) error { return s.mergeRows(tx, values, r) })
}

// mergeRows writes the operand for each row, and new entries in blind indexes.
func (s *updateStmt) mergeRows(tx *txn, values []model.Value, r *engine.Result) error {
	for i := range s.keys.len() {
		key := s.keys.at(i)
		if err := tx.merge(key, s.operand); err != nil {
			return err
		}
		r.Rows++
		if len(s.changed) == 0 {
			continue
		}
		s.text = s.text[:0]
		if _, err := s.l.decodeColumns(key[2:], s.l.key, s.row, &s.text); err != nil {
			return err
		}
		s.change(values)
		if err := s.putEntries(tx, s.changed); err != nil {
			return err
		}
	}
	return nil
}

// stillMatches reports whether the row still matches: it may have changed
// between the search and its lock.
func (s *updateStmt) stillMatches(where []model.Value) bool {
	if s.find == nil {
		return true
	}
	for i, v := range where {
		if s.row[s.find.order[i]].Compare(v) != 0 {
			return false
		}
	}
	return true
}

// change sets the columns in s.row.
func (s *updateStmt) change(values []model.Value) {
	for i, c := range s.set {
		if s.op.Set[i].Add {
			s.row[c] = s.row[c].Add(values[i])
		} else {
			s.row[c] = values[i]
		}
	}
}

// updateRow writes the new version of s.row and the index entries that change.
func (s *updateStmt) updateRow(tx *txn, key []byte, values []model.Value) error {
	copy(s.old, s.row)
	s.change(values)
	for _, ix := range s.changed {
		if ix.exists.Load() && ix.index.Unique {
			if err := s.refuseEqual(tx, ix, s.row, key); err != nil {
				return err
			}
		}
	}
	if err := s.putOnlyRow(tx, key); err != nil {
		return err
	}
	for _, ix := range s.changed {
		if !ix.exists.Load() {
			continue
		}
		if err := s.moveEntry(tx, ix); err != nil {
			return err
		}
	}
	return nil
}

// moveEntry replaces the old row's entry in an index by the new row's.
func (s *updateStmt) moveEntry(tx *txn, ix *indexLayout) (err error) {
	if s.key, err = s.l.appendEntryKey(s.key[:0], ix, s.old); err != nil {
		return err
	}
	if s.end, err = s.l.appendEntryKey(s.end[:0], ix, s.row); err != nil {
		return err
	}
	if !bytes.Equal(s.key, s.end) {
		if err := tx.Delete(s.key); err != nil {
			return err
		}
	}
	return s.putEntry(tx, ix)
}
