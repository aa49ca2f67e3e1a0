package serve

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
)

// mostConnections limits the connections that are open at a time.
const mostConnections = 256

// Limit returns a listener that keeps no more connections open than are allowed at a time: each further one ends the
// oldest of which nobody knows that he has the token. So nobody whom the guard refuses keeps others out.
func Limit(l net.Listener) net.Listener { return &limited{Listener: l} }

type limited struct {
	net.Listener
	mu   sync.Mutex
	open []*limitedConn // the oldest first
}

type limitedConn struct {
	net.Conn
	limit *limited
	known atomic.Bool // a request on it had the token
}

func (l *limited) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	own := &limitedConn{Conn: c, limit: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= mostConnections {
		victim := max(0, slices.IndexFunc(l.open, func(c *limitedConn) bool { return !c.known.Load() }))
		_ = l.open[victim].Conn.Close() // the server notices
		l.open = slices.Delete(l.open, victim, victim+1)
	}
	l.open = append(l.open, own)
	return own, nil
}

func (c *limitedConn) Close() error {
	c.limit.mu.Lock()
	c.limit.open = slices.DeleteFunc(c.limit.open, func(o *limitedConn) bool { return o == c })
	c.limit.mu.Unlock()
	return c.Conn.Close()
}

type connection struct{}

// WithConnection is the ConnContext of a server with such a listener: its guard says there who has the token.
func WithConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connection{}, c)
}

// trust notes that a request had the token.
func trust(ctx context.Context) {
	if c, ok := ctx.Value(connection{}).(*limitedConn); ok {
		c.known.Store(true)
	}
}
