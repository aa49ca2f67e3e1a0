package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"rumbench/engine"
	"rumbench/internal/observe"
)

const (
	// answerTime is how long a server may take to answer before its connection
	// counts as broken.
	answerTime = 10 * time.Second
	// retryEvery is the least time between two attempts to connect.
	retryEvery = time.Second
)

// Target is a running server that is watched. It reconnects after an error.
type Target struct {
	Name   string
	Engine engine.Engine

	watcher engine.Watcher
	dsn     string
	conn    engine.Watch // used by the collecting goroutine only, see Sampler
	err     error        // why there is no connection
	tried   time.Time

	mu    sync.Mutex
	state state
}

// state is the part of a target that goroutines other than the collecting one use.
type state struct {
	pids   []int
	reason string // why there are no processes
	dir    string // the server's data directory on this host, "" if unknown
	epoch  int    // of the connection: counters may have been reset in between
	seen   bool   // the processes have been sampled in this epoch
	stale  bool   // they are gone: it may be a different server now
}

// Open connects to the server once, for callers that need no reconnection, and returns
// its data source name in a form that may be shown.
func (t *Target) Open(ctx context.Context) (conn engine.Watch, shown string, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	if conn, err = t.watcher.Watch(ctx, t.dsn); err != nil {
		err = fmt.Errorf("attach %s: %w", t.Name, err)
	}
	return conn, engine.ShowDSN(t.Engine, t.dsn), err
}

func (t *Target) connect(ctx context.Context) error {
	if t.err != nil && time.Since(t.tried) < retryEvery {
		return t.err
	}
	t.tried = time.Now()
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	conn, err := t.watcher.Watch(ctx, t.dsn)
	if t.err = err; err != nil {
		return err
	}
	t.conn = conn
	pids, reason := conn.Processes()
	dir := conn.DataDir()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.state = state{pids: pids, reason: reason, dir: dir, epoch: t.state.epoch + 1}
	return nil
}

// Close closes the connection.
func (t *Target) Close() error {
	if t.conn == nil {
		return nil
	}
	err := t.conn.Close()
	t.conn = nil
	return err
}

func (t *Target) current() state {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.state
}

// Counters adds the server's counters. After an error the next call reconnects.
func (t *Target) Counters(ctx context.Context, s *engine.Sample) error {
	if t.conn != nil && t.current().stale {
		t.Close()
	}
	if t.conn == nil {
		if err := t.connect(ctx); err != nil {
			return fmt.Errorf("connect: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	err := t.conn.Counters(ctx, s)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("no answer within %v: %w", answerTime, err)
	}
	if err != nil {
		t.Close() // its error would add nothing
	}
	return err
}

func (t *Target) engine() observe.Collector {
	return observe.NewLabelled(observe.NewEngine(t), t.Name+"/engine", "target", t.Name)
}

// ProcessCollector returns a collector of the resource use of the server's
// processes, while they are known.
func (t *Target) ProcessCollector(procRoot string) observe.Collector {
	roots := func() []int { return t.current().pids }
	return &targetProcess{t, observe.NewLabelled(observe.NewProcess(procRoot, roots), t.Name+"/process", "target", t.Name)}
}

type targetProcess struct {
	target *Target
	observe.Collector
}

// Collect adds nothing while the processes are unknown.
func (p *targetProcess) Collect(ctx context.Context, s *engine.Sample) error {
	if len(p.target.current().pids) == 0 {
		return nil
	}
	err := p.Collector.Collect(ctx, s)
	p.target.mu.Lock()
	defer p.target.mu.Unlock()
	if err == nil {
		p.target.state.seen = true
	} else if p.target.state.seen {
		// A driver may have silently reconnected to the server's successor.
		p.target.state.stale = true
	}
	return err
}
