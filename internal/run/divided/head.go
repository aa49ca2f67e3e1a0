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
	// Lenient: nothing is measured, and clients may begin before everything is counted.
	Lenient bool
	// Observed are the machines of further servers.
	Observed []string

	looking sync.Mutex
	looks   int64

	begin time.Time     // when the load that is ready begins
	met   time.Time     // when Meet has returned
	took  time.Duration // the longest time from Meet to Start, in which the head counts; 0: none yet
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

// The head has three times the time to count before the start of a load that it has taken at most, at least before,
// and counting at first.
const (
	before   = 100 * time.Millisecond
	counting = 500 * time.Millisecond
	// Observers are asked twice, and once more if that is being done already.
	observing = 4 * lookTime
)

func (h *Head) ahead() time.Duration {
	if len(h.Observed) > 0 {
		return observing // one may not answer
	}
	if h.took == 0 {
		return counting
	}
	return max(before, 3*h.took) // a busy machine counts slower than it did
}

// Meet agrees with all parts on the instant at which they begin, and returns shortly before it: the time is
// enough for a snapshot.
func (h *Head) Meet(ctx context.Context) error {
	m, err := h.ask(ctx, Message{Kind: Arm, Ahead: h.ahead()}, Go)
	if err == nil {
		h.begin = Instant(m.At)
		err = h.wait(ctx, -h.ahead())
		h.met = time.Now()
	}
	if err != nil {
		h.Line.Say(Message{Kind: Abandon})
	}
	return err
}

// wait waits for the instant that the load begins, or a time after it.
func (h *Head) wait(ctx context.Context, after time.Duration) error {
	select {
	case <-time.After(time.Until(h.begin) + after):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Start waits for the instant that Meet has agreed on. It must not be over: the clients would have begun
// before everything was counted.
func (h *Head) Start(ctx context.Context) error {
	if took := time.Since(h.met); took > time.Millisecond { // before a lead-in nothing is counted
		h.took = max(h.took, took)
	}
	err := h.wait(ctx, 0)
	if late := time.Since(h.begin); err == nil && late > mostLate && !h.Lenient {
		err = &LostError{Text: fmt.Sprintf("the clients had begun %v before everything was counted: the server's machine is "+
			"overloaded", late.Round(time.Millisecond))}
	}
	if err != nil {
		h.Line.Say(Message{Kind: Abandon})
	}
	return err
}

// mostLate is how late a timer may be.
const mostLate = 20 * time.Millisecond

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
