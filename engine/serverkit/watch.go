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

// Sampler samples what sessions do: it is an engine.ActivitySampler.
type Sampler struct {
	From string // where it looks
	Take func(ctx context.Context, add func(d engine.Doing, sessions int)) error
	Conn io.Closer
}

// Source names where it looks.
func (s *Sampler) Source() string { return s.From }

// Sample reports what the sessions do.
func (s *Sampler) Sample(ctx context.Context, add func(d engine.Doing, sessions int)) error {
	if err := s.Take(ctx, add); err != nil {
		return fmt.Errorf("watch the sessions: %w", err)
	}
	return nil
}

// Close closes the connection.
func (s *Sampler) Close() error { return s.Conn.Close() }
