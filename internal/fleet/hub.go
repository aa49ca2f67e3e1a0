//go:build !demo

package fleet

import (
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// hub is a NATS server in the coordinator's process for the agent of one machine, and the coordinator's connection
// to it. It listens on no port and keeps nothing: no other agent can reach it.
type hub struct {
	server *server.Server
	conn   *nats.Conn
}

const hubTimeout = 10 * time.Second

// newHub starts a hub for an agent.
func newHub() (h *hub, err error) {
	h = &hub{}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	h.server, err = server.NewServer(&server.Options{
		ServerName: "rumbench", DontListen: true, NoSigs: true, NoLog: true, MaxPayload: mostMessage,
		PingInterval: pingEvery, MaxPingsOut: mostPings,
	})
	if err != nil {
		return h, fmt.Errorf("start the fleet's hub: %w", err)
	}
	h.server.Start()
	if !h.server.ReadyForConnections(hubTimeout) {
		return h, fmt.Errorf("the fleet's hub is not ready within %v", hubTimeout)
	}
	h.conn, err = connect("coordinator", nats.InProcessServer(h.server))
	return h, err
}

// admit returns a new connection to the hub, for the agent.
func (h *hub) admit() (net.Conn, error) { return h.server.InProcessConn() }

func (h *hub) close() {
	if h.conn != nil {
		h.conn.Close()
	}
	if h.server != nil {
		h.server.Shutdown()
		h.server.WaitForShutdown()
	}
}
