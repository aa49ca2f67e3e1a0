package sqlkit_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/sqlkittest"
	"rumbench/internal/expect"
	"rumbench/model"
)

// fake is a database that notes what it is asked, and answers as the test wants.
type fake struct {
	log   []string
	fail  map[string]error // by text
	rows  map[string][][]model.Value
	id    int64
	count int64
	quiet bool // note nothing
}

func (f *fake) connect(context.Context) (sqlkit.Conn, error) { return fakeConn{f}, nil }

func (f *fake) ask(how, text string, values ...any) error {
	if f.quiet {
		return nil
	}
	f.log = append(f.log, fmt.Sprint(append([]any{how + " " + text}, values...)...))
	return f.fail[text]
}

type fakeConn struct{ *fake }

func (c fakeConn) ExecText(_ context.Context, text string) (rows, id int64, err error) {
	return c.count, c.id, c.ask("text", text)
}

func (c fakeConn) QueryText(_ context.Context, text string, types []model.Type, each func([]model.Value) error) error {
	if err := c.ask("ask", text); err != nil {
		return err
	}
	return c.hand(text, each)
}

func (f *fake) hand(text string, each func([]model.Value) error) error {
	for _, row := range f.rows[text] {
		if err := each(row); err != nil {
			return err
		}
	}
	return nil
}

func (c fakeConn) Prepare(_ context.Context, text string) (sqlkit.Stmt, error) {
	return &fakeStmt{c.fake, text}, c.ask("prepare", text)
}

func (c fakeConn) Close() error { return c.ask("close", "connection") }

type fakeStmt struct {
	*fake
	text string
}

func (s *fakeStmt) Exec(_ context.Context, args []model.Value) (rows, id int64, err error) {
	if s.quiet {
		return s.count, s.id, nil
	}
	return s.count, s.id, s.ask("exec", s.text, " ", args)
}

func (s *fakeStmt) Query(_ context.Context, args []model.Value, types []model.Type, each func([]model.Value) error) error {
	if !s.quiet {
		if err := s.ask("query", s.text, " ", args, types); err != nil {
			return err
		}
	}
	return s.hand(s.text, each)
}

func (s *fakeStmt) Close() error { return s.ask("close", s.text) }

// dialect is no engine's: it has nothing that is not in the standard, save ON
// CONFLICT. Tests add what they are about. The dialects that ship are compared
// with their golden files by the engines.
func dialect(change ...func(*sqlkit.Dialect)) *sqlkit.Dialect {
	d := &sqlkit.Dialect{
		Quote:      `"`,
		ColumnType: func(c *model.Column) string { return c.Type.String() },
		Begin: func(level model.Isolation, writes bool) []string {
			if level != model.DefaultIsolation {
				return []string{"SET " + level.String(), "BEGIN"}
			}
			return []string{"BEGIN"}
		},
		Literal: func(dst []byte, v model.Value) []byte {
			if v.Type() == model.Time {
				return v.Time().AppendFormat(dst, "'"+sqlkit.TimeLayout+"'")
			}
			return sqlkit.AppendQuoted(dst, v.Buf(), true)
		},
		Classify: func(err error) error { return err },
	}
	for _, f := range change {
		f(d)
	}
	return d
}

func asText(d *sqlkit.Dialect) { d.AsText = true }

func numbered(n sqlkit.Number) func(*sqlkit.Dialect) {
	return func(d *sqlkit.Dialect) { d.Number = n }
}

func open(t *testing.T, f *fake, d *sqlkit.Dialect) *sqlkit.DB {
	t.Helper()
	db, err := sqlkit.Open(t.Context(), f.connect, d, sqlkittest.Schema())
	expect.NoError(t, err)
	return db
}

func session(t *testing.T, f *fake, d *sqlkit.Dialect) *sqlkit.Session {
	t.Helper()
	s, err := open(t, f, d).NewSession(t.Context())
	expect.NoError(t, err)
	return s
}

func prepare(t *testing.T, s *sqlkit.Session, op model.Op) engine.Stmt {
	t.Helper()
	st, err := s.Prepare(t.Context(), &op)
	expect.NoError(t, err)
	return st
}

func run(t *testing.T, st engine.Stmt, args ...model.Value) engine.Result {
	t.Helper()
	var r engine.Result
	expect.NoError(t, st.Exec(t.Context(), args, &r))
	return r
}

func want(t *testing.T, f *fake, lines ...string) {
	t.Helper()
	expect.Equal(t, cmp.Diff(lines, slices.Clone(f.log)), "")
	f.log = nil
}
