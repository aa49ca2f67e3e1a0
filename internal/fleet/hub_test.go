package fleet

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"

	"rumbench/internal/expect"
)

// A hub listens nowhere, and what its agent says or hears is of no other agent.
func TestHubsApart(t *testing.T) {
	hubs, agents := make([]*hub, 2), make([]*nats.Conn, 2)
	for i := range hubs {
		h, err := newHub()
		expect.NoError(t, err)
		t.Cleanup(h.close)
		if at := h.server.Addr(); at != nil {
			t.Errorf("it listens at %v", at)
		}
		hubs[i] = h
		agents[i], err = connect("agent", nats.InProcessServer(h.server))
		expect.NoError(t, err)
		defer agents[i].Close()
	}
	heard, err := hubs[0].conn.SubscribeSync("from.>")
	expect.NoError(t, err)
	all, err := agents[0].SubscribeSync(">")
	expect.NoError(t, err)
	others, err := agents[1].SubscribeSync(">")
	expect.NoError(t, err)
	// The servers know all subscriptions before anything is said, and have passed all on before it is counted.
	expect.NoError(t, errors.Join(agents[0].Flush(), agents[1].Flush(), hubs[0].conn.Flush()))
	expect.NoError(t, agents[1].Publish("from.beat", nil))
	expect.NoError(t, agents[1].PublishRequest("from.note", "to.trial", []byte("{}")))
	expect.NoError(t, hubs[1].conn.Publish("to.trial", nil))
	for _, c := range []*nats.Conn{hubs[1].conn, agents[1], hubs[0].conn, agents[0]} {
		expect.NoError(t, c.Flush())
	}
	for _, own := range []*nats.Subscription{heard, all} {
		if n, _, err := own.Pending(); err != nil || n > 0 {
			t.Errorf("%d messages of another agent, %v", n, err)
		}
	}
	if n, _, err := others.Pending(); err != nil || n != 3 {
		t.Errorf("%d messages of its own, %v", n, err)
	}
}
