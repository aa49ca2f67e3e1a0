package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/model"
)

// conn is a connection as sqlkit takes it. The driver has connected it; what
// comes then is spoken here, with memory that is used again and fewer calls to
// the system: see docs/decisions/0014-wire.md.
type conn struct {
	packets
	watch   interrupter
	micros  bool // times are kept as microseconds
	noEOF   bool // what ends rows is an OK packet, and nothing ends the columns
	caches  bool // columns of a prepared statement are only described when they have changed
	lost    error
	done    done
	columns []column // of the last answer to text
	rows    textRows
	row     []model.Value
}

// The commands.
const (
	comQuit        = 0x01
	comQuery       = 0x03
	comStmtPrepare = 0x16
	comStmtExecute = 0x17
)

// moreResults is the status of a result that another one follows.
const moreResults = 0x0008

// done is what the server says of a statement that returned no rows.
type done struct {
	affected, id int64
	status       uint16
}

// RowsAffected is the number of rows inserted, found or deleted.
func (d *done) RowsAffected() (int64, error) { return d.affected, nil }

// LastInsertId is the number of the first row that the server numbered.
func (d *done) LastInsertId() (int64, error) { return d.id, nil }

// column is a column of an answer.
type column struct {
	name     string
	kind     byte
	unsigned bool
}

// begin is called before a command.
func (c *conn) begin(ctx context.Context) error {
	if c.lost != nil {
		return c.lost
	}
	return c.watch.begin(ctx)
}

// end is called when the server has answered, or cannot any more.
func (c *conn) end(ctx context.Context, err error) error {
	c.watch.end()
	if err == nil {
		return nil
	}
	told, ok := errors.AsType[*driver.MySQLError](err)
	if cause := ctx.Err(); cause != nil && (c.lost != nil || ok && told.Number == interrupted) {
		return fmt.Errorf("%w (%v)", cause, err)
	}
	return err
}

// interrupted is the server's error of a statement that was given up.
const interrupted = 1317

// broken notes an error after which nothing can be said any more.
func (c *conn) broken(err error) error {
	c.lost = engine.Errorf(engine.Gone, "the connection to the server is lost: %w", err)
	return c.lost
}

// read reads an answer, which is not empty.
func (c *conn) read() ([]byte, error) {
	b, err := c.packets.read()
	switch {
	case err != nil:
		return nil, c.broken(err)
	case len(b) == 0:
		return nil, c.broken(errMalformed)
	}
	return b, nil
}

// answer reads how an answer begins: with the number of columns of the rows
// that follow, and whether they are described; or with what was done, which has
// no columns.
func (c *conn) answer() (columns int, described bool, err error) {
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
	n, rest, err := number(b)
	if err != nil || n > 1<<16 {
		return 0, false, c.broken(errMalformed)
	}
	return int(n), !c.caches || len(rest) == 0 || rest[0] != 0, nil
}

// noteDone reads an OK packet, or an EOF packet in the place of one.
func (c *conn) noteDone(b []byte) error {
	if b[0] == isEnd && !c.noEOF {
		if len(b) < 5 {
			return c.broken(errMalformed)
		}
		c.done.status = binary.LittleEndian.Uint16(b[3:])
		return nil
	}
	affected, rest, err := number(b[1:])
	if err != nil {
		return c.broken(err)
	}
	id, rest, err := number(rest)
	if err != nil || len(rest) < 2 {
		return c.broken(errMalformed)
	}
	c.done = done{int64(affected), int64(id), binary.LittleEndian.Uint16(rest)}
	return nil
}

// refusal is the error that the server answers.
func (c *conn) refusal(b []byte) error {
	if len(b) < 3 {
		return c.broken(errMalformed)
	}
	e := &driver.MySQLError{Number: binary.LittleEndian.Uint16(b[1:])}
	if b = b[3:]; len(b) >= 6 && b[0] == '#' {
		copy(e.SQLState[:], b[1:])
		b = b[6:]
	}
	e.Message = string(b)
	return e
}

