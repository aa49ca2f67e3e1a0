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
	// Ask requests cancellation, on a separate connection; nil: that is not possible yet.
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
	late  *time.Timer   // cuts an operation that began after its context had ended; nil: none
	state atomic.Int32
}

// Lasting is the context of an operation that is completed although Until has ended, such
// as a commit. It never ends itself, but an Interrupter cuts the connection if the server
// takes longer than LastTime after the end.
type Lasting struct{ Until context.Context }

// LastTime is how long such an operation may last after its context.
const LastTime = 30 * time.Second

// Deadline returns that there is none.
func (l *Lasting) Deadline() (at time.Time, ok bool) { return at, false }

// Done returns nil: the context does not end.
func (l *Lasting) Done() <-chan struct{} { return nil }

// Err returns nil: the context does not end.
func (l *Lasting) Err() error { return nil }

// Value returns a value of the context that it outlasts.
func (l *Lasting) Value(key any) any { return l.Until.Value(key) }

// The states of an interrupter.
const (
	idle        = iota // no operation runs
	busy               // an operation runs
	lasting            // an operation runs that is not cancelled
	interrupted        // an operation runs, and its context has ended
)

// Patience is how long a server may take to cancel an operation. After it the
// connection is cut.
const Patience = 5 * time.Second

// Begin is called before an operation.
func (w *Interrupter) Begin(ctx context.Context) error {
	state := int32(busy)
	if l, ok := ctx.(*Lasting); ok {
		ctx, state = l.Until, lasting
	}
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
	w.state.Store(state)
	err := ctx.Err() // it may have ended before the state was set
	switch {
	case err != nil && state == busy:
		w.End()
		return err
	case err != nil:
		w.late = time.AfterFunc(LastTime, w.Cut)
	}
	return nil
}

// End is called after an operation.
func (w *Interrupter) End() {
	if w.late != nil {
		w.late.Stop()
		w.late = nil
	}
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

// askAgain is the first pause between requests; each is twice as long. A server ignores one that it has before
// the operation.
const askAgain = 100 * time.Millisecond

// interrupt requests cancellation, or waits for an operation that is completed.
func (w *Interrupter) interrupt(over chan struct{}) {
	w.asked = w.state.CompareAndSwap(busy, interrupted)
	if !w.asked && !w.state.CompareAndSwap(lasting, interrupted) {
		return
	}
	limit := LastTime
	if w.asked {
		limit = Patience
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for pause := askAgain; ; pause *= 2 {
		if w.asked && w.Ask != nil {
			_ = w.Ask(ctx) // if it fails, the connection is cut after Patience
		}
		select {
		case <-over:
			return
		case <-time.After(pause):
		case <-ctx.Done():
			w.Cut()
			return
		}
	}
}
