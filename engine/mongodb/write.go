package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// insert inserts documents, or makes an update of each that inserts it if its key
// is new.
type insert struct {
	base
	op     *model.Op
	key    []int // positions in op.Columns; -1: it is numbered here
	others []int // the other columns, by their positions in op.Columns
	column []*model.Column
	adds   []bool // of op.Columns
	id     []model.Value
	last   int64 // the number of the last row
}

func newInsert(b base, op *model.Op) engine.Stmt {
	s := &insert{base: b, op: op, id: make([]model.Value, len(b.t.Key))}
	for _, name := range b.t.Key {
		s.key = append(s.key, slices.Index(op.Columns, name))
	}
	for i, name := range op.Columns {
		s.column, s.adds = append(s.column, b.t.column(name)), append(s.adds, slices.Contains(op.AddColumns, name))
		if !slices.Contains(b.t.Key, name) {
			s.others = append(s.others, i)
		}
	}
	return s
}

// Exec inserts the rows. Without a transaction the server stores each document for
// itself: those before one that fails are removed again.
func (s *insert) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	s.number(args)
	first := s.last
	cmd, err := s.command(args)
	if err != nil {
		return s.wrong(err)
	}
	reply, err := s.session.write(ctx, s.label, cmd)
	if err != nil {
		var stopped mongo.WriteException
		if s.op.OnConflict == model.Fail && !s.session.inside && errors.As(err, &stopped) && len(stopped.WriteErrors) > 0 {
			err = errors.Join(err, s.undo(ctx, args, first, stopped.WriteErrors[0].Index))
		}
		return err
	}
	r.Rows = number(reply, "n")
	if s.op.OnConflict == model.Ignore {
		r.Rows = 0
		err = each(lookup(reply, "upserted"), func([]byte, bsoncore.Value) error {
			r.Rows++
			return nil
		})
	}
	if s.op.ReturnNumber {
		r.Value = model.IntValue(s.last)
	}
	return err
}

// number takes the numbers of the rows if the table numbers them, and keeps up
// with those that are given.
func (s *insert) number(args []model.Value) {
	switch rows := int64(s.op.Rows); {
	case s.key[0] < 0:
		s.last = s.t.numbers.Add(rows) - rows // key counts them
	case s.t.AutoColumn() >= 0:
		for i := s.key[0]; i < len(args); i += len(s.op.Columns) {
			s.last = args[i].Int()
			for n := s.t.numbers.Load(); n < s.last && !s.t.numbers.CompareAndSwap(n, s.last); {
				n = s.t.numbers.Load()
			}
		}
	}
}

// keyOf returns the primary key of the next row.
func (s *insert) keyOf(row []model.Value) []model.Value {
	for i, at := range s.key {
		if at < 0 {
			s.last++
			s.id[i] = model.IntValue(s.last)
		} else {
			s.id[i] = row[at]
		}
	}
	return s.id
}

func (s *insert) command(args []model.Value) (cmd []byte, err error) {
	name, list := "insert", "documents"
	if s.op.OnConflict != model.Fail {
		name, list = "update", "updates"
	}
	cmd, at := begin(s.session.begin(name, s.t), array, list)
	each := len(s.op.Columns)
	for i := range s.op.Rows {
		row, one := args[i*each:(i+1)*each], 0
		cmd, one = item(cmd, i)
		if s.op.OnConflict == model.Fail {
			cmd, err = s.document(cmd, s.keyOf(row), row)
		} else {
			cmd, err = s.upsert(cmd, s.keyOf(row), row)
		}
		if err != nil {
			return cmd, err
		}
		cmd = end(cmd, one)
	}
	return bsoncore.AppendBooleanElement(end(cmd, at), "ordered", true), nil
}

// document appends the fields of a row.
func (s *insert) document(dst []byte, key, row []model.Value) (_ []byte, err error) {
	if dst, err = s.t.appendID(dst, idField, key, false); err != nil {
		return dst, err
	}
	return s.fields(dst, row, func(int) bool { return true })
}

