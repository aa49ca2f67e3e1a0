package sqlkit

import (
	"context"
	"errors"
	"slices"
	"strings"

	"rumbench/engine"
	"rumbench/model"
)

// Explainable is an operation with values, ready to be explained.
type Explainable struct {
	Table    *model.Table
	Text     string   // with placeholders, as it is prepared
	Literals []string // the values of its arguments, as SQL writes them
	Filled   string   // with the values in place
}

// samples is the least number of rows that values are looked for in; many is the greatest.
const (
	samples = 20
	many    = 1000
)

// rangeLength is the number of whole numbers that the ranges explained span together.
const rangeLength = 100

// nothingSought is the reason why there is no plan of statements that look for nothing.
const nothingSought = "nothing is looked for"

// Explain asks for the plan of an operation with values that it may have, or else with those of the table's first
// rows, unless it has none. ask completes the plan of the statement.
func (db *DB) Explain(ctx context.Context, op *model.Op,
	ask func(e *Explainable, p *engine.Plan) error) (p engine.Plan, err error) {
	p.Statement = op.Label()
	switch op.Kind {
	case model.Get, model.Scan, model.Update, model.Delete, model.DeleteLowest:
	case model.Insert:
		p.None = nothingSought
	default:
		p.None = nothingSought
		return p, nil
	}
	t, err := db.schema.Table(op.Table)
	if err != nil {
		return p, err
	}
	s, err := db.dialect.Statement(t, op)
	if err != nil {
		return p, err
	}
	if op.Rows <= 1 { // the plan of many rows is long
		p.Statement = s.Text
	}
	if p.None != "" {
		return p, nil
	}
	args := op.Example
	if args == nil {
		rows, err := db.firstRows(ctx, t, min(max(samples, op.KeyCount(), op.RangeCount()), many))
		if err != nil {
			return p, err
		}
		args = sampleArgs(t, op, rows)
	}
	if args == nil {
		p.None = "the table has no rows to take values from"
		return p, nil
	}
	e := &Explainable{Table: t, Text: s.Text, Filled: newTextStmt(db.dialect, nil, s).fill(args)}
	for _, v := range args {
		e.Literals = append(e.Literals, string(db.dialect.appendLiteral(nil, v)))
	}
	err = ask(e, &p)
	return p, err
}

// firstRows reads the first rows of a table, on the connection for definitions.
func (db *DB) firstRows(ctx context.Context, t *model.Table, n int) (rows [][]model.Value, err error) {
	r := engine.Result{Each: func(row []model.Value) { rows = append(rows, engine.CloneRow(row)) }}
	err = db.admin.Use(ctx, func(Conn) error {
		s := &Session{Admin: db.admin, db: db, commands: map[string]Stmt{}}
		st, err := s.Prepare(ctx, &model.Op{Kind: model.Scan, Table: t.Name, Columns: t.ColumnNames(), Limit: n})
		if err == nil {
			err = st.Exec(ctx, nil, &r)
		}
		for _, p := range s.prepared {
			err = errors.Join(err, p.Close())
		}
		return err
	})
	return rows, err
}

// sampleArgs returns arguments for an operation, from rows in which none of its
// values is NULL; nil if there are none.
func sampleArgs(t *model.Table, op *model.Op, rows [][]model.Value) []model.Value {
	order := t.Order(op.Index)
	needed := slices.Clone(order)
	for _, c := range op.Where {
		needed = append(needed, c.Column)
	}
	rows = slices.DeleteFunc(slices.Clone(rows), func(row []model.Value) bool {
		return slices.ContainsFunc(needed, func(c string) bool { return row[t.Column(c)].Type() == model.Null })
	})
	if len(rows) == 0 {
		return nil
	}
	values := func(i int, columns ...string) (out []model.Value) {
		for _, c := range columns {
			out = append(out, rows[i%len(rows)][t.Column(c)])
		}
		return out
	}
	args := make([]model.Value, 0, op.Args(t))
	switch op.Kind {
	case model.DeleteLowest:
		return append(args, values(0, order[0])...)
	case model.Scan:
		args = append(args, values(0, order[:op.Equal]...)...)
		for i := range op.RangeCount() {
			if op.Lower != model.Open {
				args = append(args, values(i, order[op.Equal])...)
			}
			if op.Upper == model.Open {
				continue
			}
			v := values(i, order[op.Equal])[0]
			if v.Type() == model.Int {
				v = model.IntValue(v.Int() + max(1, int64(rangeLength/op.RangeCount())) - 1)
			}
			args = append(args, v)
		}
		for _, c := range op.Where {
			if c.Is == model.ShorterThan {
				args = append(args, model.IntValue(0))
			} else {
				args = append(args, values(0, c.Column)...)
			}
		}
		if op.LimitGiven {
			args = append(args, model.IntValue(int64(op.Limit)))
		}
		return args
	case model.Update:
		for _, a := range op.Set {
			args = append(args, values(0, a.Column)...)
		}
	}
	if op.Index != "" {
		order = order[:op.Equal]
	}
	for i := range op.KeyCount() {
		args = append(args, values(i, order...)...)
	}
	return args
}

// SchemaIndex returns the name in the schema of an index of the database.
// primary is the database's name for the primary key's.
func SchemaIndex(t *model.Table, name, primary string) string {
	if name == primary {
		return engine.PrimaryKey
	}
	return strings.TrimPrefix(name, IndexName(t.Name, ""))
}
