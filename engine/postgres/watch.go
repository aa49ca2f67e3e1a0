package postgres

import (
	"context"
	"fmt"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
)

// Watch connects to a server for its counters.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := parseDSN(dsn)
	if err != nil {
		return nil, err
	}
	to := newConnector(config, "")
	c, err := sqlkit.Connect(ctx, to, newDialect())
	if err != nil {
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	defer c.Close()
	about, err := ask(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	counters, err := to.open(ctx)
	if err != nil {
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	w := &watcher{&reader{conn: counters}, findHost(counters, nil)}
	if err := w.prepare(ctx, views(about.release, ""), about.release); err != nil {
		_ = w.Close()
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	return w, nil
}

// watcher reads the counters of a server.
type watcher struct {
	*reader
	host host
}

// Processes are the server's.
func (w *watcher) Processes() (pids []int, why string) { return w.host.processes() }

// DataDir is where the server keeps its data, if it is on this host.
func (w *watcher) DataDir() string { return w.host.dir }
