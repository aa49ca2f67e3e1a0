package serve

import (
	"context"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How many connections are open at a time, and how long one without a token keeps others out.
const mostConnections, mostSilence = 256, 2 * time.Second

// Limit returns a listener that keeps no more connections open than are allowed at a time. Others wait, but not for
// those on which nobody has shown the token: these end.
func Limit(l net.Listener) net.Listener { return &limited{Listener: l} }

type limited struct {
	net.Listener
	mu   sync.Mutex
	open []*limitedConn // the oldest first
}

type limitedConn struct {
	net.Conn
	limit *limited
	since time.Time
	known atomic.Bool // a request on it had the token
}

func (l *limited) Accept() (net.Conn, error) {
	for !l.room() {
		time.Sleep(mostSilence / 100)
	}
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	conn := &limitedConn{Conn: c, limit: l, since: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = append(l.open, conn)
	return conn, nil
}

// room reports whether one more may be open, after it has ended the oldest silent one if need be.
func (l *limited) room() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) < mostConnections {
		return true
	}
	silent := slices.IndexFunc(l.open, func(c *limitedConn) bool { return !c.known.Load() })
	if silent < 0 || time.Since(l.open[silent].since) < mostSilence {
		return false
	}
	_ = l.open[silent].Conn.Close() // the server notices
	l.open = slices.Delete(l.open, silent, silent+1)
	return true
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
