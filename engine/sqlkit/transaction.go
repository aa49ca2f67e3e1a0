package sqlkit

import (
	"context"

	"rumbench/engine"
	"rumbench/model"
)

const (
	commit   = "COMMIT"
	rollback = "ROLLBACK"
)

// begin starts a transaction.
type begin struct {
	session *Session
	level   model.Isolation
	texts   []string
	writes  bool // what texts were made for
}

// Exec starts a transaction. Whether it writes is only known when the
// session's other operations have been prepared, so it is asked here.
func (b *begin) Exec(ctx context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.texts == nil || b.writes != b.session.writes {
		b.writes = b.session.writes
		b.texts = b.session.db.dialect.Begin(b.level, b.writes)
	}
	for _, text := range b.texts {
		if err := b.session.command(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// end ends a transaction. It runs to its end whatever becomes of the context.
type end struct {
	session *Session
	text    string
}

// Exec ends the transaction. After a commit that failed, the transaction is
// undone, so that the session is ready for the next one.
func (e *end) Exec(_ context.Context, _ []model.Value, r *engine.Result) error {
	r.Reset()
	ctx := context.Background()
	err := e.session.command(ctx, e.text)
	if err != nil && e.text == commit {
		_ = e.session.command(ctx, rollback) // the commit's error is the one that matters
	}
	return err
}
