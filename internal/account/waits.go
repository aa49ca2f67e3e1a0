package account

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"

	"rumbench/engine"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/workload"
)

// Sessions are the samples of a server's sessions in the window of a step.
type Sessions struct {
	Source     string
	Closed     int // clients in closed loops
	Looks      int
	Seen       map[engine.SessionActivity]int64 // how often a session was sampled doing it
	Failed     error                            // the first error of a sample
	Server     *time.Duration                   // run-queue delay of the server's threads; nil if unknown
	Client     time.Duration                    // rumbench's
	Processors float64                          // that rumbench may use, by its quota
	Threads    *Threads                         // nil if unknown
	Busiest    *Busiest                         // nil if unknown
	// Moved is how many samples of waiting for the client are counted as running; see correct.
	Moved int64
}

// Busiest is the thread of the server that ran longest in a window.
type Busiest struct {
	Name string
	CPU  time.Duration
}

// Threads holds the use of time by the threads that serve the sessions, in a window.
type Threads struct {
	observe.ThreadTimes
	Number   int  // of threads
	CountsIO bool // otherwise I/O is part of the remainder
}

// total returns the number of all samples, and that of samples waiting for the
// client.
func (s *Sessions) total() (total, resting int64) {
	for d, n := range s.Seen {
		total += n
		if d.State == engine.Client {
			resting += n
		}
	}
	return total, resting
}

// fewLooks is the number of looks below which shares are not reported, and
// LookEvery the time between two looks.
const (
	fewLooks  = 10
	LookEvery = 100 * time.Millisecond
)

// waiting makes the rows about the waits of a step's sessions.
type waiting struct{ *costing }

// addWaits adds the uses of the sessions' time, and whether they waited for the
// client.
func (s *waiting) addWaits() {
	s.addThinking()
	per := s.denominators()
	if len(per) > 0 {
		s.addTimed(per[0])
	}
	s.judgeEmbedded()
	z := s.Sessions
	if z == nil {
		return
	}
	if z.Failed != nil {
		s.Warn(remark.WaitsUnknown, metric.Values{"why": z.Failed.Error()})
	}
	total, resting := z.total()
	if total == 0 {
		return
	}
	if z.Moved > 0 {
		s.Notes = append(s.Notes, metric.Warn(remark.SeenLate, metric.Values{"moved": float64(z.Moved),
			"n": float64(resting + z.Moved)}))
	}
	s.addRoles(per)
	if z.Server != nil && len(per) > 0 {
		s.Costs([]Cost{{Metric: metric.ServerRunqueueUS, Value: micros(z.Server.Nanoseconds()),
			Source: "/proc/PID/task/TID/schedstat"}}, per[0])
	}
	if z.Threads != nil && len(per) > 0 {
		s.addThreads(z.Threads, per[0])
	}
	if b := z.Busiest; b != nil && b.Name != "" && s.Seconds > 0 {
		s.Put(metric.BusiestThread, b.CPU.Seconds()/s.Seconds, Of("", b.Name), Source("/proc/PID/task/TID/schedstat"))
	}
}

// addRoles adds the shares of the sessions' time by role.
func (s *waiting) addRoles(per []Denominator) {
	z := s.Sessions
	total, resting := z.total()
	byRole := map[engine.Role]int64{}
	for d, n := range z.Seen {
		byRole[d.Role] += n
	}
	source := Source(z.Source)
	sessionTime := float64(total) / float64(z.Looks) * s.Seconds * 1e6 // µs
	for _, role := range engine.Roles() {
		n := byRole[role]
		if n == 0 {
			continue // not seen is not zero
		}
		share := float64(n) / float64(total)
		s.Put(metric.WaitShare, share, Of("", string(role)), Count(n), source)
		if len(per) > 0 {
			s.Put(metric.WaitUS, share*sessionTime/per[0].Units, Of("", string(role)), Count(n), source, Per(per[0].Per))
		}
	}
	if z.Closed > 0 {
		s.Put(metric.ClientShare, float64(resting)/float64(total), Count(total), source)
	}
	s.addEvents(total)
}

