package postgres

import (
	"context"
	"fmt"
	"strings"

	"rumbench/engine"
	"rumbench/engine/postgres/pgwire"
	"rumbench/engine/sqlkit"
	"rumbench/internal/text/quantity"
	"rumbench/model"
)

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	return &session{s, d}, nil
}

// session adds the parts that PostgreSQL's statements alone do not cover.
type session struct {
	*sqlkit.Session
	db *db
}

func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Kind != model.Insert {
		return s.Session.Prepare(ctx, op)
	}
	if err := s.db.Usable(op); err != nil {
		return nil, err
	}
	t, err := s.db.Schema.Table(op.Table)
	if err != nil {
		return nil, err
	}
	switch {
	case op.Load && s.db.copies && op.OnConflict == model.Fail:
		return newCopier(ctx, s, t, op)
	case op.Rows > 1 && (op.OnConflict == model.Replace || op.OnConflict == model.Add):
		return newRepeated(ctx, s, t, op)
	}
	return s.Session.Prepare(ctx, op)
}

// conn returns the session's connection, nil when it is closed.
func (s *session) conn() *pgwire.Conn {
	c, _ := s.Conn().(*pgwire.Conn)
	return c
}

// copier executes the inserts of a load with COPY, one for each batch. The numbers of its
// rows are unknown.
type copier struct {
	*pgwire.Copy
	session *session
	label   string
	want    int // arguments
}

func newCopier(ctx context.Context, s *session, t *model.Table, op *model.Op) (engine.Stmt, error) {
	d := s.db.Dialect()
	c, err := s.conn().PrepareCopy(ctx, d.Table(t.Name), strings.Join(quantity.Texts(op.Columns, d.Name), ", "))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op.Label(), err)
	}
	return &copier{c, s, op.Label(), op.Args(t)}, nil
}

func (s *copier) Exec(ctx context.Context, args []model.Value, r *engine.Result) (err error) {
	r.Reset()
	if s.session.conn() == nil {
		return sqlkit.ErrClosed
	}
	if len(args) != s.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", s.label, len(args), s.want)
	}
	if r.Rows, err = s.Copy.Exec(ctx, args); err != nil {
		r.Reset()
		return fmt.Errorf("%s: %w", s.label, err)
	}
	return nil
}
