package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/internal/text/hint"
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

// SaleSchema returns the tables of the tests of SQL engines: sales, whose numbers are cached
// by sessions, and links, whose key has two columns.
func SaleSchema(cached int) model.Schema {
	return model.Schema{Tables: []model.Table{
		{
			Name: "sale",
			Columns: []model.Column{
				{Name: "id", Type: model.Int, Auto: true, AutoCache: cached},
				{Name: "at", Type: model.Time},
				{Name: "register", Type: model.Int, Width: 4, NotNull: true},
				{Name: "customer", Type: model.Int, Width: 4, NotNull: true},
				{Name: "product", Type: model.Int, Width: 4, NotNull: true},
				{Name: "price", Type: model.Float, NotNull: true},
				{Name: "data", Type: model.String, Width: 4000},
			},
			Key: []string{"id"},
			Indexes: []model.Index{
				{Name: "market", Columns: []string{"product", "customer", "price"}},
				{Name: "pdc", Columns: []string{"price", "at", "customer"}},
				{Name: "wide", Columns: []string{"customer"}, Include: []string{"data"}},
			},
		},
		{
			Name: "link",
			Columns: []model.Column{
				{Name: "from", Type: model.Int},
				{Name: "to", Type: model.String, Width: 100},
				{Name: "data", Type: model.Bytes, Width: 1000},
				{Name: "version", Type: model.Int},
				{Name: "code", Type: model.Int},
			},
			Key:     []string{"from", "to"},
			Indexes: []model.Index{{Name: "code", Columns: []string{"code"}, Unique: true}},
		},
	}}
}

// SaleInsert inserts sales and reads the number of the last.
func SaleInsert(rows int) model.Op {
	return model.Op{Kind: model.Insert, Table: "sale", Rows: rows, ReturnNumber: true,
		Columns: []string{"at", "register", "customer", "product", "price", "data"}}
}

// SaleRow is what SaleInsert inserts, for any number.
func SaleRow(i int) []any {
	return []any{model.MicrosValue(int64(i) * 1_000_003), i % 1000, i * 7919 % 100000, i * 31 % 10000, float64(i%500) / 2,
		fmt.Sprintf("row %012d", i)}
}

// CheckKnobs checks what an engine refuses: changes of a configuration, and the knob that the error
// names; "" if it is accepted. The password of a dsn is secret, and not shown.
func CheckKnobs(t *testing.T, e engine.Engine, config func() engine.Config, knobs []struct {
	Name string
	Set  func(*engine.Config)
	Knob string
}) {
	t.Helper()
	for _, k := range knobs {
		t.Run(k.Name, func(t *testing.T) {
			c := config()
			k.Set(&c)
			err := e.Check(c)
			var knob *engine.KnobError
			switch {
			case k.Knob == "" && err != nil:
				t.Error(err)
			case k.Knob != "" && (!errors.As(err, &knob) || knob.Knob != k.Knob):
				t.Errorf("got %v, want an error about %s", err, k.Knob)
			case err != nil && strings.Contains(err.Error()+hint.Of(err), "secret"):
				t.Errorf("it shows a password: %v", err)
			}
		})
	}
}
