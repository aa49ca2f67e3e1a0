package divided

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/run/drive"
	"rumbench/workload"
)

// Step is a step whose clients are open in a part.
type Step struct {
	Of      *workload.Step
	Clients [][]workload.Client
	Stage   workload.Stage
	Close   func()
	// Prepared is what the clients have prepared, and Knowledge what the run knows after the step; nil: nothing.
	Prepared  *Prepared
	Knowledge func() ([]byte, error)
	// Report is as in [engine.Reporter].
	Report func(ctx context.Context) time.Duration
}

// Part is a process that has some of the clients.
type Part struct {
	Line *Line
	// Open opens the sessions of the part's clients.
	Open func(ctx context.Context, t *Task) (*Step, error)
	// Coarse is as in [drive.Config].
	Coarse bool

	step *Step
	part workload.Part
}

// Serve does what the conductor asks for, until it hangs up. Every failure is answered, but what the part's
// own end makes fail: a part that nobody hears any more is lost, and no fault of the target.
func (p *Part) Serve(ctx context.Context) error {
	defer p.close()
	for {
		m, err := p.Line.Next(ctx)
		if errors.Is(err, ErrHungUp) {
			return nil
		}
		if err != nil {
			return err
		}
		switch open := p.step != nil; {
		case m.Kind == Open:
			err = p.open(ctx, m.Task)
		case m.Kind == Load && open:
			err = p.load(ctx, m.Numbers)
		case m.Kind == Check && open:
			err = p.check(ctx, m.Totals)
		case m.Kind == Close:
			p.close()
			p.Line.Say(Message{Kind: Closed})
		case m.Kind == Abandon || m.Kind == Stop || m.Kind == Disarm: // what it ends has ended already
		default:
			err = fmt.Errorf("%s comes out of turn", m.Kind)
		}
		if err != nil && ctx.Err() == nil && !errors.Is(err, ErrHungUp) {
			p.Line.Say(Message{Kind: Failed, Failure: FailureOf(err)})
		}
	}
}

func (p *Part) open(ctx context.Context, t *Task) (err error) {
	p.close()
	if p.step, err = p.Open(ctx, t); err != nil {
		return err
	}
	p.part = t.Part
	p.Line.Say(Message{Kind: Opened, Prepared: p.step.Prepared})
	return nil
}

// check ends a step that the part has whole.
func (p *Part) check(ctx context.Context, done workload.Totals) (err error) {
	v := &Verdict{}
	if v.Finding, err = p.step.Stage.Finish(ctx, done); err == nil {
		v.Knowledge, err = p.step.Knowledge()
	}
	if err == nil {
		p.Line.Say(Message{Kind: Checked, Verdict: v})
	}
	return err
}

func (p *Part) close() {
	if p.step != nil {
		p.step.Close()
		p.step = nil
	}
}

// load runs the clients once.
func (p *Part) load(ctx context.Context, n *Numbers) error {
	step, err := n.Of(p.step.Of)
	if err != nil {
		return err
	}
	p.step.Report(ctx) // what they did until now is not of the load
	parent := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &loading{Part: p, ctx: ctx, stopped: make(chan struct{}), changed: make(chan struct{}, 1), cancel: cancel}
	var listening sync.WaitGroup
	listening.Go(l.listen)
	use := &observe.UseWatch{}
	res, err := drive.Run(ctx, drive.Config{
		Step: step, Clients: p.step.Clients, Part: p.part, Interval: n.Interval, Seed: n.Seed, Limit: n.Limit,
		Longest: n.Longest, Led: l.led, Coarse: p.Coarse,
		Begin: func(ctx context.Context) (time.Time, error) {
			instant, err := l.begin(ctx)
			use.Begin()
			return instant, err
		},
		OnInterval: func(iv *drive.Interval) {
			p.Line.Say(Message{Kind: Tick, Interval: &Interval{Interval: *iv, Machines: []Use{{Use: use.Interval()}}}})
		},
	})
	cancel(nil)
	listening.Wait()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause // the load is void, or the conductor has hung up
	}
	if err = cmp.Or(parent.Err(), err); err != nil {
		return err
	}
	out := &Outcome{Result: res, Reports: []Report{{UseTotal: use.End()}},
		Lag: p.step.Report(context.WithoutCancel(ctx))}
	if c, ok := p.step.Stage.(workload.Counting); ok {
		out.Counts = c.Counts()
	}
	p.Line.Say(Message{Kind: Done, Outcome: out})
	return nil
}

// loading is a load that runs in a part.
type loading struct {
	*Part
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopped chan struct{} // no client that the load waits for is at work anywhere

	mu      sync.Mutex
	at      time.Time     // when it begins; zero: that is unknown
	begun   bool          // it is too late to change that
	changed chan struct{} // has room for one: at is another
}

// listen takes the conductor's messages while the load runs.
func (l *loading) listen() {
	for {
		m, err := l.Line.Next(l.ctx)
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil:
			l.cancel(err)
			return
		case m.Kind == Abandon, m.Kind == Close:
			l.cancel(nil)
			return
		case m.Kind == Stop:
			close(l.stopped)
		case m.Kind == Arm:
			ahead := time.Until(Instant(m.At))
			if ahead > lastMoment {
				l.tell(Instant(m.At))
			}
			l.Line.Say(Message{Kind: Armed, At: m.At, Ahead: ahead})
		case m.Kind == Disarm:
			l.tell(time.Time{})
		}
	}
}

// tell changes when the load begins. One that has begun is void, as others have not.
func (l *loading) tell(instant time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.begun {
		l.cancel(&LostError{Text: fmt.Sprintf("it learnt %v after the start of the load that others did not begin",
			time.Since(l.at).Round(time.Millisecond))})
		return
	}
	l.at = instant
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// begin returns the instant at which the clients of all parts begin, in the last moment before.
func (l *loading) begin(ctx context.Context) (time.Time, error) {
	l.Line.Say(Message{Kind: Ready})
	for {
		l.mu.Lock()
		instant, left := l.at, time.Until(l.at)-lastMoment
		l.begun = !instant.IsZero() && left <= 0
		begun := l.begun
		l.mu.Unlock()
		if begun {
			return instant, nil
		}
		var due <-chan time.Time
		if !instant.IsZero() {
			due = time.After(left)
		}
		select {
		case <-due:
		case <-l.changed:
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}

// led waits until no client that the load waits for is at work in any part.
func (l *loading) led(ctx context.Context) {
	l.Line.Say(Message{Kind: Led})
	select {
	case <-l.stopped:
	case <-ctx.Done():
	}
}
