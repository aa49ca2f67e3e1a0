package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// interrupter has the server give up what it is doing when a context ends. It
// follows one context for as long as operations come with it, which costs them
// next to nothing.
type interrupter struct {
	pg   *pgconn.PgConn
	ctx  context.Context // nil: none is followed
	stop func() bool
	sent chan struct{} // closed when the server has been asked
	busy atomic.Bool   // an operation runs that may be interrupted
}

// begin is called before an operation.
func (w *interrupter) begin(ctx context.Context) error {
	if ctx.Done() == nil {
		if w.ctx != nil && w.ctx.Err() != nil {
			w.leave() // what is on its way must not hit this operation
		}
		return nil
	}
	if ctx != w.ctx {
		w.leave()
		w.follow(ctx)
	}
	w.busy.Store(true)
	if err := ctx.Err(); err != nil { // it may have ended before we were busy
		w.busy.Store(false)
		return err
	}
	return nil
}

// end is called after an operation.
func (w *interrupter) end() { w.busy.Store(false) }

func (w *interrupter) follow(ctx context.Context) {
	sent := make(chan struct{})
	w.ctx, w.sent = ctx, sent
	w.stop = context.AfterFunc(ctx, func() {
		defer close(sent)
		w.interrupt()
	})
}

// leave ends following, and waits for what is on its way to the server.
func (w *interrupter) leave() {
	if w.ctx == nil {
		return
	}
	if !w.stop() {
		<-w.sent
		_ = w.pg.Conn().SetReadDeadline(time.Time{})
	}
	w.ctx, w.stop = nil, nil
}

// patience is how long a server may take to give up an operation. Then the
// connection is given up.
const patience = 5 * time.Second

// interrupt asks the server, on a connection of its own, to give up. A server
// that is idle by then ignores it.
func (w *interrupter) interrupt() {
	if !w.busy.Load() {
		return
	}
	_ = w.pg.Conn().SetReadDeadline(time.Now().Add(patience))
	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	_ = w.pg.CancelRequest(ctx) // if it fails, the deadline is left
}
