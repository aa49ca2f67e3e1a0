package trial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/remark"
	"rumbench/internal/text/hint"
	"rumbench/model"
)

// renewableSession is a client's session on an attached server. It is opened again when it was ended while
// the client was idle, as servers, proxies and poolers do. Nothing is repeated: no operation was
// in flight.
type renewableSession struct {
	engine.Session
	open  func(context.Context) (engine.Session, error)
	stmts []*renewableStmt
	// inside and marked are states that another session does not have: an open transaction, and
	// what a bulk load or custom SQL leaves.
	inside, marked bool
	renewed        int
}

// renewableStmt is a statement of whichever session is open.
type renewableStmt struct {
	engine.Stmt
	op model.Op
}

// boundary is a statement that begins or ends a transaction.
type boundary struct {
	*renewableStmt
	session *renewableSession
}

func (k *renewableSession) Prepare(ctx context.Context, op *model.Op) (engine.Stmt, error) {
	inner, err := k.Session.Prepare(ctx, op)
	if err != nil {
		return nil, err
	}
	_, loads := k.Session.(engine.Loader)
	k.marked = k.marked || op.Kind == model.Own || op.Load && loads
	s := &renewableStmt{inner, *op}
	k.stmts = append(k.stmts, s)
	switch op.Kind {
	case model.Begin, model.Commit, model.Rollback:
		return &boundary{s, k}, nil
	}
	return s, nil
}

// Exec begins or ends a transaction.
func (b *boundary) Exec(ctx context.Context, args []model.Value, r *engine.Result) error {
	err := b.Stmt.Exec(ctx, args, r)
	b.session.inside = err == nil && b.op.Kind == model.Begin
	return err
}

// EndLoad ends the load if the session requires it.
func (k *renewableSession) EndLoad(ctx context.Context) error {
	if l, ok := k.Session.(engine.Loader); ok {
		return l.EndLoad(ctx)
	}
	return nil
}

// awake opens the session again if it was ended.
func (k *renewableSession) awake(ctx context.Context) error {
	if c, ok := k.Session.(engine.Connected); !ok || !c.Ended() {
		return nil
	}
	if k.inside || k.marked {
		return engine.Classify(engine.Gone, hint.Errorf(goneHint,
			"the connection was ended while the client was idle, within a transaction, a load or custom SQL"))
	}
	next, err := k.open(ctx)
	if err != nil {
		return fmt.Errorf("open a session that was ended while idle: %w", err)
	}
	fresh := make([]engine.Stmt, len(k.stmts))
	for i, s := range k.stmts {
		if fresh[i], err = next.Prepare(ctx, &s.op); err != nil {
			_ = next.Close()
			return err
		}
	}
	for i, s := range k.stmts {
		s.Stmt = fresh[i]
	}
	_ = k.Session.Close() // it is lost
	k.Session = next
	k.renewed++
	return nil
}

// keep keeps the session of the step's next client open.
func (t *stepRun) keep(s engine.Session) engine.Session {
	if t.Target.Config.Server.DSN == "" || s == nil {
		return s
	}
	k := &renewableSession{Session: s, open: t.db.Session}
	t.renewable = append(t.renewable, k)
	return k
}

// awake readies the session of a client that was idle.
func (t *stepRun) awake(ctx context.Context, group, client int) error {
	for g := range t.step.Groups[:group] {
		client += t.step.Groups[g].Clients
	}
	if client >= len(t.renewable) {
		return nil
	}
	return t.renewable[client].awake(ctx)
}

// renewals adds a warning if sessions were opened again.
func (t *stepRun) renewals() {
	n := 0
	for _, k := range t.renewable {
		n += k.renewed
	}
	if n > 0 {
		t.out.Warnings = append(t.out.Warnings, metric.Warn(remark.SessionsRenewed, metric.Values{"n": float64(n)}))
	}
}

// goneHintOf returns the hint for an error of an attached server that explains nothing.
func goneHintOf(err error) string {
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return "this machine knows no host of that name: is it spelled right in the dsn?"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there: is the server started, and are host and port of the dsn right?"
	}
	return goneHint
}

// goneHint is for connections that were ended.
const goneHint = "see the server's log; a proxy or a pooler ends connections on which nothing is sent, also during " +
	"a long statement: timeout client, timeout server (HAProxy), client_idle_timeout, query_timeout (PgBouncer)"
