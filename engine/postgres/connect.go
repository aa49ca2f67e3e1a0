package postgres

import (
	"context"
	sqldriver "database/sql/driver"
	"fmt"
	"maps"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"rumbench/internal/server"
)

// connector makes connections that find the tables by their names alone.
type connector struct {
	config *pgconn.Config
}

// newConnector makes a connector to a database. Names are looked for in the
// schema, if one is given.
func newConnector(config *pgconn.Config, schema string) *connector {
	c := config.Copy()
	if schema != "" {
		c.RuntimeParams["search_path"] = quote(schema)
	}
	return &connector{c}
}

// privateConfig leads to a private server's socket.
func privateConfig(e server.Endpoint) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig("host=localhost dbname=postgres sslmode=disable target_session_attrs=any user=" + e.User)
	if err != nil { // by the environment, which libpq's clients heed
		return nil, fmt.Errorf("connect to the private server: %w", err)
	}
	config.Fallbacks = nil
	config.ConnectTimeout = 0
	config.DialFunc = func(ctx context.Context, _, _ string) (net.Conn, error) { return server.Dial(ctx, e.Socket) }
	config.RuntimeParams = map[string]string{"application_name": applicationName}
	return withHabits(config), nil
}

// attachedConfig leads to the server that a DSN names.
func attachedConfig(dsn string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = applicationName
	}
	return withHabits(config), nil
}

const applicationName = "rumbench"

// withHabits adds what all our connections have in common.
func withHabits(c *pgconn.Config) *pgconn.Config {
	c.RuntimeParams = maps.Clone(c.RuntimeParams)
	c.RuntimeParams["client_encoding"] = "UTF8"
	// A server that has said its last word is left at once. The word for fatal
	// may be in the server's language, so the other one is looked at.
	c.OnPgError = func(_ *pgconn.PgConn, err *pgconn.PgError) bool { return !ends(err) }
	return c
}

// Connect opens a connection.
func (c *connector) Connect(ctx context.Context) (sqldriver.Conn, error) {
	pg, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	return pg, nil
}

func (c *connector) open(ctx context.Context) (*conn, error) {
	pg, err := pgconn.ConnectConfig(ctx, c.config)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return nil, fmt.Errorf("%w (%w)", cause, err)
		}
		return nil, connectError(err)
	}
	return newConn(ctx, pg)
}

// Driver is nil: connections are made by the connector only.
func (c *connector) Driver() sqldriver.Driver { return nil }

// pingTime is how long the first answer of a server may take.
const pingTime = 10 * time.Second

// ping tells whether a private server answers.
func ping(ctx context.Context, e server.Endpoint) error {
	config, err := privateConfig(e)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	c, err := newConnector(config, "").open(ctx)
	if err != nil {
		return err
	}
	return c.Close()
}

// quote is an identifier as SQL takes it.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// literal is a text as SQL takes it, whatever standard_conforming_strings is.
func literal(s string) string {
	return " E'" + strings.NewReplacer(`'`, `''`, `\`, `\\`).Replace(s) + "'"
}
