package mongodb

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/topology"

	"rumbench/engine"
	"rumbench/engine/serverkit"
	"rumbench/engine/wire"
	"rumbench/internal/text/hint"
	"rumbench/internal/text/secret"
	"rumbench/model"
)

// peer is a server, with a client for definitions, settings and counters.
type peer struct {
	*serverkit.Host
	uri     string
	socket  string // of a private server, whose path the driver would misread; "": as in uri
	client  *mongo.Client
	version string
	standIn bool         // it is not MongoDB, it only speaks the protocol
	set     string       // the replica set
	own     atomic.Int64 // commands that read counters
}

// DialContext dials for the driver.
func (p *peer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return p.Dial(ctx, network, cmp.Or(p.socket, address))
}

// dialled dials for the driver of a session, and notes the connection that was used last: the
// driver does not notice that one has ended.
type dialled struct {
	*peer
	last atomic.Pointer[used]
}

type used struct {
	net.Conn
	by *dialled
}

func (d *dialled) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.peer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &used{c, d}, nil
}

func (u *used) Write(b []byte) (int, error) {
	u.by.last.Store(u)
	return u.Conn.Write(b)
}

// connect opens a client with a single connection for commands, which the driver opens again
// after that idle time; 0: never. The driver has a second one to monitor the server, which is
// idle.
func (p *peer) connect(ctx context.Context, idle time.Duration) (*mongo.Client, error) {
	return p.connectBy(ctx, p, idle)
}

func (p *peer) connectBy(ctx context.Context, dialer options.ContextDialer, idle time.Duration) (*mongo.Client, error) {
	o := options.Client().ApplyURI(p.uri).SetDialer(dialer).SetAppName("rumbench").SetDirect(true).
		SetMinPoolSize(0).SetMaxPoolSize(1).SetMaxConnIdleTime(idle)
	o.SetRetryWrites(false).SetRetryReads(false).SetCompressors([]string{})
	o.SetServerSelectionTimeout(5 * time.Second).SetHeartbeatInterval(10 * time.Minute).
		SetServerMonitoringMode(options.ServerMonitoringModePoll)
	c, err := mongo.Connect(o)
	if err != nil {
		return nil, secret.Error(fmt.Errorf("connect: %w", err), p.uri)
	}
	if err := ping(ctx, c); err != nil {
		disconnect(c)
		return nil, secret.Error(err, p.uri)
	}
	return c, nil
}

func ping(ctx context.Context, c *mongo.Client) error {
	_, err := serverkit.Hello(ctx, func(ctx context.Context) (any, error) {
		return nil, classify("connect", c.Ping(ctx, nil))
	})
	return err
}

// leaveTime is how long it may take to end a session.
const leaveTime = 10 * time.Second

func disconnect(c *mongo.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	_ = c.Disconnect(ctx) // the server notices, even if the driver does not
}

