package kvkit

import (
	"bytes"
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// With blind indexes an entry can be stale: its row was deleted, or has got other
// values. Whoever follows an entry compares it with its row. A stale entry becomes
// valid again if the row gets its values back, so it is removed only while the row
// is locked, and after another comparison.

// staleBatch is how many stale entries are removed in one transaction.
const staleBatch = 1000

// isEntry reports whether the row in b.row, if found, has the entry in an index.
func (b *base) isEntry(ix *indexLayout, found bool, entry []byte) (_ bool, err error) {
	if !found {
		return false, nil
	}
	b.key, err = b.l.appendEntryKey(b.key[:0], ix, b.row)
	return err == nil && bytes.Equal(b.key, entry), err
}

// meet counts a stale entry, of the row s.rowKey, and notes it for a clean-up.
func (s *scanStmt) meet(tx *txn, entry []byte) {
	tx.counts.stale.Add(1)
	if !s.db.switches.CleanOnRead && !s.db.switches.CleanOnSettle {
		return
	}
	if s.met.len() < s.db.atMost(staleBatch) {
		s.keys.add(s.rowKey)
		s.met.add(entry)
	}
}

// removeMet removes the entries in s.met of the rows in s.keys that are still
// stale.
func (s *scanStmt) removeMet(ctx context.Context, ix *indexLayout) (int64, error) {
	var r engine.Result
	err := s.isolated(ctx, Write, &r, func(tx *txn) error {
		for i := range s.met.len() {
			found, err := s.fetchForUpdate(tx, s.keys.at(i))
			if err == nil {
				found, err = s.isEntry(ix, found, s.met.at(i))
			}
			if err != nil {
				return err
			}
			if found {
				continue
			}
			if err := tx.Delete(s.met.at(i)); err != nil {
				return err
			}
			r.Rows++
		}
		return nil
	})
	return r.Rows, err
}

func (db *database) removeStale(ctx context.Context) (removed int64, err error) {
	open, err := db.Session(ctx)
	if err != nil {
		return 0, err
	}
	defer open.Close()
	for _, l := range db.tables {
		for _, ix := range l.indexes {
			if ix.index.Unique || !ix.exists.Load() {
				continue
			}
			scan := model.Op{Kind: model.Scan, Table: l.table.Name, Index: ix.index.Name}
			stmt, err := newScan(newBase(open.(*session), l, &scan))
			if err != nil {
				return removed, err
			}
			n, err := stmt.(*scanStmt).sweep(ctx)
			if removed += n; err != nil {
				return removed, err
			}
		}
	}
	return removed, nil
}

// sweep removes the stale entries of the statement's index.
func (s *scanStmt) sweep(ctx context.Context) (removed int64, err error) {
	lower, upper := spaceRange(s.ix.space)
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		s.met.reset()
		s.keys.reset()
		err := s.in(Snapshot, func(tx *txn) error {
			more = false
			return each(tx, lower, upper, 0, func(it Iter) (bool, error) {
				if s.met.len() == s.db.atMost(staleBatch) {
					lower, more = bytes.Clone(it.Key()), true
					return false, nil
				}
				s.text = s.text[:0]
				_, err := s.follow(tx, it)
				return true, err
			})
		})
		if err != nil {
			return removed, err
		}
		n, err := s.removeMet(ctx, s.ix)
		if removed += n; err != nil {
			return removed, err
		}
	}
	return removed, nil
}
