package sqlkit

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"rumbench/engine"
	"rumbench/engine/wire"
	"rumbench/internal/text/escape"
	"rumbench/model"
)

// Connector makes connections that are ready for use.
type Connector func(context.Context) (Conn, error)

// Conn is a connection to a database, for one goroutine at a time. Its operations
// end with the context. Dialect.Classify gives its errors their class.
//
// Values are passed as model.Value: an interface would hold a number or a text
// only by allocating memory for it.
type Conn interface {
	// ExecText executes text and drops the rows that it returns. rows is how many
	// were inserted, found or deleted, id the last insert id, 0 if there is none.
	// The text is valid during the call only.
	ExecText(ctx context.Context, text string) (rows, id int64, err error)
	// QueryText executes text that is one query and hands over its rows, as
	// Stmt.Query does. If types is nil, every value is text or NULL.
	QueryText(ctx context.Context, text string, types []model.Type, each func(row []model.Value) error) error
	// Prepare readies a statement for the connection's life, or until it is closed.
	Prepare(ctx context.Context, text string) (Stmt, error)
	Close() error
}

// Stmt is a prepared statement. Placeholder i takes args[i]. Text and bytes in
// args are valid during the call only.
type Stmt interface {
	// Exec executes a statement that returns no rows; the results are those of
	// Conn.ExecText.
	Exec(ctx context.Context, args []model.Value) (rows, id int64, err error)
	// Query executes a statement that returns rows and hands each over, until
	// each fails: its error is returned. A row has one column for each of types,
	// and its values are of those types, or NULL. Text and bytes in it are valid
	// during the call only.
	Query(ctx context.Context, args []model.Value, types []model.Type, each func(row []model.Value) error) error
	Close() error
}

// Admin is a connection for statements outside the hot path: definitions,
// settings, counters. It may be used from several goroutines, one at a time.
type Admin struct {
	mu   sync.Mutex
	d    *Dialect
	conn Conn // nil: closed
	kept wire.Kept[Conn]
}

// Connect opens a connection.
func Connect(ctx context.Context, connect Connector, d *Dialect) (*Admin, error) {
	conn, err := connect(ctx)
	if err != nil {
		return nil, d.classify("connect", err)
	}
	return NewAdmin(conn, d), nil
}

// NewAdmin takes over a connection.
func NewAdmin(conn Conn, d *Dialect) *Admin { return &Admin{d: d, conn: conn} }

// KeepOpen makes the connection open itself again before it is used, if it was lost while
// it was idle. A quiet one does not execute a statement to see that.
func (c *Admin) KeepOpen(connect Connector, quiet bool) { c.kept.Keep(connect, quiet) }

// awake opens the connection again if that is necessary.
func (c *Admin) awake(ctx context.Context) (err error) {
	c.conn, err = c.kept.Awake(ctx, c.conn, func(ctx context.Context) error {
		_, _, err := c.conn.ExecText(ctx, "SELECT 1")
		return err
	})
	return c.d.classify("connect again", err)
}

// Exec executes a statement whose result is of no interest.
func (c *Admin) Exec(ctx context.Context, text string) error {
	return c.Use(ctx, func(conn Conn) error {
		_, _, err := conn.ExecText(ctx, text)
		return c.d.classify(text, err)
	})
}

// Prepare readies a statement that is executed often, within Use.
func (c *Admin) Prepare(ctx context.Context, text string) (s Stmt, err error) {
	err = c.Use(ctx, func(conn Conn) error {
		s, err = conn.Prepare(ctx, text)
		return c.d.classify("prepare "+text, err)
	})
	return s, err
}

// Use calls f with the connection, for its abilities in addition to statements.
func (c *Admin) Use(ctx context.Context, f func(conn Conn) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return ErrClosed
	}
	if err := c.awake(ctx); err != nil {
		return err
	}
	defer c.kept.Used()
	return f(c.conn)
}

// Query executes a statement and hands over each row as text, with NULL as
// empty text. The slice is valid during the call only.
func (c *Admin) Query(ctx context.Context, text string, each func(row []string) error) error {
	var row []string
	var failed error
	return c.Use(ctx, func(conn Conn) error {
		err := conn.QueryText(ctx, text, nil, func(values []model.Value) error {
			row = row[:0]
			for _, v := range values {
				row = append(row, string(v.Buf()))
			}
			failed = each(row)
			return failed
		})
		if failed != nil {
			return failed
		}
		return c.d.classify(text, err)
	})
}

// Value returns the last column of a query's last row, "" if there is none.
func (c *Admin) Value(ctx context.Context, text string) (string, error) {
	lines, err := c.Lines(ctx, text)
	if len(lines) == 0 {
		return "", err
	}
	return lines[len(lines)-1], err
}

// Lines returns the last column of a query's rows.
func (c *Admin) Lines(ctx context.Context, text string) (lines []string, err error) {
	err = c.Query(ctx, text, func(row []string) error {
		lines = append(lines, row[len(row)-1])
		return nil
	})
	return lines, err
}

// Number is Value as a number, 0 if there is none.
func (c *Admin) Number(ctx context.Context, text string) (float64, error) {
	value, err := c.Value(ctx, text)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseFloat(value, 64)
}

// Numbers hands over the rows of a query: the first columns as text, the others as
// numbers. NULL and text that is no number are NaN.
func (c *Admin) Numbers(ctx context.Context, text string, first int, each func(row []string, n []float64)) error {
	var n []float64
	return c.Query(ctx, text, func(row []string) error {
		n = n[:0]
		for _, v := range row[first:] {
			f, err := strconv.ParseFloat(v, 64)
			if err != nil {
				f = math.NaN()
			}
			n = append(n, f)
		}
		each(row[:first], n)
		return nil
	})
}

// Map returns the last column of a query's rows by the first, in lower case.
func (c *Admin) Map(ctx context.Context, text string) (map[string]string, error) {
	out := map[string]string{}
	return out, c.Query(ctx, text, func(row []string) error {
		out[strings.ToLower(row[0])] = row[len(row)-1]
		return nil
	})
}

// Close closes the connection. Closing again does nothing.
func (c *Admin) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

var ErrClosed = engine.Errorf(engine.Gone, "the connection is closed")

// classify gives an error its class and adds the action that failed.
func (d *Dialect) classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	if err = d.Classify(err); err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", escape.Clip(doing, longestSQL), err)
}

// longestSQL is the maximum number of characters of SQL in a message.
const longestSQL = 200
