package fleet

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"rumbench/engine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// Local is what an agent needs of its rumbench.
type Local struct {
	Build    program.Build // this program
	LockFile string        // of the machine
	// Load reads the plan in a directory, as a machine of its fleet, with the servers' programs.
	// part: it has only clients, and needs none.
	Load func(ctx context.Context, dir string, f Flags, part bool) (*plan.Plan, []server.Found, error)
	// Start is as in campaign.Config.
	Start func(cmd *exec.Cmd, cpus cpuset.Set) (*campaign.Process, error)
	// InfoOf returns the description of a target's engine.
	InfoOf func(t *plan.Target) engine.Info
	// EngineOf returns the engine of a name that the plan has.
	EngineOf func(name string) engine.Engine
}

// agent is the agent's side of a connection. It has many fields: those of the connection, of the campaign
// and of the request that runs.
type agent struct {
	Local
	root  string // where it keeps campaigns
	conn  *nats.Conn
	over  context.Context // until the coordinator is gone
	lose  context.CancelFunc
	heard *heartbeat    // of the coordinator
	notes chan string   // for the user
	lost  time.Duration // how long the coordinator may say nothing

	mu       turn  // held while a request runs, but hello and end
	home     *home // of the campaign; nil: none yet
	files    campaignFiles
	plan     *plan.Plan
	found    []server.Found
	worker   *campaign.Worker // nil: not opened yet
	child    child            // whose load is divided
	observed observer         // of a server that others use
	locks    []*os.File       // of the programs that it may run

	ending sync.Mutex
	cancel context.CancelFunc // of the request that runs
	ended  bool               // the campaign: no request does more than to say so
}

// turn is a lock that may be held for hours.
type turn chan struct{}

func (t turn) Lock()   { t <- struct{}{} }
func (t turn) Unlock() { <-t }

// mostNotes is how many notes may wait. More are dropped: a network that is cut must not stop a trial.
const mostNotes = 100

// Serve runs an agent on a connection, such as the standard input and output of its ssh, until the coordinator
// ends it or is not heard for a minute. What it has started is ended then.
func Serve(ctx context.Context, local Local, in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintln(out, greeting); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	var w welcome
	stop := func() bool { return true }
	if c, ok := in.(io.Closer); ok {
		stop = context.AfterFunc(ctx, func() { _ = c.Close() })
	}
	line, err := lines.ReadBytes('\n')
	stop()
	if err == nil {
		err = json.Unmarshal(line, &w)
	}
	if err != nil {
		return hint.Errorf("rumbench run starts agents by ssh, or writes what --join needs", "an agent serves another "+
			"rumbench, which has not greeted it: %w", err)
	}
	if w.Refused != "" {
		return fmt.Errorf("the coordinator refuses this agent: %s", w.Refused)
	}
	a := &agent{Local: local, heard: newHeartbeat(), notes: make(chan string, mostNotes),
		lost: cmp.Or(w.Lost, silenceTimeout), mu: make(turn, 1)}
	if a.root, err = rootOf(w.Dir); err != nil {
		return err
	}
	if err := a.hold(a.Build.Path); err != nil {
		return err
	}
	a.over, a.lose = context.WithCancel(ctx)
	defer a.lose()
	if a.conn, err = connect("agent", nats.SetCustomDialer(dialer{&pipe{Reader: lines, Writer: out, gone: a.lose}}),
		nats.ClosedHandler(func(*nats.Conn) { a.lose() })); err != nil {
		return err
	}
	go a.speak()
	if err := a.listen(); err != nil {
		return err
	}
	a.wait()
	a.child.hangUp() // nobody answers it any more
	a.mu.Lock()      // the request that runs has ended
	defer a.mu.Unlock()
	_, err = a.leave()
	return err
}

// dialer dials what is connected already.
type dialer struct{ net.Conn }

func (d dialer) Dial(string, string) (net.Conn, error) { return d.Conn, nil }

// pipe is a connection over two pipes.
type pipe struct {
	io.Reader
	io.Writer
	gone func() // called when there is nothing more to read
}

func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil {
		p.gone()
	}
	return n, err
}

func (*pipe) Close() error                     { return nil }
func (*pipe) LocalAddr() net.Addr              { return &net.UnixAddr{} }
func (*pipe) RemoteAddr() net.Addr             { return &net.UnixAddr{} }
func (*pipe) SetDeadline(time.Time) error      { return nil }
func (*pipe) SetReadDeadline(time.Time) error  { return nil }
func (*pipe) SetWriteDeadline(time.Time) error { return nil }

// listen takes requests.
func (a *agent) listen() error {
	if _, err := a.conn.Subscribe("to."+isAlive, func(*nats.Msg) { a.heard.beat() }); err != nil {
		return err
	}
	handlers := map[string]func(ctx context.Context, data []byte) (any, error){
		opHello: a.hello, opCheck: a.check, opClaim: a.claim, opPrepare: a.prepare, opBenchmark: a.benchmark,
		opTrial: a.trial,
		opPart:  a.part, opObserve: a.answerObserver, opRead: a.read, opEnd: a.end, opClose: a.close, opClear: a.clear,
		opClock: clock, opListen: openListener, opPath: measurePath,
	}
	if _, err := a.conn.Subscribe("to."+isLoad, func(m *nats.Msg) { a.child.take(m.Data) }); err != nil {
		return err
	}
	for op, handle := range handlers {
		_, err := a.conn.Subscribe("to."+op, func(m *nats.Msg) {
			v, err := handle(a.over, m.Data)
			if err := a.conn.Publish(m.Reply, answerOf(v, err)); err != nil { // it is too large
				_ = a.conn.Publish(m.Reply, answerOf(nil, err)) // without a coordinator nobody waits for it
			}
		})
		if err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(a.over, a.lost)
	defer cancel()
	return a.conn.FlushWithContext(ctx)
}

// speak reports to the coordinator that this agent lives, and its notes. When the connection is cut
// it may have to wait, and nothing else has to.
func (a *agent) speak() {
	for tick := time.Tick(everyFor(a.lost)); ; {
		select {
		case <-a.over.Done():
			return
		case <-tick:
			_ = a.conn.Publish("from."+isAlive, nil)
		case text := <-a.notes:
			_ = a.conn.Publish("from."+isNote, []byte(text))
		}
	}
}

// wait returns when the coordinator is gone.
func (a *agent) wait() {
	for tick := time.Tick(everyFor(a.lost)); ; {
		select {
		case <-a.over.Done():
			return
		case <-tick:
			if a.heard.silence() > a.lost {
				a.lose()
			}
		}
	}
}

func (a *agent) note(text string) {
	select {
	case a.notes <- text:
	default:
	}
}

// begin returns the context of a request that can be ended.
func (a *agent) begin(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	a.ending.Lock()
	defer a.ending.Unlock()
	if a.cancel = cancel; a.ended {
		cancel()
	}
	return ctx, cancel
}

func (a *agent) end(context.Context, []byte) (any, error) {
	a.ending.Lock()
	defer a.ending.Unlock()
	if a.ended = true; a.cancel != nil {
		a.cancel()
	}
	return nil, nil
}
