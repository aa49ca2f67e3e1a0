package serverkit

import (
	"context"
	"fmt"
	"io"

	"rumbench/engine"
)

// Watch watches a server that runs already: it is an engine.Watch.
type Watch struct {
	*Host
	Sample func(context.Context, *engine.Sample) error
	Conn   io.Closer
}

// Counters adds the server's counters.
func (w *Watch) Counters(ctx context.Context, s *engine.Sample) error { return w.Sample(ctx, s) }

// Close closes the connection.
func (w *Watch) Close() error { return w.Conn.Close() }

// Take reports what sessions do, as engine.ActivitySampler.Sample does.
type Take func(ctx context.Context, add func(d engine.SessionActivity, sessions int)) error

type sampler struct {
	from string
	take Take
	conn io.Closer
}

// NewSampler makes a sampler that looks somewhere on a connection of its own, which
// is closed if it cannot be made because of err.
func NewSampler(conn io.Closer, from string, take Take, err error) (engine.ActivitySampler, error) {
	if err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("watch the sessions: %w", err)
	}
	return &sampler{from, take, conn}, nil
}

func (s *sampler) Source() string { return s.from }
func (s *sampler) Close() error   { return s.conn.Close() }

func (s *sampler) Sample(ctx context.Context, add func(d engine.SessionActivity, sessions int)) error {
	if err := s.take(ctx, add); err != nil {
		return fmt.Errorf("watch the sessions: %w", err)
	}
	return nil
}
