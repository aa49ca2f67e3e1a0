package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"
)

// The hub listens nowhere, admits only its keys, and lets an agent use its own subjects and files only.
func TestRights(t *testing.T) {
	h, err := newHub([]string{"m0", "m1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.close)
	if at := h.server.Addr(); at != nil {
		t.Errorf("it listens at %v", at)
	}
	stranger, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	seed, err := stranger.Seed()
	if err != nil {
		t.Fatal(err)
	}
	if c, err := connect(string(seed), "m0", nats.InProcessServer(h.server)); err == nil {
		c.Close()
		t.Error("a stranger is admitted")
	}
	coordinator, err := jetstream.New(h.conn)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"m0", "m1"} {
		if _, err := coordinator.CreateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: bucket(id)}); err != nil {
			t.Fatal(err)
		}
	}
	heard, err := h.conn.SubscribeSync("from.>")
	if err != nil {
		t.Fatal(err)
	}
	problems := make(chan error, 10)
	m0, err := connect(h.seeds["m0"], "m0", nats.InProcessServer(h.server),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { problems <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer m0.Close()
	refused := func(subject string) {
		t.Helper()
		select {
		case <-problems:
		case <-time.After(10 * time.Second):
			t.Errorf("%s was not refused", subject)
		}
	}
	for _, subject := range []string{"to.m1.>", "to.>", ">", "from.m0.>", "$JS.>", inbox("coordinator") + ".>", "$SYS.>"} {
		if _, err := m0.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		refused("listening to " + subject)
	}
	for _, subject := range []string{"from.m1.beat", "to.m1.trial", "to.m0.trial", "$O.files-m1.C.x", inbox("coordinator") + ".x",
		"$JS.API.STREAM.DELETE.OBJ_files-m1", "$JS.API.STREAM.CREATE.mine"} {
		if err := m0.Publish(subject, nil); err != nil {
			t.Fatal(err)
		}
		refused("saying " + subject)
	}
	if err := m0.Publish("from.m0.beat", nil); err != nil {
		t.Fatal(err)
	}
	if m, err := heard.NextMsg(10 * time.Second); err != nil || m.Subject != "from.m0.beat" {
		t.Errorf("heard %v, %v", m, err)
	}
	files, err := jetstream.New(m0)
	if err != nil {
		t.Fatal(err)
	}
	own, err := files.ObjectStore(t.Context(), bucket("m0"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.PutString(t.Context(), "trials/a.1/trial.json", "{}"); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if _, err := files.ObjectStore(ctx, bucket("m1")); err == nil {
		t.Error("m0 reads the files of m1")
	}
}
