// Package pgwire is a client of PostgreSQL's protocol that allocates no memory per
// statement: see docs/decisions/0007-client-cost.md. pgconn connects; this package
// handles the protocol from then on, for PostgreSQL and all compatible servers.
//
// It knows no schema: its connections are sqlkit's.
package pgwire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
	"rumbench/model"
)

// Conn is a connection that pgconn has made, and that no longer uses pgconn afterwards:
// pgconn makes four system calls for a statement where two are enough, and examines every
// message through an interface.
type Conn struct {
	link
	pg     *pgconn.PgConn // made the connection, and can make the server interrupt it
	watch  wire.Interrupter
	named  int   // statements prepared so far
	broken error // why the open transaction can only be rolled back
	row    []model.Value
}

// commitText ends a transaction and keeps its work.
const commitText = "COMMIT"

// newConn takes a connection over from pgconn.
func newConn(ctx context.Context, pg *pgconn.PgConn) (*Conn, error) {
	err := pg.SyncConn(ctx) // pgconn has no unprocessed input left, and reads nothing
	if err != nil {
		_ = pg.Close(ctx)
		return nil, gone(err)
	}
	taken, err := pg.Hijack()
	if err != nil {
		_ = pg.Close(ctx)
		return nil, err
	}
	stream, err := wire.Take(taken.Conn)
	if err != nil {
		return nil, fmt.Errorf("take over the connection to the server: %w", err)
	}
	c := &Conn{pg: pg, link: link{wire: stream, status: taken.TxStatus}}
	c.watch.Ask, c.watch.Cut = pg.CancelRequest, stream.Break // an idle server ignores the request
	return c, nil
}

// PID returns the server process of the connection.
func (c *Conn) PID() uint32 { return c.pg.PID() }

// Ended implements engine.Connected.
func (c *Conn) Ended() bool { return c.wire.Ended() }

// InTransaction reports whether a transaction is open.
func (c *Conn) InTransaction() bool { return c.status != idle }

// Prepare has the server parse a statement once for the life of the connection.
func (c *Conn) Prepare(ctx context.Context, text string) (sqlkit.Stmt, error) {
	c.named++
	name := "s" + strconv.Itoa(c.named)
	c.out = append(appendParse(c.out[:0], name, text), syncMessage...)
	if err := c.run(ctx, nil); err != nil {
		return nil, err
	}
	return newStmt(c, name, text == commitText), nil
}

// run sends the question, and hands over the rows of its answer as they are sent. Without
// each they are dropped, and so are the remaining ones after each has failed.
func (c *Conn) run(ctx context.Context, each func(b []byte) error) error {
	if err := c.watch.Begin(ctx); err != nil {
		return err
	}
	var failed error
	c.ask()
	for {
		b, err := c.next()
		if b == nil {
			if err := c.end(ctx, err); err != nil {
				return err
			}
			return failed
		}
		if each != nil && failed == nil {
			failed = each(b)
		}
	}
}

// query sends the question, and hands over the rows of its answer, whose columns are of
// these types; nil: they are text, and the server describes them.
func (c *Conn) query(ctx context.Context, columns []uint32, types []model.Type,
	each func(row []model.Value) error) error {
	read := decode
	if columns == nil {
		read = decodeText
	}
	return c.run(ctx, func(b []byte) error {
		if columns == nil {
			columns = c.columns
		}
		n := len(types)
		if types == nil {
			n = len(columns)
		}
		row := c.rowOf(n)
		if err := decodeRow(b, row, columns, types, read); err != nil {
			return err
		}
		return each(row)
	})
}

// rowOf returns a row of n values, in memory that is reused.
func (c *Conn) rowOf(n int) []model.Value {
	for len(c.row) < n {
		c.row = append(c.row, model.Value{})
	}
	return c.row[:n]
}

// encode writes text as a question.
func (c *Conn) encode(text string) error {
	if strings.IndexByte(text, 0) >= 0 { // the server would take it for the end
		return errors.New("text must not hold a byte that is zero")
	}
	c.out = appendQuery(c.out[:0], text)
	return nil
}

// ExecText executes text, which may be several statements: all of them or none, unless
// they specify otherwise themselves. The rows are those of the last one.
func (c *Conn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	if err := c.encode(text); err != nil {
		return 0, 0, err
	}
	if err := c.run(ctx, nil); err != nil {
		return 0, 0, err
	}
	if c.undone && text == commitText {
		return 0, 0, c.failure()
	}
	return c.rows, 0, nil
}

// QueryText executes text that is a single query, and hands over its rows, as text if
// types is nil.
func (c *Conn) QueryText(ctx context.Context, text string, types []model.Type,
	each func(row []model.Value) error) error {
	if err := c.encode(text); err != nil {
		return err
	}
	return c.query(ctx, nil, types, each)
}

// end is called when the server has answered, or can no longer answer. It gives the error
// its class.
func (c *Conn) end(ctx context.Context, err error) error {
	c.watch.End()
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*Error](err)
	switch cause := ctx.Err(); {
	case cause != nil && (!ok || refused.Code == queryCanceled):
		return fmt.Errorf("%w (%w)", cause, err)
	case !ok: // the server is gone
		return gone(err)
	}
	if refused.Code == transactionFailed && c.broken != nil {
		return c.failure()
	}
	err = classify(refused)
	if c.status == inFailed {
		c.broken = err
	}
	return err
}

// failure returns the error of a transaction that has failed before. Its class is that of
// the first failure.
func (c *Conn) failure() error {
	if c.broken == nil {
		return errors.New("the transaction was undone")
	}
	return fmt.Errorf("the transaction is undone, as something in it has failed: %w", c.broken)
}

// farewellTime is the time that a server may take to end a session.
const farewellTime = time.Second

// Close ends the connection, including all prepared statements, and waits until the
// server has ended the session.
func (c *Conn) Close() error {
	_ = c.watch.Leave()
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
