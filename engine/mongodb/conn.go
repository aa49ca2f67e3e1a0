package mongodb

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/internal/server"
)

// reach is how a server is connected to.
type reach struct {
	uri  string
	dial serverkit.Dial
}

// reachOf returns how to reach the server of a connection string, or a private one
// if that is empty.
func reachOf(dsn string, e server.Endpoint, dial serverkit.Dial) reach {
	if dsn == "" {
		dsn = "mongodb://" + url.PathEscape(e.Socket) + "/"
	}
	return reach{dsn, dial}
}

// DialContext dials for the driver.
func (r reach) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return r.dial(ctx, network, address)
}

const (
	// selectTime is how long a server may be away, as the driver sees it.
	selectTime = 5 * time.Second
	// heartbeat is how often the driver looks at a server that answers.
	heartbeat = 10 * time.Minute
)

// connect opens a client with a single connection for commands. The driver has
// another one, to look at the server, which is idle.
func (r reach) connect(ctx context.Context) (*mongo.Client, error) {
	o := options.Client().ApplyURI(r.uri).SetDialer(r).SetAppName("rumbench").SetDirect(true).SetMinPoolSize(0).SetMaxPoolSize(1)
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

// disconnectTime is how long ending a client may take.
const disconnectTime = 10 * time.Second

func disconnect(c *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), disconnectTime)
	defer cancel()
	_ = c.Disconnect(ctx) // the server notices, even if the driver does not
}

// command runs a command that is none of the operations.
func command(ctx context.Context, at *mongo.Database, cmd bson.D) (bson.Raw, error) {
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
