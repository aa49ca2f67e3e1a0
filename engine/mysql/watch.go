package mysql

import (
	"context"
	sqldriver "database/sql/driver"
	"strings"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// watch is a connection to a server that is watched.
type watch struct {
	*status
	connector *connector
}

// Watch connects to a running server for its counters only.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	c, err := newConnector(config, "")
	if err != nil {
		return nil, err
	}
	conn, err := sqlkit.Connect(ctx, c, newDialect("", true))
	if err != nil {
		return nil, err
	}
	var version release
	err = conn.Query(ctx, "SELECT @@version", func(row []sqldriver.Value) error {
		version = parseRelease(sqlkit.Text(row[0]))
		return nil
	})
	var storages []string
	if err == nil {
		err = conn.Query(ctx, "SHOW ENGINES", func(row []sqldriver.Value) error {
			name := strings.ToLower(sqlkit.Text(row[0]))
			if (name == innodb.name || name == rocksdb.name) && sqlkit.Text(row[1]) != "NO" {
				storages = append(storages, name)
			}
			return nil
		})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	t := newStatus(conn, version, storages...)
	t.labelled, t.sizes = len(storages) > 1, true
	return &watch{t, c}, nil
}

// Counters adds the server's counters.
func (w *watch) Counters(ctx context.Context, s *engine.Sample) error { return w.sample(ctx, s) }

// Processes are the server's.
func (w *watch) Processes() (pids []int, why string) { return w.connector.processes() }

// DataDir is where the server keeps its data, if it is on this host.
func (w *watch) DataDir() string { return w.connector.dataDir() }

// Close closes the connection.
func (w *watch) Close() error { return w.conn.Close() }
