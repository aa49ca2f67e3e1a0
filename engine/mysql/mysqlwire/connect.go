package mysqlwire

import (
	"context"
	sqldriver "database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/stdsql"
	"rumbench/engine/wire"
	"rumbench/model"
)

// Config holds the server's address and the user.
type Config = driver.Config

// ParseDSN reads a data source name. The error contains no part of it, nor the driver's
// message, which would: a part may be a misplaced password.
func ParseDSN(dsn string) (*Config, error) {
	config, err := driver.ParseDSN(dsn)
	if err != nil || config.Net != "tcp" && config.Net != "unix" {
		return nil, engine.Refuse("dsn", nil,
			"it cannot be read; it is written USER:PASSWORD@tcp(HOST:PORT)/, with unix(/PATH) instead of tcp(HOST:PORT) "+
				"for a socket")
	}
	return config, nil
}

// Socket returns the configuration for a unix socket.
func Socket(user, path string) *Config {
	config := driver.NewConfig()
	config.User, config.Net, config.Addr = user, "unix", path
	return config
}

// RemoteDSN returns the data source name of a server at a port.
func RemoteDSN(user, password, address string, port int) string {
	config := driver.NewConfig()
	config.User, config.Passwd, config.Net = user, password, "tcp"
	config.Addr = net.JoinHostPort(address, strconv.Itoa(port))
	return config.FormatDSN()
}

// Connector makes connections to a server.
type Connector struct {
	Micros bool // times are stored as microseconds since 1970

	base sqldriver.Connector
}

// NewConnector makes a connector that uses the given dial function.
func NewConnector(c *Config, dial wire.Dial) (*Connector, error) {
	config := c.Clone()
	config.DBName = ""
	config.ParseTime, config.Loc = true, time.UTC
	config.ClientFoundRows = true // an update counts the rows that it found
	config.InterpolateParams = false
	config.CheckConnLiveness = false    // costs a system call before every statement
	config.Collation = "utf8mb4_bin"    // nothing is converted: text is stored as bytes
	config.Logger = &driver.NopLogger{} // errors contain the messages that it would print
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		d := &dialled{Conn: conn}
		if slot, ok := ctx.Value(dialledKey{}).(**dialled); ok {
			*slot = d
		}
		return d, nil
	}
	base, err := driver.NewConnector(config)
	return &Connector{base: base}, err
}

// dialled is a connection while the driver prepares it. It notes the capabilities that
// driver and server agree on.
type dialled struct {
	net.Conn
	noted        bool
	flags, maria uint32 // the capabilities, and those that MariaDB adds
	taken        bool
}

// The capabilities that matter here. See
// https://mariadb.com/kb/en/connection/#capabilities.
const (
	flagMySQL    = 1 << 0 // the server lacks the capabilities that MariaDB adds
	flagCompress = 1 << 5
	flagTLS      = 1 << 11
	flagNoEOF    = 1 << 24
	mariaCaches  = 1 << 4
)

// Write sends the driver's messages: the first contains the agreed capabilities. When the
// connection has been taken over, the driver's farewell is dropped.
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

// dialledKey is the key of the context's value that receives the connection.
type dialledKey struct{}

// Connect lets the driver connect, and takes the connection over. An encrypted or
// compressed one stays with the driver: only the driver can read it.
func (c *Connector) Connect(ctx context.Context) (sqlkit.Conn, error) {
	var d *dialled
	theirs, err := c.base.Connect(context.WithValue(ctx, dialledKey{}, &d))
	if err != nil {
		return nil, err
	}
	if !d.noted || d.flags&(flagTLS|flagCompress) != 0 {
		own, err := stdsql.New(theirs, !c.Micros)
		if err != nil {
			return nil, err
		}
		return newOpaque(own, d), nil
	}
	d.taken = true
	w, err := wire.Take(d.Conn)
	_ = theirs.Close() // this ends the driver's watcher of the connection
	if err != nil {
		return nil, fmt.Errorf("take over the connection to the server: %w", err)
	}
	own := newConn(w)
	own.micros, own.noEOF, own.caches = c.Micros, d.flags&flagNoEOF != 0, d.maria&mariaCaches != 0
	if err := own.identify(ctx, c); err != nil {
		return nil, errors.Join(err, own.Close())
	}
	return own, nil
}

// opaque is a connection that only the driver can read. It ends commits that the driver
// would wait for without end.
type opaque struct {
	*stdsql.Conn
	socket *dialled
	watch  wire.Interrupter
}

func newOpaque(c *stdsql.Conn, socket *dialled) *opaque {
	o := &opaque{Conn: c, socket: socket}
	o.watch.Cut = func() { _ = socket.Close() }
	return o
}

func (c *opaque) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	if _, ok := ctx.(*wire.Lasting); ok { // the driver follows all others itself
		if err := c.watch.Begin(ctx); err != nil {
			return 0, 0, err
		}
		defer c.watch.End()
	}
	return c.Conn.ExecText(ctx, text)
}

// Ended implements engine.Connected.
func (c *opaque) Ended() bool {
	v, ok := c.Raw().(sqldriver.Validator) // it is invalid after an operation that failed by its end
	return ok && v.IsValid() && wire.Ended(c.socket.Conn)
}

func (c *opaque) Close() error {
	_ = c.watch.Leave()
	return c.Conn.Close()
}

// identify asks for the connection's number, which is needed to interrupt it.
func (c *Conn) identify(ctx context.Context, source *Connector) error {
	return c.QueryText(ctx, "SELECT CONNECTION_ID()", nil, func(row []model.Value) error {
		number := string(row[0].Buf())
		c.watch.Ask = func(ctx context.Context) error { return source.kill(ctx, number) }
		return nil
	})
}

// kill makes the server give up the request of a connection.
func (c *Connector) kill(ctx context.Context, number string) error {
	conn, err := c.base.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.(sqldriver.ExecerContext).ExecContext(ctx, "KILL QUERY "+number, nil)
	return err
}
