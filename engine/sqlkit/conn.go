package sqlkit

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"sync"

	"rumbench/engine"
)

// Conn is a connection for statements outside the hot path: definitions,
// settings, counters. It may be used from several goroutines, one at a time.
type Conn struct {
	mu   sync.Mutex
	d    *Dialect
	conn driver.Conn // nil: closed
}

// Connect opens a connection.
func Connect(ctx context.Context, connector driver.Connector, d *Dialect) (*Conn, error) {
	conn, err := connector.Connect(ctx)
	if err != nil {
		return nil, d.classify("connect", err)
	}
	return &Conn{d: d, conn: conn}, nil
}

// Exec executes a statement that returns nothing of interest.
func (c *Conn) Exec(ctx context.Context, text string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return errClosed
	}
	return execText(ctx, c.d, c.conn, text)
}

func execText(ctx context.Context, d *Dialect, conn driver.Conn, text string) error {
	execer, ok := conn.(driver.ExecerContext)
	if !ok {
		return fmt.Errorf("the driver's %T cannot execute text", conn)
	}
	_, err := execer.ExecContext(ctx, text, nil)
	return d.classify(text, err)
}

// Query executes a statement and hands over each row, which is valid during
// the call only.
func (c *Conn) Query(ctx context.Context, text string, each func(row []driver.Value) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return errClosed
	}
	return queryText(ctx, c.d, c.conn, text, each)
}

func queryText(ctx context.Context, d *Dialect, conn driver.Conn, text string, each func(row []driver.Value) error) (err error) {
	queryer, ok := conn.(driver.QueryerContext)
	if !ok {
		return fmt.Errorf("the driver's %T cannot query by text", conn)
	}
	rows, err := queryer.QueryContext(ctx, text, nil)
	if err != nil {
		return d.classify(text, err)
	}
	defer func() { err = errors.Join(err, d.classify(text, rows.Close())) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return d.classify(text, err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// Close closes the connection. It does nothing the second time.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn == nil {
		return nil
	}
	err := c.conn.Close()
	c.conn = nil
	return err
}

var errClosed = engine.Errorf(engine.Gone, "the connection is closed")

// classify gives a driver's error its class and says what was being done.
func (d *Dialect) classify(doing string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, driver.ErrBadConn) {
		err = engine.Classify(engine.Gone, err)
	} else if err = d.Classify(err); err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}
