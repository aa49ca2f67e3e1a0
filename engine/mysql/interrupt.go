package mysql

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// interrupter has the server give up what it is doing when a context ends. It
// follows one context for as long as operations come with it, which costs them
// next to nothing.
type interrupter struct {
	conn *conn
	kill func(context.Context) error // asks the server, on a connection of its own, to give up
	ctx  context.Context             // nil: none is followed
	stop func() bool
	sent chan struct{} // closed when the server has been asked
	late *time.Timer   // gives up the connection; nil: the server was not asked
	busy atomic.Bool   // an operation runs that may be interrupted
}

// begin is called before an operation.
func (w *interrupter) begin(ctx context.Context) error {
	if ctx.Done() == nil {
		if w.ctx != nil && w.ctx.Err() != nil {
			return w.leave() // what is on its way must not hit this operation
		}
		return nil
	}
	if ctx != w.ctx {
		if err := w.leave(); err != nil {
			return err
		}
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

// leave ends following, and waits for what is on its way to the server. The
// error is that of the connection.
func (w *interrupter) leave() error {
	if w.ctx == nil {
		return nil
	}
	if !w.stop() {
		<-w.sent
	}
	w.ctx, w.stop = nil, nil
	if w.late == nil {
		return nil
	}
	w.late.Stop()
	w.late = nil
	return w.forget()
}

// forget has the server forget that it was asked to give up: one that was idle
// by then would give up the next statement. That is this one, for which the
// server has as long as for giving up.
func (w *interrupter) forget() error {
	if w.conn.lost != nil {
		return w.conn.lost
	}
	late := time.AfterFunc(patience, w.conn.wire.Break)
	defer late.Stop()
	err := w.conn.exec("DO 0")
	if _, told := errors.AsType[*driver.MySQLError](err); told {
		return nil
	}
	return err
}

// patience is how long a server may take to give up an operation. Then the
// connection is given up.
const patience = 5 * time.Second

// interrupt asks the server to give up.
func (w *interrupter) interrupt() {
	if !w.busy.Load() {
		return
	}
	w.late = time.AfterFunc(patience, func() {
		if w.busy.Load() {
			w.conn.wire.Break()
		}
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	_ = w.kill(ctx) // if it fails, patience is left
}
