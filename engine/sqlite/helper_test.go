package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

func newSession(t testing.TB, db engine.DB) engine.Session {
	t.Helper()
	s, err := db.Session(t.Context())
	must(t, err)
	t.Cleanup(func() { must(t, s.Close()) })
	return s
}

// operation is a prepared operation that takes plain Go values.
type operation struct {
	t    testing.TB
	stmt engine.Stmt
	rows []string // what the last execution returned, one row a line
	engine.Result
}

func prepare(t testing.TB, s engine.Session, op model.Op) *operation {
	t.Helper()
	if op.Table != "" {
		sch := schema()
		table, err := sch.Table(op.Table)
		must(t, err)
		must(t, op.Validate(table))
	}
	st, err := s.Prepare(t.Context(), &op)
	must(t, err)
	o := &operation{t: t, stmt: st}
	o.Each = func(row []model.Value) {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		o.rows = append(o.rows, strings.Join(cells, " "))
	}
	return o
}

func (o *operation) run(args ...any) error {
	o.rows = nil
	return o.stmt.Exec(o.t.Context(), values(args), &o.Result)
}

func (o *operation) ok(args ...any) {
	o.t.Helper()
	must(o.t, o.run(args...))
}

// want executes and compares the rows returned.
func (o *operation) want(args []any, rows ...string) {
	o.t.Helper()
	o.ok(args...)
	if !slices.Equal(o.rows, rows) || int(o.Rows) != len(rows) {
		o.t.Errorf("got %q, %d rows, want %q", o.rows, o.Rows, rows)
	}
}

// changes executes and compares the count of rows.
func (o *operation) changes(n int64, args ...any) {
	o.t.Helper()
	o.ok(args...)
	if o.Rows != n {
		o.t.Errorf("changed %d rows, want %d", o.Rows, n)
	}
}

// gives executes and compares the value.
func (o *operation) gives(want string, args ...any) {
	o.t.Helper()
	o.ok(args...)
	if got := o.Value.String(); got != want {
		o.t.Errorf("got %s, want %s", got, want)
	}
}

func (o *operation) fails(class engine.Class, args ...any) {
	o.t.Helper()
	if err := o.run(args...); engine.ClassOf(err) != class {
		o.t.Errorf("got %v of class %q, want class %q", err, engine.ClassOf(err), class)
	}
}

func values(args []any) []model.Value {
	out := make([]model.Value, len(args))
	for i, a := range args {
		switch x := a.(type) {
		case nil:
		case int:
			out[i] = model.IntValue(int64(x))
		case float64:
			out[i] = model.FloatValue(x)
		case string:
			out[i] = model.StringValue([]byte(x))
		case []byte:
			out[i] = model.BytesValue(x)
		case model.Value:
			out[i] = x
		default:
			panic(fmt.Sprintf("a %T", a))
		}
	}
	return out
}
