package mongodb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

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
	r.Rows = number(lookup(reply, "n"))
	if s.op.OnConflict == model.Ignore {
		r.Rows = 0
		_, list := lookup(reply, "upserted")
		for rest := body(list); len(rest) > 0 && err == nil; r.Rows++ {
			_, _, _, rest, err = next(rest)
		}
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
	cmd, at := begin(s.session.begin(name, s.t), typeArray, list)
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
	return appendBool(end(cmd, at), "ordered", true), nil
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
	dst, at := begin(dst, typeDocument, "q")
	if dst, err = s.t.appendID(dst, idField, key, false); err != nil {
		return dst, err
	}
	dst = end(dst, at)
	dst, at = begin(dst, typeDocument, "u")
	if s.op.OnConflict == model.Replace {
		dst, err = s.document(dst, key, row)
	} else {
		dst, err = s.modifiers(dst, row)
	}
	return appendBool(end(dst, at), "upsert", true), err
}

// modifiers appends what is added to an old row, and what is only in a new one.
func (s *insert) modifiers(dst []byte, row []model.Value) (_ []byte, err error) {
	dst, at := begin(dst, typeDocument, "$setOnInsert")
	if dst, err = s.fields(dst, row, func(i int) bool { return !s.adds[i] }); err != nil {
		return dst, err
	}
	dst = end(dst, at)
	if s.op.OnConflict != model.Add {
		return dst, nil
	}
	dst, at = begin(dst, typeDocument, "$inc")
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
	list := newList(s.base)
	for i := range rows {
		var err error
		name := strconv.Itoa(i)
		if list.cmd, err = s.t.appendID(list.cmd, name, s.keyOf(args[i*len(s.op.Columns):]), false); err != nil {
			return err
		}
	}
	_, err := list.delete(context.WithoutCancel(ctx))
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
	s.tail = appendBool(nil, "multi", op.Index != "" || op.KeyCount() > 1)
	if s.filter.hinted() {
		s.tail = appendText(s.tail, "hint", indexName(op.Index))
	}
	return s
}

// Exec updates the rows.
func (s *update) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	cmd, list := begin(s.session.begin("update", s.t), typeArray, "updates")
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
		r.Rows = number(lookup(reply, "n"))
	}
	return err
}

// changes appends what is changed, by the kind of change.
func (s *update) changes(dst []byte, args []model.Value) (_ []byte, err error) {
	dst, at := begin(dst, typeDocument, "u")
	for _, kind := range []string{"$set", "$inc", "$unset"} {
		inner := -1
		for i, a := range s.set {
			if kind != kindOf(a, args[i]) {
				continue
			}
			if inner < 0 {
				dst, inner = begin(dst, typeDocument, kind)
			}
			if kind == "$unset" && !s.column[i].NotNull {
				dst = appendBool(dst, a.Column, true)
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
func (s *remove) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	cmd, list := begin(s.session.begin("delete", s.t), typeArray, "deletes")
	cmd, one := item(cmd, 0)
	cmd, found, err := s.filter.appendTo(cmd, "q", args)
	if err != nil {
		return s.wrong(err)
	}
	if !found {
		return nil
	}
	cmd = end(end(appendInt(cmd, "limit", 0), one), list)
	reply, err := s.session.write(ctx, s.label, cmd)
	if err == nil {
		r.Rows = number(lookup(reply, "n"))
	}
	return err
}

// list is a delete of a list of keys.
type list struct {
	base
	cmd   []byte
	parts [5]int // the places where its parts begin
}

func newList(b base) *list {
	l := &list{base: b}
	l.cmd, l.parts[0] = begin(b.session.begin("delete", b.t), typeArray, "deletes")
	l.cmd, l.parts[1] = item(l.cmd, 0)
	l.cmd, l.parts[2] = begin(l.cmd, typeDocument, "q")
	l.cmd, l.parts[3] = begin(l.cmd, typeDocument, idField)
	l.cmd, l.parts[4] = begin(l.cmd, typeArray, "$in")
	return l
}

// delete runs it and returns how many documents it has deleted.
func (l *list) delete(ctx context.Context) (int64, error) {
	for i := 4; i >= 0; i-- {
		if i == 1 {
			l.cmd = appendInt(l.cmd, "limit", 0)
		}
		l.cmd = end(l.cmd, l.parts[i])
	}
	reply, err := l.session.write(ctx, l.label, l.cmd)
	return number(lookup(reply, "n")), err
}

// lowest deletes the documents with the lowest keys: those that it finds, as a
// delete has no order.
type lowest struct {
	base
	rows int
}

// lowestTail is what does not change of the command that finds them.
var lowestTail = static(bson.D{
	{Key: "projection", Value: bson.D{{Key: idField, Value: 1}}}, {Key: "sort", Value: bson.D{{Key: idField, Value: 1}}}, {Key: "hint", Value: indexName("")},
})

// Exec deletes the rows. If others delete some of them meanwhile, it looks for
// more.
func (s *lowest) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	if err := s.start(args, r); err != nil {
		return err
	}
	for want := s.rows; want > 0; want = s.rows - int(r.Rows) {
		keys, err := s.find(ctx, args[0], want)
		if err != nil {
			return err
		}
		found := 0
		l := newList(s.base)
		for ; len(keys) > 0; found++ {
			_, _, doc, rest, err := next(keys)
			if err != nil {
				return s.wrong(err)
			}
			typ, key := lookup(doc, idField)
			l.cmd = append(header(l.cmd, typ, strconv.Itoa(found)), key...)
			keys = rest
		}
		if found == 0 {
			return nil
		}
		n, err := l.delete(ctx)
		if err != nil {
			return err
		}
		if r.Rows += n; found < want {
			return nil
		}
	}
	return nil
}

// find returns the lowest keys as documents.
func (s *lowest) find(ctx context.Context, cursor model.Value, want int) ([]byte, error) {
	cmd, filter := begin(s.session.begin("find", s.t), typeDocument, "filter")
	cmd, from := begin(cmd, typeDocument, idField)
	cmd, err := appendValue(cmd, "$gte", s.t.column(s.t.Key[0]), cursor)
	if err != nil {
		return nil, s.wrong(err)
	}
	cmd = append(end(end(cmd, from), filter), lowestTail...)
	cmd = appendInt(appendInt(cmd, "limit", want), "batchSize", want)
	reply, err := s.session.read(ctx, s.label, cmd)
	if err != nil {
		return nil, err
	}
	_, of := lookup(reply, "cursor")
	_, keys := lookup(of, "firstBatch")
	return body(keys), nil
}
