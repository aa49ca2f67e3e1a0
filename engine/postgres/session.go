package postgres

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/model"
)

// Session opens a session.
func (d *db) Session(ctx context.Context) (engine.Session, error) {
	s, err := d.NewSession(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.checkSession(ctx, s); err != nil {
		_ = s.Close()
		return nil, err
	}
	return &session{s, d}, nil
}

// session adds what PostgreSQL's statements alone do not do.
type session struct {
	*sqlkit.Session
	db *db
}

// Prepare readies an operation.
func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if op.Table == "" {
		return s.Session.Prepare(ctx, op)
	}
	if err := s.db.strangeness(op.Table); err != nil {
		return nil, err
	}
	if !s.db.hasIndex(op.Table, op.Index) { // the server would find another way
		return nil, fmt.Errorf("operation %s: the index does not exist", op.Label())
	}
	if op.Kind != model.Insert {
		return s.Session.Prepare(ctx, op)
	}
	t, err := s.db.Schema.Table(op.Table)
	if err != nil {
		return nil, err
	}
	switch {
	case op.Load && s.db.copies && op.OnConflict == model.Fail:
		return newCopier(s, t, op)
	case op.Rows > 1 && (op.OnConflict == model.Replace || op.OnConflict == model.Add):
		return newRepeated(ctx, s, t, op)
	}
	return s.Session.Prepare(ctx, op)
}

// conn is the session's connection, nil when it is closed.
func (s *session) conn() *conn {
	c, _ := s.Conn().(*conn)
	return c
}

var errClosed = engine.Errorf(engine.Gone, "the session is closed")
