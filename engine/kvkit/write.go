package kvkit

import (
	"bytes"
	"context"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// deleteStmt deletes rows by primary key. It reads them first to find their
// index entries.
type deleteStmt struct{ base }

func (s *deleteStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	if err := s.encodeKeys(args); err != nil {
		return err
	}
	mode := Write
	if s.keys.len() > 1 {
		mode = ReadWrite // keys may repeat
	}
	return s.isolated(mode, func(tx Tx) error { return s.deleteKeys(tx, r) })
}

// deleteKeys deletes the existing rows of b.keys.
func (b *base) deleteKeys(tx Tx, r *engine.Result) error {
	for i := range b.keys.len() {
		key := b.keys.at(i)
		found, err := b.fetch(tx, key)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := b.deleteEntries(tx); err != nil {
			return err
		}
		if err := tx.Delete(key); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

// lowestStmt deletes the rows with the lowest keys at or above a cursor.
type lowestStmt struct{ base }

func (s *lowestStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	if s.db.single() {
		return s.in(Write, func(tx Tx) error {
			if err := s.collect(tx, args[0]); err != nil {
				return err
			}
			return s.deleteKeys(tx, r)
		})
	}
	s.l.locks.lockLowest(&s.set)
	defer s.l.locks.unlock(&s.set)
	if err := s.in(Read, func(tx Tx) error { return s.collect(tx, args[0]) }); err != nil {
		return err
	}
	return s.isolated(Write, func(tx Tx) error { return s.deleteKeys(tx, r) })
}

// collect sets s.keys to the keys of the rows.
func (s *lowestStmt) collect(tx Tx, cursor model.Value) (err error) {
	s.keys.reset()
	s.row[s.l.key[0]] = cursor
	if s.key, err = s.l.appendRowKey(s.key[:0], s.row); err != nil {
		return err
	}
	s.end = appendSpace(s.end[:0], s.l.space+1)
	return each(tx, s.key, s.end, func(it Iter) (bool, error) {
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
	find    *scanStmt      // finds the keys of an update by index, else nil
	old     []model.Value
	mode    Mode
	spare   arena
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
	if hasUnique(b.l) {
		s.mode = ReadWrite // rows of one execution may conflict
	}
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

func (s *updateStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	values, where := args[:len(s.set)], args[len(s.set):]
	if s.find == nil {
		if err := s.encodeKeys(where); err != nil {
			return err
		}
		if s.op.KeyCount() > 1 { // a repeated key counts once
			s.keys.unique(&s.spare)
			s.keys, s.spare = s.spare, s.keys
		}
	} else if !s.db.single() {
		if err := s.in(Read, func(tx Tx) error { return s.findKeys(tx, where) }); err != nil {
			return err
		}
	}
	return s.isolated(s.mode, func(tx Tx) error {
		if s.find != nil && s.db.single() {
			if err := s.findKeys(tx, where); err != nil {
				return err
			}
		}
		return s.updateKeys(tx, values, where, r)
	})
}

// findKeys sets s.keys to the keys of the rows that the index finds.
func (s *updateStmt) findKeys(tx Tx, where []model.Value) error {
	s.keys.reset()
	if err := s.find.findRanges(where); err != nil || len(s.find.ranges) == 0 {
		return err
	}
	return each(tx, s.find.ranges[0].lower, s.find.ranges[0].upper, func(it Iter) (bool, error) {
		s.text = s.text[:0]
		rest, err := s.l.decodeColumns(it.Key()[2:], s.find.ix.columns, s.row, &s.text)
		s.keys.buf = append(appendSpace(s.keys.buf, s.l.space), rest...)
		s.keys.end()
		return true, err
	})
}

func (s *updateStmt) updateKeys(tx Tx, values, where []model.Value, r *engine.Result) error {
	for i := range s.keys.len() {
		found, err := s.fetch(tx, s.keys.at(i))
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

// updateRow writes the new version of s.row and the index entries that change.
func (s *updateStmt) updateRow(tx Tx, key []byte, values []model.Value) error {
	copy(s.old, s.row)
	for i, c := range s.set {
		if s.op.Set[i].Add {
			s.row[c] = s.row[c].Add(values[i])
		} else {
			s.row[c] = values[i]
		}
	}
	for _, ix := range s.changed {
		if ix.exists.Load() && ix.index.Unique {
			if err := s.refuseEqual(tx, ix, s.row, key); err != nil {
				return err
			}
		}
	}
	if err := s.putOnlyRow(tx); err != nil {
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
func (s *updateStmt) moveEntry(tx Tx, ix *indexLayout) error {
	var err error
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
