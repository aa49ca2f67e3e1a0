package serverkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"rumbench/engine"
	"rumbench/engine/sqlkit"
	"rumbench/internal/text/hint"
)

// helloTime is how long a server may take to accept a connection and begin a session, and
// openTime how long everything that opens a database may take.
const (
	helloTime = 10 * time.Second
	openTime  = 30 * time.Second
)

// Hello calls a function that connects and begins a session. A server that accepts the
// connection and then is silent is given up after helloTime.
func Hello[T any](ctx context.Context, begin func(context.Context) (T, error)) (T, error) {
	return within(ctx, helloTime, begin)
}

// Opening calls a function that opens a database. On a server that is attached to it is given
// up after openTime.
func (s *Setup) Opening(ctx context.Context, open func(context.Context) error) error {
	if !s.Attached() {
		return open(ctx)
	}
	_, err := within(ctx, openTime, func(ctx context.Context) (any, error) { return nil, open(ctx) })
	return err
}

func within[T any](ctx context.Context, limit time.Duration, ask func(context.Context) (T, error)) (T, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	out, err := ask(limited)
	late := limited.Err() != nil || errors.Is(err, context.DeadlineExceeded) // a driver may be a little early
	var dial *net.OpError
	late = late && !(errors.As(err, &dial) && dial.Op == "dial" && !dial.Timeout()) // or wait for one that is not there
	if err != nil && late && ctx.Err() == nil && hint.Of(err) != silent {
		err = engine.Classify(engine.Gone, hint.With(fmt.Errorf("the server did not answer within %v: %w", limit, err),
			silent))
	}
	return out, err
}

const silent = "it may be stopped or overloaded, or it is not the server that the dsn means; proxies and poolers let " +
	"sessions wait beyond its limit: maxconn (HAProxy), default_pool_size and max_client_conn (PgBouncer)"

// meet connects without any setting.
func meet(ctx context.Context, connect sqlkit.Connector, d *sqlkit.Dialect) (*sqlkit.Admin, error) {
	return Hello(ctx, func(ctx context.Context) (*sqlkit.Admin, error) {
		return sqlkit.Connect(ctx, connect, d)
	})
}

// connect opens a connection, sets its session up and reads back what promises rest on: a
// pooler may ignore what is asked for, and a proxy may lead to another server.
func (d *DB) connect(ctx context.Context) (sqlkit.Conn, error) {
	return d.connectTo(ctx, d.gateways[0])
}

func (d *DB) connectTo(ctx context.Context, g *gateway) (sqlkit.Conn, error) {
	return Hello(ctx, func(ctx context.Context) (sqlkit.Conn, error) {
		conn, err := g.connect(ctx)
		if err != nil {
			return nil, err
		}
		session := sqlkit.NewAdmin(conn, d.client.Dialect)
		for _, text := range d.client.Setup {
			if err == nil {
				err = session.Exec(ctx, text)
			}
		}
		if err == nil {
			err = d.client.Check(ctx, session)
		}
		if err == nil {
			err = g.recognize(ctx, d, session)
		}
		if err != nil {
			_ = conn.Close()
			return nil, err
		}
		return conn, nil
	})
}

// CheckSession refuses a session in another schema than the one wanted, and one that may
// only read.
func (s *Setup) CheckSession(schema string, readOnly bool) error {
	switch {
	case schema != s.Server.Schema:
		return hint.Errorf("name the server itself in the dsn: a pooler or proxy in front of it may ignore settings of "+
			"sessions", "the session is in schema %q and not in %q", schema, s.Server.Schema)
	case readOnly:
		return hint.Errorf("attach to the primary, as a user whose transactions may write", "the session may only read")
	}
	return nil
}

// CheckZone refuses a session with another time zone than the one that was set.
func (s *Setup) CheckZone(zone, wanted string) error {
	if zone == wanted {
		return nil
	}
	return fmt.Errorf("the session's time zone is %s and not %s", zone, wanted)
}

// rounds is how often connections are compared: other clients of a pooler may use its
// sessions at the same time.
const rounds = 3

// checkPooling refuses a pooler that lends sessions for one transaction only: settings and
// prepared statements would be in sessions of other clients. It uses no setting.
func (d *DB) checkPooling(ctx context.Context, first *sqlkit.Admin) error {
	second, err := meet(ctx, hidden(d), d.traits.Dialect)
	if err != nil {
		return err
	}
	defer second.Close()
	for range rounds {
		shared, err := shares(ctx, first, second, d.traits.Serving)
		if err != nil {
			return err
		}
		if shared {
			return hint.Errorf("name the server itself in the dsn, or have the pooler keep sessions: pool_mode = session "+
				"(PgBouncer)", "a pooler or proxy in front of the server gives each transaction another session (pool_mode = "+
				"transaction, or reads of other servers): settings and prepared statements would be lost")
		}
	}
	return nil
}

// shares reports whether two connections share the server's sessions: while the second has
// a transaction open, the first is in its session, or in another than before, or the second
// is in another than before (a proxy that has other servers for reads).
func shares(ctx context.Context, first, second *sqlkit.Admin, serving string) (shared bool, err error) {
	before, err := first.Value(ctx, serving)
	if err != nil {
		return false, err
	}
	outside, err := second.Value(ctx, serving)
	if err != nil {
		return false, err
	}
	if err := second.Exec(ctx, "BEGIN"); err != nil {
		return false, err
	}
	other, err := second.Value(ctx, serving)
	after := before
	if err == nil && other != before { // a pool of one session would wait
		after, err = first.Value(ctx, serving)
	}
	if rerr := second.Exec(ctx, "ROLLBACK"); err == nil {
		err = rerr
	}
	return other == before || after != before || other != outside, err
}
