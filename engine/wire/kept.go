package wire

import (
	"context"
	"io"
	"net"
	"time"
)

// A kept connection is tried when it was idle for IdleTime; the server has tryTime to answer.
const IdleTime, tryTime = time.Second, 10 * time.Second

// Kept keeps a connection open: servers, proxies and poolers end idle ones. The zero Kept
// leaves a lost connection lost.
type Kept[C io.Closer] struct {
	again func(context.Context) (C, error)
	quiet bool
	used  time.Time
}

// Keep says how the connection is opened again. A quiet one is not tried, as the server would
// count it, if it knows itself whether the other end has ended it.
func (k *Kept[C]) Keep(again func(context.Context) (C, error), quiet bool) {
	k.again, k.quiet, k.used = again, quiet, time.Now()
}

// Used notes that the connection was used.
func (k *Kept[C]) Used() { k.used = time.Now() }

// Awake returns the connection, or another one if it was idle and does not answer try.
func (k *Kept[C]) Awake(ctx context.Context, conn C, try func(context.Context) error) (C, error) {
	if k.again == nil || time.Since(k.used) < IdleTime {
		return conn, nil
	}
	if e, ok := any(conn).(interface{ Ended() bool }); ok && k.quiet {
		if !e.Ended() {
			return conn, nil
		}
		try = func(context.Context) error { return net.ErrClosed }
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
