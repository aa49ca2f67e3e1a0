package sqlkit

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/model"
)

// base is a prepared statement of a session.
type base struct {
	session  *Session
	label    string
	stmt     Stmt
	want     int   // arguments of an execution
	order    []int // the argument of each placeholder; nil: in order
	arranged []model.Value
	brief    bool // it soon ends by itself, and a context would add cost
}

func newBase(s *Session, t *model.Table, op *model.Op, order []int, st Stmt) base {
	long := op.Kind == model.Scan && (op.Aggregate != model.NoAggregate || op.Distinct || op.OrderBy != "") ||
		op.Kind == model.Update && op.Index != "" || op.Kind == model.Own
	return base{session: s, label: op.Label(), stmt: st, want: op.Args(t), order: order, brief: s.db.dialect.Detached &&
		!long}
}

// begin checks that the statement can be executed and returns the context to
// run in.
func (b *base) begin(ctx context.Context, args []model.Value) (context.Context, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", b.label, err)
	}
	if b.session.conn == nil {
		return nil, ErrClosed
	}
	if len(args) != b.want {
		return nil, fmt.Errorf("%s: %d arguments given, %d wanted", b.label, len(args), b.want)
	}
	if b.brief {
		return context.Background(), nil
	}
	return ctx, nil
}

// arrange returns the arguments in the order of the placeholders.
func (b *base) arrange(args []model.Value) []model.Value {
	if b.order == nil {
		return args
	}
	b.arranged = b.arranged[:0]
	for _, i := range b.order {
		b.arranged = append(b.arranged, args[i])
	}
	return b.arranged
}

func (b *base) fail(err error) error { return b.session.db.dialect.classify(b.label, err) }

// read returns rows or an aggregate.
type read struct {
	base
	types     []model.Type
	columns   int // that the operation returns; the row of one without columns has a 1
	aggregate bool
	ctx       context.Context
	r         *engine.Result
	each      func(row []model.Value) error
}

func newRead(b base, op *model.Op, types []model.Type) *read {
	s := &read{base: b, types: types, columns: max(len(op.Columns), len(op.Returns)), aggregate: op.Kind == model.Scan &&
		op.Aggregate != model.NoAggregate}
	s.each = s.hand // made once: a method value allocates
	return s
}

func (s *read) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	run, err := s.begin(ctx, args)
	if err != nil {
		return err
	}
	s.ctx, s.r = ctx, r
	return s.fail(s.stmt.Query(run, s.arrange(args), s.types, s.each))
}

// hand hands over a row, or keeps the value of an aggregate. By the time that a
// context ends, a server may have sent far more rows.
func (s *read) hand(row []model.Value) error {
	if s.aggregate {
		s.r.Rows, s.r.Value = 1, row[0]
		return nil
	}
	s.r.Row(row[:s.columns])
	if s.r.Rows%256 == 0 {
		return s.ctx.Err()
	}
	return nil
}

// write inserts, updates or deletes rows.
type write struct {
	base
	inserted int64  // the rows of an insert that inserts or changes all of them; 0: the server counts
	numbers  Number // how the number of the last row is known
	last     int    // the argument that is the last row's number, -1 if the engine gives it or none is wanted
	number   model.Value
	returned int64
	each     func(row []model.Value) error
}

var numberType = []model.Type{model.Int}

func newWrite(b base, t *model.Table, op *model.Op) *write {
	s := &write{base: b, last: -1}
	if op.Kind != model.Insert {
		return s
	}
	// Servers disagree on the count of rows that met a conflict.
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
	s.each = s.note
	return s
}

func (s *write) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	run, err := s.begin(ctx, args)
	if err != nil {
		return err
	}
	if s.numbers == ReturnedNumber {
		s.returned = 0
		if err := s.stmt.Query(run, s.arrange(args), numberType, s.each); err != nil {
			return s.fail(err)
		}
		r.Rows, r.Value = s.returned, s.number
		return nil
	}
	rows, id, err := s.stmt.Exec(run, s.arrange(args))
	if err != nil {
		return s.fail(err)
	}
	if r.Rows = s.inserted; s.inserted == 0 {
		r.Rows = rows
	}
	switch {
	case s.last >= 0:
		r.Value = args[s.last]
	case s.numbers == FirstNumber:
		r.Value = model.IntValue(id + r.Rows - 1)
	case s.numbers == LastNumber:
		r.Value = model.IntValue(id)
	}
	return nil
}

// note notes a number that was returned; the last one stays.
func (s *write) note(row []model.Value) error {
	s.returned++
	s.number = row[0]
	return nil
}
