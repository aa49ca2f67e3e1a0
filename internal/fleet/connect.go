package fleet

import (
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

const mostMessage = 32 << 20 // bytes: the end of a load holds the rates of all of its intervals

// A network that is cut for less than patience is no end.
const (
	pingEvery = 20 * time.Second
	mostPings = 8
)

// connect connects with a hub.
func connect(name string, options ...nats.Option) (*nats.Conn, error) {
	c, err := nats.Connect("", append(options, nats.Name(name), nats.NoReconnect(), nats.Timeout(silenceTimeout),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(mostPings))...)
	if err != nil {
		return nil, fmt.Errorf("connect to the fleet's hub: %w", err)
	}
	return c, nil
}