// meet connects, and asks the server for its identity. The version of a stand-in names
// the substitute, so that its figures are not mistaken for MongoDB's; reports show the
// first word of the version next to the engine.
func (p *peer) meet(ctx context.Context) (err error) {
	if p.client, err = p.connect(ctx, wire.IdleTime); err != nil {
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

// ask runs an administrative command of the server.
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

// classes are the classes of the server's errors by code.
var classes = map[int]engine.Class{
	// a write conflict, and a transaction that a write conflict has ended
	24: engine.LockTimeout, 112: engine.Conflict, 251: engine.Conflict,
	91: engine.Gone, 189: engine.Gone, 10107: engine.Gone, 11600: engine.Gone, 11602: engine.Gone, 13435: engine.Gone,
	13436: engine.Gone,
}

// Further codes of the server's errors.
const (
	codeUnauthorized   = 13
	codeAlreadySet     = 23 // AlreadyInitialized
	codeNoNamespace    = 26
	codeNoCommand      = 59
	codeNotImplemented = 238
	codeDiskFull       = 14031
)

func hasCode(err error, codes ...int) bool {
	var e mongo.ServerError
	return errors.As(err, &e) && slices.ContainsFunc(codes, e.HasErrorCode)
}

// classify gives an error of the driver its class, and adds the attempted action.
func classify(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	class := engine.Fatal
	for code, c := range classes {
		if hasCode(err, code) {
			class = c
		}
	}
	var lost topology.ServerSelectionError
	unreachable := errors.As(err, &lost) && len(lost.Desc.Servers) > 0 && gone(lost.Desc.Servers[0].LastError)
	if unreachable {
		err = lost.Desc.Servers[0].LastError // instead of how long the driver has waited
	}
	broken := unreachable ||
		(mongo.IsNetworkError(err) || errors.As(err, &lost)) && !errors.Is(err, context.DeadlineExceeded)
	switch {
	case class != engine.Fatal:
	case mongo.IsDuplicateKeyError(err):
		class = engine.Duplicate
	case hasCode(err, codeDiskFull):
		err = engine.DiskFull(err)
	case hasCode(err, codeUnauthorized):
		err = hint.With(err, "the user of the dsn needs the role readWrite on the database of schema: db.grantRolesToUser(…)")
	case broken || errors.Is(err, mongo.ErrClientDisconnected): // before timeouts: the driver may have waited for it
		class = engine.Gone
	case mongo.IsTimeout(err):
		class = engine.Timeout
	}
	return engine.Classify(class, fmt.Errorf("%s: %w", doing, err))
}

// gone reports whether a server could not be reached, rather than took too long: then the driver waits
// for it to come back.
func gone(err error) bool {
	return err != nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// session is a separate client with one connection. A connection that breaks during an
// operation is not replaced: the server may no longer be the same.
type session struct {
	db     *db
	dialer *dialled
	client *mongo.Client
	at     *mongo.Database
	driver *mongo.Session
	// The driver finds its session in the context: last is the context of the last
	// command, and ctx is last with the session.
	last, ctx context.Context
	inside    bool // a transaction
	gone      error
	buf       []byte // the command
}

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	dialer := &dialled{peer: &d.peer}
	client, err := d.connectBy(ctx, dialer, 0)
	if err != nil {
		return nil, d.Blame(err)
	}
	s := &session{db: d, dialer: dialer, client: client, at: client.Database(d.Server.Schema)}
	if err = d.checkServer(ctx, client); err == nil {
		s.driver, err = client.StartSession(options.Session().SetCausalConsistency(false))
	}
	if err != nil {
		disconnect(client)
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s] = true
	return s, nil
}

// checkServer refuses a server that may only be read: a proxy may lead to another one.
func (s *setup) checkServer(ctx context.Context, client *mongo.Client) error {
	hello, err := serverkit.Hello(ctx, func(ctx context.Context) ([]byte, error) {
		return run(ctx, client.Database("admin"), doc("hello", 1))
	})
	if err != nil {
		return err
	}
	primary, found := bsoncore.Document(hello).Lookup("isWritablePrimary").BooleanOK()
	return s.CheckSession(s.Server.Schema, found && !primary)
}

// Ended implements engine.Connected.
func (s *session) Ended() bool {
	last := s.dialer.last.Load()
	return s.gone == nil && last != nil && wire.Ended(last.Conn)
}

// Close ends the session, rolling back an open transaction.
func (s *session) Close() error {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	if s.db.sessions[s] {
		delete(s.db.sessions, s)
		if s.gone == nil { // otherwise it would wait for the server
			ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
			s.driver.EndSession(ctx)
			cancel()
		}
		disconnect(s.client)
		s.gone = engine.Errorf(engine.Gone, "the session is closed")
	}
	return nil
}

func (s *session) run(ctx context.Context, doing string, c *command, args []model.Value) ([]byte, error) {
	if s.gone != nil {
		return nil, s.gone
	}
	buf, err := c.fill(s.buf[:0], args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	if c.writes && !s.inside { // in a transaction the commit has the concern
		buf = append(buf[:len(buf)-1], s.db.concern...)
		binary.LittleEndian.PutUint32(buf, uint32(len(buf)))
	}
	s.buf = buf
	if ctx != s.last {
		s.last, s.ctx = ctx, mongo.NewSessionContext(ctx, s.driver)
	}
	reply, err := s.at.RunCommand(s.ctx, buf).Raw()
	if err != nil {
		return nil, s.fail(doing, err)
	}
	return reply, nil
}

// fail classifies an error, and ends the session if the server is gone.
func (s *session) fail(doing string, err error) error {
	err = classify(doing, err)
	if engine.ClassOf(err) == engine.Gone {
		s.gone = err
	}
	return err
}

func (s *session) Prepare(_ context.Context, op *model.Op) (engine.Stmt, error) {
	if s.gone != nil {
		return nil, s.gone
	}
	switch op.Kind {
	case model.Begin, model.Commit, model.Rollback:
		return s.boundary(op)
	}
	t, err := s.db.usable(op)
	if err != nil {
		return nil, err
	}
	st := s.statement(t, op)
	switch op.Kind {
	case model.Insert:
		return newInsert(st, op), nil
	case model.Get, model.Scan:
		return newRead(st, op)
	case model.DeleteLowest:
		return newLowest(st, op)
	}
	return newWrite(st, op), nil
}

// statement is the part that all statements on tables share.
type statement struct {
	session *session
	t       *layout
	label   string
	want    int // arguments
	filter  *filter
	command *command
}

func (s *session) statement(t *layout, op *model.Op) statement {
	return statement{session: s, t: t, label: op.Label(), want: op.Args(&t.Table)}
}

// check checks the number of arguments.
func (s *statement) check(args []model.Value) error {
	if len(args) != s.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", s.label, len(args), s.want)
	}
	return nil
}

// run runs the command. There is no reply if no row can meet the condition.
func (s *statement) run(ctx context.Context, args []model.Value) ([]byte, error) {
	if err := s.check(args); err != nil {
		return nil, err
	}
	args, found := s.filter.known(args)
	if !found {
		return nil, nil
	}
	return s.session.run(ctx, s.label, s.command, args)
}

// boundary begins or ends a transaction.
type boundary struct {
	s       *session
	kind    model.Kind
	options *options.TransactionOptionsBuilder
}

func (s *session) boundary(op *model.Op) (engine.Stmt, error) {
	if !s.db.replica {
		return nil, fmt.Errorf("operation %s: transactions need a replica set: options: {replica_set: true}, or "+
			"replicaSet=NAME in the dsn", op.Label())
	}
	if op.Isolation == model.Serializable {
		return nil, fmt.Errorf("operation %s: transactions have snapshots, level repeatable-read; serializable is not "+
			"supported", op.Label())
	}
	concern := &writeconcern.WriteConcern{W: 1, Journal: &s.db.journal}
	return &boundary{s, op.Kind, options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(concern)},
		nil
}

// outlast returns a context that ends some time after another one, see wire.LastTime.
func outlast(ctx context.Context) (lasting context.Context, stop func()) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ends := context.AfterFunc(ctx, func() { time.AfterFunc(wire.LastTime, cancel) })
	return lasting, func() { ends(); cancel() }
}

// Exec begins or ends a transaction. The end is completed even if the context has ended.
func (b *boundary) Exec(ctx context.Context, _ []model.Value, r *engine.Result) (err error) {
	r.Reset()
	if b.s.gone != nil {
		return b.s.gone
	}
	switch b.kind {
	case model.Begin:
		if err = ctx.Err(); err == nil {
			err = b.s.driver.StartTransaction(b.options)
			b.s.inside = err == nil
		}
		return err
	case model.Commit:
		lasting, stop := outlast(ctx)
		defer stop()
		err = b.s.driver.CommitTransaction(lasting)
	case model.Rollback:
		if b.s.inside { // otherwise a commit has failed, which rolls it back
			lasting, stop := outlast(ctx)
			defer stop()
			err = b.s.driver.AbortTransaction(lasting)
		}
	}
	b.s.inside = false
	if err != nil {
		err = b.s.fail(b.kind.String(), err)
	}
	return err
}
