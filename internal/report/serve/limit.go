package serve

import (
	"net"
	"sync"
)

// mostConnections limits the connections that are open at a time: others wait.
const mostConnections = 256

// Limit returns a listener that accepts no more connections than are allowed at a time.
func Limit(l net.Listener) net.Listener {
	return &limited{Listener: l, free: make(chan struct{}, mostConnections)}
}

type limited struct {
	net.Listener
	free chan struct{}
}

func (l *limited) Accept() (net.Conn, error) {
	l.free <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	return &limitedConn{Conn: c, release: sync.OnceFunc(func() { <-l.free })}, nil
}

type limitedConn struct {
	net.Conn
	release func()
}

func (c *limitedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
