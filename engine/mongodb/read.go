package mongodb

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// mostRows is how many documents a reply holds at most, as far as they fit.
const mostRows = 10_000

// read is a find, or an aggregate for what a find does not do.
type read struct {
	base
	filter  *filter
	grouped bool   // an aggregate
	stages  []byte // that follow its filter, as elements of the pipeline
	tail    []byte // of the command
	single  model.Aggregate
	sum     *model.Column
	rows    rows
}

func newRead(b base, op *model.Op) (engine.Stmt, error) {
	r := &read{base: b, filter: newFilter(b.t, op), single: op.Aggregate, grouped: op.Aggregate != model.NoAggregate || op.Distinct}
	r.rows = newRows(b.t, op)
	if op.Shorter != "" {
		r.filter.measure(op.Shorter)
	}
	tail := bson.D{}
	if r.grouped {
		stages, err := r.pipeline(op)
		if err != nil {
			return nil, err
		}
		r.stages = static(stages)
		tail = append(tail, bson.E{Key: "cursor", Value: bson.D{{Key: "batchSize", Value: mostRows}}}, bson.E{Key: "allowDiskUse", Value: true})
	} else {
		tail = r.find(op)
	}
	if !op.Free && r.filter.hinted(op.Index) {
		tail = append(tail, bson.E{Key: "hint", Value: op.Index})
	}
	r.tail = static(tail)
	return r, nil
}

// static returns the elements of a part of a command that does not change.
func static(d bson.D) []byte {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err) // it has no values that could fail
	}
	return b[4 : len(b)-1]
}

