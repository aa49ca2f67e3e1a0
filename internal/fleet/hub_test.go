package fleet

import (
	"errors"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"rumbench/internal/expect"
)

// The hub listens nowhere, admits only its keys, and lets an agent use its own subjects and files only.
func TestRights(t *testing.T) {
	h, err := newHub([]string{"m0", "m1"})
	expect.NoError(t, err)
	t.Cleanup(h.close)
	if at := h.server.Addr(); at != nil {
		t.Errorf("it listens at %v", at)
	}
	stranger, err := nkeys.CreateUser()
	expect.NoError(t, err)
	seed, err := stranger.Seed()
	expect.NoError(t, err)
	if c, err := connect(string(seed), "m0", nats.InProcessServer(h.server)); err == nil {
		c.Close()
		t.Error("a stranger is admitted")
	}
	heard, err := h.conn.SubscribeSync("from.>")
	expect.NoError(t, err)
	problems := make(chan error, 10)
	m0, err := connect(h.seeds["m0"], "m0", nats.InProcessServer(h.server),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err }))
	expect.NoError(t, err)
	defer m0.Close()
	refused := func(subject string) {
		t.Helper()
		t.Log(subject)
		<-problems
	}
	for _, subject := range []string{"to.m1.>", "to.>", ">", "from.m0.>", "_INBOX.>", "$SYS.>"} {
		if _, err := m0.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		refused("listening to " + subject)
	}
	for _, subject := range []string{"from.m1.beat", "from.m1.answer.1", "to.m1.trial", "to.m0.trial", "_INBOX.x",
		"$SYS.REQ.SERVER.PING", "$JS.API.INFO"} {
		expect.NoError(t, m0.Publish(subject, nil))
		refused("saying " + subject)
	}
	expect.NoError(t, m0.Publish("from.m0.beat", nil))
	if m, err := heard.NextMsgWithContext(t.Context()); err != nil || m.Subject != "from.m0.beat" {
		t.Errorf("heard %v, %v", m, err)
	}
	// A subject to answer on makes nobody speak.
	others, err := h.conn.SubscribeSync("to.m1.>")
	expect.NoError(t, err)
	expect.NoError(t, m0.PublishRequest("from.m0.note", "to.m1.trial", []byte("{}")))
	expect.NoError(t, errors.Join(m0.Flush(), h.conn.Flush()))
	if n, _, err := others.Pending(); err != nil || n > 0 {
		t.Errorf("%d requests to m1, %v", n, err)
	}
}
