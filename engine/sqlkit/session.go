package sqlkit

import (
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/model"
)

// Session executes operations on a connection of its own.
type Session struct {
	db       *DB
	conn     Conn // nil: closed
	prepared []Stmt
	commands map[string]Stmt // transaction statements by text
	writes   bool            // an operation that writes was prepared
}

// Conn is the session's connection, for what it can do beside statements; nil:
// the session is closed. It must only be used by the goroutine that uses the
// session.
func (s *Session) Conn() Conn { return s.conn }

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
	if err := s.db.Usable(op); err != nil {
		return nil, err
	}
	d := s.db.dialect
	text, err := d.Statement(t, op)
	if err != nil {
		return nil, err
	}
	var st Stmt
	if d.AsText {
		st = newTextStmt(d, s.conn, text)
	} else if st, err = s.prepare(ctx, text.Text); err != nil {
		return nil, err
	}
	b := newBase(s, t, op, text.Args, st)
	if op.Kind == model.Get || op.Kind == model.Scan {
		return newRead(b, op, text.Types), nil
	}
	s.writes = true
	return newWrite(b, t, op), nil
}

// Query executes a statement outside the hot path, as Admin.Query does.
func (s *Session) Query(ctx context.Context, text string, each func(row []string) error) error {
	if s.conn == nil {
		return errClosed
	}
	return queryText(ctx, s.db.dialect, s.conn, text, each)
}

// prepare prepares a statement's text; the session closes it at its end.
func (s *Session) prepare(ctx context.Context, text string) (Stmt, error) {
	st, err := s.conn.Prepare(ctx, text)
	if err != nil {
		return nil, s.db.dialect.classify("prepare "+text, err)
	}
	s.prepared = append(s.prepared, st)
	return st, nil
}

// Exec executes a statement outside the hot path, by text.
func (s *Session) Exec(ctx context.Context, text string) error {
	if s.conn == nil {
		return errClosed
	}
	_, _, err := s.conn.ExecText(ctx, text)
	return s.db.dialect.classify(text, err)
}

// command executes a statement that begins or ends a transaction.
func (s *Session) command(ctx context.Context, text string) error {
	d := s.db.dialect
	if d.PlainCommands || d.AsText || s.conn == nil {
		return s.Exec(ctx, text)
	}
	st := s.commands[text]
	if st == nil {
		var err error
		if st, err = s.prepare(ctx, text); err != nil {
			return err
		}
		s.commands[text] = st
	}
	if d.Detached {
		ctx = context.Background()
	}
	_, _, err := st.Exec(ctx, nil, nil)
	return d.classify(text, err)
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
