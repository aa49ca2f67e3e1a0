package workloadtest

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

func hashRow(buf []byte, row []model.Value) (uint64, []byte) {
	buf = buf[:0]
	for _, v := range row {
		buf = v.AppendHash(buf)
	}
	h := fnv.New64a()
	h.Write(buf)
	return h.Sum64(), buf
}

// checksum sums the hashes of the rows, because the order of equal entries is
// unspecified, and checks the order otherwise.
func checksum(ctx context.Context, stmt engine.Stmt, table *model.Table,
	index string) (rows int64, sum uint64, err error) {
	columns, err := table.Positions(table.Order(index))
	if err != nil {
		return 0, 0, err
	}
	var last []model.Value
	var wrong error
	var buf []byte
	r := engine.Result{Each: func(row []model.Value) {
		var h uint64
		h, buf = hashRow(buf, row)
		sum += h
		now := make([]model.Value, len(columns))
		for i, c := range columns {
			now[i] = row[c].Clone()
		}
		if last != nil && slices.CompareFunc(last, now, model.Value.Compare) > 0 {
			wrong = fmt.Errorf("%v comes after %v", now, last)
		}
		last = now
	}}
	if err := stmt.Exec(ctx, nil, &r); err != nil {
		return 0, 0, err
	}
	return r.Rows, sum, wrong
}

// digest is a running hash of results.
type digest struct {
	sum uint64
	n   int64
	buf []byte
}

func (d *digest) add(h uint64) { d.sum = (d.sum ^ h) * 1099511628211 }

// digestDB is a DB that digests the results of operations.
type digestDB struct {
	engine.DB
	d *digest
}

func (db digestDB) Session(ctx context.Context) (engine.Session, error) {
	s, err := db.DB.Session(ctx)
	return digestSession{s, db.d}, err
}

type digestSession struct {
	engine.Session
	d *digest
}

func (s digestSession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	st, err := s.Session.Prepare(ctx, op)
	return digestStmt{st, op.Kind, op.Kind == model.Scan && op.Free && op.OrderBy == "", s.d}, err
}

type digestStmt struct {
	engine.Stmt
	kind model.Kind
	free bool // rows are in any order
	d    *digest
}

// Exec digests the rows of a scan in order, unless it is free, and those of a get
// in any order: engines return the rows of a list of keys in different orders,
// and those of a repeated key once or twice.
func (s digestStmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	each := r.Each
	defer func() { r.Each = each }()
	distinct := map[uint64]bool{}
	var sum uint64
	r.Each = func(row []model.Value) {
		var h uint64
		h, s.d.buf = hashRow(s.d.buf, row)
		switch {
		case s.kind == model.Get:
			distinct[h] = true
		case s.free:
			sum += h
		default:
			s.d.add(h)
		}
		if each != nil {
			each(row)
		}
	}
	err := s.Stmt.Exec(ctx, args, r)
	s.d.n++
	for h := range distinct {
		sum += h
	}
	s.d.add(sum)
	if s.kind != model.Get {
		s.d.add(uint64(r.Rows))
	}
	// A sum of floats depends on their order.
	if s.kind == model.Scan && r.Value.Type() == model.Int {
		s.d.add(uint64(r.Value.Int()))
	}
	return err
}
