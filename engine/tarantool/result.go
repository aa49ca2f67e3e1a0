package tarantool

import (
	"rumbench/engine"
	"rumbench/engine/tarantool/iproto"
	"rumbench/model"
)

// result describes how the answers of an operation are read.
type result struct {
	op     *model.Op
	number int           // the position of the row's number, -1 if none is wanted
	types  []model.Type  // of the fields of a row as it is sent; Null: not wanted
	tuple  []model.Value // its fields
	fields []int         // the field of each column returned
	row    []model.Value
}

// newResult returns the reader of an answer. The program selects the columns of distinct
// or sorted rows; all other rows are whole tuples.
func newResult(t *model.Table, op *model.Op) result {
	s := result{op: op, number: -1, types: make([]model.Type, len(t.Columns))}
	if op.ReturnNumber {
		s.number = t.AutoColumn()
		s.types[s.number] = model.Int
	}
	if op.Kind == model.Get || op.Kind == model.Scan {
		columns, _ := t.Positions(op.Columns)
		picked := op.Distinct || op.OrderBy != ""
		for i, c := range columns {
			if picked {
				s.types[i], s.fields = t.Columns[c].Type, append(s.fields, i)
			} else {
				s.types[c], s.fields = t.Columns[c].Type, append(s.fields, c)
			}
		}
	}
	s.tuple, s.row = make([]model.Value, len(s.types)), make([]model.Value, len(s.fields))
	return s
}

// read reads an answer: the result of a function if one was called, otherwise tuples.
func (s *result) read(called bool, data *iproto.Reader, r *engine.Result) {
	reads := s.op.Kind == model.Get || s.op.Kind == model.Scan
	switch {
	case called && !reads:
		returned := data.Array()
		r.Rows = data.Int()
		if returned > 1 && s.number >= 0 {
			r.Value = data.Value(model.Int)
		}
	case s.op.OnConflict == model.Add: // an upsert does not report its effect
		r.Rows = int64(s.op.Rows)
	case !reads:
		r.Rows = int64(data.Array())
		if r.Rows > 0 && s.number >= 0 {
			s.next(data)
			r.Value = s.tuple[s.number]
		}
	case s.op.Aggregate != model.NoAggregate:
		data.Array()
		typ := model.Int
		if s.op.Aggregate == model.Sum {
			typ = s.types[s.fields[0]]
		}
		r.Rows, r.Value = 1, data.Value(typ)
	default:
		if called {
			data.Array()
		}
		s.rows(data, r)
	}
}

// rows reads rows and hands over their columns.
func (s *result) rows(data *iproto.Reader, r *engine.Result) {
	for range data.Array() {
		s.next(data)
		if data.Err() != nil {
			return
		}
		for i, f := range s.fields {
			s.row[i] = s.tuple[f]
		}
		r.Row(s.row)
	}
}

// next reads the fields of the next row that are wanted.
func (s *result) next(data *iproto.Reader) {
	for i := range data.Array() {
		if i < len(s.types) && s.types[i] != model.Null {
			s.tuple[i] = data.Value(s.types[i])
		} else {
			data.Skip()
		}
	}
}
