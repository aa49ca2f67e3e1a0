package sqlkit

import (
	"context"
	"errors"
	"slices"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/model"
)

// Session executes operations on its own connection, which only the goroutine
// that uses the session may use.
type Session struct {
	*Admin
	db       *DB
	prepared []Stmt
	commands map[string]Stmt // transaction statements by text
	writes   bool            // an operation that writes was prepared
	undone   bool            // a commit failed, and the transaction is over
	lasting  wire.Lasting    // of the end of a transaction
}

// Conn returns the session's connection, for its abilities in addition to
// statements; nil: the session is closed.
func (s *Session) Conn() Conn { return s.conn }

// Ended implements engine.Connected.
func (s *Session) Ended() bool {
	c, ok := s.conn.(engine.Connected)
	return ok && c.Ended()
}

// Prepare readies an operation.
func (s *Session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	if s.conn == nil {
		return nil, ErrClosed
	}
	switch op.Kind {
	case model.Begin:
		return &begin{session: s, level: op.Isolation}, nil
	case model.Commit:
		return &end{session: s, text: commit}, nil
	case model.Rollback:
		return &end{session: s, text: rollback}, nil
	}
	d := s.db.dialect
	t, text, err := s.db.statement(op)
	if err != nil {
		return nil, err
	}
	var st Stmt
	if d.AsText {
		st, text.Args = newTextStmt(d, s.conn, text), nil // it knows the arguments' places
	} else if st, err = s.prepare(ctx, text.Text); err != nil {
		return nil, err
	}
	b := newBase(s, t, op, text.Args, st)
	if op.Kind == model.Get || op.Kind == model.Scan || len(op.Returns) > 0 {
		return newRead(b, op, text.Types), nil
	}
	s.writes = true
	return newWrite(b, t, op), nil
}

// statement returns an operation as a statement, and its table; nil: the table of custom
// SQL is unknown.
func (db *DB) statement(op *model.Op) (*model.Table, Statement, error) {
	if op.Kind == model.Own {
		b := &builder{d: db.dialect}
		for i, piece := range op.SQL {
			if i > 0 {
				b.arg(i - 1)
			}
			b.text(piece)
		}
		return nil, b.statement(op.Returns...), nil
	}
	t, err := db.schema.Table(op.Table)
	if err != nil {
		return nil, Statement{}, err
	}
	if err := db.Usable(op); err != nil {
		return nil, Statement{}, err
	}
	text, err := db.dialect.Statement(t, op)
	return t, text, err
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

// command executes a statement that begins or ends a transaction.
func (s *Session) command(ctx context.Context, text string) error {
	d := s.db.dialect
	if s.conn == nil {
		return ErrClosed
	}
	if d.PlainCommands || d.AsText {
		_, _, err := s.conn.ExecText(ctx, text)
		return d.classify(text, err)
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
	_, _, err := st.Exec(ctx, nil)
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

func (s *Session) close() (err error) {
	for _, st := range slices.Backward(s.prepared) {
		err = errors.Join(err, st.Close())
	}
	s.prepared = nil
	return errors.Join(err, s.Admin.Close())
}

const (
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

type begin struct {
	session *Session
	level   model.Isolation
	texts   []string
	writes  bool // the value that texts were made for
}

// Exec starts a transaction. Whether it writes is only known when the
// session's other operations have been prepared, so it is asked here.
func (b *begin) Exec(ctx context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	b.session.undone = false
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.texts == nil || b.writes != b.session.writes {
		b.writes = b.session.writes
		b.texts = b.session.db.dialect.Begin(b.level, b.writes)
	}
	for _, text := range b.texts {
		if err := b.session.command(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// end ends a transaction. It outlasts the context.
type end struct {
	session *Session
	text    string
}

// Exec ends the transaction. After a commit that failed, the transaction is
// undone, so that the session is ready for the next one; another rollback then
// has nothing to do.
func (e *end) Exec(ctx context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	if e.session.undone && e.text == rollback {
		return nil
	}
	e.session.lasting.Until = ctx
	ctx = &e.session.lasting
	err := e.session.command(ctx, e.text)
	if err != nil && e.text == commit {
		e.session.undone = true
		if !e.session.db.dialect.CommitEnds {
			_ = e.session.command(ctx, rollback) // the commit's error is the one that matters
		}
	}
	return err
}
