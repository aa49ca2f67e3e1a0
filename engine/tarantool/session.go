package tarantool

import (
	"context"
	"errors"
	"fmt"

	"rumbench/engine"
	"rumbench/engine/tarantool/iproto"
	"rumbench/engine/wire"
	"rumbench/model"
)

// session executes operations on its own connection.
type session struct {
	conn *conn
	db   *db
	open bool // a transaction is open
	out  []byte

	lasting wire.Lasting // of the end of a transaction
}

// Prepare prepares an operation. An operation that a single request can express becomes
// one, outside of transactions; all others call the program in the server.
func (s *session) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	switch op.Kind {
	case model.Begin, model.Commit, model.Rollback:
		return newCommand(s, op), nil
	}
	t, err := s.db.usable(op.Table)
	if err != nil {
		return nil, err
	}
	var p prepared
	description := encode(struct {
		*model.Op
		Kind string
	}{op, op.Kind.String()})
	if err := s.db.do(ctx, s.conn, &p, "prepare", description); err != nil {
		return nil, fmt.Errorf("%s: %w", op.Label(), err)
	}
	st := &stmt{session: s, label: op.Label(), want: op.Args(t), result: newResult(t, op)}
	st.call = callOf(s.db.module+".call", t, op, p)
	if st.alone = requestOf(t, op, p, s.db.Storage); st.alone == nil {
		st.alone = st.call
	}
	return st, nil
}

// Ended implements engine.Connected.
func (s *session) Ended() bool { return s.conn.Ended() }

// prepared is the program's answer for an operation: its number in the session, and the
// numbers of the space and the index.
type prepared struct{ Number, Space, Index int }

// Close ends the session, rolling back an open transaction.
func (s *session) Close() error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	delete(s.db.conns, s.conn)
	return s.conn.Close()
}

// stmt is a prepared operation.
type stmt struct {
	session *session
	label   string
	want    int       // arguments
	call    *template // of the program's function
	alone   *template // of the request outside of a transaction
	result
}

func (s *stmt) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	r.Reset()
	if len(args) != s.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", s.label, len(args), s.want)
	}
	t := s.alone
	if s.session.open {
		t = s.call
	}
	if t.findsNothing(args) {
		return nil
	}
	s.session.out = t.append(s.session.out, args)
	if s.session.open {
		return s.request(ctx, t, r)
	}
	// Other servers repeat the statement themselves; see vinyl.tx.conflict.
	_, err := engine.Repeat(ctx, func() error { return s.request(ctx, t, r) })
	return err
}

// request sends the session's request, and reads the answer.
func (s *stmt) request(ctx context.Context, t *template, r *engine.Result) error {
	data, err := s.session.conn.Do(ctx, s.session.out)
	if err == nil {
		s.read(t == s.call, &data, r)
		err = data.Err()
	}
	if err != nil {
		r.Reset()
		return fmt.Errorf("%s: %w", s.label, err)
	}
	return nil
}

// command begins or ends a transaction.
type command struct {
	session *session
	kind    model.Kind
	level   model.Isolation
	request []byte
}

func newCommand(s *session, op *model.Op) engine.Stmt {
	b := iproto.AppendMap(iproto.Begin(nil, iproto.Call), 2)
	b = iproto.AppendText(iproto.AppendUint(b, iproto.KeyFunction), s.db.module+"."+op.Kind.String())
	b = iproto.AppendArray(iproto.AppendUint(b, iproto.KeyTuple), 0)
	return &command{s, op.Kind, op.Isolation, iproto.Finish(b)}
}

// Exec begins or ends the transaction. A commit that fails rolls it back.
func (c *command) Exec(ctx context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	if c.level != model.DefaultIsolation && c.level != model.Serializable {
		return errors.New("begin: transactions are serializable only, not " + c.level.String())
	}
	if c.kind != model.Begin { // it is always completed
		c.session.lasting.Until = ctx
		ctx = &c.session.lasting
	}
	_, err := c.session.conn.Do(ctx, c.request)
	c.session.open = c.kind == model.Begin && (err == nil || c.session.open) // a second begin does not end it
	return engine.Wrap(c.kind.String(), err)
}
