package mongodb

import (
	"context"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// maxRows is the maximum number of documents in a reply, if they fit.
const maxRows = 10_000

// read is a find, or an aggregate for operations that a find does not support.
type read struct {
	statement
	more      *command // fetches the following rows
	aggregate model.Aggregate
	fields    []field
	row       []model.Value
	cursor    [1]model.Value
}

// field is a field of the documents in a reply, or of the document _id in them.
type field struct {
	name   string
	column *model.Column
}

// newRead prepares a read. Lock needs no action: if two transactions have read a document
// and change it, the second fails with a write conflict.
func newRead(s statement, op *model.Op) (_ engine.Stmt, err error) {
	r := &read{statement: s, aggregate: op.Aggregate}
	r.filter = newFilter(s.t, op)
	d := r.find(op)
	if op.Aggregate != model.NoAggregate || op.Distinct {
		if d, err = r.pipeline(op); err != nil {
			return nil, err
		}
	}
	if !op.Free && r.filter.hinted(op.Index) {
		d = append(d, bson.E{Key: "hint", Value: op.Index})
	}
	r.command = newCommand(d)
	cursor := arg{column: &model.Column{Type: model.Int}}
	r.more = newCommand(doc("getMore", cursor, "collection", s.t.Name, "batchSize", maxRows))
	for _, name := range op.Columns {
		f := field{name, s.t.column(name)}
		if s.t.path(name) == idField && !op.Distinct {
			f.name = idField
		}
		r.fields = append(r.fields, f)
	}
	switch op.Aggregate {
	case model.Count:
		r.fields = []field{{"v", &model.Column{Name: "count", Type: model.Int}}}
	case model.Sum:
		r.fields = []field{{"v", s.t.column(op.Columns[0])}}
	}
	r.row = make([]model.Value, len(r.fields))
	return r, nil
}

func (r *read) find(op *model.Op) bson.D {
	d := doc("find", r.t.Name, "filter", r.filter.condition(), "batchSize", maxRows)
	if columns := engine.Unique(op.Columns); len(columns) < len(r.t.Columns) {
		fields := bson.D{}
		for _, c := range columns {
			fields = append(fields, bson.E{Key: r.t.path(c), Value: 1})
		}
		if !slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(r.t.Key, c) }) {
			fields = append(fields, bson.E{Key: idField, Value: 0})
		}
		d = append(d, bson.E{Key: "projection", Value: fields})
	}
	if by := sorting(r.order(op), op.Desc); len(by) > 0 {
		d = append(d, doc("sort", by, "allowDiskUse", true)...)
	}
	limit := op.Limit
	if op.Kind == model.Get && op.Index == "" {
		limit = op.KeyCount()
	}
	switch {
	case op.LimitGiven:
		given := arg{at: op.Args(&r.t.Table) - 1, column: &model.Column{Type: model.Int}}
		d = append(d, doc("limit", given, "singleBatch", limit <= maxRows)...)
	case limit > 0:
		d = append(d, doc("limit", limit, "singleBatch", limit <= maxRows)...)
	}
	return d
}

// order returns the paths by which rows are sorted. Entries that are equal in them are
// returned in the order of the index, by key.
func (r *read) order(op *model.Op) (paths []string) {
	switch {
	case op.OrderBy != "":
		return []string{r.t.path(op.OrderBy)}
	case op.Free || op.Kind == model.Get:
		return nil
	case r.filter.whole:
		return []string{idField}
	}
	return r.filter.paths[op.Equal:]
}

func sorting(paths []string, desc bool) (by bson.D) {
	way := 1
	if desc {
		way = -1
	}
	for _, p := range paths {
		by = append(by, bson.E{Key: p, Value: way})
	}
	return by
}

// pipeline returns an aggregate: distinct rows, their order and limit, and the count or
// the sum of the result.
func (r *read) pipeline(op *model.Op) (bson.D, error) {
	single := op.Aggregate != model.NoAggregate
	if single && len(op.Columns) == 1 { // which skips NULL
		c := r.t.column(op.Columns[0])
		if !c.NotNull && op.Limit > 0 {
			return nil, fmt.Errorf("operation %s: the engine cannot count values among limited rows that may be NULL",
				op.Label())
		}
		r.filter.present(c)
	}
	stages := bson.A{doc("$match", r.filter.condition())}
	add := func(name string, value any) { stages = append(stages, doc(name, value)) }
	by, path := r.order(op), r.t.path
	if op.Distinct {
		path = func(column string) string { return idField + "." + column }
		id := bson.D{}
		by = nil
		if op.OrderBy != "" {
			by = append(by, path(op.OrderBy))
		}
		for _, c := range engine.Unique(op.Columns) {
			id = append(id, bson.E{Key: c, Value: "$" + r.t.path(c)})
			if !op.Free {
				by = append(by, path(c))
			}
		}
		add("$group", doc(idField, id))
	}
	if len(by) > 0 && (op.Limit > 0 || !single) {
		add("$sort", sorting(engine.Unique(by), op.Desc))
	}
	if op.Limit > 0 {
		add("$limit", op.Limit)
	}
	switch op.Aggregate {
	case model.Count:
		add("$group", doc(idField, bson.Null{}, "v", doc("$sum", 1)))
	case model.Sum:
		add("$group", doc(idField, bson.Null{}, "v", doc("$sum", "$"+path(op.Columns[0]))))
	}
	return doc("aggregate", r.t.Name, "pipeline", stages, "cursor", doc("batchSize", maxRows), "allowDiskUse", true), nil
}

// Exec runs the command and hands over its rows.
func (r *read) Exec(ctx context.Context, args []model.Value, res *engine.Result) error {
	res.Reset()
	if r.aggregate != model.NoAggregate {
		res.Rows = 1
		if r.aggregate == model.Count {
			res.Value = model.IntValue(0)
		}
	}
	reply, err := r.run(ctx, args)
	for err == nil && reply != nil {
		var cursor int64
		if cursor, err = r.batch(reply, res); err != nil {
			return fmt.Errorf("%s: %w", r.label, err)
		}
		if cursor == 0 {
			return nil
		}
		r.cursor[0] = model.IntValue(cursor)
		reply, err = r.session.run(ctx, r.label, r.more, r.cursor[:])
	}
	return err
}

// batch reads the documents of a reply and returns the cursor of the following ones, 0 if
// there are none.
func (r *read) batch(reply []byte, res *engine.Result) (cursor int64, err error) {
	err = each(lookup(reply, "cursor"), func(name []byte, v bsoncore.Value) error {
		switch string(name) {
		case "id":
			cursor = v.Int64()
		case "firstBatch", "nextBatch":
			return each(v.Data, func(_ []byte, doc bsoncore.Value) error {
				clear(r.row)
				err := r.decode(doc.Data)
				switch {
				case err != nil:
				case r.aggregate != model.NoAggregate:
					res.Value = r.row[0]
				default:
					res.Row(r.row)
				}
				return err
			})
		}
		return nil
	})
	return cursor, err
}

// decode reads the fields of a document. A missing field is NULL.
func (r *read) decode(doc []byte) error {
	return each(doc, func(name []byte, v bsoncore.Value) (err error) {
		if v.Type == bsoncore.TypeEmbeddedDocument { // it contains the columns of a key
			return r.decode(v.Data)
		}
		for i := range r.fields {
			if f := &r.fields[i]; err == nil && string(name) == f.name {
				r.row[i], err = decode(f.column, v)
			}
		}
		return err
	})
}
