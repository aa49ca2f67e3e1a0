package divided

import (
	"context"
	"fmt"
	"sync"
	"time"

	"rumbench/internal/run/drive"
	"rumbench/workload"
)

// Head is the process that has the server.
type Head struct {
	Line *Line
	// Machines are the machines of the clients, in the order of their parts.
	Machines []string
	// Observed are the machines of further servers.
	Observed []string

	observing sync.Mutex
	requests  int64
}

// ask sends a request and waits for its answer.
func (h *Head) ask(ctx context.Context, request Message, answer Kind) (Message, error) {
	h.Line.Say(request)
	m, err := h.Line.Next(ctx)
	switch {
	case err != nil:
		return m, err
	case m.Kind == Failed:
		return m, m.Failure.Err()
	case m.Kind != answer:
		return m, fmt.Errorf("the clients' machines answered %s to %s", m.Kind, request.Kind)
	}
	return m, nil
}

// Open has all parts open the sessions of a step, and returns what their clients have prepared.
func (h *Head) Open(ctx context.Context, t *Task) (*Prepared, error) {
	m, err := h.ask(ctx, Message{Kind: Open, Task: t}, Opened)
	return m.Prepared, err
}

// Check has the only part check a step that it has whole.
func (h *Head) Check(ctx context.Context, done workload.Totals) (v Verdict, err error) {
	m, err := h.ask(ctx, Message{Kind: Check, Totals: done}, Checked)
	if err == nil && m.Verdict != nil {
		v = *m.Verdict
	}
	return v, err
}

// Load has the clients of all parts wait for their start.
func (h *Head) Load(ctx context.Context, c *drive.Config) error {
	_, err := h.ask(ctx, Message{Kind: Load, Numbers: NumbersOf(c)}, Ready)
	return err
}

// Start agrees with all parts on the instant at which they begin, and returns then. count is called before, so that all
// is counted when they begin, and again for each further try.
func (h *Head) Start(ctx context.Context, count func()) error {
	count()
	m, err := h.ask(ctx, Message{Kind: Arm}, Go)
	if m.Kind == Disarm {
		return h.Start(ctx, count)
	}
	if err == nil {
		select {
		case <-time.After(time.Until(Instant(m.At))):
			return nil
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	h.Line.Say(Message{Kind: Abandon})
	return err
}

// Run waits for the end of a load that has begun. each gets its intervals, and ended is called at once when no
// client is at work any more. A context that ends does not end Run before the parts have returned what they
// have measured.
func (h *Head) Run(ctx context.Context, each func(*Interval), ended func()) (*Outcome, error) {
	defer context.AfterFunc(ctx, func() { h.Line.Say(Message{Kind: Abandon}) })()
	for {
		m, err := h.Line.Next(context.WithoutCancel(ctx))
		switch {
		case err != nil:
			return nil, err
		case m.Kind == Failed:
			return nil, m.Failure.Err()
		case m.Kind == Tick:
			each(m.Interval)
		case m.Kind == Ended:
			ended()
		case m.Kind == Done && m.Outcome != nil && m.Outcome.Result != nil:
			if ctx.Err() != nil { // the parts know only that they had to end
				m.Outcome.Result.Ended = context.Cause(ctx)
			}
			return m.Outcome, nil
		default:
			return nil, fmt.Errorf("the clients' machines answered %s to a load", m.Kind)
		}
	}
}

// Close ends the step on all parts: their sessions are closed then, unless that takes very long.
func (h *Head) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_, _ = h.ask(ctx, Message{Kind: Close}, Closed) // a step that has failed has ended
}

const closeTime = 10 * time.Second