// correct moves samples of sessions that waited for their clients to those that ran, if the
// sessions' threads ran for longer than sessions were seen at work, by more than the samples' error.
// Where processors are busy a sample is often taken when a session has just ceased to run.
func (z *Sessions) correct(seconds float64) {
	if z == nil || z.Threads == nil || z.Looks == 0 || seconds <= 0 {
		return
	}
	total, resting := z.total()
	busy := total - resting
	missing := int64(z.Threads.CPU.Seconds()/seconds*float64(z.Looks)) - busy
	if float64(missing) <= 2*math.Sqrt(float64(busy))+1 {
		return
	}
	running := engine.SessionActivity{State: engine.Running, Role: engine.RoleCPU}
	z.Moved = min(missing, resting)
	left := z.Moved
	for _, d := range slices.SortedFunc(maps.Keys(z.Seen), byName) {
		switch n := z.Seen[d]; {
		case d.State == engine.Client:
			k := min(n, left)
			z.Seen[d] -= k
			left -= k
		case d.State == engine.Running && n > z.Seen[running]:
			running = d
		}
	}
	z.Seen[running] += z.Moved
}

func byName(a, b engine.SessionActivity) int {
	return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Event, b.Event), cmp.Compare(a.State, b.State))
}

// addThreads adds the activities of the sessions' threads, which sum to their
// time.
func (s *waiting) addThreads(t *Threads, by Denominator) {
	total := time.Duration(s.Seconds * float64(t.Number) * 1e9)
	put := func(subject string, d time.Duration) {
		s.Costs([]Cost{{Metric: metric.ThreadUS, Value: micros(d.Nanoseconds()), Source: "/proc/PID/task/TID"}}, by,
			Of("", subject))
	}
	put(ThreadCPU, t.CPU)
	put(ThreadQueue, t.Queue)
	asleep := ThreadAsleep
	if t.CountsIO {
		put(ThreadIO, t.IO)
		total -= t.IO
	} else {
		asleep = ThreadAsleepOrIO
	}
	put(asleep, max(0, total-t.CPU-t.Queue))
}

// The activities of threads, as operations of rows of thread_us.
const (
	ThreadCPU        = "running"
	ThreadQueue      = "waiting for a processor"
	ThreadIO         = "waiting for a device"
	ThreadAsleep     = "asleep"
	ThreadAsleepOrIO = "asleep or waiting for a device"
)

// addTimed adds the waits that the server timed itself, by role.
func (s *waiting) addTimed(by Denominator) {
	ns, times := map[engine.Role]float64{}, map[engine.Role]int64{}
	for i := range s.InWindow {
		c := &s.InWindow[i]
		role := engine.Role(observe.ParseLabels(c.Labels).Get("role"))
		switch c.Name {
		case engine.WaitTime:
			ns[role] += c.Value
		case engine.Waits:
			times[role] += int64(c.Value)
		}
	}
	for _, role := range engine.Roles() {
		if v, ok := ns[role]; ok {
			s.Costs([]Cost{{Metric: metric.TimedWaitUS, Value: v / perMicro, Source: ownAccount}}, by, Of("", string(role)),
				Count(times[role]))
		}
	}
}

// addEvents adds the samples by activity, the most frequent first.
func (s *waiting) addEvents(total int64) {
	seen := s.Sessions.Seen
	for _, d := range slices.SortedFunc(maps.Keys(seen), func(a, b engine.SessionActivity) int {
		return cmp.Or(cmp.Compare(seen[b], seen[a]), byName(a, b))
	}) {
		if seen[d] == 0 { // all its samples were left out, or moved
			break
		}
		s.Put(metric.WaitShare, float64(seen[d])/float64(total), Of("", string(d.Role)), Count(seen[d]),
			Labelled(metric.Labels{Event: d.Event, State: string(d.State)}), Source(s.Sessions.Source))
	}
}

// addThinking adds the share of their time in which the clients of each group
// had no operation in progress. Failed operations were in progress too.
func (s *waiting) addThinking() {
	for _, g := range s.Groups {
		busy, n := inProgress(g)
		if total := s.Seconds * 1e9 * float64(g.Clients); total > 0 && n > 0 {
			s.Put(metric.ThinkShare, max(0, 1-busy/total), Of(g.Name, ""), Count(n))
		}
	}
}

// inProgress returns for how many ns the clients of a group had operations in progress, and
// the number of these.
func inProgress(g *Group) (busy float64, n int64) {
	for k := range g.Did.Kinds {
		sums := &g.Did.Kinds[k]
		busy += sums.Service.Total() + sums.Failed.Total() + float64(sums.UnfinishedTime)
		n += sums.Ops + sums.GivenUp + sums.Unfinished
	}
	return busy, n
}

