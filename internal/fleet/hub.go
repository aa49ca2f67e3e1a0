//go:build !demo

package fleet

import (
	"fmt"
	"net"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// hub is the NATS server in the coordinator's process. It listens on no port and keeps nothing.
type hub struct {
	server *server.Server
	conn   *nats.Conn // the coordinator's own
	seeds  map[string]string
}

const hubTimeout = 10 * time.Second

// newHub starts a hub for agents.
func newHub(ids []string) (h *hub, err error) {
	h = &hub{seeds: map[string]string{}}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	own, key, err := newKey(nil)
	if err != nil {
		return h, err
	}
	users := []*server.NkeyUser{key}
	for _, id := range ids {
		seed, user, err := newKey(rights(id))
		if err != nil {
			return h, err
		}
		h.seeds[id] = seed
		users = append(users, user)
	}
	h.server, err = server.NewServer(&server.Options{
		ServerName: "rumbench", DontListen: true, NoSigs: true, NoLog: true, Nkeys: users, MaxPayload: mostMessage,
		PingInterval: pingEvery, MaxPingsOut: mostPings,
	})
	if err != nil {
		return h, fmt.Errorf("start the fleet's hub: %w", err)
	}
	h.server.Start()
	if !h.server.ReadyForConnections(hubTimeout) {
		return h, fmt.Errorf("the fleet's hub is not ready within %v", hubTimeout)
	}
	h.conn, err = connect(own, "coordinator", nats.InProcessServer(h.server))
	return h, err
}

// newKey makes a key for a connection: its seed, and its rights at the server; nil: all.
func newKey(rights *server.Permissions) (seed string, user *server.NkeyUser, err error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return "", nil, fmt.Errorf("make a key: %w", err)
	}
	secret, err := pair.Seed()
	if err != nil {
		return "", nil, err
	}
	public, err := pair.PublicKey()
	return string(secret), &server.NkeyUser{Nkey: public, Permissions: rights}, err
}

// rights are those of an agent: to hear its own requests, and to speak on its own subjects. Nobody
// answers what an agent says, so it cannot make others speak for it either.
func rights(id string) *server.Permissions {
	return &server.Permissions{
		Subscribe: &server.SubjectPermission{Allow: []string{"to." + id + ".>"}},
		Publish:   &server.SubjectPermission{Allow: []string{"from." + id + ".>"}},
	}
}

// admit returns a new connection to the hub, for an agent.
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
