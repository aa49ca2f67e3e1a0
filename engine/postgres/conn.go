package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn is a connection as sqlkit takes it. It does without pgx's own adapter
// to database/sql: that looks statements up by their text, converts every value
// through tables of types and watches the context anew for each execution,
// which takes longer than all the rest of the client's work.
type conn struct {
	pg     *pgconn.PgConn
	watch  interrupter
	named  int   // statements that were prepared
	broken error // why the open transaction can only be undone
}

var background = context.Background() // pgconn is not to watch contexts: interrupter does

// Prepare is PrepareContext.
func (c *conn) Prepare(text string) (sqldriver.Stmt, error) {
	return c.PrepareContext(background, text)
}

// Begin is not used: transactions are begun by statements.
func (c *conn) Begin() (sqldriver.Tx, error) {
	return nil, errors.New("transactions are begun by statements")
}

// PrepareContext has the server parse a statement once for the connection's life.
func (c *conn) PrepareContext(ctx context.Context, text string) (sqldriver.Stmt, error) {
	if err := c.watch.begin(ctx); err != nil {
		return nil, err
	}
	c.named++
	sd, err := c.pg.Prepare(background, "s"+strconv.Itoa(c.named), text, nil)
	if err := c.end(ctx, err); err != nil {
		return nil, err
	}
	return newStmt(c, sd), nil
}

// ExecContext executes text, which may be several statements: all of them or
// none, unless they say otherwise themselves.
func (c *conn) ExecContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, errors.New("text takes no arguments: prepare it")
	}
	if err := c.watch.begin(ctx); err != nil {
		return nil, err
	}
	err := c.pg.Exec(background, text).Close()
	return sqldriver.ResultNoRows, c.end(ctx, err)
}

// QueryContext executes text that is one query. Its rows are text.
func (c *conn) QueryContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if len(args) > 0 {
		return nil, errors.New("text takes no arguments: prepare it")
	}
	if err := c.watch.begin(ctx); err != nil {
		return nil, err
	}
	all := c.pg.Exec(background, text)
	if !all.NextResult() {
		err := all.Close()
		return &textRows{}, c.end(ctx, err)
	}
	return &textRows{conn: c, ctx: ctx, all: all, one: all.ResultReader()}, nil
}

// textRows are the rows of a query by text.
type textRows struct {
	conn *conn // nil: they have ended
	ctx  context.Context
	all  *pgconn.MultiResultReader
	one  *pgconn.ResultReader
}

// Columns are the names of the columns.
func (r *textRows) Columns() []string {
	if r.conn == nil {
		return nil
	}
	var names []string
	for _, f := range r.one.FieldDescriptions() {
		names = append(names, f.Name)
	}
	return names
}

// Next reads a row.
func (r *textRows) Next(dest []sqldriver.Value) error {
	if r.conn == nil {
		return io.EOF
	}
	if !r.one.NextRow() {
		if err := r.Close(); err != nil {
			return err
		}
		return io.EOF
	}
	for i, v := range r.one.Values() {
		if dest[i] = nil; v != nil {
			dest[i] = string(v)
		}
	}
	return nil
}

// Close reads what is left.
func (r *textRows) Close() error {
	c := r.conn
	if c == nil {
		return nil
	}
	r.conn = nil
	return c.end(r.ctx, r.all.Close())
}

// end is called when the server has answered, or cannot any more. It gives the
// error its class.
func (c *conn) end(ctx context.Context, err error) error {
	c.watch.end()
	if err == nil {
		return nil
	}
	told, ok := errors.AsType[*pgconn.PgError](err)
	switch cause := ctx.Err(); {
	case cause != nil && (!ok || told.Code == queryCanceled):
		return fmt.Errorf("%w (%w)", cause, err)
	case !ok && c.pg.IsClosed():
		return gone(err)
	case !ok:
		return err
	}
	if told.Code == transactionFailed && c.broken != nil {
		return c.undone()
	}
	err = classify(told)
	if c.pg.TxStatus() == 'E' {
		c.broken = err
	}
	return err
}

// undone is the error of a transaction that has failed before. Its class is
// that of the first failure.
func (c *conn) undone() error {
	if c.broken == nil {
		return errors.New("the transaction was undone")
	}
	return fmt.Errorf("the transaction is undone, as something in it has failed: %w", c.broken)
}

// farewellTime is how long a connection that broke may take to be taken down.
const farewellTime = time.Second

// Close ends the connection, with all that was prepared on it.
func (c *conn) Close() error {
	c.watch.leave()
	broken := c.pg.IsClosed()
	_ = c.pg.Close(background) // the server may be gone
	if broken {
		select {
		case <-c.pg.CleanupDone():
		case <-time.After(farewellTime):
		}
	}
	return nil
}
