package divided

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"rumbench/workload"
)

// Peer is a process at the end of a line, as its conductor sees it.
type Peer struct {
	Machine string
	Line    *Line
	// Offset measures the clock of its machine by this many round trips.
	Offset func(ctx context.Context, trips int) (Offset, error)
	// Ceiling returns how many units a second the machine does in a step without a server; 0: that is
	// unknown. nil: it always is.
	Ceiling func(step string) float64
	// Gone says why nothing more comes from it, once its line has hung up.
	Gone func() string
}

// Offset is how far the clock of a machine is ahead of the conductor's.
type Offset struct {
	Ahead time.Duration `json:"ahead"`
	// Bound is the greatest error that it may have, if both ways take equally long or not.
	Bound time.Duration `json:"bound"`
	Trip  time.Duration `json:"trip"` // the best round trip
	// Slowest is the slowest.
	Slowest time.Duration `json:"slowest"`
}

// Conductor brings the parts of a trial together with its head.
type Conductor struct {
	Head  Peer
	Parts []Peer
	// Silence is how long a part that runs a load may say nothing after an interval was to end.
	Silence time.Duration

	events chan event
	task   *Task
	load   *Numbers
	clocks []Offset
	knew   time.Duration // how long it took last until all parts knew the instant of a start
	tries  int           // of a start
	broken error         // why nothing more can be done
}

// event is what comes from a process: a message, or that its line has hung up.
type event struct {
	peer int // the index of a part, or head
	Message
	gone bool
}

const head = -1

// The numbers of round trips by which clocks are measured, and how often they are while a load runs.
const (
	fullTrips  = 40
	shortTrips = 8
	clockEvery = 10 * time.Second
)

var errHeadGone = errors.New("the head has ended")

// Run serves a trial's head until it has ended.
func (c *Conductor) Run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var pumps sync.WaitGroup
	defer pumps.Wait()
	defer cancel()
	c.events = make(chan event)
	pumps.Go(func() { c.pump(ctx, head, c.Head.Line) })
	for i := range c.Parts {
		pumps.Go(func() { c.pump(ctx, i, c.Parts[i].Line) })
	}
	defer c.broadcast(Message{Kind: Abandon})
	for {
		e, err := c.next(ctx)
		switch {
		case err == nil && e.peer == head && c.broken == nil:
			err = c.serve(ctx, e.Message)
		case err == nil && e.peer != head: // too late
			continue
		}
		if errors.Is(err, errHeadGone) || ctx.Err() != nil {
			return
		}
		if c.broken == nil {
			c.broken = err
		}
		if c.broken != nil && e.peer == head && ctx.Err() == nil {
			c.broadcast(Message{Kind: Abandon})
			c.Head.Line.Say(Message{Kind: Failed, Failure: FailureOf(c.broken)})
		}
	}
}

// serve does what the head asks for.
func (c *Conductor) serve(ctx context.Context, m Message) error {
	switch {
	case m.Kind == Open && m.Task != nil:
		return c.open(ctx, m.Task)
	case m.Kind == Load && c.task != nil && m.Numbers != nil && m.Numbers.Interval > 0:
		return c.begin(ctx, m.Numbers)
	case m.Kind == Arm && c.load != nil:
		return c.run(ctx)
	case m.Kind == Check:
		return c.check(ctx, m)
	case m.Kind == Close:
		c.broadcast(m)
		err := c.gather(ctx, Closed, nil)
		if err == nil {
			c.Head.Line.Say(Message{Kind: Closed})
		}
		return err
	case m.Kind == Abandon: // nothing runs
	default:
		return fmt.Errorf("%s comes out of turn", m.Kind)
	}
	return nil
}

