package divided

import (
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

	step *Step
	part workload.Part
}

// Serve does what the conductor asks for, until it hangs up. Every failure is answered.
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
		switch m.Kind {
		case Open:
			err = p.open(ctx, m.Task)
		case Load:
			err = p.load(ctx, m.Numbers)
		case Check:
			err = p.check(ctx, m.Totals)
		case Close:
			p.close()
			p.Line.Say(Message{Kind: Closed})
		case Abandon, Stop, Disarm: // what it ends has ended already
		default:
			err = fmt.Errorf("%s comes out of turn", m.Kind)
		}
		if err != nil {
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
	if p.step == nil {
		return errNoStep
	}
	v := &Verdict{}
	if v.Finding, err = p.step.Stage.Finish(ctx, done); err == nil {
		v.Knowledge, err = p.step.Knowledge()
	}
	if err == nil {
		p.Line.Say(Message{Kind: Checked, Verdict: v})
	}
	return err
}

var errNoStep = errors.New("no step is open")

func (p *Part) close() {
	if p.step != nil {
		p.step.Close()
		p.step = nil
	}
}

// load runs the clients once.
func (p *Part) load(ctx context.Context, n *Numbers) error {
	if p.step == nil {
		return errNoStep
	}
	step, err := n.Of(p.step.Of)
	if err != nil {
		return err
	}
	p.step.Report(ctx) // what they did until now is not of the load
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	l := &loading{Part: p, ctx: ctx, stopped: make(chan struct{}), instants: make(chan Message, 1), cancel: cancel}
	var listening sync.WaitGroup
	listening.Go(l.listen)
	use := &observe.UseWatch{}
	res, err := drive.Run(ctx, drive.Config{
		Step: step, Clients: p.step.Clients, Part: p.part, Interval: n.Interval, Seed: n.Seed, Limit: n.Limit,
		Longest: n.Longest, Led: l.led,
		Begin: func(ctx context.Context) (time.Time, error) {
			at, err := l.begin(ctx)
			use.Begin()
			return at, err
		},
		OnInterval: func(iv *drive.Interval) {
			p.Line.Say(Message{Kind: Tick, Interval: &Interval{Interval: *iv, Machines: []Use{{Use: use.Interval()}}}})
		},
	})
	cancel()
	listening.Wait()
	if err != nil {
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
	ctx      context.Context
	cancel   context.CancelFunc
	instants chan Message  // Arm, Go and Disarm
	stopped  chan struct{} // no client that the load waits for is at work anywhere
}

// listen takes the conductor's messages while the load runs.
func (l *loading) listen() {
	for {
		m, err := l.Line.Next(l.ctx)
		switch {
		case l.ctx.Err() != nil:
			return
		case err != nil, m.Kind == Abandon, m.Kind == Close:
			l.cancel()
			return
		case m.Kind == Stop:
			close(l.stopped)
		default:
			select {
			case l.instants <- m:
			case <-l.ctx.Done():
				return
			}
		}
	}
}

// begin returns the instant at which the clients of all parts begin.
func (l *loading) begin(ctx context.Context) (time.Time, error) {
	l.Line.Say(Message{Kind: Ready})
	for {
		select {
		case m := <-l.instants:
			switch m.Kind {
			case Arm:
				l.Line.Say(Message{Kind: Armed, At: m.At})
			case Go:
				at := Instant(m.At)
				if late := time.Since(at); late > 0 {
					return at, &LostError{Text: fmt.Sprintf("it learnt %v after the start of the load that it was to begin",
						late.Round(time.Millisecond))}
				}
				return at, nil
			}
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
