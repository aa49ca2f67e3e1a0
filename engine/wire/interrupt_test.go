package wire_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"rumbench/engine/wire"
	"rumbench/internal/expect"
)

// watched returns an interrupter that counts requests and cuts.
func watched() (w *wire.Interrupter, asked, cuts *atomic.Int32) {
	asked, cuts = new(atomic.Int32), new(atomic.Int32)
	return &wire.Interrupter{
		Ask: func(context.Context) error { asked.Add(1); return nil },
		Cut: func() { cuts.Add(1) },
	}, asked, cuts
}

func TestInterrupter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, asked, cuts := watched()
		ctx, cancel := context.WithCancel(t.Context())
		expect.NoError(t, w.Begin(ctx))
		w.End()
		cancel() // while nothing runs
		synctest.Wait()
		if err := w.Begin(ctx); !errors.Is(err, context.Canceled) || asked.Load() != 0 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}

		ctx, cancel = context.WithCancel(t.Context())
		expect.NoError(t, w.Begin(ctx))
		cancel()
		synctest.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		w.End() // the server has cancelled
		expect.NoError(t, w.Begin(context.Background()))
		time.Sleep(2 * wire.Patience)
		if cuts.Load() != 0 {
			t.Error("the connection was cut though the server had cancelled")
		}

		ctx, cancel = context.WithCancel(t.Context())
		expect.NoError(t, w.Begin(ctx))
		cancel()
		time.Sleep(wire.Patience - 1)
		synctest.Wait()
		if asked.Load() != 2 || cuts.Load() != 0 {
			t.Errorf("asked %d times, cut %d times", asked.Load(), cuts.Load())
		}
		time.Sleep(1)
		synctest.Wait()
		if cuts.Load() != 1 {
			t.Errorf("the connection was cut %d times, want 1", cuts.Load())
		}
		w.End()
		expect.NoError(t, w.Leave())
	})
}

// A request in flight does not cancel the next operation.
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
		expect.NoError(t, w.Begin(ctx))
		cancel()
		synctest.Wait()
		w.End()
		expect.NoError(t, w.Begin(t.Context()))
		if !arrived {
			t.Error("the next operation began first")
		}
		w.End()
		expect.NoError(t, w.Leave())
	})
}

// A request is cleared before the next operation, within Patience.
func TestInterrupterForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, cuts := watched()
		forgot := 0
		w.Forget = func() error {
			forgot++
			time.Sleep(time.Duration(forgot) * (wire.Patience - 1))
			return nil
		}
		for want := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			expect.NoError(t, w.Begin(ctx))
			cancel()
			synctest.Wait()
			w.End()
			expect.NoError(t, w.Begin(t.Context()))
			w.End()
			if forgot != want+1 || cuts.Load() != int32(want) {
				t.Errorf("Forget was called %d times, Cut %d times", forgot, cuts.Load())
			}
		}
		expect.NoError(t, w.Begin(context.Background()))
		w.End()
		if forgot != 2 {
			t.Error("Forget was called without a request")
		}
		expect.NoError(t, w.Leave())
	})
}

// A commit is completed although its context has ended; a server that does not answer it
// is cut off at last.
func TestLasting(t *testing.T) {
	for _, ended := range []string{"before", "meanwhile"} {
		synctest.Test(t, func(t *testing.T) {
			w, asked, cuts := watched()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if ended == "before" {
				cancel()
			}
			for range 2 {
				expect.NoError(t, w.Begin(&wire.Lasting{Until: ctx}))
				cancel()
				time.Sleep(wire.LastTime - 1)
				synctest.Wait()
				w.End()
				if asked.Load() != 0 || cuts.Load() != 0 {
					t.Errorf("ended %s: asked %d times, cut %d times", ended, asked.Load(), cuts.Load())
				}
			}
			time.Sleep(wire.LastTime)
			if cuts.Load() != 0 {
				t.Errorf("ended %s: cut though the server has answered", ended)
			}
			expect.NoError(t, w.Begin(&wire.Lasting{Until: ctx}))
			time.Sleep(wire.LastTime)
			synctest.Wait()
			if asked.Load() != 0 || cuts.Load() != 1 {
				t.Errorf("ended %s: asked %d times, cut %d times", ended, asked.Load(), cuts.Load())
			}
			w.End()
			expect.NoError(t, w.Leave())
		})
	}
}
