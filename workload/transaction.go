package workload

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

// Transaction encloses the statements of an operation in a session. The zero value
// encloses nothing: each statement is then its own transaction.
type Transaction struct {
	begin, commit, rollback engine.Stmt
	result                  engine.Result
}

// NewTransaction prepares the statements that enclose others.
func NewTransaction(ctx context.Context, s engine.Session) (Transaction, error) {
	return NewTransactionAt(ctx, s, model.DefaultIsolation)
}

// NewTransactionAt returns a transaction at an isolation level.
func NewTransactionAt(ctx context.Context, s engine.Session, level model.Isolation) (t Transaction, err error) {
	for _, p := range []struct {
		dst  *engine.Stmt
		kind model.Kind
	}{{&t.begin, model.Begin}, {&t.commit, model.Commit}, {&t.rollback, model.Rollback}} {
		op := &model.Op{Kind: p.kind}
		if p.kind == model.Begin {
			op.Isolation = level
		}
		if *p.dst, err = s.Prepare(ctx, op); err != nil {
			return t, err
		}
	}
	return t, nil
}

// Begin begins the transaction.
func (t *Transaction) Begin(ctx context.Context, out *Outcome) error { return t.do(ctx, t.begin, out) }

// Commit ends the transaction and keeps its work.
func (t *Transaction) Commit(ctx context.Context, out *Outcome) error {
	return t.do(ctx, t.commit, out)
}

// Rollback ends the transaction and undoes its work, whatever the reason: a server that
// has undone only one statement would commit the others with the next transaction. If the
// connection is lost, there is nothing to undo.
func (t *Transaction) Rollback(ctx context.Context, reason error, out *Outcome) error {
	err := t.do(ctx, t.rollback, out)
	if engine.ClassOf(reason) == engine.Gone {
		return nil
	}
	return err
}

func (t *Transaction) do(ctx context.Context, stmt engine.Stmt, out *Outcome) error {
	if stmt == nil {
		return nil
	}
	if err := stmt.Exec(ctx, nil, &t.result); err != nil {
		return err
	}
	out.Others++
	return nil
}
