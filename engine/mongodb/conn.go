package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"rumbench/engine"
	"rumbench/engine/serverkit"
)

// peer is a server, with a client for definitions, settings and counters.
type peer struct {
	*serverkit.Host
	uri     string
	client  *mongo.Client
	version string
	standIn bool   // it only speaks the protocol
	set     string // the replica set
}

// DialContext dials for the driver.
func (p *peer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return p.Dial(ctx, network, address)
}

const (
	// selectTime is how long a server may be away, as the driver sees it.
	selectTime = 5 * time.Second
	// heartbeat is how often the driver looks at a server that answers.
	heartbeat = 10 * time.Minute
)

// connect opens a client with a single connection for commands. The driver has
// another one, to look at the server, which is idle.
func (p *peer) connect(ctx context.Context) (*mongo.Client, error) {
	o := options.Client().ApplyURI(p.uri).SetDialer(p).SetAppName("rumbench").SetDirect(true).SetMinPoolSize(0).SetMaxPoolSize(1)
	o.SetRetryWrites(false).SetRetryReads(false).SetCompressors([]string{})
	o.SetServerSelectionTimeout(selectTime).SetHeartbeatInterval(heartbeat).SetServerMonitoringMode(options.ServerMonitoringModePoll)
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err := c.Ping(ctx, nil); err != nil {
		disconnect(c)
		return nil, classify("connect", err)
	}
	return c, nil
}

func disconnect(c *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = c.Disconnect(ctx) // the server notices, even if the driver does not
}

// meet connects, and asks the server what it is. The version of a stand-in says
// so, that nobody takes its figures for MongoDB's; reports show its first word
// beside the engine.
func (p *peer) meet(ctx context.Context) (err error) {
	if p.client, err = p.connect(ctx); err != nil {
		return err
	}
	build, err := p.ask(ctx, doc("buildInfo", 1))
	if err != nil {
		return err
	}
	p.version = text(build, "version")
	if v := text(build, "ferretdbVersion"); v != "" {
		p.version, p.standIn = "FerretDB-protocol-test (not MongoDB; FerretDB "+v+")", true
	}
	hello, err := p.ask(ctx, doc("hello", 1))
	p.set = text(hello, "setName")
	return err
}

// ask runs a command of the server's administration.
func (p *peer) ask(ctx context.Context, cmd bson.D) ([]byte, error) {
	return run(ctx, p.client.Database("admin"), cmd)
}

func (p *peer) status(ctx context.Context) ([]byte, error) {
	return p.ask(ctx, doc("serverStatus", 1, "repl", 0, "locks", 0))
}

// run runs a command that is none of the operations.
func run(ctx context.Context, at *mongo.Database, cmd bson.D) ([]byte, error) {
	r, err := at.RunCommand(ctx, cmd).Raw()
	return r, classify(cmd[0].Key, err)
}

// The codes of the server's errors.
const (
	codeUnauthorized   = 13
	codeAlreadySet     = 23 // AlreadyInitialized
	codeLockTimeout    = 24
	codeNoNamespace    = 26
	codeNoCommand      = 59
	codeWriteConflict  = 112
	codeNotImplemented = 238
	codeNoTransaction  = 251
	codeDiskFull       = 14031
)

// endings are the codes of a server that ends, or is not the primary any more.
var endings = []int{91, 189, 10107, 11600, 11602, 13435, 13436}

func hasCode(err error, codes ...int) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && slices.ContainsFunc(codes, e.HasErrorCode)
}

// classify gives an error of the driver its class, and says what was being done.
func classify(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	class := engine.Fatal
	switch {
	case mongo.IsDuplicateKeyError(err):
		class = engine.Duplicate
	case hasCode(err, codeWriteConflict, codeNoTransaction):
		class = engine.Conflict
	case hasCode(err, codeLockTimeout):
		class = engine.LockTimeout
	case hasCode(err, codeDiskFull):
		err = engine.DiskFull(err)
	case isGone(err): // before timeouts: the driver may have waited for it
		class = engine.Gone
	case mongo.IsTimeout(err):
		class = engine.Timeout
	}
	return engine.Classify(class, fmt.Errorf("%s: %w", doing, err))
}

// isGone reports whether the connection has ended for another reason than the
// context's.
func isGone(err error) bool {
	if errors.Is(err, mongo.ErrClientDisconnected) || hasCode(err, endings...) {
		return true
	}
	var selection topology.ServerSelectionError
	return !errors.Is(err, context.DeadlineExceeded) && (mongo.IsNetworkError(err) || errors.As(err, &selection))
}
