package stdsql_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit/stdsql"
	"rumbench/internal/expect"
	"rumbench/model"
)

// fake is a driver's connection, its statement, its result and its rows.
type fake struct {
	asked string
	rows  [][]driver.Value
	err   error
}

func (f *fake) Close() error                               { return nil }
func (f *fake) Begin() (driver.Tx, error)                  { panic("unused") }
func (f *fake) Prepare(string) (driver.Stmt, error)        { panic("unused") }
func (f *fake) Exec([]driver.Value) (driver.Result, error) { panic("unused") }
func (f *fake) Query([]driver.Value) (driver.Rows, error)  { panic("unused") }
func (f *fake) NumInput() int                              { return -1 }
func (f *fake) LastInsertId() (int64, error)               { return 0, errors.New("there are none") }
func (f *fake) RowsAffected() (int64, error)               { return 3, nil }
func (f *fake) Columns() []string                          { return make([]string, len(f.rows[0])) }

func (f *fake) ask(text string, args []driver.NamedValue) {
	f.asked += text
	for i, a := range args {
		if a.Ordinal == i+1 {
			f.asked += fmt.Sprint(" ", a.Value)
		}
	}
	f.asked += ";"
}

func (f *fake) ExecContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Result, error) {
	f.ask(text, nil)
	return f, f.err
}

func (f *fake) QueryContext(_ context.Context, text string, _ []driver.NamedValue) (driver.Rows, error) {
	f.ask(text, nil)
	return f, f.err
}

func (f *fake) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return &fakeStmt{f}, f.err
}

func (f *fake) Next(dest []driver.Value) error {
	if len(f.rows) == 0 {
		return io.EOF
	}
	copy(dest, f.rows[0])
	f.rows = f.rows[1:]
	return nil
}

type fakeStmt struct{ *fake }

func (s *fakeStmt) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.ask("exec", args)
	return s, s.err
}

func (s *fakeStmt) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.ask("query", args)
	return s, s.err
}

func open(t *testing.T, f *fake, nativeTime bool) *stdsql.Conn {
	t.Helper()
	c, err := stdsql.New(f, nativeTime)
	expect.NoError(t, err)
	return c
}

func TestArguments(t *testing.T) {
	args := []model.Value{model.IntValue(5), model.TimeValue(time.Unix(0, 0)), model.StringValue([]byte("x")), model.BytesValue(nil), {}}
	for native, want := range map[bool]string{
		false: `exec 5 0 x [] <nil>;`,
		true:  `exec 5 1970-01-01 00:00:00 +0000 UTC x [] <nil>;`,
	} {
		f := &fake{}
		s, err := open(t, f, native).Prepare(t.Context(), "x")
		expect.NoError(t, err)
		rows, id, err := s.Exec(t.Context(), args)
		expect.True(t, rows == 3 && id == 0 && err == nil, rows, "rows", id, err)
		expect.Equal(t, f.asked, want, "asked")
	}
}

func TestValues(t *testing.T) {
	at := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
	types := []model.Type{model.Time, model.Float, model.Int, model.String}
	row := func(values ...driver.Value) [][]driver.Value { return [][]driver.Value{values} }
	for _, c := range []struct {
		rows  [][]driver.Value
		types []model.Type
		want  string // "" for an error
	}{
		{row(at, "1.5", []byte("-3"), []byte("x")), types, `[2020-01-02T03:04:05.000006Z 1.5 -3 "x"]`},
		{row(int64(1), int64(2), float64(3), "y"), types, `[1970-01-01T00:00:00.000001Z 2 3 "y"]`},
		{row(nil, nil, nil, nil), types, "[NULL NULL NULL NULL]"},
		{row("yesterday", 1.0, 1.0, "z"), types, ""},
		{row(true, 1.0, 1.0, "z"), types, ""},
		{row(int64(7), 1.5, []byte("b"), nil), nil, `["7" "1.5" "b" NULL]`},
	} {
		got := ""
		err := open(t, &fake{rows: c.rows}, true).QueryText(t.Context(), "q", c.types, func(row []model.Value) error {
			got += fmt.Sprint(row)
			return nil
		})
		expect.True(t, (err != nil) == (c.want == "") && got == c.want, c.want, got, err)
	}
}

func TestErrors(t *testing.T) {
	enough := errors.New("enough")
	f := &fake{rows: [][]driver.Value{{int64(1)}, {int64(2)}}}
	expect.Equal(t, open(t, f, false).QueryText(t.Context(), "q", nil, func([]model.Value) error { return enough }), enough)
	c := open(t, &fake{err: driver.ErrBadConn}, false)
	_, _, err := c.ExecText(t.Context(), "x")
	_, perr := c.Prepare(t.Context(), "x")
	for _, err := range []error{err, perr, c.QueryText(t.Context(), "x", nil, nil)} {
		expect.Equal(t, engine.ClassOf(err), engine.Gone, "a connection that is lost", err)
	}
	expect.Refused(stdsql.New(struct{ driver.Conn }{}, false))(t, "", "a driver without contexts was taken")
}
