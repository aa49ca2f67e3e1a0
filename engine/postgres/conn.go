package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/internal/wire"
	"rumbench/model"
)

// conn is a connection as sqlkit takes it. pgconn makes it, and is left then: it
// calls the system four times for a statement where two calls do, and looks at
// every message through an interface.
type conn struct {
	link
	pg     *pgconn.PgConn // made the connection, and can have the server interrupt it
	watch  interrupter
	named  int   // statements that were prepared
	broken error // why the open transaction can only be undone
	row    []model.Value
	result result
	texts  textRows
}

// commitText ends a transaction, keeping its work.
const commitText = "COMMIT"

var background = context.Background()

// newConn takes a connection over from pgconn.
func newConn(ctx context.Context, pg *pgconn.PgConn) (*conn, error) {
	err := pg.SyncConn(ctx) // nothing is left that it has read, or reads
	if err != nil {
		_ = pg.Close(ctx)
		return nil, gone(err)
	}
	taken, err := pg.Hijack()
	if err != nil {
		_ = pg.Close(ctx)
		return nil, err
	}
	c := &conn{pg: pg}
	stream, err := wire.Take(taken.Conn)
	if err != nil {
		return nil, fmt.Errorf("take over the connection to the server: %w", err)
	}
	c.link = link{wire: stream, status: taken.TxStatus}
	c.watch = interrupter{cancel: pg.CancelRequest, cut: c.wire.Break}
	c.texts.conn = c
	return c, nil
}

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
	s, err := c.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *conn) prepare(ctx context.Context, text string) (*stmt, error) {
	c.named++
	name := "s" + strconv.Itoa(c.named)
	c.out = append(appendParse(c.out[:0], name, text), syncMessage...)
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	return newStmt(c, name, text == commitText), nil
}

// run asks the question, and reads its answer; rows are dropped.
func (c *conn) run(ctx context.Context) error {
	if err := c.watch.begin(ctx); err != nil {
		return err
	}
	c.ask()
	return c.end(ctx, c.rest())
}

// query asks the question, and hands over the rows of its answer, whose columns
// are of these types; nil: they are text, and the server describes them. When
// each has failed the rest is dropped.
func (c *conn) query(ctx context.Context, columns []uint32, types []model.Type, each func(row []model.Value) error) error {
	if err := c.watch.begin(ctx); err != nil {
		return err
	}
	for len(c.row) < len(types) {
		c.row = append(c.row, model.Value{})
	}
	row, read := c.row[:len(types)], decode
	var failed error
	c.ask()
	for n := 1; ; n++ {
		b, err := c.next()
		if b == nil {
			if err := c.end(ctx, err); err != nil {
				return err
			}
			return failed
		}
		if columns == nil {
			columns, read = c.columns, decodeText
		}
		if failed == nil {
			failed = decodeRow(b, row, columns, types, read)
		}
		if failed == nil {
			failed = each(row)
		}
		if failed == nil && n%256 == 0 {
			failed = ctx.Err() // the server may have sent far more by now
		}
	}
}

// encode writes the question that text is.
func (c *conn) encode(text string) error {
	if strings.IndexByte(text, 0) >= 0 { // where the server would see its end
		return errors.New("text must not hold a byte that is zero")
	}
	c.out = appendQuery(c.out[:0], text)
	return nil
}

// ExecText executes text, which may be several statements: all of them or none,
// unless they say otherwise themselves. What is told is of the last one.
func (c *conn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	if err := c.encode(text); err != nil {
		return 0, 0, err
	}
	if err := c.run(ctx); err != nil {
		return 0, 0, err
	}
	if c.undone && text == commitText {
		return 0, 0, c.failure()
	}
	return c.rows, 0, nil
}

// QueryText executes text that is one query, and hands over its rows.
func (c *conn) QueryText(ctx context.Context, text string, types []model.Type, each func(row []model.Value) error) error {
	if err := c.encode(text); err != nil {
		return err
	}
	return c.query(ctx, nil, types, each)
}

// ExecContext is ExecText. The result is valid until the next one.
func (c *conn) ExecContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, errArguments
	}
	rows, _, err := c.ExecText(ctx, text)
	if err != nil {
		return nil, err
	}
	c.result = result(rows)
	return &c.result, nil
}

var errArguments = errors.New("text takes no arguments: prepare it")

// QueryContext executes text that is one query. Its rows are text, and valid
// until the next one.
func (c *conn) QueryContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if len(args) > 0 {
		return nil, errArguments
	}
	if err := c.encode(text); err != nil {
		return nil, err
	}
	r := &c.texts
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	return r, nil
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
	case !ok: // there is no server any more
		return gone(err)
	}
	if told.Code == transactionFailed && c.broken != nil {
		return c.failure()
	}
	err = classify(told)
	if c.status == inFailed {
		c.broken = err
	}
	return err
}

// failure is the error of a transaction that has failed before. Its class is
// that of the first failure.
func (c *conn) failure() error {
	if c.broken == nil {
		return errors.New("the transaction was undone")
	}
	return fmt.Errorf("the transaction is undone, as something in it has failed: %w", c.broken)
}

// farewellTime is how long a server may take to end a session.
const farewellTime = time.Second

// Close ends the connection, with all that was prepared on it, and waits until
// the server has ended the session.
func (c *conn) Close() error {
	c.watch.leave()
	if c.lost == nil {
		late := time.AfterFunc(farewellTime, c.wire.Break)
		err := c.wire.Send([]byte(terminateMessage))
		for err == nil { // to the end of the stream; the server may be gone
			if _, err = c.wire.Peek(1); err == nil {
				c.wire.Skip(1)
			}
		}
		late.Stop()
	}
	_ = c.lose(net.ErrClosed)
	return c.wire.Close()
}

// result counts rows.
type result int64

// RowsAffected is the number of rows inserted, changed or deleted.
func (r *result) RowsAffected() (int64, error) { return int64(*r), nil }

// LastInsertId is not known: numbers are returned as rows.
func (r *result) LastInsertId() (int64, error) { return 0, errors.New("numbers are returned as rows") }