// paused returns the share of their time in which the clients of closed loops had no operation
// in progress.
func (s *waiting) paused() float64 {
	var busy, total float64
	for _, g := range s.Groups {
		if !g.Paced() {
			ns, _ := inProgress(g)
			busy, total = busy+ns, total+s.Seconds*1e9*float64(g.Clients)
		}
	}
	if total == 0 {
		return 0
	}
	return max(0, 1-busy/total)
}

// The client is called the bottleneck of a closed loop by this rule:
//
//   - There are more clients than processors that rumbench may use. With fewer
//     each waits for its own round trip, which is normal.
//   - Sessions waited for their clients in more than clientBound of the looks,
//     less the time for which the server's threads waited for a processor: a
//     session is only seen to work once it has read its statement, and on busy
//     processors that takes its time.
//   - The client could not have been faster: it had its processors or waited for
//     them for clientFull of the time, had at least as much of them as the
//     server, and other programs had little. If the server had more of
//     processors that were busy, these, which both share, are the bottleneck;
//     if they idled, something holds the client back.
//
// If the last does not hold, the time went elsewhere between the server and the
// client, and only a remark is made. A client that used clientFull of its
// processors is the bottleneck however long the server's threads waited for
// theirs.
const (
	clientBound = 0.30
	clientFull  = 0.85 // of the processors that it may use
	othersPart  = 0.20 // of the machine's CPU time
)

// judgeClient notes whether the client was the bottleneck, and returns the
// warning for the numbers of closed loops.
func (s *waiting) judgeClient() []metric.Warning {
	z := s.Sessions
	if z == nil || z.Looks < fewLooks || s.Seconds <= 0 {
		return nil
	}
	used, found := Counter(s.InWindow, "client.cpu_ns")
	window := s.Seconds * 1e9
	total, resting := z.total()
	share := float64(resting) / float64(total)
	waited := 0.0
	if z.Server != nil {
		waited = float64(*z.Server)
	}
	sure := share - waited/(window*float64(total)/float64(z.Looks))
	if float64(z.Closed) <= z.Processors || !found || !(share > clientBound) {
		return nil
	}
	server, _ := Counter(s.InWindow, "process.cpu_ns")
	used, server = used/window, server/window
	queued := float64(z.Client) / window
	values := metric.Values{"share": 100 * share, "processors": z.Processors, "used": used, "waited": queued}
	code := remark.ClientWaited
	paused := s.paused()
	switch full := used+queued >= clientFull*z.Processors; {
	case used >= clientFull*z.Processors: // whatever the server does
		return []metric.Warning{s.Warn(remark.ClientBound, values)}
	case !full && paused > share/2:
		code, values["paused"] = remark.ClientPaused, 100*paused
	case !(sure > clientBound):
		return nil
	case full && s.Remote == nil && server > used && s.crowded(window*z.Processors):
		code, values["server"] = remark.ClientWaitedShared, server
	case full && s.Remote == nil && s.shared():
		code = remark.ClientWaitedOthers
	case full:
		return []metric.Warning{s.Warn(remark.ClientBound, values)}
	}
	s.Notes = append(s.Notes, metric.Warn(code, values))
	return nil
}

// judgeEmbedded notes if much of an embedded engine's CPU time is the client's:
// a closed loop then partly measures the client.
func (s *waiting) judgeEmbedded() {
	process, found := Counter(s.InWindow, "process.cpu_ns")
	closed := slices.ContainsFunc(s.Of.Groups, func(g workload.Group) bool { return !g.Paced() })
	if s.Hosted || !closed || !found || process <= 0 || s.Seconds < fewLooks*LookEvery.Seconds() {
		return
	}
	us, ok := s.clientCost()
	if share := us * perMicro / process; ok && share > clientBound {
		s.note("the client itself takes %.0f %% of the CPU time, by its calibration on the null engine: as much of these "+
			"numbers is rumbench’s own",
			100*min(1, share))
	}
}

// crowded reports whether the processors were busy for most of some time, or may have been.
func (s *waiting) crowded(time float64) bool {
	busy, found := Counter(s.InWindow, "host.cpu.busy_ns")
	return !found || busy >= clientFull*time
}

// shared reports whether much of the machine's CPU time was neither the
// client's nor the engine's.
func (s *waiting) shared() bool {
	busy, _ := Counter(s.InWindow, "host.cpu.busy_ns")
	client, _ := Counter(s.InWindow, "client.cpu_ns")
	server, _ := Counter(s.InWindow, "process.cpu_ns")
	kernel, _ := Counter(s.InWindow, "host.cpu.kernel_threads_ns")
	return busy-client-server-kernel > othersPart*busy
}
