package sqlkit_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// direct is a driver that takes and gives values as they are.
type direct struct {
	fake
	asked    []string
	rows, id int64
	answer   [][]model.Value
	fails    error
}

func (d *direct) Connect(context.Context) (driver.Conn, error) {
	return &directConn{fakeConn{&d.fake}, d}, nil
}

func (d *direct) exec(question string) (int64, int64, error) {
	d.asked = append(d.asked, question)
	return d.rows, d.id, d.fails
}

func (d *direct) query(question string, types []model.Type, each func([]model.Value) error) error {
	d.asked = append(d.asked, fmt.Sprint(question, types))
	for _, row := range d.answer {
		if err := each(row); err != nil {
			return err
		}
	}
	return d.fails
}

type directConn struct {
	fakeConn
	d *direct
}

func (c *directConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return &directStmt{fakeStmt{&c.d.fake, text}, c.d}, nil
}

func (c *directConn) ExecText(_ context.Context, text string) (rows, id int64, err error) {
	return c.d.exec(strings.Clone(text))
}

func (c *directConn) QueryText(_ context.Context, text string, types []model.Type, each func([]model.Value) error) error {
	return c.d.query(strings.Clone(text), types, each)
}

type directStmt struct {
	fakeStmt
	d *direct
}

func (s *directStmt) ExecValues(_ context.Context, args []model.Value, order []int) (rows, id int64, err error) {
	return s.d.exec(fmt.Sprint(args, order))
}

func (s *directStmt) QueryValues(_ context.Context, args []model.Value, order []int, types []model.Type, each func([]model.Value) error) error {
	return s.d.query(fmt.Sprint(args, order), types, each)
}

func directSession(t *testing.T, d *direct, dialect *sqlkit.Dialect) *sqlkit.Session {
	t.Helper()
	db, err := sqlkit.Open(t.Context(), d, dialect, schemaOfSales)
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.NewSession(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var schemaOfSales = model.Schema{Tables: []model.Table{{
	Name: "sale", Key: []string{"id"},
	Columns: []model.Column{{Name: "id", Type: model.Int, Auto: true}, {Name: "product", Type: model.Int}, {Name: "note", Type: model.String, Width: 10}},
}}}

var (
	getSale   = model.Op{Kind: model.Get, Table: "sale", Columns: []string{"note", "product"}}
	countSale = model.Op{Kind: model.Scan, Table: "sale", Aggregate: model.Count}
	addSale   = model.Op{Kind: model.Insert, Table: "sale", Columns: []string{"product"}, Rows: 2, ReturnNumber: true}
	sellSale  = model.Op{Kind: model.Update, Table: "sale", Set: []model.Assign{{Column: "product", Add: true}}}
)

// A driver that can is given values, and gives values back.
func TestDirect(t *testing.T) {
	d := &direct{rows: 3, id: 40, answer: [][]model.Value{{model.StringValue([]byte("ab")), model.IntValue(5)}}}
	s := directSession(t, d, mysqlLike())
	var seen string
	r := engine.Result{Each: func(row []model.Value) { seen += fmt.Sprint(row) }}
	get := prepare(t, s, getSale)
	if err := get.Exec(t.Context(), []model.Value{model.IntValue(9)}, &r); err != nil {
		t.Fatal(err)
	}
	if r.Rows != 1 || r.Bytes != 10 || seen != `["ab" 5]` {
		t.Errorf("%d rows, %d bytes: %s", r.Rows, r.Bytes, seen)
	}
	d.answer = [][]model.Value{{model.IntValue(12)}}
	if r := run(t, prepare(t, s, countSale)); r.Value.Int() != 12 || r.Rows != 1 {
		t.Errorf("the count is %+v", r)
	}
	if r := run(t, prepare(t, s, addSale), model.IntValue(1), model.IntValue(2)); r.Value.Int() != 41 || r.Rows != 2 {
		t.Errorf("of two rows, the first of which is 40: %+v", r)
	}
	if r := run(t, prepare(t, s, sellSale), model.IntValue(1), model.IntValue(9)); r.Rows != 3 {
		t.Errorf("the update: %+v", r)
	}
	// The column is nullable, so its argument is wanted three times.
	for i, want := range []string{"[9] [][string int]", "[] [][int]", "[1 2] []", "[1 9] [0 0 1]"} {
		if d.asked[i] != want {
			t.Errorf("question %d was %s, want %s", i, d.asked[i], want)
		}
	}
	if n := len(d.asked); n != 4 || len(d.log) != 0 {
		t.Errorf("%d questions, and beside them %q", n, d.log)
	}

	// What cannot be asked is not.
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := get.Exec(ended, []model.Value{model.IntValue(9)}, &r); !errors.Is(err, context.Canceled) {
		t.Errorf("the context has ended: %v", err)
	}
	if err := get.Exec(t.Context(), nil, &r); err == nil {
		t.Error("a get went without its key")
	}
	if len(d.asked) != 4 {
		t.Errorf("it was asked: %q", d.asked[4:])
	}

	// Errors have a class.
	d.fails, d.answer = driver.ErrBadConn, nil
	for _, op := range []model.Op{getSale, sellSale} {
		args := []model.Value{model.IntValue(9), model.IntValue(9)}[:op.Args(&schemaOfSales.Tables[0])]
		if err := prepare(t, s, op).Exec(t.Context(), args, &r); engine.ClassOf(err) != engine.Gone {
			t.Errorf("%s: %v", op.Kind, err)
		}
	}
}

// So it is of statements that are sent as text.
func TestDirectText(t *testing.T) {
	d := &direct{rows: 1, answer: [][]model.Value{{model.StringValue([]byte("ab")), model.IntValue(5)}}}
	dialect := mysqlLike()
	dialect.Literal = func(dst []byte, v model.Value) []byte { return sqlkit.AppendQuoted(dst, v.Buf(), true) }
	s := directSession(t, d, dialect)
	if r := run(t, prepare(t, s, getSale), model.IntValue(9)); r.Rows != 1 {
		t.Errorf("%+v", r)
	}
	if r := run(t, prepare(t, s, model.Op{Kind: model.Delete, Table: "sale"}), model.IntValue(9)); r.Rows != 1 {
		t.Errorf("%+v", r)
	}
	for i, want := range []string{"SELECT `note`, `product` FROM `sale` WHERE `id` = 9[string int]", "DELETE FROM `sale` WHERE `id` = 9"} {
		if d.asked[i] != want {
			t.Errorf("question %d was %s, want %s", i, d.asked[i], want)
		}
	}
}
