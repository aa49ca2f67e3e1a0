package tarantool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/tarantool/iproto"
	"rumbench/engine/wire"
	"rumbench/internal/text/secret"
	"rumbench/model"
)

// conn is a connection for operations that are not measured. It may be used from several
// goroutines, one at a time.
type conn struct {
	*iproto.Conn
	mu   sync.Mutex
	out  []byte
	kept wire.Kept[*iproto.Conn]
}

// connect opens a connection to a server, on which it evaluates an expression.
func connect(ctx context.Context, a address, dial wire.Dial) (*conn, error) {
	return serverkit.Hello(ctx, func(ctx context.Context) (*conn, error) { return dialled(ctx, a, dial) })
}

func dialled(ctx context.Context, a address, dial wire.Dial) (*conn, error) {
	nc, err := dial(ctx, a.network, a.host)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		return nil, iproto.Gone(err)
	}
	c, err := iproto.Connect(ctx, nc, a.user, a.password)
	if err != nil {
		return nil, secret.Error(fmt.Errorf("connect: %w", err), a.dsn)
	}
	out := &conn{Conn: c}
	if err := out.eval(ctx, nil, "return"); err != nil { // a server or a proxy may greet and be silent
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// eval evaluates an expression with texts as its arguments. Its result, which is JSON, is
// decoded into the value, unless that is nil.
func (c *conn) eval(ctx context.Context, into any, expr string, args ...string) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Conn, err = c.kept.Awake(ctx, c.Conn, func(ctx context.Context) error { return c.evaluate(ctx, nil, "return") })
	if err != nil {
		return err
	}
	defer c.kept.Used()
	return c.evaluate(ctx, into, expr, args...)
}

func (c *conn) evaluate(ctx context.Context, into any, expr string, args ...string) error {
	b := iproto.AppendMap(iproto.Begin(c.out, iproto.Eval), 2)
	b = iproto.AppendText(iproto.AppendUint(b, iproto.KeyExpr), expr)
	b = iproto.AppendArray(iproto.AppendUint(b, iproto.KeyTuple), len(args))
	for _, a := range args {
		b = iproto.AppendText(b, a)
	}
	c.out = iproto.Finish(b)
	data, err := c.Do(ctx, c.out)
	if err != nil || into == nil {
		return err
	}
	data.Array()
	answer := data.Text()
	if err := data.Err(); err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Close closes the connection. Closing again does nothing.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.Close()
}

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

// result describes how the answers of an operation are read.
type result struct {
	op     *model.Op
	number int           // the position of the row's number, -1 if none is wanted
	types  []model.Type  // of the fields of a row as it is sent; Null: not wanted
	tuple  []model.Value // its fields
	fields []int         // the field of each column returned
	row    []model.Value
}

// newResult returns the reader of an answer. The program selects the columns of distinct
// or sorted rows; all other rows are whole tuples.
func newResult(t *model.Table, op *model.Op) result {
	s := result{op: op, number: -1, types: make([]model.Type, len(t.Columns))}
	if op.ReturnNumber {
		s.number = t.AutoColumn()
		s.types[s.number] = model.Int
	}
	if op.Kind == model.Get || op.Kind == model.Scan {
		columns, _ := t.Positions(op.Columns)
		picked := op.Distinct || op.OrderBy != ""
		for i, c := range columns {
			if picked {
				s.types[i], s.fields = t.Columns[c].Type, append(s.fields, i)
			} else {
				s.types[c], s.fields = t.Columns[c].Type, append(s.fields, c)
			}
		}
	}
	s.tuple, s.row = make([]model.Value, len(s.types)), make([]model.Value, len(s.fields))
	return s
}

// read reads an answer: the result of a function if one was called, otherwise tuples.
func (s *result) read(called bool, data *iproto.Reader, r *engine.Result) {
	reads := s.op.Kind == model.Get || s.op.Kind == model.Scan
	switch {
	case called && !reads:
		returned := data.Array()
		r.Rows = data.Int()
		if returned > 1 && s.number >= 0 {
			r.Value = data.Value(model.Int)
		}
	case s.op.OnConflict == model.Add: // an upsert does not report its effect
		r.Rows = int64(s.op.Rows)
	case !reads:
		r.Rows = int64(data.Array())
		if r.Rows > 0 && s.number >= 0 {
			s.next(data)
			r.Value = s.tuple[s.number]
		}
	case s.op.Aggregate != model.NoAggregate:
		data.Array()
		typ := model.Int
		if s.op.Aggregate == model.Sum {
			typ = s.types[s.fields[0]]
		}
		r.Rows, r.Value = 1, data.Value(typ)
	default:
		if called {
			data.Array()
		}
		s.rows(data, r)
	}
}

// rows reads rows and hands over their columns.
func (s *result) rows(data *iproto.Reader, r *engine.Result) {
	for range data.Array() {
		s.next(data)
		if data.Err() != nil {
			return
		}
		for i, f := range s.fields {
			s.row[i] = s.tuple[f]
		}
		r.Row(s.row)
	}
}

// next reads the fields of the next row that are wanted.
func (s *result) next(data *iproto.Reader) {
	for i := range data.Array() {
		if i < len(s.types) && s.types[i] != model.Null {
			s.tuple[i] = data.Value(s.types[i])
		} else {
			data.Skip()
		}
	}
}
