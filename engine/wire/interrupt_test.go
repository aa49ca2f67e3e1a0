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
		expect.Equal(t, asked.Load(), 1, "asked", "times")
		w.End() // the server has cancelled
		expect.NoError(t, w.Begin(context.Background()))
		time.Sleep(2 * wire.Patience)
		expect.Equal(t, cuts.Load(), 0, "the connection was cut though the server had cancelled")

		ctx, cancel = context.WithCancel(t.Context())
		expect.NoError(t, w.Begin(ctx))
		cancel()
		time.Sleep(wire.Patience - 1)
		synctest.Wait()
		expect.True(t, asked.Load() == 7 && cuts.Load() == 0, "asked", asked.Load(), "times, cut", cuts.Load(), "times")
		time.Sleep(1)
		synctest.Wait()
		expect.Equal(t, cuts.Load(), 1, "the connection was cut", "times, want 1")
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
		expect.True(t, arrived, "the next operation began first")
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
			expect.True(t, forgot == want+1 && cuts.Load() == int32(want),
				"Forget was called", forgot, "times, Cut", cuts.Load(), "times")
		}
		expect.NoError(t, w.Begin(context.Background()))
		w.End()
		expect.Equal(t, forgot, 2, "Forget was called without a request")
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
				expect.True(t, asked.Load() == 0 && cuts.Load() == 0,
					"ended", ended, "asked", asked.Load(), "times, cut", cuts.Load(), "times")
			}
			time.Sleep(wire.LastTime)
			expect.Equal(t, cuts.Load(), 0, "ended", ended, "cut though the server has answered")
			expect.NoError(t, w.Begin(&wire.Lasting{Until: ctx}))
			time.Sleep(wire.LastTime)
			synctest.Wait()
			expect.True(t, asked.Load() == 0 && cuts.Load() == 1,
				"ended", ended, "asked", asked.Load(), "times, cut", cuts.Load(), "times")
			w.End()
			expect.NoError(t, w.Leave())
		})
	}
}
