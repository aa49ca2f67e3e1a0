package trial

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/result"
	"rumbench/workload"
)

// lookEvery is how often the sessions are looked at.
const lookEvery = 100 * time.Millisecond

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

// line is for how long the threads of some processes stood in line for a
// processor in the window.
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

// ownQueue is that of rumbench's threads.
func ownQueue() (observe.RunQueue, error) { return observe.ReadRunQueue("/proc", os.Getpid()) }

// watchSessions readies the looking, before the window: a connection is opened.
func (t *trial) watchSessions(ctx context.Context, step *workload.Step) *sessions {
	a, ok := t.db.(engine.Activity)
	if !ok || t.Calibrate {
		return nil
	}
	sampler, err := a.Activity(ctx)
	if err != nil {
		t.warn("what sessions waited for is not known: " + err.Error())
		return nil
	}
	s := &sessions{sampler: sampler, source: sampler.Source(), seen: map[engine.Doing]int64{}, now: map[engine.Doing]int{}}
	for i := range step.Groups {
		if g := &step.Groups[i]; g.Rate == 0 && g.Arrivals == nil {
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
		tick := time.NewTicker(lookEvery)
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

// total is how often any session was seen.
func (s *sessions) total() (n int64) {
	for _, k := range s.seen {
		n += k
	}
	return n
}

// resting is how often a session was seen to wait for its client.
func (s *sessions) resting() (n int64) {
	for d, k := range s.seen {
		if d.State == engine.Client {
			n += k
		}
	}
	return n
}

// fewLooks is the number of looks below which nothing is said about shares.
const fewLooks = 10

// addWaits adds where the time of the sessions went, and whether the client was
// what they waited for.
func (r *rows) addWaits() {
	r.addThinking()
	r.addTimedWaits()
	r.judgeEmbedded()
	s := r.window.sessions
	if s == nil {
		return
	}
	if s.failed != nil {
		r.out.Warnings = append(r.out.Warnings, metric.Untyped(fmt.Sprintf("what sessions waited for is not known of some moments: %v", s.failed)))
	}
	total := s.total()
	if total == 0 {
		return
	}
	byRole := map[engine.Role]int64{}
	for d, n := range s.seen {
		if n > 0 {
			byRole[d.Role] += n
			r.out.Waits = append(r.out.Waits, result.Wait{State: d.State, Role: d.Role, Event: d.Event, Seen: n, Share: float64(n) / float64(total)})
		}
	}
	slices.SortFunc(r.out.Waits, func(a, b result.Wait) int {
		return cmp.Or(cmp.Compare(b.Seen, a.Seen), cmp.Compare(a.Role, b.Role), cmp.Compare(a.Event, b.Event), cmp.Compare(a.State, b.State))
	})
	from := source(s.source)
	sessionTime := float64(total) / float64(s.looks) * r.window.length.Seconds() * 1e6 // µs
	per := r.denominators(r.res.Totals())
	for _, role := range engine.Roles() {
		n := byRole[role]
		if n == 0 {
			continue // not seen is not zero
		}
		share := float64(n) / float64(total)
		r.put("wait_share", share, of("", string(role)), count(n), from)
		if len(per) > 0 {
			r.put("wait_us", share*sessionTime/float64(per[0].units), of("", string(role)), count(n), from, func(row *metric.Row) { row.Per = per[0].per })
		}
	}
	if s.server.start != nil && len(per) > 0 {
		r.put("server_runqueue_us", micros(s.server.length.Nanoseconds())/float64(per[0].units), count(per[0].units), source("/proc/PID/task/TID/schedstat"), func(row *metric.Row) { row.Per = per[0].per })
	}
	if s.closed > 0 {
		r.put("client_share", float64(s.resting())/float64(total), count(total), from)
	}
}

// addThinking adds for which part of their time the clients of each group had
// no operation in progress. One that came to nothing was in progress too.
func (r *rows) addThinking() {
	for g := range r.step.Groups {
		group := &r.step.Groups[g]
		var busy float64
		var n int64
		for k := range r.res.Groups[g].Kinds {
			sums := &r.res.Groups[g].Kinds[k]
			busy += sums.Service.Total() + sums.Failed.Total() + float64(sums.UnfinishedTime)
			n += sums.Ops + sums.GivenUp + sums.Unfinished
		}
		if all := float64(r.res.Window) * float64(group.Clients); all > 0 && n > 0 {
			r.put("think_share", max(0, 1-busy/all), of(group.Name, ""), count(n))
		}
	}
}

// addTimedWaits adds the waits that the server timed itself.
func (r *rows) addTimedWaits() {
	per := r.denominators(r.res.Totals())
	if len(per) == 0 {
		return
	}
	ns, times := map[engine.Role]float64{}, map[engine.Role]int64{}
	for _, c := range r.inWindow() {
		if c.Name != engine.WaitTime && c.Name != engine.Waits {
			continue
		}
		role := engine.Role(observe.ParseLabels(c.Labels).Get("role"))
		if c.Name == engine.WaitTime {
			ns[role] += c.Value
		} else {
			times[role] += int64(c.Value)
		}
	}
	for _, role := range engine.Roles() {
		if t, ok := ns[role]; ok {
			r.put("timed_wait_us", t/nsPerMicro/float64(per[0].units), of("", string(role)), count(times[role]), source(ownAccount), func(row *metric.Row) { row.Per = per[0].per })
		}
	}
}

// The client is called the bottleneck of a closed loop by this rule:
//
//   - There are more clients than processors that rumbench may use. With fewer
//     each waits for its own round trip, which is as it should be.
//   - Sessions waited for their clients in more than clientBound of the looks,
//     less the time for which the server's threads stood in line for a
//     processor: a session is only seen to work once it has read its statement,
//     and on busy processors that takes its time.
//   - The client could not have been faster: for clientFull of the time of its
//     processors it had them or stood in line for them; it had at least as much
//     of them as the server, and other programs little. Where the server had
//     more, the processors that both share are the bottleneck.
//
// Where the last does not hold, the time went elsewhere between the server and
// the client, and only a remark is made.
const (
	clientBound = 0.30
	clientFull  = 0.85 // of the processors that it may use
	othersPart  = 0.20 // of what the machine did
)

// judgeClient says whether the client was the bottleneck; the words are returned
// for the numbers of closed loops.
func (r *rows) judgeClient() (doubts []metric.Warning) {
	s := r.window.sessions
	if s == nil || s.looks < fewLooks || r.window.length <= 0 {
		return nil
	}
	processors := min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	used, known := counterOf(r.inWindow(), "client.cpu_ns")
	window := float64(r.window.length)
	share := float64(s.resting()) / float64(s.total())
	sure := share - float64(s.server.length)/(window*float64(s.total())/float64(s.looks))
	if s.closed <= processors || !known || !(sure > clientBound) {
		return nil
	}
	server, _ := counterOf(r.inWindow(), "process.cpu_ns")
	used, server = used/window, server/window
	values := metric.Values{"share": 100 * share, "processors": float64(processors), "used": used, "waited": float64(s.client.length) / window}
	code := metric.ClientWaited
	switch full := used+float64(s.client.length)/window >= clientFull*float64(processors); {
	case full && server > used:
		code, values["server"] = metric.ClientWaitedShared, server
	case full && r.strange():
		code = metric.ClientWaitedOthers
	case full:
		doubts = []metric.Warning{metric.Warn(metric.ClientBound, values)}
		r.out.Warnings = append(r.out.Warnings, doubts...)
		return doubts
	}
	r.out.Notes = append(r.out.Notes, metric.Warn(code, values))
	return doubts
}

// judgeEmbedded says of an engine in rumbench's own process, where nobody can
// look from outside, when much of the CPU time is the client's. A client in a
// closed loop is then that much of the rate.
func (r *rows) judgeEmbedded() {
	process, known := counterOf(r.inWindow(), "process.cpu_ns")
	closed := slices.ContainsFunc(r.step.Groups, func(g workload.Group) bool { return g.Rate == 0 && g.Arrivals == nil })
	if r.hosted != nil || !closed || !known || process <= 0 || r.window.length < fewLooks*lookEvery {
		return
	}
	us, ok := r.clientCost(r.res.Totals())
	if share := us * nsPerMicro / process; ok && share > clientBound {
		r.out.Note(fmt.Sprintf("the client itself takes %.0f %% of the CPU time, by its calibration on the null engine: as much of these numbers is rumbench’s own", 100*min(1, share)))
	}
}

// strange tells whether a good part of what the machine did was neither the
// client's nor the engine's.
func (r *rows) strange() bool {
	run := r.inWindow()
	busy, _ := counterOf(run, "host.cpu.busy_ns")
	client, _ := counterOf(run, "client.cpu_ns")
	server, _ := counterOf(run, "process.cpu_ns")
	kernel, _ := counterOf(run, "host.cpu.kernel_threads_ns")
	return busy-client-server-kernel > othersPart*busy
}
