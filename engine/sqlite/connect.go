package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"net/url"
)

// dsn names the file. A name in double quotes that is no identifier is an
// error and not taken for text, and messages tell only of their own error.
func dsn(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_dqs=0&_error_rc=1"}
	return u.String()
}

// connector makes connections that are set up.
type connector struct {
	base  sqldriver.Connector
	setup []string // pragmas
}

// Connect opens a connection and sets it up. The driver could be given the
// pragmas itself, but would execute them in another order.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	conn, err := c.base.Connect(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range c.setup {
		if _, err := conn.(sqldriver.ExecerContext).ExecContext(ctx, "PRAGMA "+p, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// Driver is the driver that connections are of.
func (c *connector) Driver() sqldriver.Driver { return c.base.Driver() }
