package kvkit

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// getStmt reads rows by primary key.
type getStmt struct {
	base
	columns []int
	out     []model.Value
}

// newGet returns a getStmt; a get by index is a scan with a range per key.
func newGet(b base) (engine.Stmt, error) {
	if b.op.Index != "" {
		return newScan(b)
	}
	s := &getStmt{base: b, out: make([]model.Value, len(b.op.Columns))}
	s.columns, _ = b.l.table.Positions(b.op.Columns)
	return s, nil
}

func (s *getStmt) Exec(_ context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	if err := s.encodeKeys(args); err != nil {
		return err
	}
	return s.in(Read, func(tx *txn) error {
		for i := range s.keys.len() {
			found, err := s.find(tx, s.keys.at(i))
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

// find is fetch, or fetchForUpdate if the row is to be locked.
func (s *getStmt) find(tx *txn, key []byte) (bool, error) {
	if s.op.Lock && s.tx != nil {
		return s.fetchForUpdate(tx, key)
	}
	return s.fetch(tx, key)
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
	covered bool          // the entries hold all columns needed
	stale   bool          // entries may be stale: each is checked against its row
	where   []int         // the columns of op.Where
	limits  []model.Value // its arguments, during an execution
	limit   int           // of an execution
	mode    Mode
	out     []model.Value
	ranges  []keyRange // the ranges to read, sorted and disjoint
	rowKey  []byte
	met     arena    // stale entries to be removed, of the rows in keys
	reduce  *reducer // nil: rows are passed on as they are read
}

// keyRange is a range of keys, its memory reused from one execution to the next.
type keyRange struct{ lower, upper []byte }

func newScan(b base) (engine.Stmt, error) {
	s := &scanStmt{base: b, order: b.l.key, out: make([]model.Value, len(b.op.Columns))}
	s.columns, _ = b.l.table.Positions(b.op.Columns)
	if b.op.Index != "" {
		s.ix = b.l.index(b.op.Index)
		s.order = s.ix.columns
	}
	for _, c := range b.op.Where {
		s.where = append(s.where, b.l.table.Column(c.Column))
	}
	s.covered = b.l.covers(s.ix, s.columns) && b.l.covers(s.ix, s.where)
	if s.stale = s.ix != nil && s.db.switches.BlindIndexes && !s.ix.index.Unique; s.stale {
		s.covered = false
	}
	s.mode = Read
	if !s.covered || s.count() > 1 {
		s.mode = Snapshot // entries, rows and ranges must be of the same state
	}
	s.reduce = newReducer(b.op)
	return s, nil
}

func (s *scanStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	s.limit = s.op.Limit
	if s.op.LimitGiven {
		s.limit = int(args[len(args)-1].Int())
		args = args[:len(args)-1]
	}
	bounds := len(args) - len(s.where)
	s.limits = args[bounds:]
	if err := s.findRanges(args[:bounds]); err != nil {
		return err
	}
	s.met.reset()
	s.keys.reset()
	if s.reduce != nil {
		s.reduce.reset()
	}
	if len(s.ranges) > 0 {
		if err := s.in(s.mode, func(tx *txn) error { return s.run(tx, r) }); err != nil {
			return err
		}
	}
	if s.reduce != nil {
		s.reduce.finish(r)
	}
	if s.met.len() > 0 && s.tx == nil && s.db.switches.CleanOnRead {
		_, err := s.removeMet(ctx, s.ix)
		return err
	}
	return nil
}

// count returns the ranges per execution.
func (s *scanStmt) count() int {
	if s.op.Kind == model.Get {
		return s.op.KeyCount()
	}
	return s.op.RangeCount()
}

// findRanges computes the ranges of keys to read.
func (s *scanStmt) findRanges(args []model.Value) error {
	s.ranges = s.ranges[:0]
	n := s.count()
	each := len(args) / n
	for i := range n {
		if err := s.addRange(args[i*each : (i+1)*each]); err != nil {
			return err
		}
	}
	if len(s.ranges) > 1 {
		s.unite()
	}
	return nil
}

// unite sorts the ranges and merges those that overlap.
func (s *scanStmt) unite() {
	slices.SortFunc(s.ranges, func(a, b keyRange) int { return bytes.Compare(a.lower, b.lower) })
	last := 0
	for i := 1; i < len(s.ranges); i++ {
		switch r, l := &s.ranges[i], &s.ranges[last]; {
		case bytes.Compare(r.lower, l.upper) > 0:
			last++
			s.ranges[last], s.ranges[i] = s.ranges[i], s.ranges[last]
		case bytes.Compare(r.upper, l.upper) > 0:
			l.upper, r.upper = r.upper, l.upper
		}
	}
	s.ranges = s.ranges[:last+1]
}

// addRange adds the range of keys between the values of args. As in SQL, there
// is none if one of them is NULL.
func (s *scanStmt) addRange(args []model.Value) (err error) {
	if slices.ContainsFunc(args, model.Value.IsNull) {
		return nil
	}
	if len(s.ranges) < cap(s.ranges) {
		s.ranges = s.ranges[:len(s.ranges)+1]
	} else {
		s.ranges = append(s.ranges, keyRange{})
	}
	r := &s.ranges[len(s.ranges)-1]
	space := s.l.space
	if s.ix != nil {
		space = s.ix.space
	}
	r.lower = appendSpace(r.lower[:0], space)
	for i := range s.op.Equal {
		if r.lower, err = appendKey(r.lower, &s.l.columns[s.order[i]], args[i]); err != nil {
			return err
		}
	}
	args = args[s.op.Equal:]
	prefix := len(r.lower)
	r.upper = prefixEnd(r.upper, r.lower)
	if s.op.Lower == model.Open && s.op.Upper == model.Open {
		return nil
	}
	next := &s.l.columns[s.order[s.op.Equal]]
	if s.op.Upper != model.Open {
		if err := s.upperBound(r, next, r.lower[:prefix], args[len(args)-1]); err != nil {
			return err
		}
	}
	if s.op.Lower != model.Open {
		return s.lowerBound(r, next, args[0])
	}
	if !next.NotNull {
		r.lower = append(r.lower, presentMark) // a bound never matches NULL
	}
	return nil
}

func (s *scanStmt) upperBound(r *keyRange, c *model.Column, prefix []byte, v model.Value) (err error) {
	s.key = append(s.key[:0], prefix...)
	if s.key, err = appendKey(s.key, c, v); err != nil {
		return err
	}
	if s.op.Upper == model.Inclusive {
		r.upper = prefixEnd(r.upper, s.key)
	} else {
		r.upper = append(r.upper[:0], s.key...)
	}
	return nil
}

func (s *scanStmt) lowerBound(r *keyRange, c *model.Column, v model.Value) (err error) {
	if r.lower, err = appendKey(r.lower, c, v); err != nil {
		return err
	}
	if s.op.Lower == model.Exclusive {
		s.key = prefixEnd(s.key, r.lower)
		r.lower = append(r.lower[:0], s.key...)
	}
	return nil
}

// run reads the ranges. Only a scan of one range has a limit or a direction.
func (s *scanStmt) run(tx *txn, r *engine.Result) error {
	for i := range s.ranges {
		if err := s.runRange(tx, &s.ranges[i], r); err != nil {
			return err
		}
	}
	return nil
}

func (s *scanStmt) runRange(tx *txn, k *keyRange, r *engine.Result) (err error) {
	it, err := tx.Iter(k.lower, k.upper)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	first, next := it.First, it.Next
	if s.op.Desc {
		first, next = it.Last, it.Prev
	}
	limit := s.limit
	if s.reduce != nil && s.reduce.needsAll() {
		limit = 0
	}
	if len(s.where) == 0 { // else more are read than the limit
		announce(it, limit)
	}
	for ok, n := first(), 0; ok; ok = next() {
		there, err := s.read(tx, it)
		if err != nil {
			return err
		}
		if !there || !s.meets() {
			continue
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

// meets reports whether the row read meets the conditions.
func (s *scanStmt) meets() bool {
	for i, c := range s.where {
		if !s.op.Where[i].Holds(s.row[c], s.limits[i]) {
			return false
		}
	}
	return true
}

// read sets s.out from the iterator's entry, and from the row if the entry is
// not covering. It reports false for a stale entry.
func (s *scanStmt) read(tx *txn, it Iter) (bool, error) {
	if len(s.columns) == 0 && len(s.where) == 0 && !s.stale && !s.l.tagged {
		return true, nil // rows are only counted
	}
	s.text = s.text[:0]
	there, err := true, error(nil)
	switch {
	case s.ix == nil:
		var value []byte
		if value, err = it.Value(); err != nil || s.l.hides(value) {
			return false, err
		}
		err = s.l.decodeRow(it.Key(), value, s.row, &s.text)
	case s.covered:
		err = s.readEntry(it)
	default:
		there, err = s.follow(tx, it)
	}
	project(s.out, s.row, s.columns)
	return there, err
}

func (s *scanStmt) readEntry(it Iter) error {
	key, include, err := s.l.splitEntry(s.ix, it, s.row, &s.text)
	if err == nil {
		_, err = s.l.decodeColumns(key, s.l.key, s.row, &s.text)
	}
	if err == nil && len(s.ix.include) > 0 {
		_, err = s.l.decodeCells(include, s.ix.include, s.row)
	}
	return err
}

// follow reads the row of an entry. It reports false if the entry is stale: the
// row does not exist, or has other values.
func (s *scanStmt) follow(tx *txn, it Iter) (bool, error) {
	key, _, err := s.l.splitEntry(s.ix, it, s.row, &s.text)
	if err != nil {
		return false, err
	}
	s.rowKey = append(appendSpace(s.rowKey[:0], s.l.space), key...)
	found, err := s.fetch(tx, s.rowKey)
	if err != nil {
		return false, err
	}
	if s.stale {
		if found, err = s.isEntry(s.ix, found, it.Key()); err == nil && !found {
			s.meet(tx, it.Key())
		}
		return found, err
	}
	if !found {
		err = engine.Errorf(engine.Fatal, "index %s holds an entry without a row", s.ix.index.Name)
	}
	return found, err
}

// reducer does the work of SQL engines on the rows of a scan: distinct, order
// by, limit after both, count and sum.
type reducer struct {
	op     *model.Op
	sortBy int // position in the columns returned, -1 for none
	rows   [][]model.Value
	count  int64
	sum    model.Value
}

func newReducer(op *model.Op) *reducer {
	if op.Aggregate == model.NoAggregate && !op.Distinct && op.OrderBy == "" {
		return nil
	}
	return &reducer{op: op, sortBy: slices.Index(op.Columns, op.OrderBy)}
}

// needsAll reports whether the limit applies to the result, so that all rows
// have to be read.
func (d *reducer) needsAll() bool { return d.op.Distinct || d.op.OrderBy != "" }

func (d *reducer) reset() { d.rows, d.count, d.sum = d.rows[:0], 0, model.Value{} }

func (d *reducer) add(row []model.Value) {
	if d.needsAll() {
		d.rows = append(d.rows, engine.CloneRow(row))
		return
	}
	d.tally(row)
}

// tally adds a row to count and sum; a single column counts unless it is NULL.
func (d *reducer) tally(row []model.Value) {
	if len(row) != 1 || !row[0].IsNull() {
		d.count++
	}
	if d.op.Aggregate == model.Sum {
		d.sum = d.sum.Add(row[0])
	}
}

// finish returns the rows, or the aggregate, in r.
func (d *reducer) finish(r *engine.Result) {
	if d.op.Distinct {
		slices.SortFunc(d.rows, compareRows)
		d.rows = slices.CompactFunc(d.rows, func(a, b []model.Value) bool { return compareRows(a, b) == 0 })
	}
	if d.sortBy >= 0 {
		slices.SortStableFunc(d.rows, func(a, b []model.Value) int { return a[d.sortBy].Compare(b[d.sortBy]) })
	}
	if d.op.Desc && d.needsAll() {
		slices.Reverse(d.rows)
	}
	if n := d.op.Limit; n > 0 && len(d.rows) > n {
		d.rows = d.rows[:n]
	}
	for _, row := range d.rows {
		if d.op.Aggregate == model.NoAggregate {
			r.Row(row)
		} else {
			d.tally(row)
		}
	}
	switch d.op.Aggregate {
	case model.Count:
		r.Rows, r.Value = 1, model.IntValue(d.count)
	case model.Sum:
		r.Rows, r.Value = 1, d.sum
	}
}

func compareRows(a, b []model.Value) int { return slices.CompareFunc(a, b, model.Value.Compare) }
