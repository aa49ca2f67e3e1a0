package wire

import (
	"context"
	"sync/atomic"
	"time"
)

// Interrupter cancels a server's operation when a context ends. It follows one
// context for as long as operations come with it, which costs them next to
// nothing. Its methods are called by one goroutine at a time.
type Interrupter struct {
	// Ask requests cancellation, on a separate connection.
	Ask func(context.Context) error
	// Cut ends the connection.
	Cut func()
	// Forget clears a cancellation request that arrived when the server was idle,
	// if it would cancel the next operation; nil: the server ignores those.
	Forget func() error

	ctx   context.Context // nil: none is followed
	stop  func() bool
	over  chan struct{} // closed when the interrupted operation has ended
	done  chan struct{} // closed when no request is in flight
	asked bool          // valid when done is closed
	state atomic.Int32
}

// The states of an interrupter.
const (
	idle        = iota // no operation runs
	busy               // an operation runs
	interrupted        // an operation runs, and its cancellation was requested
)

// Patience is how long a server may take to cancel an operation. After it the
// connection is cut.
const Patience = 5 * time.Second

// Begin is called before an operation.
func (w *Interrupter) Begin(ctx context.Context) error {
	if ctx.Done() == nil {
		if w.ctx != nil && w.ctx.Err() != nil {
			return w.Leave() // a request in flight must not cancel this operation
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
	if err := ctx.Err(); err != nil { // it may have ended before the state was busy
		w.End()
		return err
	}
	return nil
}

// End is called after an operation.
func (w *Interrupter) End() {
	if w.state.Swap(idle) == interrupted {
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

// Leave stops following the context and waits for a request in flight. Its error
// is the connection's.
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

// interrupt requests cancellation.
func (w *Interrupter) interrupt(over chan struct{}) {
	if !w.state.CompareAndSwap(busy, interrupted) {
		return
	}
	w.asked = true
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	_ = w.Ask(ctx) // if it fails, the connection is cut after Patience
	select {
	case <-over:
	case <-ctx.Done():
		w.Cut()
	}
}
