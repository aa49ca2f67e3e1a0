//go:build demo

package fleet

import (
	"net"

	"github.com/nats-io/nats.go"

	"rumbench/internal/text/hint"
)

// hub is none in the program of make demo: the server takes as long to compile as SQLite.
type hub struct{ conn *nats.Conn }

var errDemo = hint.Errorf("make build builds all of rumbench", "this rumbench, built for the demo, has no fleet")

func newHub() (*hub, error) { return nil, errDemo }

func (*hub) admit() (net.Conn, error) { return nil, errDemo }

func (*hub) close() {}
