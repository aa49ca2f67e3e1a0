package fleet

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"rumbench/internal/plan"
)

// Path is the network from a machine of clients to that of their server, as its private servers listen there.
type Path struct {
	Client, Server string
	Measured
	Err error // why the server's machine cannot be reached
}

// Measured is what a machine has measured of a path: the median round trip of a TCP connection, and what one
// connection carries to the server.
type Measured struct {
	Trip      time.Duration `json:"trip"`
	BytesPerS float64       `json:"bytes_per_s"`
}

// The parts of a measurement of a path. A connection first sends the token, then trips, then as much as it can.
const (
	pathTrips = 100
	pathSend  = time.Second
	pathTime  = 15 * time.Second // for all
	pathPiece = 256 << 10
)

// listenerRequest opens a port for measurements at an address of the machine.
type listenerRequest struct {
	Listen string `json:"listen"`
	Token  string `json:"token"` // what comes without it is cut off
}

// pathOrder measures the path to a port.
type pathOrder struct {
	Address string `json:"address"`
	Token   string `json:"token"`
}

// Paths measures the network from each machine of clients to its server's, one after the other. Servers that
// run already have addresses of their own, and are left out.
func (c *Coordinator) Paths(ctx context.Context, p *plan.Plan) (out []Path) {
	private := func(t plan.Target) bool { return t.Config.Server.DSN == "" }
	if !slices.ContainsFunc(p.Targets, private) {
		return nil
	}
	for i := range c.fleet.Cells {
		cell := &c.fleet.Cells[i]
		server := c.named(cell.Server)
		for _, name := range cell.Clients {
			ownPath := Path{Client: name, Server: cell.Server}
			ownPath.Measured, ownPath.Err = c.path(ctx, server, c.named(name))
			out = append(out, ownPath)
		}
	}
	return out
}

func (c *Coordinator) path(ctx context.Context, server, client *machine) (m Measured, err error) {
	ctx, cancel := context.WithTimeout(ctx, pathTime)
	defer cancel()
	order := pathOrder{Token: rand.Text()}
	if err := server.ask(ctx, opListen, listenerRequest{server.Host.Listen, order.Token}, &order.Address); err != nil {
		return m, server.named(err)
	}
	return m, client.named(client.ask(ctx, opPath, order, &m))
}

// openListener opens a port for one measurement, until it has ended or took too long.
func openListener(ctx context.Context, data []byte) (any, error) {
	var o listenerRequest
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	address, err := addressOf(ctx, o.Listen)
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	until := time.Now().Add(pathTime)
	_ = l.(*net.TCPListener).SetDeadline(until)
	stop := context.AfterFunc(ctx, func() { l.Close() })
	go func() {
		defer stop()
		defer l.Close()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_ = conn.SetDeadline(until)
			if knows(conn, o.Token) {
				l.Close() // it was for this one
				count(conn)
				conn.Close()
				return
			}
			conn.Close()
		}
	}()
	return l.Addr().String(), nil
}

// knows reports whether a connection begins with the token.
func knows(conn net.Conn, token string) bool {
	message := make([]byte, len(token))
	_, err := io.ReadFull(conn, message)
	return err == nil && string(message) == token
}

// count sends trips back, counts what follows, and says how much it was. An error is seen at the other end.
func count(conn net.Conn) {
	one := make([]byte, 1)
	for range pathTrips {
		_, err := io.ReadFull(conn, one)
		if err == nil {
			_, err = conn.Write(one)
		}
		if err != nil {
			return
		}
	}
	if n, err := io.Copy(io.Discard, conn); err == nil {
		_ = binary.Write(conn, binary.BigEndian, n)
	}
}

// measurePath measures the path to a port.
func measurePath(ctx context.Context, data []byte) (any, error) {
	var o pathOrder
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, pathTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", o.Address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	return measure(conn.(*net.TCPConn), o.Token)
}

func measure(conn *net.TCPConn, token string) (m Measured, err error) {
	if _, err := io.Copy(conn, strings.NewReader(token)); err != nil {
		return m, err
	}
	var trips []time.Duration
	one := make([]byte, 1)
	for range pathTrips {
		began := time.Now()
		if _, err = conn.Write(one); err == nil {
			_, err = io.ReadFull(conn, one)
		}
		if err != nil {
			return m, err
		}
		trips = append(trips, time.Since(began))
	}
	slices.Sort(trips)
	m.Trip = trips[len(trips)/2]
	piece, began := make([]byte, pathPiece), time.Now()
	for time.Since(began) < pathSend {
		if _, err := conn.Write(piece); err != nil {
			return m, err
		}
	}
	if err := conn.CloseWrite(); err != nil {
		return m, err
	}
	var n int64
	err = binary.Read(conn, binary.BigEndian, &n) // when all of it has arrived
	m.BytesPerS = float64(n) / time.Since(began).Seconds()
	return m, err
}
