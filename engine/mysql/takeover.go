package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"fmt"
	"net"

	"rumbench/internal/wire"
)

// dialled is a connection while the driver makes it ready. It notes what the
// driver agrees on with the server.
type dialled struct {
	net.Conn
	noted        bool
	flags, maria uint32 // the capabilities, and those that MariaDB adds
	taken        bool
}

// The capabilities that matter here. See
// https://mariadb.com/kb/en/connection/#capabilities.
const (
	flagMySQL    = 1 << 0 // it does not have those that MariaDB adds
	flagCompress = 1 << 5
	flagTLS      = 1 << 11
	flagNoEOF    = 1 << 24
	mariaCaches  = 1 << 4
)

// Write sends what the driver says: first of all, what it agrees on. When the
// connection was taken over, its farewell is dropped.
func (d *dialled) Write(b []byte) (int, error) {
	if d.taken {
		return len(b), nil
	}
	if !d.noted && len(b) >= headerSize+32 {
		d.noted = true
		d.flags = binary.LittleEndian.Uint32(b[headerSize:])
		if d.flags&flagMySQL == 0 {
			d.maria = binary.LittleEndian.Uint32(b[headerSize+28:])
		}
	}
	return d.Conn.Write(b)
}

// Close closes the connection, unless it was taken over.
func (d *dialled) Close() error {
	if d.taken {
		return nil
	}
	return d.Conn.Close()
}

// dialledKey is where a context holds where to put the connection.
type dialledKey struct{}

// connect has the driver connect, and takes the connection over. One that is
// encrypted or compressed stays the driver's: only it can read it.
func (c *connector) connect(ctx context.Context) (sqldriver.Conn, error) {
	var d *dialled
	theirs, err := c.base.Connect(context.WithValue(ctx, dialledKey{}, &d))
	if err != nil {
		return nil, err
	}
	if !d.noted || d.flags&(flagTLS|flagCompress) != 0 {
		return theirs, nil
	}
	d.taken = true
	w, err := wire.Take(d.Conn)
	_ = theirs.Close() // it ends what watches the connection
	if err != nil {
		return nil, fmt.Errorf("take over the connection to the server: %w", err)
	}
	own := &conn{packets: packets{wire: w}, micros: c.micros, noEOF: d.flags&flagNoEOF != 0, caches: d.maria&mariaCaches != 0}
	own.watch.conn = own
	if err := own.identify(ctx, c); err != nil {
		_ = own.Close()
		return nil, err
	}
	return own, nil
}

// identify asks for the connection's number, by which it can be interrupted.
func (c *conn) identify(ctx context.Context, from *connector) error {
	rows, err := c.QueryContext(ctx, "SELECT CONNECTION_ID()", nil)
	if err != nil {
		return err
	}
	defer rows.Close()
	var row [1]sqldriver.Value
	if err := rows.Next(row[:]); err != nil {
		return err
	}
	number := string(row[0].([]byte))
	c.watch.kill = func(ctx context.Context) error { return from.kill(ctx, number) }
	return nil
}

// kill has the server give up what a connection asked for.
func (c *connector) kill(ctx context.Context, number string) error {
	conn, err := c.base.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.(sqldriver.ExecerContext).ExecContext(ctx, "KILL QUERY "+number, nil)
	return err
}
