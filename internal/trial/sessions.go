package trial

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/observe"
)

// sessions samples a server's sessions in the window of a step. A nil sessions
// does nothing: the engine does not report them.
type sessions struct {
	sampler engine.ActivitySampler // nil: closed
	source  string
	closed  int // clients in closed loops
	stop    context.CancelFunc
	done    chan struct{}

	looks  int
	seen   map[engine.Doing]int64 // how often a session was sampled doing it
	now    map[engine.Doing]int   // in one sample
	server line
	client line
	failed error // the first error of a sample
}

// line is the run-queue delay of some processes' threads in the window.
type line struct {
	start  observe.RunQueue // nil: unknown
	length time.Duration
}

func (l *line) begin(read func() (observe.RunQueue, error)) {
	l.start, _ = read() // not every kernel reports it
}

func (l *line) end(read func() (observe.RunQueue, error)) {
	if l.start == nil {
		return
	}
	now, err := read()
	if err != nil {
		l.start = nil
		return
	}
	l.length = now.Since(l.start)
}

// ownQueue returns the run-queue delay of rumbench's threads.
func ownQueue() (observe.RunQueue, error) { return observe.ReadRunQueue("/proc", os.Getpid()) }

// watchSessions prepares sampling before the window: it opens a connection.
func (t *stepRun) watchSessions(ctx context.Context) *sessions {
	a, ok := t.db.(engine.Activity)
	if !ok || t.Calibrate {
		return nil
	}
	sampler, err := a.Activity(ctx)
	if err != nil {
		t.unobserved("what sessions waited for is not known: " + err.Error())
		return nil
	}
	s := &sessions{sampler: sampler, source: sampler.Source(), seen: map[engine.Doing]int64{}, now: map[engine.Doing]int{}}
	for i := range t.of.Groups {
		if g := &t.of.Groups[i]; !g.Paced() {
			s.closed += g.Clients
		}
	}
	return s
}

// begin starts sampling, at the barrier.
func (s *sessions) begin(ctx context.Context, server *observe.Process) {
	if s == nil {
		return
	}
	s.client.begin(ownQueue)
	if server != nil {
		s.server.begin(server.RunQueue)
	}
	over, stop := context.WithCancel(ctx)
	s.stop, s.done = stop, make(chan struct{})
	go func() {
		defer close(s.done)
		tick := time.NewTicker(account.LookEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.look(ctx, over)
			case <-over.Done():
				return
			}
		}
	}()
}

// end ends sampling.
func (s *sessions) end(server *observe.Process) {
	if s == nil {
		return
	}
	s.client.end(ownQueue)
	if server != nil {
		s.server.end(server.RunQueue)
	}
	s.stop()
	<-s.done
}

// close closes the connection.
func (s *sessions) close() {
	if s == nil {
		return
	}
	if s.sampler != nil {
		_ = s.sampler.Close()
		s.sampler = nil
	}
}

// look takes one sample. Failed samples, and those answered after the window,
// do not count; but they run to their end, as the connection would be lost
// otherwise.
func (s *sessions) look(ctx, over context.Context) {
	clear(s.now)
	all := 0
	err := s.sampler.Sample(ctx, func(d engine.Doing, n int) {
		s.now[d] += n
		all += n
	})
	switch {
	case over.Err() != nil:
		return
	case err != nil:
		s.failed = cmp.Or(s.failed, err)
		return
	}
	s.looks++
	s.leaveOut(all - s.closed)
	for d, n := range s.now {
		s.seen[d] += int64(n)
	}
}

// leaveOut excludes idle sessions beyond the number of clients in closed loops.
// Paced clients are idle by design; a connection for definitions is idle, or
// works in place of a client's session, which is idle meanwhile.
func (s *sessions) leaveOut(more int) {
	for d, n := range s.now {
		if more > 0 && d.State == engine.Client {
			k := min(more, n)
			s.now[d] -= k
			more -= k
		}
	}
}

// seenAll returns the samples; nil if the engine does not report sessions.
func (s *sessions) seenAll() *account.Sessions {
	if s == nil {
		return nil
	}
	out := &account.Sessions{Source: s.source, Closed: s.closed, Looks: s.looks, Seen: s.seen, Failed: s.failed,
		Client: s.client.length, Processors: min(runtime.GOMAXPROCS(0), runtime.NumCPU())}
	if s.server.start != nil {
		out.Server = &s.server.length
	}
	return out
}
