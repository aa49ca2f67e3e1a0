package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/model"
)

// Operation is a prepared operation that takes plain Go values.
type Operation struct {
	t    testing.TB
	Stmt engine.Stmt
	rows []string // rows of the last execution, one row a line
	engine.Result
}

// PrepareOperation validates and prepares an operation on a table of the schema.
func PrepareOperation(t testing.TB, s engine.Session, schema model.Schema, op model.Op) *Operation {
	t.Helper()
	if op.Table != "" {
		table, err := schema.Table(op.Table)
		check(t, err)
		check(t, op.Validate(table))
	}
	st, err := s.Prepare(t.Context(), &op)
	check(t, err)
	o := &Operation{t: t, Stmt: st}
	o.Each = func(row []model.Value) {
		var cells []string
		for _, v := range row {
			cells = append(cells, v.String())
		}
		o.rows = append(o.rows, strings.Join(cells, " "))
	}
	return o
}

// Run executes the operation and keeps its rows.
func (o *Operation) Run(args ...any) error {
	o.rows = nil
	return o.Stmt.Exec(o.t.Context(), Values(args), &o.Result)
}

// OK executes the operation and fails the test on an error.
func (o *Operation) OK(args ...any) {
	o.t.Helper()
	check(o.t, o.Run(args...))
}

// Want executes the operation and compares the rows returned.
func (o *Operation) Want(args []any, rows ...string) {
	o.t.Helper()
	o.OK(args...)
	failIf(o.t, !slices.Equal(o.rows, rows) || int(o.Rows) != len(rows), "got %q, %d rows, want %q", o.rows, o.Rows,
		rows)
}

// Changes executes the operation and compares the number of rows changed.
func (o *Operation) Changes(n int64, args ...any) {
	o.t.Helper()
	o.OK(args...)
	failIf(o.t, o.Rows != n, "changed %d rows, want %d", o.Rows, n)
}

// Gives executes the operation and compares the value.
func (o *Operation) Gives(want string, args ...any) {
	o.t.Helper()
	o.OK(args...)
	failIf(o.t, o.Value.String() != want, "got %s, want %s", o.Value, want)
}

// Fails executes the operation and compares the class of its error.
func (o *Operation) Fails(class engine.Class, args ...any) {
	o.t.Helper()
	err := o.Run(args...)
	failIf(o.t, engine.ClassOf(err) != class, "got %v of class %q, want class %q", err, engine.ClassOf(err), class)
}

// Values converts plain Go values to arguments.
func Values(args []any) []model.Value {
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
