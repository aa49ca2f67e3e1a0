package postgres

import (
	"context"
	"errors"
	"fmt"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/pgwire"
)

// Watch connects to a server for its counters.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := pgwire.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host := serverkit.NewHost(traits.Mark, traits.Programs...)
	config.DialFunc = host.Dial
	c, err := pgwire.Connect(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("watch postgres: %w", err)
	}
	r := &reader{conn: c}
	if err := r.begin(ctx, config); err != nil {
		return nil, fmt.Errorf("watch postgres: %w", errors.Join(err, r.Close()))
	}
	return &serverkit.Watch{Host: host, Sample: r.Counters, Conn: r}, nil
}

// begin readies the counters of a server of which nothing is known yet.
func (r *reader) begin(ctx context.Context, config *pgwire.Config) error {
	connect := func(ctx context.Context) (sqlkit.Conn, error) { return pgwire.Connect(ctx, config) }
	c, err := sqlkit.Connect(ctx, connect, newDialect())
	if err != nil {
		return err
	}
	defer c.Close()
	about, err := ask(ctx, c)
	if err != nil {
		return err
	}
	return r.prepare(ctx, views(about.release, ""), about.release)
}
