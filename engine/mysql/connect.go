package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"net"
	"sync"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"rumbench/engine"
	"rumbench/internal/server"
)

// connector makes connections that are set up, and remembers the process that
// they lead to.
type connector struct {
	base   sqldriver.Connector
	setup  []string
	micros bool // times are kept as microseconds

	mu      sync.Mutex
	looked  bool
	pid     int
	unknown error // why pid is not known
}

// newConnector makes a connector. Without a DSN it leads to the private
// server's socket.
func newConnector(dsn *driver.Config, socket string) (*connector, error) {
	c := &connector{}
	config := driver.NewConfig()
	if dsn != nil {
		config = dsn.Clone()
	} else {
		config.User, config.Net, config.Addr = "root", "unix", socket
	}
	config.DBName = ""
	config.ParseTime, config.Loc = true, time.UTC
	config.ClientFoundRows = true // an update counts the rows that it found
	config.InterpolateParams = false
	config.CheckConnLiveness = false // a call to the system before every statement
	config.Collation = "utf8mb4_bin" // nothing is converted: text is stored as bytes
	config.Logger = driver.Logger(silent{})
	config.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		c.look(conn)
		d := &dialled{Conn: conn}
		if to, ok := ctx.Value(dialledKey{}).(**dialled); ok {
			*to = d
		}
		return d, nil
	}
	var err error
	c.base, err = driver.NewConnector(config)
	return c, err
}

// silent drops what the driver would print; the error itself says it too.
type silent struct{}

func (silent) Print(...any) {}

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	if network == "unix" {
		return server.Dial(ctx, addr)
	}
	var d net.Dialer
	return d.DialContext(ctx, network, addr)
}

// look finds the server's process by the first connection to it.
func (c *connector) look(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.looked {
		c.pid, c.unknown = server.Peer(conn, "mysqld", "mariadbd")
		c.looked = true
	}
}

// process is the server's process, or why it is not known.
func (c *connector) process() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pid, c.unknown
}

// processes are the server's, or why they are not known.
func (c *connector) processes() (pids []int, why string) {
	pid, err := c.process()
	if err != nil {
		return nil, err.Error()
	}
	return []int{pid}, ""
}

// dataDir is where the server keeps its data, "" if that is not known.
func (c *connector) dataDir() string {
	pid, err := c.process()
	if err != nil {
		return ""
	}
	return server.WorkDir(pid)
}

// parseDSN reads a data source name. The error holds nothing of it, nor the
// driver's message, which would: it may be a password in the wrong place.
func parseDSN(dsn string) (*driver.Config, error) {
	config, err := driver.ParseDSN(dsn)
	if err != nil || config.Net != "tcp" && config.Net != "unix" {
		return nil, &engine.KnobError{Knob: "dsn", Reason: "it cannot be read; it is written USER:PASSWORD@unix(/PATH)/ or USER:PASSWORD@tcp(HOST:PORT)/"}
	}
	return config, nil
}

// ReadDSN reads a data source name.
func (Engine) ReadDSN(dsn string) (engine.Address, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return engine.Address{}, err
	}
	return engine.Address{User: config.User, Network: config.Net, Host: config.Addr, Database: config.DBName}, nil
}

// Connect opens a connection and sets it up.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, text := range c.setup {
		if _, err := conn.(sqldriver.ExecerContext).ExecContext(ctx, text, nil); err != nil {
			_ = conn.Close()
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	return conn, nil
}

// Driver is the driver that connections are of.
func (c *connector) Driver() sqldriver.Driver { return c.base.Driver() }

// ping makes a round trip.
func ping(ctx context.Context, socket string) error {
	c, err := newConnector(nil, socket)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	conn, err := c.base.Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.(sqldriver.Pinger).Ping(ctx)
}
