package sqlkit

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// Session executes operations on a connection of its own.
type Session struct {
	db       *DB
	conn     driver.Conn // nil: closed
	prepared []driver.Stmt
	commands map[string]driver.StmtExecContext // transaction statements by text
	writes   bool                              // an operation that writes was prepared
}

// Conn is the session's connection, for what its driver can do beside statements.
// It must only be used by the goroutine that uses the session.
func (s *Session) Conn() driver.Conn { return s.conn }

// Prepare readies an operation.
func (s *Session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if s.conn == nil {
		return nil, errClosed
	}
	switch op.Kind {
	case model.Begin:
		return &begin{session: s, level: op.Isolation}, nil
	case model.Commit:
		return &end{session: s, text: commit}, nil
	case model.Rollback:
		return &end{session: s, text: rollback}, nil
	}
	t, err := s.db.schema.Table(op.Table)
	if err != nil {
		return nil, err
	}
	text, err := s.db.dialect.Statement(t, op)
	if err != nil {
		return nil, err
	}
	d := s.db.dialect
	if op.Index != "" && (op.Free || op.Kind == model.Get || d.Literal != nil) { // preparing does not look for it
		if err := s.checkIndex(ctx, t, op.Index); err != nil {
			return nil, err
		}
	}
	var st driver.Stmt
	if d.Literal != nil {
		st, err = newTextStmt(d, s.conn, text)
	} else {
		st, err = s.prepare(ctx, text.Text)
	}
	if err != nil {
		return nil, err
	}
	b := newBase(s, t, op, text, st)
	switch op.Kind {
	case model.Get, model.Scan:
		return newRead(b, op, text.Types), nil
	}
	s.writes = true
	return newWrite(b, t, op)
}

// checkIndex returns an error if an index does not exist, in databases whose
// statements can name one.
func (s *Session) checkIndex(ctx context.Context, t *model.Table, index string) error {
	d := s.db.dialect
	if d.Hint == nil {
		return nil
	}
	text := "SELECT 1 FROM " + d.Name(t.Name) + d.hint(t, index) + " WHERE 1 = 0"
	return s.Query(ctx, text, func([]driver.Value) error { return nil })
}

// Query executes a statement outside the hot path, as Conn.Query does.
func (s *Session) Query(ctx context.Context, text string, each func(row []driver.Value) error) error {
	if s.conn == nil {
		return errClosed
	}
	return queryText(ctx, s.db.dialect, s.conn, text, each)
}

// prepare prepares a statement's text; the session closes it at its end.
func (s *Session) prepare(ctx context.Context, text string) (driver.Stmt, error) {
	preparer, ok := s.conn.(driver.ConnPrepareContext)
	if !ok {
		return nil, fmt.Errorf("the driver's %T cannot prepare in a context", s.conn)
	}
	st, err := preparer.PrepareContext(ctx, text)
	if err != nil {
		return nil, s.db.dialect.classify("prepare "+text, err)
	}
	s.prepared = append(s.prepared, st)
	return st, nil
}

// command executes a statement that begins or ends a transaction.
func (s *Session) command(ctx context.Context, text string) error {
	d := s.db.dialect
	if s.conn == nil {
		return errClosed
	}
	if d.PlainCommands || d.Literal != nil {
		return execText(ctx, d, s.conn, text)
	}
	st := s.commands[text]
	if st == nil {
		prepared, err := s.prepare(ctx, text)
		if err != nil {
			return err
		}
		var ok bool
		if st, ok = prepared.(driver.StmtExecContext); !ok {
			return fmt.Errorf("the driver's %T cannot execute in a context", prepared)
		}
		s.commands[text] = st
	}
	_, err := st.ExecContext(d.brief(ctx), nil)
	return d.classify(text, err)
}

// brief is the context that operations which end by themselves run in.
func (d *Dialect) brief(ctx context.Context) context.Context {
	if d.Detached {
		return context.Background()
	}
	return ctx
}

// Close ends the session, undoing an open transaction. It does nothing the
// second time.
func (s *Session) Close() error {
	s.db.mu.Lock()
	delete(s.db.sessions, s)
	s.db.mu.Unlock()
	return s.close()
}

func (s *Session) close() error {
	if s.conn == nil {
		return nil
	}
	var err error
	for _, st := range slices.Backward(s.prepared) {
		err = errors.Join(err, st.Close())
	}
	err = errors.Join(err, s.conn.Close())
	s.conn, s.prepared, s.commands = nil, nil, nil
	return err
}
