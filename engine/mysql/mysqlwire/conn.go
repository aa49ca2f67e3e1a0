// Package mysqlwire is a client of MySQL's protocol that allocates no memory per statement: see
// docs/decisions/0007-client-cost.md. go-sql-driver/mysql connects; this package handles the
// protocol from then on, for MySQL, MariaDB and all compatible servers.
//
// It knows no schema: its connections are sqlkit's.
package mysqlwire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/model"
)

// Error is an error of the server.
type Error = driver.MySQLError

// Conn is a connection that was taken over from the driver.
type Conn struct {
	packets
	watch  wire.Interrupter
	micros bool // times are stored as microseconds
	noEOF  bool // rows end with an OK packet, and nothing ends the columns
	caches bool // columns of a prepared statement are only described when they have changed
	lost   error
	done   done
	row    []model.Value
}

func newConn(w *wire.Conn) *Conn {
	c := &Conn{packets: packets{wire: w}}
	c.watch.Cut, c.watch.Forget = w.Break, c.forget
	return c
}

// The commands.
const (
	comQuit        = 0x01
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
)

// moreResults is the status of a result that is followed by another.
const moreResults = 0x0008

// done is the server's answer to a statement that returned no rows.
type done struct {
	affected, id int64 // id is the number of the first row that the server numbered
	status       uint16
}

// begin is called before a command.
func (c *Conn) begin(ctx context.Context) error {
	if c.lost != nil {
		return c.lost
	}
	return c.watch.Begin(ctx)
}

// end is called when the server has answered, or can no longer answer.
func (c *Conn) end(ctx context.Context, err error) error {
	c.watch.End()
	if err == nil {
		return nil
	}
	refused, ok := errors.AsType[*Error](err)
	if cause := ctx.Err(); cause != nil && (c.lost != nil || ok && refused.Number == interrupted) {
		return fmt.Errorf("%w (%v)", cause, err)
	}
	return err
}

// interrupted is the server's error for a statement that was given up.
const interrupted = 1317

// forget makes the server forget a request to give up: if it was idle when the request
// arrived, it gives up this statement instead of a later one.
func (c *Conn) forget() error {
	if c.lost != nil {
		return c.lost
	}
	err := c.ask("DO 0", nil, nil)
	if _, refused := errors.AsType[*Error](err); refused {
		return nil
	}
	return err
}

// broken notes an error after which the connection is unusable.
func (c *Conn) broken(err error) error {
	c.lost = engine.Errorf(engine.Gone, "the connection to the server is lost: %w", err)
	return c.lost
}

// read reads an answer, which is not empty.
func (c *Conn) read() ([]byte, error) {
	b, err := c.packets.read()
	switch {
	case err != nil:
		return nil, c.broken(err)
	case len(b) == 0:
		return nil, c.broken(errMalformed)
	}
	return b, nil
}

// answer reads the start of an answer: the number of columns of the rows that follow, and
// whether they are described; or the result of a statement, which has no columns.
func (c *Conn) answer() (columns int, described bool, err error) {
	b, err := c.read()
	if err != nil {
		return 0, false, err
	}
	switch b[0] {
	case isOK:
		return 0, false, c.noteDone(b)
	case isError:
		return 0, false, c.refusal(b)
	case isFile:
		return 0, false, c.refuseFile()
	}
	n, remaining, err := number(b)
	if err != nil || n > 1<<16 {
		return 0, false, c.broken(errMalformed)
	}
	return int(n), !c.caches || len(remaining) == 0 || remaining[0] != 0, nil
}

// noteDone reads an OK packet, or an EOF packet that replaces one.
func (c *Conn) noteDone(b []byte) error {
	if b[0] == isEnd && !c.noEOF {
		if len(b) < 5 {
			return c.broken(errMalformed)
		}
		c.done.status = binary.LittleEndian.Uint16(b[3:])
		return nil
	}
	affected, remaining, err := number(b[1:])
	if err != nil {
		return c.broken(err)
	}
	id, remaining, err := number(remaining)
	if err != nil || len(remaining) < 2 {
		return c.broken(errMalformed)
	}
	c.done = done{int64(affected), int64(id), binary.LittleEndian.Uint16(remaining)}
	return nil
}

func (c *Conn) refusal(b []byte) error {
	if len(b) < 3 {
		return c.broken(errMalformed)
	}
	e := &Error{Number: binary.LittleEndian.Uint16(b[1:])}
	if b = b[3:]; len(b) >= 6 && b[0] == '#' {
		copy(e.SQLState[:], b[1:])
		b = b[6:]
	}
	e.Message = string(b)
	return e
}

