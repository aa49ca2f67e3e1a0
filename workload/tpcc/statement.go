package tpcc

import (
	"context"
	"strings"

	"rumbench/engine"
	"rumbench/model"
	"rumbench/workload"
)

// shapes are the statements of the transactions, each defined next to its use.
var shapes []shape

type shape struct {
	model.Op
	late bool // prepared when it first occurs
}

// statement is a statement's position in shapes.
type statement int

func define(op model.Op) statement {
	shapes = append(shapes, shape{Op: op})
	return statement(len(shapes) - 1)
}

// defineSizes defines a statement for each number of rows up to mostLines. The statement
// for n rows has the position of the first one plus n-1.
func defineSizes(op func(n int) model.Op) statement {
	for n := range mostLines {
		shapes = append(shapes, shape{op(n + 1), n > 0})
	}
	return statement(len(shapes) - mostLines)
}

func get(table string, columns ...string) model.Op {
	return model.Op{Kind: model.Get, Table: table, Columns: columns}
}

func lock(table string, columns ...string) model.Op {
	return model.Op{Kind: model.Get, Table: table, Columns: columns, Lock: true}
}

func scan(table, index string, equal int, columns ...string) model.Op {
	return model.Op{Kind: model.Scan, Table: table, Index: index, Equal: equal, Columns: columns}
}

func insert(table string, rows int) model.Op {
	return model.Op{Kind: model.Insert, Table: table, Columns: given(table), Rows: rows}
}

// update sets columns, and adds to those that begin with a plus.
func update(table string, columns ...string) model.Op {
	op := model.Op{Kind: model.Update, Table: table}
	for _, c := range columns {
		name, add := strings.CutPrefix(c, "+")
		op.Set = append(op.Set, model.Assign{Column: name, Add: add})
	}
	return op
}

// sized returns the statement on n keys.
func sized(op model.Op, n int) model.Op {
	op.Keys = n
	return op
}

// statements executes the statements of a terminal, one attempt at a transaction at a
// time. After a statement has failed, with err, the others do nothing.
type statements struct {
	workload.Transaction
	session  engine.Session
	prepared []engine.Stmt // by position in shapes; nil until first used
	ctx      context.Context
	out      *workload.Outcome
	err      error
	args     []model.Value // of the statement
	list     []model.Value // memory for the arguments of several rows
	result   engine.Result
	got      rows // of the last read
	counts   bool // bytes returned by reads count as the operation's bytes
}

// prepare prepares the statements, except for the late ones.
func (s *statements) prepare(ctx context.Context, session engine.Session) (err error) {
	s.ctx, s.session, s.prepared = ctx, session, make([]engine.Stmt, len(shapes))
	if s.Transaction, err = workload.NewTransaction(ctx, session); err != nil {
		return err
	}
	for i := range shapes {
		if !shapes[i].late && s.err == nil {
			s.stmt(statement(i))
		}
	}
	return s.err
}

func (s *statements) stmt(subject statement) engine.Stmt {
	if s.prepared[subject] == nil {
		s.prepared[subject], s.err = s.session.Prepare(s.ctx, &shapes[subject].Op)
	}
	return s.prepared[subject]
}

// exec executes a statement and reports whether it succeeded.
func (s *statements) exec(subject statement, args []model.Value) bool {
	if s.err != nil {
		return false
	}
	s.args = append(s.args[:0], args...)
	if stmt := s.stmt(subject); s.err == nil {
		s.err = stmt.Exec(s.ctx, s.args, &s.result)
	}
	return s.err == nil
}

// read executes a read and leaves its rows in s.got.
func (s *statements) read(stmt statement, args ...model.Value) {
	s.got.clear()
	s.result.Each = s.got.each
	if !s.exec(stmt, args) {
		return
	}
	s.out.Reads++
	if s.counts {
		s.out.Bytes += s.result.Bytes
	}
}

// write executes a write of the given number of user bytes, including index entries.
func (s *statements) write(stmt statement, bytes int64, args ...model.Value) {
	s.result.Each = nil
	switch {
	case !s.exec(stmt, args):
	case s.result.Rows == 0:
		s.out.Others++
	default:
		s.out.Writes++
		s.out.Bytes += bytes
	}
}

// rows keeps the rows of a read.
type rows struct {
	n      int
	values []model.Value
	text   []byte // memory of values
	each   func(row []model.Value)
}

func (r *rows) clear() {
	if r.each == nil {
		r.each = r.add // created once, because it is allocated
	}
	r.n, r.values, r.text = 0, r.values[:0], r.text[:0]
}

func (r *rows) add(row []model.Value) {
	r.n++
	for _, v := range row {
		if b := v.Buf(); b != nil {
			start := len(r.text)
			r.text = append(r.text, b...)
			v = model.StringValue(r.text[start:len(r.text):len(r.text)])
		}
		r.values = append(r.values, v)
	}
}

// value returns a column of a row; NULL if there is no such row.
func (r *rows) value(row, column int) model.Value {
	if row >= r.n {
		return model.Value{}
	}
	return r.values[row*len(r.values)/r.n+column]
}

// at returns an integer; 0 for NULL.
func (r *rows) at(row, column int) int64 { return r.value(row, column).Int() }