// refuseFile answers a server that wants to have a file of this host.
func (c *conn) refuseFile() error {
	c.out = append(c.out[:0], 0, 0, 0, 0)
	c.write()
	if _, err := c.read(); err != nil {
		return err
	}
	return errors.New("the server asks for a file of this host, which is not given")
}

// describe reads the descriptions of n columns into the memory of old.
func (c *conn) describe(n int, old []column, named bool) ([]column, error) {
	columns := old[:0]
	for range n {
		b, err := c.read()
		if err != nil {
			return old[:0], err
		}
		if b[0] == isError {
			return old[:0], c.refusal(b)
		}
		col, err := parseColumn(b, named)
		if err != nil {
			return old[:0], c.broken(err)
		}
		columns = append(columns, col)
	}
	return columns, nil
}

// parseColumn reads a column's description. See
// https://mariadb.com/kb/en/result-set-packets/#column-definition-packet.
func parseColumn(b []byte, named bool) (col column, err error) {
	var name []byte
	for i := range 6 { // catalog, schema, table, its own name, name, its own name
		var s []byte
		if s, b, err = prefixed(b); err != nil {
			return col, err
		}
		if i == 4 {
			name = s
		}
	}
	if len(b) < 11 { // a length; character set, width, type, flags
		return col, errMalformed
	}
	if named {
		col.name = string(name)
	}
	const unsigned = 0x20
	col.kind = b[7]
	col.unsigned = b[8]&unsigned != 0
	return col, nil
}

// ended reads what ends the descriptions of columns.
func (c *conn) ended() error {
	if c.noEOF {
		return nil
	}
	_, err := c.read()
	return err
}