// pump passes on what comes from a process.
func (c *Conductor) pump(ctx context.Context, peer int, l *Line) {
	for {
		m, err := l.Next(ctx)
		if ctx.Err() != nil {
			return
		}
		select {
		case c.events <- event{peer, m, err != nil}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

func (c *Conductor) broadcast(m Message) {
	for i := range c.Parts {
		c.Parts[i].Line.Say(m)
	}
}

// next waits for what comes next. A part that is lost or has failed is an error, as is the end of the head.
func (c *Conductor) next(ctx context.Context) (event, error) {
	select {
	case e := <-c.events:
		switch {
		case e.gone && e.peer == head:
			return e, errHeadGone
		case e.gone:
			return e, &LostError{c.Parts[e.peer].Machine, c.Parts[e.peer].Gone()}
		case e.Kind == Failed && e.Failure != nil && e.peer != head:
			e.Failure.Text, e.Failure.Hint = line(e.Failure.Text), line(e.Failure.Hint)
			if e.Failure.Machine = c.Parts[e.peer].Machine; !e.Failure.Lost { // else it is said with the loss
				e.Failure.Text = "on client machine " + e.Failure.Machine + ": " + e.Failure.Text
			}
			return e, e.Failure.Err()
		}
		return e, nil
	case <-ctx.Done():
		return event{}, ctx.Err()
	}
}

// wrong returns the loss of a part that has sent what cannot be true, for this reason; "": it has not.
func (c *Conductor) wrong(part int, reason doubt) error {
	if reason == "" {
		return nil
	}
	return &LostError{c.Parts[part].Machine, "it reported what cannot be: " + line(string(reason))}
}

// gather waits until each part has answered. A function, if there is one, returns why an answer cannot be true.
func (c *Conductor) gather(ctx context.Context, kind Kind, each func(*event) doubt) error {
	waits := slices.Repeat([]bool{true}, len(c.Parts))
	for i := 0; i >= 0; i = slices.Index(waits, true) {
		over, cancel := context.WithTimeout(ctx, answerTime)
		e, err := c.next(over)
		cancel()
		switch {
		case err != nil && over.Err() == context.DeadlineExceeded && ctx.Err() == nil:
			return c.lost(&LostError{c.Parts[i].Machine, "it does not answer"}, "")
		case err != nil:
			return c.lost(err, "")
		case e.peer == head: // it does not wait any more
			return context.Canceled
		case e.Kind == kind && waits[e.peer]:
			waits[e.peer] = false
			if each == nil {
				continue
			}
			if err := c.wrong(e.peer, each(&e)); err != nil {
				return c.lost(err, "")
			}
		}
	}
	return nil
}

// answerTime is how long parts may be silent before each has answered: some open a thousand sessions, or
// count a table first.
const answerTime = 5 * time.Minute

// lost says of a loss when it was.
func (c *Conductor) lost(err error, when string) error {
	lost, is := errors.AsType[*LostError](err)
	if !is || lost.Machine == "" {
		return err
	}
	if when == "" {
		when = " while it readied its clients"
	}
	if c.task != nil {
		when += " of step " + c.task.Step
	}
	return &LostError{lost.Machine, fmt.Sprintf("client machine %s was lost%s: its operations are unknown (%s)",
		lost.Machine, when, lost.Text)}
}

func (c *Conductor) open(ctx context.Context, t *Task) error {
	c.task = t
	for i := range c.Parts {
		ownTask := *t
		if !t.Whole {
			ownTask.Part = workload.Part{Index: i, Of: len(c.Parts)}
		}
		c.Parts[i].Line.Say(Message{Kind: Open, Task: &ownTask})
	}
	prepared := &Prepared{}
	err := c.gather(ctx, Opened, func(e *event) (wrong doubt) {
		if wrong = t.prepared(e.Prepared); wrong == "" && e.Prepared != nil {
			prepared.Join(e.Prepared)
		}
		return wrong
	})
	if err != nil {
		return err
	}
	c.Head.Line.Say(Message{Kind: Opened, Prepared: prepared})
	return nil
}

// check has the only part check its step.
func (c *Conductor) check(ctx context.Context, m Message) error {
	c.broadcast(m)
	var verdict *Verdict
	if err := c.gather(ctx, Checked, func(e *event) doubt { verdict = e.Verdict; return "" }); err != nil {
		return err
	}
	c.Head.Line.Say(Message{Kind: Checked, Verdict: verdict})
	return nil
}

// begin has the clients ready, and measures the clocks.
func (c *Conductor) begin(ctx context.Context, n *Numbers) (err error) {
	c.load = n
	c.broadcast(Message{Kind: Load, Numbers: n})
	if err := c.gather(ctx, Ready, nil); err != nil {
		return err
	}
	if c.clocks, err = c.offsets(ctx, fullTrips); err != nil {
		return &LostError{Text: "compare the machines' clocks: " + err.Error()}
	}
	c.Head.Line.Say(Message{Kind: Ready})
	return nil
}

// offsets measures the clocks of all machines, the head's last.
func (c *Conductor) offsets(ctx context.Context, trips int) ([]Offset, error) {
	peers := append(slices.Clone(c.Parts), c.Head)
	out, errs := make([]Offset, len(peers)), make([]error, len(peers))
	var group sync.WaitGroup
	for i, p := range peers {
		group.Go(func() { out[i], errs[i] = p.Offset(ctx, trips) })
	}
	group.Wait()
	return out, errors.Join(errs...)
}

// The times of a start.
const (
	// leastNotice is the least time that a part has to answer that it knows the instant of a start.
	leastNotice, mostNotice = 100 * time.Millisecond, 10 * time.Second
	// slack is how many times longer they have than it took last.
	slack = 2
	// lastMoment is how long before the instant a part can no longer learn that it does not hold.
	lastMoment = 10 * time.Millisecond
	mostTries  = 6
)

// notice returns how long parts have to answer: longer than the slowest round trip when clocks were measured last, and
// than it took last until all parts knew an instant. Each try has twice the time of the one before.
func (c *Conductor) notice() time.Duration {
	notice := max(leastNotice, slack*c.knew)
	for i := range c.Parts {
		notice = max(notice, slack*c.clocks[i].Slowest)
	}
	return min(mostNotice, notice<<c.tries)
}

// arm agrees with all parts on an instant, and returns it. Each begins then, unless it hears before that the instant
// does not hold: half of the time until then is for answers, and the other half for that. If one has learnt it too
// late no part begins; the time is zero then, and the head has to count again.
func (c *Conductor) arm(ctx context.Context) (time.Time, error) {
	notice, began := c.notice(), Clock()
	instant := began + 2*int64(notice)
	for i := range c.Parts {
		c.Parts[i].Line.Say(Message{Kind: Arm, At: c.on(i, instant)})
	}
	waits := slices.Repeat([]bool{true}, len(c.Parts))
	late, limit, slowest := false, notice, 0
	for slices.Contains(waits, true) {
		over, cancel := context.WithTimeout(ctx, limit-time.Duration(Clock()-began))
		e, err := c.next(over)
		cancel()
		switch {
		case errors.Is(err, context.DeadlineExceeded) && limit == notice:
			late, limit = true, notice+c.Silence // how long it takes is the measure of the next try
		case errors.Is(err, context.DeadlineExceeded):
			silent := c.Parts[slices.Index(waits, true)].Machine
			return time.Time{}, c.lost(&LostError{silent, "it does not answer"}, " before the start")
		case err != nil:
			return time.Time{}, c.lost(err, " before the start")
		case e.peer == head: // it does not wait any more
			return time.Time{}, context.Canceled
		case e.Kind == Armed && e.At == c.on(e.peer, instant):
			waits[e.peer], slowest = false, e.peer
			late = late || e.Ahead <= lastMoment
		}
		if late {
			c.broadcast(Message{Kind: Disarm})
		}
	}
	c.knew = time.Duration(Clock() - began)
	if !late {
		c.tries = 0
		c.Head.Line.Say(Message{Kind: Go, At: c.on(len(c.Parts), instant)})
		return Instant(instant), nil
	}
	if c.tries++; c.tries == mostTries {
		return time.Time{}, &LostError{Text: fmt.Sprintf("the machines could not agree on a start in %d tries: the last "+
			"needed %v until client machine %s had answered: it is overloaded, or its network is", mostTries,
			c.knew.Round(time.Millisecond), c.Parts[slowest].Machine)}
	}
	c.Head.Line.Say(Message{Kind: Disarm})
	return time.Time{}, nil
}

// on returns an instant on the clock of a machine.
func (c *Conductor) on(machine int, instant int64) int64 {
	return instant + int64(c.clocks[machine].Ahead)
}
