package mongodb

import (
	"context"
	"errors"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// insert inserts documents; for a conflict rule it is an update for each document that
// inserts it if its key is new.
type insert struct {
	statement
	op     *model.Op
	auto   bool          // the table numbers its rows
	number int           // the position of the number in a row; -1: it is generated here
	args   []model.Value // followed by the numbers
}

func newInsert(st statement, op *model.Op) engine.Stmt {
	s := &insert{statement: st, op: op, auto: st.t.AutoColumn() >= 0, number: slices.Index(op.Columns, st.t.Key[0])}
	name, list, items := "insert", "documents", bson.A{}
	if op.OnConflict != model.Fail {
		name, list = "update", "updates"
	}
	for row := range op.Rows {
		id := doc(idField, s.t.id(s.key(row), false))
		u := append(id[:1:1], s.fields(row, false)...)
		switch op.OnConflict {
		case model.Fail:
			items = append(items, u)
			continue
		case model.Ignore, model.Add:
			u = doc("$setOnInsert", s.fields(row, false), "$inc", optional(s.fields(row, true)))
		}
		items = append(items, doc("q", id, "u", u, "upsert", true))
	}
	s.command = newCommand(doc(name, s.t.Name, list, items))
	s.command.writes = true
	return s
}

// key returns the positions of a row's primary key among the arguments.
func (s *insert) key(row int) (places []int) {
	if s.number < 0 {
		return []int{s.want + row}
	}
	for _, name := range s.t.Key {
		places = append(places, row*len(s.op.Columns)+slices.Index(s.op.Columns, name))
	}
	return places
}

// fields returns the fields of a row that are not in the key: either those that are added
// to an existing row, or the others.
func (s *insert) fields(row int, added bool) bson.D {
	d := bson.D{}
	for i, name := range s.op.Columns {
		if !slices.Contains(s.t.Key, name) && added == slices.Contains(s.op.AddColumns, name) {
			d = append(d, bson.E{Key: name, Value: arg{at: row*len(s.op.Columns) + i, column: s.t.column(name)}})
		}
	}
	return d
}

// Exec inserts the rows. Without a transaction the server stores each document
// separately: if one fails, those before it are removed again.
func (s *insert) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	if err := s.check(args); err != nil {
		return err
	}
	args, last := s.numbered(args)
	reply, err := s.session.run(ctx, s.label, s.command, args)
	if err != nil {
		var stopped mongo.WriteException
		if s.op.OnConflict == model.Fail && !s.session.inside && errors.As(err, &stopped) && len(stopped.WriteErrors) > 0 {
			err = errors.Join(err, s.undo(ctx, args, stopped.WriteErrors[0].Index))
		}
		return err
	}
	r.Rows = number(reply, "n")
	if s.op.OnConflict == model.Ignore {
		inserted, _ := bsoncore.Document(lookup(reply, "upserted")).Elements()
		r.Rows = int64(len(inserted))
	}
	if s.op.ReturnNumber {
		r.Value = model.IntValue(last)
	}
	return nil
}

// numbered numbers the rows if the table does so, and tracks the numbers that are given.
// It returns the last one.
func (s *insert) numbered(args []model.Value) (_ []model.Value, last int64) {
	switch rows := int64(s.op.Rows); {
	case !s.auto:
	case s.number < 0:
		last = s.t.numbers.Add(rows)
		s.args = append(s.args[:0], args...)
		for i := last - rows + 1; i <= last; i++ {
			s.args = append(s.args, model.IntValue(i))
		}
		return s.args, last
	default:
		for i := s.number; i < len(args); i += len(s.op.Columns) {
			last = args[i].Int()
			for n := s.t.numbers.Load(); n < last && !s.t.numbers.CompareAndSwap(n, last); {
				n = s.t.numbers.Load()
			}
		}
	}
	return args, last
}

// undo removes the first rows of an insert that failed. It runs even if the context has ended.
func (s *insert) undo(ctx context.Context, args []model.Value, rows int) error {
	if rows == 0 {
		return nil
	}
	var keys []model.Value
	for row := range rows {
		for _, index := range s.key(row) {
			keys = append(keys, args[index])
		}
	}
	op := &model.Op{Kind: model.Delete, Table: s.t.Name, Keys: rows}
	return newWrite(s.session.statement(s.t, op), op).Exec(context.WithoutCancel(ctx), keys, &engine.Result{})
}

// write updates or deletes the documents that a condition finds.
type write struct{ statement }

func newWrite(s statement, op *model.Op) *write {
	s.filter = newFilter(s.t, op)
	change := doc("q", s.filter.condition())
	if op.Kind == model.Delete {
		s.command = newCommand(doc("delete", s.t.Name, "deletes", bson.A{append(change, bson.E{Key: "limit", Value: 0})}))
	} else {
		change = append(change, doc("u", s.changes(op.Set), "multi", op.Index != "" || op.KeyCount() > 1)...)
		if s.filter.hinted(op.Index) {
			change = append(change, bson.E{Key: "hint", Value: op.Index})
		}
		s.command = newCommand(doc("update", s.t.Name, "updates", bson.A{change}))
	}
	s.command.writes = true
	return &write{s}
}

// changes returns the changes of an update. Adding to NULL gives NULL.
func (s *statement) changes(list []model.Assign) bson.D {
	var set, inc, unset optional
	for i, a := range list {
		c := s.t.column(a.Column)
		e := bson.E{Key: a.Column, Value: arg{at: i, column: c}}
		if a.Add {
			inc = append(inc, e)
		} else {
			set = append(set, e)
		}
		if !c.NotNull {
			unset = append(unset, bson.E{Key: a.Column, Value: arg{i, c, true}})
		}
	}
	return doc("$set", set, "$inc", inc, "$unset", unset)
}

func (s *write) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	reply, err := s.run(ctx, args)
	r.Rows = number(reply, "n")
	return err
}

// lowest deletes the documents with the lowest keys: it finds them first, as a delete has
// no order.
type lowest struct {
	rows         int
	find, remove engine.Stmt
	keys         []model.Value
	found, gone  engine.Result
}

func newLowest(st statement, op *model.Op) (_ engine.Stmt, err error) {
	s := &lowest{rows: op.Rows}
	s.found.Each = func(row []model.Value) { s.keys = append(s.keys, row[0]) } // in the reply, which is not reused
	remove := &model.Op{Kind: model.Delete, Table: op.Table, Keys: op.Rows}
	s.remove = newWrite(st.session.statement(st.t, remove), remove)
	scan := &model.Op{Kind: model.Scan, Table: op.Table, Columns: st.t.Key, Lower: model.Inclusive, Limit: op.Rows}
	s.find, err = newRead(st, scan)
	return s, err
}

// Exec deletes the rows. If others delete some of them concurrently, it looks for more.
func (s *lowest) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	for int(r.Rows) < s.rows {
		s.keys = s.keys[:0]
		if err := s.find.Exec(ctx, args, &s.found); err != nil || len(s.keys) == 0 {
			return err
		}
		found := len(s.keys)
		s.keys = s.keys[:min(found, s.rows-int(r.Rows))]
		for len(s.keys) < s.rows {
			s.keys = append(s.keys, s.keys[0]) // a key may repeat
		}
		if err := s.remove.Exec(ctx, s.keys, &s.gone); err != nil {
			return err
		}
		if r.Rows += s.gone.Rows; found < s.rows {
			return nil
		}
	}
	return nil
}