// next reads a row; nil: there are no more.
func (c *conn) next() ([]byte, error) {
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

// finish reads what is left of an answer after its first result.
func (c *conn) finish() error {
	for c.done.status&moreResults != 0 {
		n, described, err := c.answer()
		if err == nil {
			err = c.drain(n, described)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drain reads a result to its end.
func (c *conn) drain(n int, described bool) error {
	if n == 0 {
		return nil
	}
	if described {
		for range n {
			if _, err := c.read(); err != nil {
				return err
			}
		}
	}
	if err := c.ended(); err != nil {
		return err
	}
	return c.drainRows()
}

func (c *conn) drainRows() error {
	for {
		if b, err := c.next(); b == nil || err != nil {
			return err
		}
	}
}

// Prepare is PrepareContext.
func (c *conn) Prepare(text string) (sqldriver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

// Begin is not used: transactions are begun by statements.
func (c *conn) Begin() (sqldriver.Tx, error) {
	return nil, errors.New("transactions are begun by statements")
}

// Close ends the connection, with all that was prepared on it.
func (c *conn) Close() error {
	_ = c.watch.leave()
	if c.lost == nil {
		c.command(comQuit)
		_ = c.tell() // the server may be gone
	}
	c.lost = errors.New("the connection is closed")
	return c.wire.Close()
}

// ask asks by text.
func (c *conn) ask(text string) {
	c.command(comQuery)
	c.out = append(c.out, text...)
	c.send()
}

// ExecText executes text; rows that it returns are dropped.
func (c *conn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	if err := c.begin(ctx); err != nil {
		return 0, 0, err
	}
	err = c.end(ctx, c.exec(text))
	return c.done.affected, c.done.id, err
}

func (c *conn) exec(text string) error {
	c.ask(text)
	n, described, err := c.answer()
	if err == nil {
		err = c.drain(n, described)
	}
	if err != nil {
		return err
	}
	return c.finish()
}

// ExecContext is ExecText. The result is valid until the next command.
func (c *conn) ExecContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Result, error) {
	if len(args) > 0 {
		return nil, errArguments
	}
	if _, _, err := c.ExecText(ctx, text); err != nil {
		return nil, err
	}
	return &c.done, nil
}

var errArguments = errors.New("text takes no arguments: prepare it")

// QueryText executes text that is one query, and hands over its rows.
func (c *conn) QueryText(ctx context.Context, text string, types []model.Type, each func(row []model.Value) error) error {
	if err := c.begin(ctx); err != nil {
		return err
	}
	return c.end(ctx, c.query(text, types, each))
}

func (c *conn) query(text string, types []model.Type, each func(row []model.Value) error) error {
	c.ask(text)
	if err := c.columnsOfText(false); err != nil {
		return err
	}
	return c.hand(c.columns, types, textRow, each)
}

// columnsOfText reads how the answer to text begins.
func (c *conn) columnsOfText(named bool) error {
	n, _, err := c.answer()
	c.columns = c.columns[:0]
	if err != nil || n == 0 {
		return err
	}
	if c.columns, err = c.describe(n, c.columns, named); err != nil {
		return err
	}
	return c.ended()
}

// decoder reads a row.
type decoder func(b []byte, columns []column, types []model.Type, row []model.Value) error

// hand hands over the rows of an answer whose columns have been read, and
// reads it to its end. After an error of each the rest is dropped.
func (c *conn) hand(columns []column, types []model.Type, decode decoder, each func(row []model.Value) error) error {
	if len(columns) == 0 {
		return c.finish()
	}
	var failed error
	if len(columns) != len(types) {
		failed = fmt.Errorf("the server returned %d columns where %d are wanted", len(columns), len(types))
	}
	for len(c.row) < len(types) {
		c.row = append(c.row, model.Value{})
	}
	row := c.row[:len(types)]
	for {
		b, err := c.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if failed == nil {
			failed = decode(b, columns, types, row)
		}
		if failed == nil {
			failed = each(row)
		}
	}
	if err := c.finish(); err != nil {
		return err
	}
	return failed
}

// QueryContext executes text that is one query. Its rows are text.
func (c *conn) QueryContext(ctx context.Context, text string, args []sqldriver.NamedValue) (sqldriver.Rows, error) {
	if len(args) > 0 {
		return nil, errArguments
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	c.ask(text)
	if err := c.columnsOfText(true); err != nil {
		return nil, c.end(ctx, err)
	}
	c.rows = textRows{conn: c, ctx: ctx, last: len(c.columns) == 0}
	return &c.rows, nil
}

// textRows are the rows of a query by text.
type textRows struct {
	conn *conn // nil: they have ended
	ctx  context.Context
	last bool // all rows have been read
}

// Columns are the names of the columns.
func (r *textRows) Columns() []string {
	if r.conn == nil {
		return nil
	}
	names := make([]string, len(r.conn.columns))
	for i := range names {
		names[i] = r.conn.columns[i].name
	}
	return names
}

// Next reads a row. Its text is valid until the next one.
func (r *textRows) Next(dest []sqldriver.Value) error {
	if r.conn == nil || r.last {
		return io.EOF
	}
	b, err := r.conn.next()
	if err != nil {
		return r.end(err)
	}
	if b == nil {
		r.last = true
		return io.EOF
	}
	for i := range r.conn.columns {
		if len(b) > 0 && b[0] == isNull {
			dest[i], b = nil, b[1:]
			continue
		}
		var s []byte
		if s, b, err = prefixed(b); err != nil {
			return r.end(r.conn.broken(err))
		}
		dest[i] = s
	}
	return nil
}

// Close reads what is left.
func (r *textRows) Close() error {
	if r.conn == nil {
		return nil
	}
	var err error
	if !r.last {
		err = r.conn.drainRows()
	}
	if err == nil {
		err = r.conn.finish()
	}
	return r.end(err)
}

func (r *textRows) end(err error) error {
	c := r.conn
	r.conn = nil
	return c.end(r.ctx, err)
}
