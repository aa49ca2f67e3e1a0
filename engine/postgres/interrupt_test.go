package postgres

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// watched is an interrupter that counts what it does.
func watched() (w *interrupter, asked, cuts *atomic.Int32) {
	asked, cuts = new(atomic.Int32), new(atomic.Int32)
	return &interrupter{
		cancel: func(context.Context) error { asked.Add(1); return nil },
		cut:    func() { cuts.Add(1) },
	}, asked, cuts
}

func TestInterrupter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, asked, cuts := watched()
		ctx, cancel := context.WithCancel(t.Context())
		must(t, w.begin(ctx))
		w.end()
		cancel() // while nothing runs
		synctest.Wait()
		if err := w.begin(ctx); !errors.Is(err, context.Canceled) || asked.Load() != 0 {
			t.Errorf("%v, asked %d times", err, asked.Load())
		}

		ctx, cancel = context.WithCancel(t.Context())
		must(t, w.begin(ctx))
		cancel()
		synctest.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times", asked.Load())
		}
		w.end() // the server has given up
		must(t, w.begin(background))
		time.Sleep(2 * patience)
		if cuts.Load() != 0 {
			t.Error("a connection was cut whose server had given up")
		}

		ctx, cancel = context.WithCancel(t.Context())
		must(t, w.begin(ctx))
		cancel()
		time.Sleep(patience - 1)
		synctest.Wait()
		if asked.Load() != 2 || cuts.Load() != 0 {
			t.Errorf("asked %d times, cut %d times", asked.Load(), cuts.Load())
		}
		time.Sleep(1)
		synctest.Wait()
		if cuts.Load() != 1 {
			t.Errorf("a server that does not give up was left %d times", cuts.Load())
		}
		w.end()
		w.leave()
	})
}

// What is on its way to the server must not hit the next operation.
func TestInterrupterWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := watched()
		arrived := false
		w.cancel = func(context.Context) error {
			time.Sleep(time.Second)
			arrived = true
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		must(t, w.begin(ctx))
		cancel()
		synctest.Wait()
		w.end()
		must(t, w.begin(t.Context()))
		if !arrived {
			t.Error("the next operation began first")
		}
		w.end()
		w.leave()
	})
}