// refuseFile answers a server that requests a file of this host.
func (c *Conn) refuseFile() error {
	c.out = append(c.out[:0], 0, 0, 0, 0)
	c.write()
	if _, err := c.read(); err != nil {
		return err
	}
	return errors.New("the server asks for a file of this host, which is not given")
}

// column is a column of an answer in binary form.
type column struct {
	kind     byte
	unsigned bool
}

// description reads the description of a column. See
// https://mariadb.com/kb/en/result-set-packets/#column-definition-packet.
func (c *Conn) description() (col column, err error) {
	b, err := c.read()
	if err != nil {
		return col, err
	}
	if b[0] == isError {
		return col, c.refusal(b)
	}
	for range 6 { // catalog, schema, table, its own name, name, its own name
		if _, b, err = prefixed(b); err != nil {
			return col, c.broken(err)
		}
	}
	if len(b) < 11 { // a length; character set, width, type, flags
		return col, c.broken(errMalformed)
	}
	const unsigned = 0x20
	return column{b[7], b[8]&unsigned != 0}, nil
}

// describe reads the descriptions of n columns into the memory of old.
func (c *Conn) describe(n int, old []column) (_ []column, err error) {
	columns := old[:0]
	for range n {
		var col column
		if col, err = c.description(); err != nil {
			return old[:0], err
		}
		columns = append(columns, col)
	}
	return columns, c.ended()
}

// ended reads the end of the column descriptions.
func (c *Conn) ended() error {
	if c.noEOF {
		return nil
	}
	_, err := c.read()
	return err
}

// next reads a row; nil: there are no more rows.
func (c *Conn) next() ([]byte, error) {
	b, err := c.read()
	if err != nil {
		return nil, err
	}
	switch {
	case b[0] == isError:
		return nil, c.refusal(b)
	case b[0] == isEnd && (len(b) < 9 || c.noEOF && len(b) < longest):
		return nil, c.noteDone(b)
	}
	return b, nil
}

// run sends the command and hands over the rows of its answer, with values as text unless
// a statement was executed. Without each they are dropped, and so are the remaining ones
// after each has failed.
func (c *Conn) run(s *stmt, types []model.Type, each func(row []model.Value) error) (failed error) {
	c.send()
	for {
		n, described, err := c.answer()
		if err == nil && n > 0 {
			if err = c.head(s, n, described); err == nil {
				err = c.body(s, n, types, each, &failed)
			}
		}
		if err != nil {
			return err
		}
		if c.done.status&moreResults == 0 {
			return failed
		}
		s, each = nil, nil // only the first result is wanted
	}
}

// head reads the descriptions of the columns of a result; a statement keeps its own.
func (c *Conn) head(s *stmt, n int, described bool) (err error) {
	switch {
	case described && s != nil:
		s.columns, err = c.describe(n, s.columns)
		return err
	case s != nil && n != len(s.columns):
		return c.broken(errMalformed)
	case described:
		for range n {
			if _, err := c.description(); err != nil {
				return err
			}
		}
	}
	return c.ended()
}

// body reads the rows of a result.
func (c *Conn) body(s *stmt, n int, types []model.Type, each func(row []model.Value) error, failed *error) error {
	if each != nil && types != nil && n != len(types) {
		*failed = fmt.Errorf("the server returned %d columns where %d are wanted", n, len(types))
	}
	for len(c.row) < n {
		c.row = append(c.row, model.Value{})
	}
	row := c.row[:n]
	for {
		b, err := c.next()
		switch {
		case b == nil || err != nil:
			return err
		case each == nil || *failed != nil:
			continue
		case s != nil:
			*failed = binaryRow(b, s.columns, types, row)
		default:
			*failed = textRow(b, types, row)
		}
		if *failed == nil {
			*failed = each(row)
		}
	}
}

// Ended implements engine.Connected.
func (c *Conn) Ended() bool { return c.wire.Ended() }

// Close ends the connection, including all prepared statements.
func (c *Conn) Close() error {
	_ = c.watch.Leave()
	if c.lost == nil {
		c.command(comQuit)
		_ = c.sendNow() // the server may be gone
	}
	c.lost = errors.New("the connection is closed")
	return c.wire.Close()
}

// ExecText executes text; rows that it returns are dropped.
func (c *Conn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	err = c.QueryText(ctx, text, nil, nil)
	return c.done.affected, c.done.id, err
}

// QueryText executes text that is a single query, and hands over its rows, as text if
// types is nil.
func (c *Conn) QueryText(ctx context.Context, text string, types []model.Type,
	each func(row []model.Value) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return c.end(ctx, c.ask(text, types, each))
}

func (c *Conn) ask(text string, types []model.Type, each func(row []model.Value) error) error {
	c.command(comQuery)
	c.out = append(c.out, text...)
	return c.run(nil, types, each)
}
