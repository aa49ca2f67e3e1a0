package sqlkit_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// fake is a driver that notes what it is told, and answers as told.
type fake struct {
	log    []string
	fail   map[string]error // by text
	rows   map[string][][]driver.Value
	lastID int64
	count  int64
	quiet  bool // note nothing
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return &fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

// LastInsertId and RowsAffected make it its own result.
func (f *fake) LastInsertId() (int64, error) { return f.lastID, nil }
func (f *fake) RowsAffected() (int64, error) { return f.count, nil }

func (f *fake) run(how, text string, args []driver.NamedValue) error {
	if f.quiet {
		return nil
	}
	line := how + " " + text
	for i, a := range args {
		if a.Ordinal != i+1 {
			return fmt.Errorf("ordinal %d at %d", a.Ordinal, i)
		}
		line += fmt.Sprintf(" [%v]", a.Value)
	}
	f.log = append(f.log, line)
	return f.fail[text]
}

type fakeConn struct{ f *fake }

func (c *fakeConn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("unused") }
func (c *fakeConn) Begin() (driver.Tx, error)           { return nil, errors.New("unused") }

func (c *fakeConn) Close() error { return c.f.run("close", "connection", nil) }

func (c *fakeConn) PrepareContext(_ context.Context, text string) (driver.Stmt, error) {
	return &fakeStmt{c.f, text}, c.f.run("prepare", text, nil)
}

func (c *fakeConn) ExecContext(_ context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	return c.f, c.f.run("text", text, args)
}

func (c *fakeConn) QueryContext(_ context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.f.run("ask", text, args); err != nil {
		return nil, err
	}
	r := fakeRows(c.f.rows[text])
	return &r, nil
}

type fakeStmt struct {
	f    *fake
	text string
}

func (s *fakeStmt) NumInput() int                              { return -1 }
func (s *fakeStmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.New("unused") }
func (s *fakeStmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.New("unused") }

func (s *fakeStmt) Close() error { return s.f.run("close", s.text, nil) }

func (s *fakeStmt) ExecContext(_ context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.f, s.f.run("exec", s.text, args)
}

func (s *fakeStmt) QueryContext(_ context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.f.run("query", s.text, args); err != nil {
		return nil, err
	}
	r := fakeRows(s.f.rows[s.text])
	return &r, nil
}

type fakeRows [][]driver.Value

func (r *fakeRows) Columns() []string { return nil }
func (r *fakeRows) Close() error      { return nil }

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(*r) == 0 {
		return io.EOF
	}
	copy(dest, (*r)[0])
	*r = (*r)[1:]
	return nil
}
