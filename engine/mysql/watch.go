package mysql

import (
	"context"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/sqlkit"
	"rumbench/internal/mysqlwire"
)

// Watch connects to a running server for its counters only.
func (Engine) Watch(ctx context.Context, dsn string) (engine.Watch, error) {
	config, err := mysqlwire.ParseDSN(dsn)
	if err != nil {
		return nil, err
	}
	host := serverkit.NewHost(traits.Mark, traits.Programs...)
	c, err := mysqlwire.NewConnector(config, host.Dial)
	if err != nil {
		return nil, err
	}
	conn, err := sqlkit.Connect(ctx, c.Connect, newDialect("", true))
	if err != nil {
		return nil, err
	}
	t, err := watched(ctx, conn)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &serverkit.Watch{Host: host, Sample: t.sample, Conn: conn}, nil
}

// watched readies the counters of a server of which nothing is known yet.
func watched(ctx context.Context, conn *sqlkit.Admin) (*status, error) {
	version, err := conn.Value(ctx, "SELECT @@version")
	if err != nil {
		return nil, err
	}
	has, err := storages(ctx, conn)
	var names []string
	for _, st := range []*storage{innodb, rocksdb} {
		if has[st.name] {
			names = append(names, st.name)
		}
	}
	t := newStatus(conn, parseRelease(version), names...)
	t.labelled, t.sizes = len(names) > 1, true
	return t, err
}
