package mongodb

import (
	"context"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"rumbench/engine"
	"rumbench/model"
)

// session is a client of its own with one connection. A connection that broke is
// not replaced: the server may not be the same any more.
type session struct {
	db     *db
	client *mongo.Client
	at     *mongo.Database
	driver *mongo.Session
	// The driver finds its session in the context: last is the context of the last
	// command, and with is that with the session.
	last, with context.Context
	inside     bool // a transaction
	gone       error
	buf        []byte // the command
}

var errClosed = engine.Errorf(engine.Gone, "the session is closed")

func (d *db) Session(ctx context.Context) (engine.Session, error) {
	client, err := d.reach.connect(ctx)
	if err != nil {
		return nil, d.Blame(err)
	}
	s := &session{db: d, client: client, at: client.Database(d.Server.Schema)}
	if s.driver, err = client.StartSession(options.Session().SetCausalConsistency(false)); err != nil {
		disconnect(client)
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sessions[s] = true
	return s, nil
}

// Close ends the session, undoing an open transaction.
func (s *session) Close() error {
	s.db.mu.Lock()
	open := s.db.sessions[s]
	delete(s.db.sessions, s)
	s.db.mu.Unlock()
	if open {
		s.end()
	}
	return nil
}

func (s *session) end() {
	if s.gone == nil { // else it would wait for the server
		s.driver.EndSession(context.Background())
	}
	disconnect(s.client)
	s.gone = errClosed
}

// run runs a command.
func (s *session) run(ctx context.Context, doing string, cmd []byte) ([]byte, error) {
	if s.gone != nil {
		return nil, s.gone
	}
	if ctx != s.last {
		s.last, s.with = ctx, mongo.NewSessionContext(ctx, s.driver)
	}
	reply, err := s.at.RunCommand(s.with, cmd).Raw()
	if err == nil {
		return reply, nil
	}
	return reply, s.fail(doing, err)
}

// fail classifies an error, and ends the session when the server has gone.
func (s *session) fail(doing string, err error) error {
	err = classify(doing, err)
	if engine.ClassOf(err) == engine.Gone {
		s.gone = err
	}
	return err
}

// begin begins a command on a table.
func (s *session) begin(name string, t *layout) []byte {
	return bsoncore.AppendStringElement(append(s.buf[:0], 0, 0, 0, 0), name, t.Name)
}

// read runs a command that reads.
func (s *session) read(ctx context.Context, doing string, cmd []byte) ([]byte, error) {
	s.buf = end(cmd, 0)
	return s.run(ctx, doing, s.buf)
}

// write runs a command that writes. In a transaction the commit has the concern.
func (s *session) write(ctx context.Context, doing string, cmd []byte) ([]byte, error) {
	if !s.inside {
		cmd = append(cmd, s.db.concern...)
	}
	return s.read(ctx, doing, cmd)
}

// Prepare readies an operation.
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
	b := base{session: s, t: t, label: op.Label(), want: op.Args(t.Table)}
	switch op.Kind {
	case model.Insert:
		return newInsert(b, op), nil
	case model.Get, model.Scan:
		return newRead(b, op)
	case model.Update:
		return newUpdate(b, op), nil
	case model.Delete:
		return &remove{b, newFilter(t, op)}, nil
	case model.DeleteLowest:
		return newLowest(b, op)
	}
	return nil, fmt.Errorf("operation %s: the engine does not know it", op.Label())
}

// base is what all statements have.
type base struct {
	session *session
	t       *layout
	label   string
	want    int // arguments
}

// start clears the result and checks the number of arguments.
func (b *base) start(args []model.Value, r *engine.Result) error {
	r.Reset()
	if len(args) != b.want {
		return fmt.Errorf("%s: %d arguments given, %d wanted", b.label, len(args), b.want)
	}
	return nil
}

// wrong says what was being done when an argument did not fit.
func (b *base) wrong(err error) error { return fmt.Errorf("%s: %w", b.label, err) }

// boundary begins or ends a transaction.
func (s *session) boundary(op *model.Op) (engine.Stmt, error) {
	if !s.db.replica {
		return nil, fmt.Errorf("operation %s: transactions need a replica set: options: {replica_set: true}, or replicaSet=NAME in the dsn", op.Label())
	}
	if op.Isolation == model.Serializable {
		return nil, fmt.Errorf("operation %s: transactions have snapshots, level repeatable-read; serializable is not supported", op.Label())
	}
	journal := s.db.journal()
	concern := &writeconcern.WriteConcern{W: 1, Journal: &journal}
	return &boundary{s, op.Kind, options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(concern)}, nil
}

type boundary struct {
	s       *session
	kind    model.Kind
	options *options.TransactionOptionsBuilder
}

// Exec begins or ends a transaction. An end runs to its end whatever becomes of
// the context.
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
		err = b.s.driver.CommitTransaction(context.Background())
	case model.Rollback:
		if b.s.inside { // else a commit has failed, which undoes it
			err = b.s.driver.AbortTransaction(context.Background())
		}
	}
	b.s.inside = false
	if err != nil {
		err = b.s.fail(b.kind.String(), err)
	}
	return err
}
