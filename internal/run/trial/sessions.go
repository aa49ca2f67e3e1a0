package trial

import (
	"cmp"
	"context"
	"maps"
	"os"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/observe"
)

// sessions samples a server's sessions in the window of a step. A nil sessions
// does nothing: the engine does not report them.
type sessions struct {
	account.Sessions
	sampler        engine.ActivitySampler // nil: closed
	stop           context.CancelFunc
	ended          bool
	done           chan struct{}
	now            map[engine.SessionActivity]int // in one sample
	server, client func() (*time.Duration, *account.Busiest)
	threads        map[int]observe.ThreadTimes // at the barrier
}

// delay starts to measure the run-queue delay of threads, and which of them runs most. The
// returned function ends that, and returns nil if the kernel does not report it.
func delay(read func() (observe.RunQueue, error)) func() (*time.Duration, *account.Busiest) {
	start, before := read()
	return func() (*time.Duration, *account.Busiest) {
		now, after := read()
		if cmp.Or(before, after) != nil {
			return nil, nil
		}
		sum := now.Since(start)
		tid, cpu := now.Busiest(start)
		return &sum, &account.Busiest{Name: now.Name("/proc", tid), CPU: cpu}
	}
}

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
	s := newSessions(sampler)
	for i := range t.step.Groups {
		if g := &t.step.Groups[i]; !g.Paced() {
			s.Closed += g.Clients
		}
	}
	return s
}

func newSessions(sampler engine.ActivitySampler) *sessions {
	s := &sessions{sampler: sampler, now: map[engine.SessionActivity]int{}}
	s.Source, s.Seen, s.Processors = sampler.Source(), map[engine.SessionActivity]int64{}, observe.Running()
	return s
}

// begin starts sampling, at the barrier.
func (s *sessions) begin(ctx context.Context, server *observe.Process) {
	if s == nil {
		return
	}
	s.client = delay(func() (observe.RunQueue, error) { return observe.ReadRunQueue("/proc", os.Getpid()) })
	if server != nil {
		s.server = delay(server.RunQueue)
		s.listThreads(ctx, server)
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

// end ends sampling. A look while the other figures are read would see sessions that have
// no more work.
func (s *sessions) end() {
	if s == nil || s.ended {
		return
	}
	s.ended = true
	s.stop()
	if length, _ := s.client(); length != nil {
		s.Client = *length
	}
	if s.server != nil {
		s.Server, s.Busiest = s.server()
		s.sumThreads()
	}
	<-s.done
}

// listThreads notes the uses of time by the threads that serve the sessions, if they
// run on this host.
func (s *sessions) listThreads(ctx context.Context, server *observe.Process) {
	l, ok := s.sampler.(engine.ThreadLister)
	if !ok {
		return
	}
	tids, err := l.Threads(ctx)
	if err != nil {
		return // the owners of threads are not essential
	}
	runs, err := server.RunQueue()
	if err != nil || slices.ContainsFunc(tids, func(tid int) bool { _, here := runs[tid]; return !here }) {
		return
	}
	s.threads, _ = observe.ReadThreads("/proc", tids)
}

// sumThreads sums up the times of these threads since then, unless one has
// ended.
func (s *sessions) sumThreads() {
	now, err := observe.ReadThreads("/proc", slices.Collect(maps.Keys(s.threads)))
	if err != nil || len(now) == 0 || len(now) < len(s.threads) {
		return
	}
	var times []observe.ThreadTimes
	for tid, later := range now {
		times = append(times, later.Since(s.threads[tid]))
	}
	// The connection for definitions is idle, and paced clients are by design.
	slices.SortFunc(times, func(a, b observe.ThreadTimes) int { return cmp.Compare(b.CPU, a.CPU) })
	times = times[:min(len(times), max(1, s.Closed))]
	t := &account.Threads{Number: len(times), CountsIO: observe.CountsIO("/proc")}
	for _, d := range times {
		t.CPU, t.Queue, t.IO = t.CPU+d.CPU, t.Queue+d.Queue, t.IO+d.IO
	}
	s.Threads = t
}

// close closes the connection.
func (s *sessions) close() {
	if s != nil && s.sampler != nil {
		_ = s.sampler.Close()
		s.sampler = nil
	}
}

// look takes one sample. Failed samples, and those answered after the window,
// do not count; but they run to their end, as the connection would be lost
// otherwise.
func (s *sessions) look(ctx, over context.Context) {
	clear(s.now)
	total := 0
	err := s.sampler.Sample(ctx, func(d engine.SessionActivity, n int) {
		s.now[d] += n
		total += n
	})
	switch {
	case over.Err() != nil:
		return
	case err != nil:
		s.Failed = cmp.Or(s.Failed, err)
		return
	}
	s.Looks++
	s.leaveOut(total - s.Closed)
	for d, n := range s.now {
		s.Seen[d] += int64(n)
	}
}

// leaveOut excludes idle sessions beyond the number of clients in closed loops.
// Paced clients are idle by design; a connection for definitions is idle, or
// works instead of a client's session, which is then idle.
func (s *sessions) leaveOut(extra int) {
	for d, n := range s.now {
		if extra > 0 && d.State == engine.Client {
			k := min(extra, n)
			s.now[d] -= k
			extra -= k
		}
	}
}

// samples returns the samples; nil if the engine does not report sessions.
func (s *sessions) samples() *account.Sessions {
	if s == nil {
		return nil
	}
	return &s.Sessions
}