// once returns names without repetitions.
func once(names []string) (out []string) {
	for _, name := range names {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// find returns the rest of a find.
func (r *read) find(op *model.Op) (tail bson.D) {
	if len(once(op.Columns)) < len(r.t.Columns) {
		fields := bson.D{}
		hasKey := false
		for _, c := range once(op.Columns) {
			hasKey = hasKey || slices.Contains(r.t.Key, c)
			fields = append(fields, bson.E{Key: r.t.path(c), Value: 1})
		}
		if !hasKey {
			fields = append(fields, bson.E{Key: idField, Value: 0})
		}
		tail = append(tail, bson.E{Key: "projection", Value: fields})
	}
	if by := sorting(r.order(op), op.Desc); len(by) > 0 {
		tail = append(tail, bson.E{Key: "sort", Value: by}, bson.E{Key: "allowDiskUse", Value: true})
	}
	limit := op.Limit
	if op.Kind == model.Get && op.Index == "" {
		limit = op.KeyCount()
	}
	if limit > 0 {
		tail = append(tail, bson.E{Key: "limit", Value: limit}, bson.E{Key: "singleBatch", Value: limit <= mostRows})
	}
	return append(tail, bson.E{Key: "batchSize", Value: mostRows})
}

// order returns the paths that rows are sorted by. Entries that are equal in them
// come as the index holds them, by key.
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

// pipeline returns the stages of an aggregate: distinct rows, their order and
// limit, and the count or the sum of what is left. They are numbered from 1, as
// the filter is the first.
func (r *read) pipeline(op *model.Op) (stages bson.D, err error) {
	if op.Aggregate != model.NoAggregate && len(op.Columns) == 1 { // which skips NULL
		if never := r.filter.present(op.Columns[0]); !never && op.Limit > 0 {
			return nil, fmt.Errorf("operation %s: the engine cannot count values among limited rows that may be NULL", op.Label())
		}
	}
	add := func(name string, value any) {
		stages = append(stages, bson.E{Key: strconv.Itoa(len(stages) + 1), Value: bson.D{{Key: name, Value: value}}})
	}
	value := ""
	if len(op.Columns) > 0 {
		value = "$" + r.t.path(op.Columns[0])
	}
	by := sorting(r.order(op), op.Desc)
	if op.Distinct {
		id, paths := bson.D{}, []string{}
		for _, c := range once(op.Columns) {
			id = append(id, bson.E{Key: c, Value: "$" + r.t.path(c)})
			if !op.Free && c != op.OrderBy {
				paths = append(paths, idField+"."+c)
			}
		}
		if op.OrderBy != "" {
			paths = slices.Insert(paths, 0, idField+"."+op.OrderBy)
		}
		add("$group", bson.D{{Key: idField, Value: id}})
		by, value = sorting(paths, op.Desc), "$"+idField+"."+op.Columns[0]
	}
	if len(by) > 0 && (op.Limit > 0 || op.Aggregate == model.NoAggregate) {
		add("$sort", by)
	}
	if op.Limit > 0 {
		add("$limit", op.Limit)
	}
	switch op.Aggregate {
	case model.Count:
		add("$group", bson.D{{Key: idField, Value: nil}, {Key: "v", Value: bson.D{{Key: "$sum", Value: 1}}}})
		r.sum = &model.Column{Name: "count", Type: model.Int}
	case model.Sum:
		add("$group", bson.D{{Key: idField, Value: nil}, {Key: "v", Value: bson.D{{Key: "$sum", Value: value}}}})
		r.sum = r.t.column(op.Columns[0])
	}
	return stages, nil
}

// Exec runs the command and hands over its rows.
func (r *read) Exec(ctx context.Context, args []model.Value, res *engine.Result) error {
	if err := r.start(args, res); err != nil {
		return err
	}
	s := r.session
	cmd, found, err := r.command(args)
	if err != nil {
		return r.wrong(err)
	}
	if r.single != model.NoAggregate {
		res.Rows = 1
		if r.single == model.Count {
			res.Value = model.IntValue(0)
		}
	}
	if !found {
		return nil
	}
	reply, err := s.read(ctx, r.label, cmd)
	for err == nil {
		var cursor int64
		if cursor, err = r.batch(reply, res); err != nil || cursor == 0 {
			return err
		}
		more := bsoncore.AppendInt64Element(append(s.buf[:0], 0, 0, 0, 0), "getMore", cursor)
		more = bsoncore.AppendStringElement(more, "collection", r.t.Name)
		reply, err = s.read(ctx, r.label, bsoncore.AppendInt32Element(more, "batchSize", mostRows))
	}
	return err
}

// command returns the command. found is false if no row can be found.
func (r *read) command(args []model.Value) (cmd []byte, found bool, err error) {
	if !r.grouped {
		cmd, found, err = r.filter.appendTo(r.session.begin("find", r.t), "filter", args)
		return append(cmd, r.tail...), found, err
	}
	cmd, list := begin(r.session.begin("aggregate", r.t), array, "pipeline")
	cmd, at := item(cmd, 0)
	cmd, found, err = r.filter.appendTo(cmd, "$match", args)
	cmd = append(end(cmd, at), r.stages...)
	return append(end(cmd, list), r.tail...), found, err
}

// batch reads the documents of a reply and returns the cursor of those that
// follow, 0 if there are none.
func (r *read) batch(reply []byte, res *engine.Result) (cursor int64, err error) {
	err = each(lookup(reply, "cursor"), func(name []byte, v bsoncore.Value) error {
		switch string(name) {
		case "id":
			cursor = v.Int64()
		case "firstBatch", "nextBatch":
			return each(v.Data, func(_ []byte, doc bsoncore.Value) error { return r.document(doc.Data, res) })
		}
		return nil
	})
	if err != nil {
		err = r.wrong(err)
	}
	return cursor, err
}

func (r *read) document(doc []byte, res *engine.Result) (err error) {
	if r.single != model.NoAggregate {
		v, _ := bsoncore.Document(doc).LookupErr("v")
		res.Value, err = decode(r.sum, v)
		return err
	}
	if err = r.rows.decode(doc); err == nil {
		res.Row(r.rows.row)
	}
	return err
}

// rows decodes documents into rows.
type rows struct {
	columns []*model.Column
	names   []string
	inner   []bool // the field is in the document _id
	nested  bool   // one is
	row     []model.Value
}

func newRows(t *layout, op *model.Op) rows {
	r := rows{row: make([]model.Value, len(op.Columns))}
	for _, c := range op.Columns {
		name, inner := c, op.Distinct || t.composite() && slices.Contains(t.Key, c)
		if !inner {
			name = t.path(c)
		}
		r.columns, r.names, r.inner, r.nested = append(r.columns, t.column(c)), append(r.names, name), append(r.inner, inner), r.nested || inner
	}
	return r
}

func (r *rows) decode(doc []byte) error {
	clear(r.row)
	return r.fields(doc, false)
}

// fields reads the fields of a document, or of the document _id in it. What is
// missing is NULL.
func (r *rows) fields(doc []byte, inner bool) error {
	return each(doc, func(name []byte, v bsoncore.Value) (err error) {
		if r.nested && !inner && v.Type == document && string(name) == idField {
			return r.fields(v.Data, true)
		}
		for i := range r.names {
			if r.inner[i] == inner && string(name) == r.names[i] {
				if r.row[i], err = decode(r.columns[i], v); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
