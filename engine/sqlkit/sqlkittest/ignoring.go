package sqlkittest

import (
	"context"
	"strings"

	"rumbench/engine/sqlkit"
)

// Ignoring connects through something that changes a setting on its way to the server, as
// a pooler may.
type Ignoring struct {
	Connector interface {
		Connect(context.Context) (sqlkit.Conn, error)
	}
	Setting, Instead string
}

// Connect opens such a connection.
func (i Ignoring) Connect(ctx context.Context) (sqlkit.Conn, error) {
	c, err := i.Connector.Connect(ctx)
	return ignoringConn{c, i}, err
}

type ignoringConn struct {
	sqlkit.Conn
	ignoring Ignoring
}

func (c ignoringConn) ExecText(ctx context.Context, text string) (rows, id int64, err error) {
	return c.Conn.ExecText(ctx, strings.ReplaceAll(text, c.ignoring.Setting, c.ignoring.Instead))
}
