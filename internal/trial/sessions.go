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

// sessions are what was seen of a server's sessions in the window of a step. A
// nil one sees nothing: the engine cannot tell.
type sessions struct {
	sampler engine.ActivitySampler // nil: closed
	source  string
	closed  int // clients that go on as soon as they can
	stop    context.CancelFunc
	done    chan struct{}

	looks  int
	seen   map[engine.Doing]int64 // how often a session did it
	now    map[engine.Doing]int   // in one look
	server line
	client line
	failed error // the first look that did
}

// line is for how long the threads of some processes waited for a processor in
// the window.
type line struct {
	start  observe.RunQueue // nil: not known
	length time.Duration
}

func (l *line) begin(read func() (observe.RunQueue, error)) {
	l.start, _ = read() // not every kernel tells
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

// ownQueue returns that of rumbench's threads.
func ownQueue() (observe.RunQueue, error) { return observe.ReadRunQueue("/proc", os.Getpid()) }

// watchSessions readies the looking, before the window: a connection is opened.
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

// begin begins to look, at the barrier.
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

// end ends the looking.
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

// look takes one look. One that failed counts for nothing, nor does one that was
// answered when the window was over; but it is let come to its end, as its
// connection would be lost otherwise.
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

// leaveOut leaves so many resting sessions out: those above the number of
// clients in closed loops. Clients that keep to a rate rest because they are to;
// a connection for definitions rests, or works in place of a client's session,
// which rests meanwhile.
func (s *sessions) leaveOut(more int) {
	for d, n := range s.now {
		if more > 0 && d.State == engine.Client {
			k := min(more, n)
			s.now[d] -= k
			more -= k
		}
	}
}

// seenAll returns what was seen of them; nil where the engine cannot show it.
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
