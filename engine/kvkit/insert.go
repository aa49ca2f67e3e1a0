package kvkit

import (
	"context"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// insertStmt inserts rows. It is blind, that is it reads nothing, if the engine
// numbers the rows and there is no unique index to check.
type insertStmt struct {
	base
	columns []int // positions of op.Columns
	add     []int // positions of op.AddColumns
	numbers bool  // the engine assigns the key
	blind   bool
	merge   bool // with OnConflict Add, as an operand
	operand []byte
	mode    Mode          // of an insert that reads before it writes
	given   []model.Value // the new row, while b.row holds the old one
	seen    map[string]bool
}

func newInsert(b base) (engine.Stmt, error) {
	s := &insertStmt{base: b}
	s.columns, _ = b.l.table.Positions(b.op.Columns)
	s.add, _ = b.l.table.Positions(b.op.AddColumns)
	s.numbers = b.l.auto >= 0 && !slices.Contains(s.columns, b.l.auto)
	s.blind = s.numbers && !hasUnique(b.l)
	s.given = make([]model.Value, len(b.row))
	if hasUnique(b.l) && b.op.OnConflict != model.Fail {
		return nil, fmt.Errorf("operation %s: on a table with unique indexes conflict rule Fail is the only one",
			b.op.Label())
	}
	s.merge = b.op.OnConflict == model.Add && b.db.switches.MergeUpserts && indexesKey(b.l.table) && b.l.canAddTo(s.add)
	s.mode = Write
	if b.op.OnConflict != model.Fail && b.op.Rows > 1 {
		s.mode = ReadWrite // rows of one execution may conflict
	}
	return s, nil
}

func (s *insertStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	var first int64
	if s.numbers {
		first = s.l.lastID.Add(int64(s.op.Rows)) - int64(s.op.Rows) + 1
	}
	switch last := s.op.Rows - 1; {
	case !s.op.ReturnNumber:
	case s.numbers:
		r.Value = model.IntValue(first + int64(last))
	default: // the caller has numbered the rows
		r.Value = args[last*len(s.columns)+slices.Index(s.columns, s.l.auto)]
	}
	if s.blind {
		return s.write(ctx, Write, r, func(tx *txn) error {
			return s.putAll(tx, args, first, r)
		})
	}
	if err := s.encodeGiven(args, first); err != nil {
		return err
	}
	if s.merge {
		return s.write(ctx, Write, r, func(tx *txn) error { return s.upsert(tx, args, first, r) })
	}
	return s.isolated(ctx, s.mode, r, func(tx *txn) error { return s.checked(tx, args, first, r) })
}

// putAll writes the rows and reads nothing.
func (s *insertStmt) putAll(tx *txn, args []model.Value, first int64, r *engine.Result) (err error) {
	for i := range s.op.Rows {
		s.setRow(s.row, args, i, first)
		if s.key, err = s.l.appendRowKey(s.key[:0], s.row); err != nil {
			return err
		}
		if err := s.putRow(tx, s.key); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

// setRow sets a row to the one with index i of an execution.
func (s *insertStmt) setRow(row, args []model.Value, i int, first int64) {
	n := len(s.columns)
	if n < len(row) {
		clear(row)
	}
	for j, c := range s.columns {
		row[c] = args[i*n+j]
	}
	if s.l.auto < 0 {
		return
	}
	if s.numbers {
		row[s.l.auto] = model.IntValue(first + int64(i))
		return
	}
	// A number from the caller advances the numbering.
	for id := row[s.l.auto].Int(); ; {
		last := s.l.lastID.Load()
		if id <= last || s.l.lastID.CompareAndSwap(last, id) {
			return
		}
	}
}

// encodeGiven encodes the keys of all rows, to lock and read them, and their
// claims in unique indexes.
func (s *insertStmt) encodeGiven(args []model.Value, first int64) (err error) {
	s.keys.reset()
	s.values.reset()
	for i := range s.op.Rows {
		s.setRow(s.given, args, i, first)
		if s.keys.buf, err = s.l.appendRowKey(s.keys.buf, s.given); err != nil {
			return err
		}
		s.keys.end()
		if err := s.claimOf(s.l.indexes, s.given); err != nil {
			return err
		}
	}
	return nil
}

// checked inserts rows one by one and applies the conflict rule. With rule Fail
// all rows are checked before the first is written, so that a failed operation
// changes nothing, also within a transaction.
func (s *insertStmt) checked(tx *txn, args []model.Value, first int64, r *engine.Result) error {
	if s.op.OnConflict == model.Fail {
		if err := s.refuseDuplicates(tx, args, first); err != nil {
			return err
		}
	}
	for i := range s.op.Rows {
		key := s.keys.at(i)
		there, err := s.fetchOld(tx, key)
		if err != nil {
			return err
		}
		if s.op.Rows > 1 { // else it is still set
			s.setRow(s.given, args, i, first)
		}
		if err := s.insertOne(tx, key, there, r); err != nil {
			return err
		}
	}
	return nil
}

// fetchOld reads the old row, if it matters, and reports whether there is one. Of a row
// that is replaced only the index entries matter; in an Isolated store reading it claims
// the key.
func (s *insertStmt) fetchOld(tx *txn, key []byte) (bool, error) {
	switch {
	case s.op.OnConflict == model.Fail:
		return false, nil
	case s.op.OnConflict != model.Replace || len(s.l.indexes) > 0:
		return s.fetchForUpdate(tx, key)
	case s.db.kind == Isolated:
		_, err := tx.getForUpdate(key)
		return false, err
	}
	return false, nil
}

// insertOne writes s.given. If there is set, s.row holds the old row.
func (s *insertStmt) insertOne(tx *txn, key []byte, there bool, r *engine.Result) error {
	if there && s.op.OnConflict == model.Ignore {
		return nil
	}
	if there {
		if err := s.deleteEntries(tx); err != nil {
			return err
		}
	}
	if there && s.op.OnConflict == model.Add {
		for _, c := range s.add {
			s.row[c] = s.row[c].Add(s.given[c])
		}
	} else {
		copy(s.row, s.given)
	}
	r.Rows++
	return s.putRow(tx, key)
}

// upsert writes the rows as operands, which add to existing rows. Their index
// entries hold nothing that changes.
func (s *insertStmt) upsert(tx *txn, args []model.Value, first int64, r *engine.Result) (err error) {
	for i := range s.op.Rows {
		s.setRow(s.given, args, i, first)
		if s.operand, err = s.l.appendUpsert(s.operand[:0], s.given, s.add); err != nil {
			return err
		}
		if err := tx.merge(s.keys.at(i), s.operand); err != nil {
			return err
		}
		copy(s.row, s.given)
		if err := s.putEntries(tx, s.l.indexes); err != nil {
			return err
		}
		r.Rows++
	}
	return nil
}

func (s *insertStmt) refuseDuplicates(tx *txn, args []model.Value, first int64) error {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	clear(s.seen)
	for i := range s.op.Rows {
		key := s.keys.at(i)
		if s.op.Rows > 1 {
			if s.seen[string(key)] {
				return engine.Errorf(engine.Duplicate, "table %s: duplicate key in the operation", s.l.table.Name)
			}
			s.seen[string(key)] = true
		}
		if !s.numbers {
			value, err := s.expectNone(tx, key)
			if err != nil {
				return err
			}
			if value != nil && !s.l.hides(value) {
				return engine.Errorf(engine.Duplicate, "table %s: a row with the key exists", s.l.table.Name)
			}
		}
		s.setRow(s.given, args, i, first)
		if err := s.refuseUnique(tx); err != nil {
			return err
		}
	}
	return nil
}

// refuseUnique checks s.given against the unique indexes and the other rows of
// the execution.
func (s *insertStmt) refuseUnique(tx *txn) error {
	for _, ix := range s.l.indexes {
		if !ix.index.Unique || !ix.exists.Load() {
			continue
		}
		if err := s.refuseEqual(tx, ix, s.given, nil); err != nil {
			return err
		}
		if s.op.Rows > 1 {
			if s.seen[string(s.key)] {
				return engine.Errorf(engine.Duplicate, "index %s: duplicate value in the operation", ix.index.Name)
			}
			s.seen[string(s.key)] = true
		}
	}
	return nil
}
