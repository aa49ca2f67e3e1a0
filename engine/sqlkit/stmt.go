package sqlkit

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"rumbench/engine"
	"rumbench/model"
)

// base is a prepared statement with its arguments.
type base struct {
	session *Session
	label   string
	stmt    driver.Stmt
	direct  Direct // stmt, if it is one
	want    int    // arguments of an execution
	order   []int  // the argument of each placeholder; nil: as they come
	args    []driver.NamedValue
	long    bool // it may run long without coming back
}

func newBase(s *Session, t *model.Table, op *model.Op, text Statement, st driver.Stmt) base {
	b := base{session: s, label: op.Label(), stmt: st, direct: directOf(st, s.conn), want: op.Args(t), order: text.Args}
	n := b.want
	if b.order != nil {
		n = len(b.order)
	}
	b.args = make([]driver.NamedValue, n)
	for i := range b.args {
		b.args[i].Ordinal = i + 1
	}
	switch op.Kind {
	case model.Scan:
		b.long = op.Aggregate != model.NoAggregate || op.Distinct || op.OrderBy != ""
	case model.Update:
		b.long = op.Index != ""
	}
	return b
}

// check tells whether the statement can be executed.
func (b *base) check(ctx context.Context, args []model.Value) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", b.label, err)
	}
	if b.session.conn == nil {
		return errClosed
	}
	if len(args) != b.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", b.label, len(args), b.want)
	}
	return nil
}

// bind readies the arguments and returns the context to run in.
func (b *base) bind(ctx context.Context, args []model.Value) (context.Context, error) {
	if err := b.check(ctx, args); err != nil {
		return nil, err
	}
	d := b.session.db.dialect
	if text, ok := b.stmt.(*textStmt); ok {
		text.fill(args)
		return b.runIn(ctx), nil
	}
	for i := range b.args {
		from := i
		if b.order != nil {
			from = b.order[i]
		}
		b.args[i].Value = d.argument(args[from])
	}
	return b.runIn(ctx), nil
}

// runIn is the context to run in.
func (b *base) runIn(ctx context.Context) context.Context {
	if b.long {
		return ctx
	}
	return b.session.db.dialect.brief(ctx)
}

func (b *base) fail(err error) error { return b.session.db.dialect.classify(b.label, err) }

// values runs a query and hands over each row as the driver reads it.
func (b *base) values(ctx context.Context, args []model.Value, types []model.Type, each func(row []model.Value) error) error {
	if err := b.check(ctx, args); err != nil {
		return err
	}
	if err := b.direct.QueryValues(ctx, args, b.order, types, each); err != nil {
		return b.fail(err)
	}
	return nil
}

// rows runs a query and hands over each row.
func (b *base) rows(ctx context.Context, args []model.Value, dest []driver.Value, each func() error) (err error) {
	run, err := b.bind(ctx, args)
	if err != nil {
		return err
	}
	queryer, ok := b.stmt.(driver.StmtQueryContext)
	if !ok {
		return fmt.Errorf("the driver's %T cannot query in a context", b.stmt)
	}
	rows, err := queryer.QueryContext(run, b.args)
	if err != nil {
		return b.fail(err)
	}
	defer func() {
		if e := rows.Close(); e != nil {
			err = errors.Join(err, b.fail(e))
		}
	}()
	for n := 1; ; n++ {
		switch err := rows.Next(dest); {
		case err == io.EOF:
			return nil
		case err != nil:
			return b.fail(err)
		}
		if err := each(); err != nil {
			return fmt.Errorf("%s: %w", b.label, err)
		}
		if n%256 == 0 && ctx.Err() != nil { // a driver may look at it before the first row only
			return fmt.Errorf("%s: %w", b.label, ctx.Err())
		}
	}
}

// read returns rows or an aggregate.
type read struct {
	base
	types     []model.Type
	dest      []driver.Value
	row       []model.Value
	aggregate bool
	r         *engine.Result
	each      func() error
	eachRow   func(row []model.Value) error
}

func newRead(b base, op *model.Op, types []model.Type) *read {
	s := &read{base: b, types: types, aggregate: op.Kind == model.Scan && op.Aggregate != model.NoAggregate}
	s.dest = make([]driver.Value, len(types))
	s.row = make([]model.Value, len(op.Columns))
	if s.aggregate {
		s.row = make([]model.Value, 1)
	}
	s.each, s.eachRow = s.take, s.hand // made once: a method value allocates
	return s
}

