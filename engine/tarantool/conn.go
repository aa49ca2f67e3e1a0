package tarantool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"rumbench/engine/serverkit"
	"rumbench/engine/tarantool/iproto"
	"rumbench/engine/wire"
	"rumbench/internal/text/secret"
)

// conn is a connection for operations that are not measured. It may be used from several
// goroutines, one at a time.
type conn struct {
	*iproto.Conn
	mu   sync.Mutex
	out  []byte
	kept wire.Kept[*iproto.Conn]
}

// connect opens a connection to a server, on which it evaluates an expression.
func connect(ctx context.Context, a address, dial wire.Dial) (*conn, error) {
	return serverkit.Hello(ctx, func(ctx context.Context) (*conn, error) { return dialled(ctx, a, dial) })
}

func dialled(ctx context.Context, a address, dial wire.Dial) (*conn, error) {
	nc, err := dial(ctx, a.network, a.host)
	if err != nil {
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		return nil, iproto.Gone(err)
	}
	c, err := iproto.Connect(ctx, nc, a.user, a.password)
	if err != nil {
		return nil, secret.Error(fmt.Errorf("connect: %w", err), a.dsn)
	}
	out := &conn{Conn: c}
	if err := out.eval(ctx, nil, "return"); err != nil { // a server or a proxy may greet and be silent
		return nil, errors.Join(err, out.Close())
	}
	return out, nil
}

// eval evaluates an expression with texts as its arguments. Its result, which is JSON, is
// decoded into the value, unless that is nil.
func (c *conn) eval(ctx context.Context, into any, expr string, args ...string) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Conn, err = c.kept.Awake(ctx, c.Conn, func(ctx context.Context) error { return c.evaluate(ctx, nil, "return") })
	if err != nil {
		return err
	}
	defer c.kept.Used()
	return c.evaluate(ctx, into, expr, args...)
}

func (c *conn) evaluate(ctx context.Context, into any, expr string, args ...string) error {
	b := iproto.AppendMap(iproto.Begin(c.out, iproto.Eval), 2)
	b = iproto.AppendText(iproto.AppendUint(b, iproto.KeyExpr), expr)
	b = iproto.AppendArray(iproto.AppendUint(b, iproto.KeyTuple), len(args))
	for _, a := range args {
		b = iproto.AppendText(b, a)
	}
	c.out = iproto.Finish(b)
	data, err := c.Do(ctx, c.out)
	if err != nil || into == nil {
		return err
	}
	data.Array()
	answer := data.Text()
	if err := data.Err(); err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Close closes the connection. Closing again does nothing.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Conn.Close()
}
