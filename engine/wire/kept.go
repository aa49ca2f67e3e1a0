package wire

import (
	"context"
	"io"
	"time"
)

// A kept connection is tried when it was idle for IdleTime; the server has tryTime to answer.
const IdleTime, tryTime = time.Second, 10 * time.Second

// Kept keeps a connection open: servers, proxies and poolers end idle ones. The zero Kept
// leaves a lost connection lost.
type Kept[C io.Closer] struct {
	again func(context.Context) (C, error)
	used  time.Time
}

// Keep says how the connection is opened again.
func (k *Kept[C]) Keep(again func(context.Context) (C, error)) { k.again, k.used = again, time.Now() }

// Used notes that the connection was used.
func (k *Kept[C]) Used() { k.used = time.Now() }

// Awake returns the connection, or another one if it was idle and does not answer try.
func (k *Kept[C]) Awake(ctx context.Context, conn C, try func(context.Context) error) (C, error) {
	if k.again == nil || time.Since(k.used) < IdleTime {
		return conn, nil
	}
	limited, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	if err := try(limited); err == nil || ctx.Err() != nil {
		return conn, nil // the request that follows reports the context's end
	}
	next, err := k.again(ctx)
	if err != nil {
		return conn, err
	}
	_ = conn.Close() // it is lost
	return next, nil
}
