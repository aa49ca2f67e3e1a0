package sqlite

import (
	"context"
	sqldriver "database/sql/driver"
	"net/url"

	"rumbench/engine/sqlkit"
	"rumbench/engine/sqlkit/stdsql"
)

// dsn names the file. A name in double quotes that is no identifier is an
// error and not taken for text, and messages tell only of their own error.
func dsn(path string) string {
	u := url.URL{Scheme: "file", Path: path, RawQuery: "_dqs=0&_error_rc=1"}
	return u.String()
}

// connector makes connections and executes pragmas on them. The driver could be
// given those itself, but would execute them in another order.
func connector(base sqldriver.Connector, pragmas []string) sqlkit.Connector {
	return func(ctx context.Context) (sqlkit.Conn, error) {
		raw, err := base.Connect(ctx)
		if err != nil {
			return nil, err
		}
		conn, err := stdsql.New(raw, false)
		if err != nil {
			_ = raw.Close()
			return nil, err
		}
		for _, p := range pragmas {
			if _, _, err := conn.ExecText(ctx, "PRAGMA "+p); err != nil {
				_ = conn.Close()
				return nil, err
			}
		}
		return conn, nil
	}
}