// fields appends the fields of those columns that are wanted, but not the key's.
func (s *insert) fields(dst []byte, row []model.Value, want func(i int) bool) (_ []byte, err error) {
	for _, i := range s.others {
		if !want(i) {
			continue
		}
		if dst, err = appendField(dst, s.column[i], row[i]); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendField appends a field, nothing for NULL.
func appendField(dst []byte, c *model.Column, v model.Value) ([]byte, error) {
	if !v.IsNull() {
		return appendValue(dst, c.Name, c, v)
	}
	if c.NotNull {
		return dst, fmt.Errorf("column %s is NOT NULL", c.Name)
	}
	return dst, nil
}

// upsert appends an update that inserts the row if there is none with its key.
func (s *insert) upsert(dst []byte, key, row []model.Value) (_ []byte, err error) {
	dst, at := begin(dst, document, "q")
	if dst, err = s.t.appendID(dst, idField, key, false); err != nil {
		return dst, err
	}
	dst = end(dst, at)
	dst, at = begin(dst, document, "u")
	if s.op.OnConflict == model.Replace {
		dst, err = s.document(dst, key, row)
	} else {
		dst, err = s.modifiers(dst, row)
	}
	return bsoncore.AppendBooleanElement(end(dst, at), "upsert", true), err
}

// modifiers appends what is added to an old row, and what is only in a new one.
func (s *insert) modifiers(dst []byte, row []model.Value) (_ []byte, err error) {
	dst, at := begin(dst, document, "$setOnInsert")
	if dst, err = s.fields(dst, row, func(i int) bool { return !s.adds[i] }); err != nil {
		return dst, err
	}
	dst = end(dst, at)
	if s.op.OnConflict != model.Add {
		return dst, nil
	}
	dst, at = begin(dst, document, "$inc")
	dst, err = s.fields(dst, row, func(i int) bool { return s.adds[i] })
	return end(dst, at), err
}

// undo removes the first rows of an insert that failed. It does so whatever
// becomes of the context.
func (s *insert) undo(ctx context.Context, args []model.Value, first int64, rows int) error {
	if rows == 0 {
		return nil
	}
	s.last = first
	var keys []model.Value
	for i := range rows {
		keys = append(keys, s.keyOf(args[i*len(s.op.Columns):])...)
	}
	undo := &remove{s.base, newFilter(s.t, &model.Op{Kind: model.Delete, Keys: rows})}
	_, err := undo.delete(context.WithoutCancel(ctx), keys)
	return err
}

// update sets fields of the documents that a condition finds.
type update struct {
	base
	filter *filter
	set    []model.Assign
	column []*model.Column
	tail   []byte
}

func newUpdate(b base, op *model.Op) engine.Stmt {
	s := &update{base: b, filter: newFilter(b.t, op), set: op.Set}
	for _, a := range op.Set {
		s.column = append(s.column, b.t.column(a.Column))
	}
	s.tail = bsoncore.AppendBooleanElement(nil, "multi", op.Index != "" || op.KeyCount() > 1)
	if s.filter.hinted(op.Index) {
		s.tail = bsoncore.AppendStringElement(s.tail, "hint", op.Index)
	}
	return s
}

// Exec updates the rows.
func (s *update) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	cmd, list := begin(s.session.begin("update", s.t), array, "updates")
	cmd, one := item(cmd, 0)
	cmd, found, err := s.filter.appendTo(cmd, "q", args[len(s.set):])
	if err == nil && found {
		cmd, err = s.changes(cmd, args)
	}
	if err != nil {
		return s.wrong(err)
	}
	if !found {
		return nil
	}
	cmd = end(end(append(cmd, s.tail...), one), list)
	reply, err := s.session.write(ctx, s.label, cmd)
	if err == nil {
		r.Rows = number(reply, "n")
	}
	return err
}

// changes appends what is changed, by the kind of change.
func (s *update) changes(dst []byte, args []model.Value) (_ []byte, err error) {
	dst, at := begin(dst, document, "u")
	for _, kind := range []string{"$set", "$inc", "$unset"} {
		inner := -1
		for i, a := range s.set {
			if kind != kindOf(a, args[i]) {
				continue
			}
			if inner < 0 {
				dst, inner = begin(dst, document, kind)
			}
			if kind == "$unset" && !s.column[i].NotNull {
				dst = bsoncore.AppendBooleanElement(dst, a.Column, true)
			} else if dst, err = appendField(dst, s.column[i], args[i]); err != nil {
				return dst, err
			}
		}
		if inner >= 0 {
			dst = end(dst, inner)
		}
	}
	return end(dst, at), nil
}

// kindOf returns the operator that changes a column. What NULL is added to becomes
// NULL.
func kindOf(a model.Assign, v model.Value) string {
	switch {
	case v.IsNull():
		return "$unset"
	case a.Add:
		return "$inc"
	}
	return "$set"
}

// remove deletes documents by key.
type remove struct {
	base
	filter *filter
}

// Exec deletes the rows.
func (s *remove) Exec(ctx context.Context, args []model.Value, r *engine.Result) (err error) {
	if err = s.start(args, r); err == nil {
		r.Rows, err = s.delete(ctx, args)
	}
	return err
}

func (s *remove) delete(ctx context.Context, keys []model.Value) (int64, error) {
	cmd, list := begin(s.session.begin("delete", s.t), array, "deletes")
	cmd, one := item(cmd, 0)
	cmd, found, err := s.filter.appendTo(cmd, "q", keys)
	if err != nil {
		return 0, s.wrong(err)
	}
	if !found {
		return 0, nil
	}
	cmd = end(end(bsoncore.AppendInt32Element(cmd, "limit", 0), one), list)
	reply, err := s.session.write(ctx, s.label, cmd)
	return number(reply, "n"), err
}

// lowest deletes the documents with the lowest keys: those that it finds, as a
// delete has no order.
type lowest struct {
	base
	rows   int
	find   engine.Stmt
	remove *remove
	keys   []model.Value
	found  engine.Result
}

func newLowest(b base, op *model.Op) (engine.Stmt, error) {
	s := &lowest{base: b, rows: op.Rows, remove: &remove{b, newFilter(b.t, &model.Op{Kind: model.Delete, Keys: op.Rows})}}
	s.found.Each = func(row []model.Value) { s.keys = append(s.keys, row[0]) } // in the reply, which is not reused
	scan := &model.Op{Kind: model.Scan, Table: op.Table, Columns: b.t.Key, Lower: model.Inclusive, Limit: op.Rows}
	var err error
	s.find, err = newRead(b, scan)
	return s, err
}

// Exec deletes the rows. If others delete some of them meanwhile, it looks for
// more.
func (s *lowest) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	for int(r.Rows) < s.rows {
		s.keys = s.keys[:0]
		if err := s.find.Exec(ctx, args, &s.found); err != nil {
			return err
		}
		if len(s.keys) == 0 {
			return nil
		}
		n, err := s.remove.delete(ctx, s.keys[:min(len(s.keys), s.rows-int(r.Rows))])
		if err != nil {
			return err
		}
		if r.Rows += n; len(s.keys) < s.rows {
			return nil
		}
	}
	return nil
}
