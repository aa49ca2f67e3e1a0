package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"rumbench/internal/metric"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/divided"
)

// dividedCell is a machine of a server with those of its clients, as a campaign sees them.
type dividedCell struct {
	handle
	parts     []*machine
	observers []*machine // of the further servers of a cluster
}

// Prepare has the machines of the clients measure themselves, and then the server's try the targets.
func (d *dividedCell) Prepare(ctx context.Context) error {
	group, over := errgroup.WithContext(ctx)
	for _, m := range d.parts {
		group.Go(func() error { return handle{m, d.coordinator}.Prepare(over) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	end, err := d.conduct(ctx)
	if err != nil {
		return err
	}
	defer end()
	return d.handle.Prepare(ctx)
}

// Trial runs a trial on the server's machine, with clients on the others.
func (d *dividedCell) Trial(ctx context.Context, e result.Entry) error {
	end, err := d.conduct(ctx)
	if err != nil {
		return err
	}
	err = d.handle.Trial(ctx, e)
	end()
	if err != nil {
		return err
	}
	t, err := result.ReadTrial(result.TrialPath(d.dir, e.Dir))
	if err == nil && t.Lost {
		err = &campaign.LostError{Machine: d.Name(), Reason: t.Reason, Trial: e.Dir + ": " + t.Reason,
			Remains: d.remains(ctx)}
	}
	return err
}

// remains reports whether all machines of a server or of clients still answer.
func (d *dividedCell) remains(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, d.silence)
	defer cancel()
	for _, m := range append([]*machine{d.machine}, d.parts...) {
		if m.ask(ctx, opClock, nil, nil) != nil {
			return false
		}
	}
	return true
}

// conduct brings the processes that begin on the server's machine together with those of clients, which it
// starts for each. The function that it returns waits for the last.
func (d *dividedCell) conduct(ctx context.Context) (end func(), err error) {
	var running sync.WaitGroup
	var turn sync.Mutex
	var now *session
	over := false
	looking, stop := context.WithCancel(context.WithoutCancel(ctx)) // until the process has ended
	lines, err := d.hub.conn.Subscribe("from."+isLoad, func(m *nats.Msg) {
		turn.Lock()
		defer turn.Unlock()
		switch l, ok := d.readLine(m.Data); {
		case !ok || over:
		case l.Dir != "":
			ownSession := d.newSession(l.Child)
			now = ownSession
			running.Go(func() { ownSession.run(ctx, l.Dir) })
		case now == nil || now.child != l.Child:
		case l.Message != nil && l.Message.Kind == divided.Observe && l.Message.Request != nil:
			running.Go(func() { d.askObservers(looking, l.Child, l.Message.Request) }) // it may be slow, and the load goes on
		case l.Over:
			now.head.HangUp()
		case l.Message != nil:
			now.head.Hear(*l.Message)
		}
	})
	return func() {
		_ = lines.Unsubscribe()
		turn.Lock()
		if over = true; now != nil {
			now.head.HangUp() // the process has ended, or its machine is lost
		}
		turn.Unlock()
		stop()
		running.Wait()
	}, err
}

// session is a process of a trial on the server's machine, with those of its clients.
type session struct {
	cell  *dividedCell
	child int64
	head  *divided.Line
	parts []*partLink
}

func (d *dividedCell) newSession(child int64) *session {
	s := &session{cell: d, child: child}
	s.head = divided.NewLine(func(m divided.Message) { d.say(loadLine{Child: child, Message: &m}) })
	for _, m := range d.parts {
		p := &partLink{machine: m, begun: make(chan int64, 1), outbox: divided.NewLine(nil)}
		p.line = divided.NewLine(p.outbox.Hear)
		s.parts = append(s.parts, p)
	}
	return s
}

// readLine reads a line of a machine; ok is false if it is none. Lines of this program have more than some bytes for
// each object: others would take many times their size of memory.
func (m *machine) readLine(data []byte) (l loadLine, ok bool) {
	err := errors.New("it has too many parts")
	if bytes.Count(data, []byte("{")) <= mostParts+len(data)/bytesPerPart {
		err = json.Unmarshal(data, &l)
	}
	if err != nil {
		m.lose(fmt.Errorf("it sent what no rumbench sends: %w", err))
	}
	return l, err == nil
}

const mostParts, bytesPerPart = 4096, 16

// say sends a line to a machine.
func (m *machine) say(l loadLine) {
	b, _ := json.Marshal(l)                                     // cannot fail
	if err := m.hub.conn.Publish("to."+isLoad, b); err != nil { // it is too large
		m.lose(fmt.Errorf("it cannot be sent a message of %d bytes: %w", len(b), err))
	}
}

// run starts the processes of the clients, and conducts them until that of the trial has ended.
func (s *session) run(ctx context.Context, dir string) {
	ctx = context.WithoutCancel(ctx) // the trial ends in good order
	c := &divided.Conductor{Silence: s.cell.silence, Head: s.cell.peer(s.head)}
	var parts sync.WaitGroup
	for _, p := range s.parts {
		ownPeer := p.machine.peer(p.line)
		ownPeer.Gone = p.gone
		c.Parts = append(c.Parts, ownPeer)
		parts.Go(func() { p.run(ctx, dir) })
	}
	c.Run(ctx)
	for _, p := range s.parts {
		p.outbox.HangUp()
	}
	parts.Wait()
}

// peer returns the machine as the conductor sees it.
func (m *machine) peer(line *divided.Line) divided.Peer {
	return divided.Peer{Machine: m.Host.Name, Line: line, Offset: m.offset, Ceiling: m.ceiling}
}

// ceiling returns how many units a second the machine's clients did in a step on the null engine.
func (m *machine) ceiling(step string) float64 {
	t, err := result.ReadTrial(result.TrialPath(m.dir, m.calibration(campaign.ClientDir)))
	if err != nil {
		return 0
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		if s.Name != step && s.Name != plan.WithoutRate(step) {
			continue
		}
		if rate := s.Find(metric.RowsPerS, s.Primary, ""); rate != nil {
			return rate.Value
		}
	}
	return 0
}

// offset measures how far the clock of the machine is ahead of this one's.
func (m *machine) offset(ctx context.Context, trips int) (best divided.Offset, err error) {
	slowest := time.Duration(0)
	for range trips {
		began := divided.Clock()
		var there int64
		if err := m.ask(ctx, opClock, nil, &there); err != nil {
			return best, err
		}
		ended := divided.Clock()
		trip := time.Duration(ended - began)
		if slowest = max(slowest, trip); best.Bound == 0 || trip < best.Trip {
			best = divided.Offset{Ahead: time.Duration(there - began - int64(trip)/2), Bound: trip / 2, Trip: trip}
		}
	}
	best.Slowest = slowest
	return best, nil
}

// partLink is the process of clients on a machine.
type partLink struct {
	*machine
	begun  chan int64            // its number there
	line   *divided.Line         // as the conductor sees it
	outbox *divided.Line         // what waits until the process has begun
	end    atomic.Pointer[error] // how the process has ended; nil: without an error
}

// gone says why nothing more comes from the process.
func (p *partLink) gone() string {
	switch err := p.end.Load(); {
	case p.isLost():
		return p.cause()
	case err != nil:
		return "its process has ended: " + (*err).Error()
	}
	return "its process has ended"
}

// run runs the process until it ends, or the outbox hangs up.
func (p *partLink) run(ctx context.Context, dir string) {
	defer p.line.HangUp()
	number, order := int64(-1), partOrder{dir, p.requests.Add(1)}
	lines, err := p.hub.conn.Subscribe("from."+isLoad, func(m *nats.Msg) {
		switch l, ok := p.readLine(m.Data); {
		case !ok:
		case l.Dir != "" && l.Token == order.Token && number < 0:
			number = l.Child
			p.begun <- number
		case l.Message != nil && l.Child == number:
			p.line.Hear(*l.Message)
		}
	})
	if err != nil {
		return
	}
	defer func() { _ = lines.Unsubscribe() }()
	over, ended := context.WithCancel(ctx)
	go func() {
		defer ended()
		if err := p.ask(ctx, opPart, order, nil); err != nil {
			p.end.Store(&err)
		}
	}()
	begun := p.post(over)
	<-over.Done()
	if err := p.end.Load(); err != nil && !begun && !p.isLost() {
		p.line.Hear(divided.Message{Kind: divided.Failed, Failure: divided.FailureOf(*err)})
	}
	p.keepLog(ctx, dir)
}

// keepLog takes what the process has logged, the first of it, to the trial's files.
func (p *partLink) keepLog(ctx context.Context, dir string) {
	if _, tried := campaign.PreflightTarget(dir); tried {
		return // what has failed there is in the error
	}
	var log []byte
	text := filepath.Join(result.TrialsDir, campaign.PartDir, dir, result.LogFile)
	if err := p.ask(ctx, opRead, piece{Path: text}, &log); err != nil || len(log) == 0 {
		return // it is for people alone
	}
	into := filepath.Join(result.TrialPath(p.dir, dir), "machines")
	if os.MkdirAll(into, 0o755) == nil {
		_ = os.WriteFile(filepath.Join(into, p.Host.Name+".log"), log, 0o644)
	}
}

// post sends what is in the outbox, as soon as the process has begun, and then ends the process. It reports
// whether it had begun.
func (p *partLink) post(ctx context.Context) (begun bool) {
	var number int64
	select {
	case number = <-p.begun:
	case <-ctx.Done():
		return false
	}
	for {
		m, err := p.outbox.Next(ctx)
		if err != nil {
			p.say(loadLine{Child: number, Over: true})
			return true
		}
		p.say(loadLine{Child: number, Message: &m})
	}
}
