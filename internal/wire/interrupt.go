package wire

import (
	"context"
	"sync/atomic"
	"time"
)

// Interrupter has a server give up what it is doing when a context ends. It
// follows one context for as long as operations come with it, which costs them
// next to nothing. One goroutine at a time calls its methods.
type Interrupter struct {
	// Ask asks the server, on a connection of its own, to give up.
	Ask func(context.Context) error
	// Cut ends the connection.
	Cut func()
	// Forget makes the server forget that it was asked, if one that was idle by
	// then would give up the next operation; nil: it ignores it.
	Forget func() error

	ctx   context.Context // nil: none is followed
	stop  func() bool
	over  chan struct{} // closed when the operation that was interrupted has ended
	done  chan struct{} // closed when nothing is on its way to the server any more
	asked bool          // valid when done is closed
	state atomic.Int32
}

// The states of an interrupter.
const (
	resting     = iota // no operation runs that may be interrupted
	busy               // one does
	interrupted        // one does, and the server is asked to give it up
)

// Patience is how long a server may take to give up an operation. Then the
// connection is ended.
const Patience = 5 * time.Second

// Begin is called before an operation.
func (w *Interrupter) Begin(ctx context.Context) error {
	if ctx.Done() == nil {
		if w.ctx != nil && w.ctx.Err() != nil {
			return w.Leave() // what is on its way must not hit this operation
		}
		return nil
	}
	if ctx != w.ctx {
		if err := w.Leave(); err != nil {
			return err
		}
		w.follow(ctx)
	}
	w.state.Store(busy)
	if err := ctx.Err(); err != nil { // it may have ended before we were busy
		w.End()
		return err
	}
	return nil
}

// End is called after an operation.
func (w *Interrupter) End() {
	if w.state.Swap(resting) == interrupted {
		close(w.over)
	}
}

func (w *Interrupter) follow(ctx context.Context) {
	over, done := make(chan struct{}), make(chan struct{})
	w.ctx, w.over, w.done = ctx, over, done
	w.stop = context.AfterFunc(ctx, func() {
		defer close(done)
		w.interrupt(over)
	})
}

// Leave ends following, and waits for what is on its way to the server. The
// error is that of the connection.
func (w *Interrupter) Leave() error {
	if w.ctx == nil {
		return nil
	}
	if !w.stop() {
		<-w.done
	}
	w.ctx, w.stop = nil, nil
	if !w.asked {
		return nil
	}
	w.asked = false
	if w.Forget == nil {
		return nil
	}
	late := time.AfterFunc(Patience, w.Cut)
	defer late.Stop()
	return w.Forget()
}

// interrupt asks the server to give up.
func (w *Interrupter) interrupt(over chan struct{}) {
	if !w.state.CompareAndSwap(busy, interrupted) {
		return
	}
	w.asked = true
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_ = w.Ask(ctx) // if it fails, patience is left
	select {
	case <-over:
	case <-ctx.Done():
		w.Cut()
	}
}
