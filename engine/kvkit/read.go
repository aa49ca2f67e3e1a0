package kvkit

import (
	"context"
	"errors"

	"rumbench/engine"
	"rumbench/model"
)

// getStmt reads rows by primary key.
type getStmt struct {
	base
	columns []int
	out     []model.Value
}

func newGet(b base) (engine.Stmt, error) {
	s := &getStmt{base: b, out: make([]model.Value, len(b.op.Columns))}
	s.columns, _ = b.l.table.Positions(b.op.Columns)
	return s, nil
}

func (s *getStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	if err := s.checkArgs(args); err != nil {
		return err
	}
	if err := s.encodeKeys(args); err != nil {
		return err
	}
	return s.in(Read, func(tx Tx) error {
		for i := range s.keys.len() {
			found, err := s.fetch(tx, s.keys.at(i))
			if err != nil {
				return err
			}
			if found {
				project(s.out, s.row, s.columns)
				r.Row(s.out)
			}
		}
		return nil
	})
}

func project(out, row []model.Value, columns []int) {
	for i, c := range columns {
		out[i] = row[c]
	}
}

// scanStmt reads entries of an index, or rows in the order of the primary key.
type scanStmt struct {
	base
	ix      *indexLayout // nil: the primary key
	order   []int        // the columns in whose order it reads
	columns []int
	covered bool // the entries hold all columns wanted
	mode    Mode
	out     []model.Value
	lower   []byte
	upper   []byte
	rowKey  []byte
	reduce  *reducer // nil: rows are handed on as they come
}

func newScan(b base) (engine.Stmt, error) {
	s := &scanStmt{base: b, order: b.l.key, out: make([]model.Value, len(b.op.Columns))}
	s.columns, _ = b.l.table.Positions(b.op.Columns)
	if b.op.Index != "" {
		s.ix = b.l.index(b.op.Index)
		s.order = s.ix.columns
	}
	s.covered = b.l.covers(s.ix, s.columns)
	s.mode = Read
	if !s.covered {
		s.mode = Snapshot // an entry and its row must belong together
	}
	s.reduce = newReducer(b.op)
	return s, nil
}

func (s *scanStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	if err := s.checkArgs(args); err != nil {
		return err
	}
	empty, err := s.bounds(args)
	if err != nil {
		return err
	}
	if s.reduce != nil {
		s.reduce.reset()
	}
	if !empty {
		if err := s.in(s.mode, func(tx Tx) error { return s.run(tx, r) }); err != nil {
			return err
		}
	}
	if s.reduce != nil {
		s.reduce.finish(r)
	}
	return nil
}

// bounds computes the range of keys to read. It is empty when a value that is
// compared with is NULL, as in SQL.
func (s *scanStmt) bounds(args []model.Value) (empty bool, err error) {
	for _, v := range args {
		if v.IsNull() {
			return true, nil
		}
	}
	space := s.l.space
	if s.ix != nil {
		space = s.ix.space
	}
	s.lower = appendSpace(s.lower[:0], space)
	for i := range s.op.Equal {
		if s.lower, err = appendKey(s.lower, &s.l.columns[s.order[i]], args[i]); err != nil {
			return false, err
		}
	}
	args = args[s.op.Equal:]
	prefix := len(s.lower)
	s.upper = prefixEnd(s.upper, s.lower)
	if s.op.Lower == model.Open && s.op.Upper == model.Open {
		return false, nil
	}
	next := &s.l.columns[s.order[s.op.Equal]]
	if s.op.Upper != model.Open {
		if err := s.upperBound(next, s.lower[:prefix], args[len(args)-1]); err != nil {
			return false, err
		}
	}
	if s.op.Lower != model.Open {
		return false, s.lowerBound(next, args[0])
	}
	if !next.NotNull {
		s.lower = append(s.lower, presentMark) // a bound never matches NULL
	}
	return false, nil
}

func (s *scanStmt) upperBound(c *model.Column, prefix []byte, v model.Value) (err error) {
	s.key = append(s.key[:0], prefix...)
	if s.key, err = appendKey(s.key, c, v); err != nil {
		return err
	}
	if s.op.Upper == model.Inclusive {
		s.upper = prefixEnd(s.upper, s.key)
	} else {
		s.upper = append(s.upper[:0], s.key...)
	}
	return nil
}

func (s *scanStmt) lowerBound(c *model.Column, v model.Value) (err error) {
	if s.lower, err = appendKey(s.lower, c, v); err != nil {
		return err
	}
	if s.op.Lower == model.Exclusive {
		s.key = prefixEnd(s.key, s.lower)
		s.lower = append(s.lower[:0], s.key...)
	}
	return nil
}

func (s *scanStmt) run(tx Tx, r *engine.Result) (err error) {
	it, err := tx.Iter(s.lower, s.upper)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	first, next := it.First, it.Next
	if s.op.Desc {
		first, next = it.Last, it.Prev
	}
	limit := s.op.Limit
	if s.reduce != nil && s.reduce.needsAll() {
		limit = 0
	}
	for ok, n := first(), 0; ok; ok = next() {
		if err := s.read(tx, it); err != nil {
			return err
		}
		if s.reduce != nil {
			s.reduce.add(s.out)
		} else {
			r.Row(s.out)
		}
		if n++; n == limit {
			return nil
		}
	}
	return nil
}

// read fills s.out from the iterator's entry, and from the row where the
// entry does not hold everything.
func (s *scanStmt) read(tx Tx, it Iter) error {
	if len(s.columns) == 0 {
		return nil // only counting
	}
	s.text = s.text[:0]
	if s.ix == nil {
		value, err := it.Value()
		if err != nil {
			return err
		}
		if err := s.l.decodeRow(it.Key(), value, s.row, &s.text); err != nil {
			return err
		}
		project(s.out, s.row, s.columns)
		return nil
	}
	rest, err := s.l.decodeColumns(it.Key()[2:], s.ix.columns, s.row, &s.text)
	if err != nil {
		return err
	}
	if s.covered {
		err = s.readEntry(it, rest)
	} else {
		s.rowKey = append(appendSpace(s.rowKey[:0], s.l.space), rest...)
		var found bool
		if found, err = s.fetch(tx, s.rowKey); err == nil && !found {
			err = engine.Errorf(engine.Fatal, "index %s holds an entry without a row", s.ix.index.Name)
		}
	}
	project(s.out, s.row, s.columns)
	return err
}

func (s *scanStmt) readEntry(it Iter, key []byte) error {
	if _, err := s.l.decodeColumns(key, s.l.key, s.row, &s.text); err != nil {
		return err
	}
	if len(s.ix.include) == 0 {
		return nil
	}
	value, err := it.Value()
	if err != nil {
		return err
	}
	return s.l.decodeCells(value, s.ix.include, s.row)
}