func (s *read) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	s.r = r
	if s.direct != nil {
		return s.values(ctx, args, s.types, s.eachRow)
	}
	return s.rows(ctx, args, s.dest, s.each)
}

func (s *read) take() (err error) {
	d := s.session.db.dialect
	for i := range s.row {
		if s.row[i], err = d.value(s.dest[i], s.types[i]); err != nil {
			return err
		}
	}
	return s.hand(s.row)
}

// hand hands over a row, or keeps the value of an aggregate. An operation
// without columns has a row of none.
func (s *read) hand(row []model.Value) error {
	if s.aggregate {
		s.r.Rows, s.r.Value = 1, row[0]
		return nil
	}
	s.r.Row(row[:len(s.row)])
	return nil
}

// write inserts, updates or deletes rows.
type write struct {
	base
	exec     driver.StmtExecContext
	inserted int64  // the rows of an insert that inserts or changes all of them; 0: the driver knows
	numbers  Number // how the number of the last row is told
	last     int    // the argument that is the last row's number, -1 if the engine gives it or nobody asks
	dest     []driver.Value
	number   model.Value
	returned int64
	each     func() error
	eachRow  func(row []model.Value) error
}

var numberType = []model.Type{model.Int}

func newWrite(b base, t *model.Table, op *model.Op) (*write, error) {
	s := &write{base: b, last: -1}
	var ok bool
	if s.exec, ok = b.stmt.(driver.StmtExecContext); !ok && b.direct == nil {
		return nil, fmt.Errorf("the driver's %T cannot execute in a context", b.stmt)
	}
	if op.Kind != model.Insert {
		return s, nil
	}
	// Drivers disagree on the count of rows that met a conflict.
	if op.OnConflict != model.Ignore {
		s.inserted = int64(op.Rows)
	}
	if auto := t.AutoColumn(); auto >= 0 && op.ReturnNumber {
		s.numbers = b.session.db.dialect.Number
		for i, c := range op.Columns {
			if c == t.Columns[auto].Name {
				s.numbers, s.last = NoNumber, (op.Rows-1)*len(op.Columns)+i
			}
		}
	}
	if s.numbers == ReturnedNumber {
		s.dest = make([]driver.Value, 1)
		s.each, s.eachRow = s.take, s.note
	}
	return s, nil
}

func (s *write) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	if s.numbers == ReturnedNumber {
		s.returned = 0
		var err error
		if s.direct != nil {
			err = s.values(ctx, args, numberType, s.eachRow)
		} else {
			err = s.rows(ctx, args, s.dest, s.each)
		}
		if err != nil {
			return err
		}
		r.Rows, r.Value = s.returned, s.number
		return nil
	}
	rows, id, err := s.execute(ctx, args)
	if err != nil {
		return err
	}
	s.report(rows, id, args, r)
	return nil
}

// execute executes the statement and returns the number of its rows and the
// last insert id, where they are wanted.
func (s *write) execute(ctx context.Context, args []model.Value) (rows, id int64, err error) {
	if s.direct != nil {
		if err = s.check(ctx, args); err != nil {
			return 0, 0, err
		}
		rows, id, err = s.direct.ExecValues(ctx, args, s.order)
		return rows, id, s.fail(err)
	}
	run, err := s.bind(ctx, args)
	if err != nil {
		return 0, 0, err
	}
	result, err := s.exec.ExecContext(run, s.args)
	if err == nil && s.inserted == 0 {
		rows, err = result.RowsAffected()
	}
	if err == nil && s.numbers != NoNumber {
		id, err = result.LastInsertId()
	}
	return rows, id, s.fail(err)
}

// take notes a number that was returned; the last one stays.
func (s *write) take() (err error) {
	s.returned++
	s.number, err = s.session.db.dialect.value(s.dest[0], model.Int)
	return err
}

// note is take of a row that the driver has read.
func (s *write) note(row []model.Value) error {
	s.returned++
	s.number = row[0]
	return nil
}

func (s *write) report(rows, id int64, args []model.Value, r *engine.Result) {
	if r.Rows = s.inserted; s.inserted == 0 {
		r.Rows = rows
	}
	if s.last >= 0 {
		r.Value = args[s.last]
	}
	if s.numbers == NoNumber {
		return
	}
	if s.numbers == FirstNumber {
		id += r.Rows - 1
	}
	r.Value = model.IntValue(id)
}
