package pgwire

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/engine/wire"
)

// Connector holds the server's address, the user, and the parameters of the connection.
type Connector struct{ *pgconn.Config }

const applicationName = "rumbench"

// Socket returns a connector for a database of a server on this host, over a connection
// that dial makes.
func Socket(user, database string, dial func(context.Context) (net.Conn, error)) (*Connector, error) {
	config, err := pgconn.ParseConfig("host=localhost sslmode=disable target_session_attrs=any dbname=" + database +
		" user=" + user)
	if err != nil { // caused by the environment, which libpq's clients read
		return nil, fmt.Errorf("connect to the private server: %w", err)
	}
	config.Fallbacks = nil
	config.ConnectTimeout = 0
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
	config.RuntimeParams = map[string]string{"application_name": applicationName}
	return withHabits(config), nil
}

// ParseDSN reads a data source name, for connections by dial. The error does not show the
// name: it may contain a password.
func ParseDSN(dsn string, dial wire.Dial) (*Connector, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, engine.Refuse("dsn", nil,
			"it cannot be read; it is written postgres://USER:PASSWORD@HOST:PORT/DATABASE, "+
				"or host=/var/run/postgresql user=USER password=PASSWORD dbname=DATABASE; in the first, a password's # / ? %% "+
				"and at sign are written %%23 %%2F %%3F %%25 and %%40")
	}
	config.DialFunc = pgconn.DialFunc(dial)
	config.RuntimeParams["application_name"] = cmp.Or(config.RuntimeParams["application_name"], applicationName)
	return withHabits(config), nil
}

func (c *Connector) Address() (network, address string) { return pgconn.NetworkAddress(c.Host, c.Port) }

// withHabits adds the settings that all our connections have in common.
func withHabits(c *pgconn.Config) *Connector {
	c.RuntimeParams = maps.Clone(c.RuntimeParams)
	c.RuntimeParams["client_encoding"] = "UTF8"
	// A connection that the server has ended is closed at once. The word for fatal may be
	// in the server's language, so the unlocalized field is examined.
	c.OnPgError = func(_ *pgconn.PgConn, err *pgconn.PgError) bool { return !ends(err) }
	return &Connector{c}
}

// Connect opens a connection.
func (c *Connector) Connect(ctx context.Context) (sqlkit.Conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, c.Config)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return nil, fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, connectError(err)
	}
	return newConn(ctx, pg)
}
