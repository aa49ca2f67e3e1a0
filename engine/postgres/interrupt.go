package postgres

import (
	"context"
	"sync/atomic"
	"time"
)

// interrupter has the server give up what it is doing when a context ends. It
// follows one context for as long as operations come with it, which costs them
// next to nothing.
type interrupter struct {
	cancel func(context.Context) error // asks the server, on a connection of its own, to give up
	cut    func()                      // ends the connection
	ctx    context.Context             // nil: none is followed
	stop   func() bool
	over   chan struct{} // closed when the operation that was interrupted has ended
	done   chan struct{} // closed when nothing is on its way to the server any more
	state  atomic.Int32
}

// The states of an interrupter.
const (
	resting     = iota // no operation runs that may be interrupted
	busy               // one does
	interrupted        // one does, and the server is asked to give it up
)

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
	w.state.Store(busy)
	if err := ctx.Err(); err != nil { // it may have ended before we were busy
		w.end()
		return err
	}
	return nil
}

// end is called after an operation.
func (w *interrupter) end() {
	if w.state.Swap(resting) == interrupted {
		close(w.over)
	}
}

func (w *interrupter) follow(ctx context.Context) {
	over, done := make(chan struct{}), make(chan struct{})
	w.ctx, w.over, w.done = ctx, over, done
	w.stop = context.AfterFunc(ctx, func() {
		defer close(done)
		w.interrupt(over)
	})
}

// leave ends following, and waits for what is on its way to the server.
func (w *interrupter) leave() {
	if w.ctx == nil {
		return
	}
	if !w.stop() {
		<-w.done
	}
	w.ctx, w.stop = nil, nil
}

// patience is how long a server may take to give up an operation. Then the
// connection is given up.
const patience = 5 * time.Second

// interrupt asks the server to give up. One that is idle by then ignores it.
func (w *interrupter) interrupt(over chan struct{}) {
	if !w.state.CompareAndSwap(busy, interrupted) {
		return
	}
	ctx, cancel := context.WithTimeout(background, patience)
	defer cancel()
	_ = w.cancel(ctx) // if it fails, patience is left
	select {
	case <-over:
	case <-ctx.Done():
		w.cut()
	}
}
