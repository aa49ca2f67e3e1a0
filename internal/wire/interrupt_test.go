package wire

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watched is an interrupter that counts what it does.
func watched() (w *Interrupter, asked, cuts *atomic.Int32) {
	asked, cuts = new(atomic.Int32), new(atomic.Int32)
	return &Interrupter{
		Ask: func(context.Context) error { asked.Add(1); return nil },
		Cut: func() { cuts.Add(1) },
	}, asked, cuts
}

func TestInterrupter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, asked, cuts := watched()
		ctx, cancel := context.WithCancel(t.Context())
		must(t, w.Begin(ctx))
		w.End()
		cancel() // while nothing runs
		synctest.Wait()
		if err := w.Begin(ctx); !errors.Is(err, context.Canceled) || asked.Load() != 0 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}

		ctx, cancel = context.WithCancel(t.Context())
		must(t, w.Begin(ctx))
		cancel()
		synctest.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		w.End() // the server has given up
		must(t, w.Begin(context.Background()))
		time.Sleep(2 * Patience)
		if cuts.Load() != 0 {
			t.Error("a connection was cut whose server had given up")
		}

		ctx, cancel = context.WithCancel(t.Context())
		must(t, w.Begin(ctx))
		cancel()
		time.Sleep(Patience - 1)
		synctest.Wait()
		if asked.Load() != 2 || cuts.Load() != 0 {
			t.Errorf("asked %d times, cut %d times", asked.Load(), cuts.Load())
		}
		time.Sleep(1)
		synctest.Wait()
		if cuts.Load() != 1 {
			t.Errorf("a server that does not give up was left %d times", cuts.Load())
		}
		w.End()
		must(t, w.Leave())
	})
}

// What is on its way to the server must not hit the next operation.
func TestInterrupterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := watched()
		arrived := false
		w.Ask = func(context.Context) error {
			time.Sleep(time.Second)
			arrived = true
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		must(t, w.Begin(ctx))
		cancel()
		synctest.Wait()
		w.End()
		must(t, w.Begin(t.Context()))
		if !arrived {
			t.Error("the next operation began first")
		}
		w.End()
		must(t, w.Leave())
	})
}

// A server that was asked is made to forget it before the next operation, and
// may not take longer for that than for giving up.
func TestInterrupterForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, cuts := watched()
		forgot := 0
		w.Forget = func() error {
			forgot++
			time.Sleep(time.Duration(forgot) * (Patience - 1))
			return nil
		}
		for want := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			must(t, w.Begin(ctx))
			cancel()
			synctest.Wait()
			w.End()
			must(t, w.Begin(t.Context()))
			w.End()
			if forgot != want+1 || cuts.Load() != int32(want) {
				t.Errorf("it forgot %d times, and was cut %d times", forgot, cuts.Load())
			}
		}
		must(t, w.Begin(context.Background()))
		w.End()
		if forgot != 2 {
			t.Error("it forgot what nobody asked")
		}
		must(t, w.Leave())
	})
}
