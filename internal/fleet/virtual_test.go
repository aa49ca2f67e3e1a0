package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/divided"
	"rumbench/internal/run/drive"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/workload"
	"rumbench/workload/ibench"
)

func init() { signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2) } // starts a goroutine that is in no bubble

// few are the plug-ins of plans.
type few struct{ plan.Catalog }

func (few) Engine(name string) (engine.Engine, bool) {
	e, ok := map[string]engine.Engine{"memory": memory.Engine{}, "null": null.Engine{}}[name]
	return e, ok
}

func (few) EngineNames() []string { return []string{"memory", "null"} }

func (few) Workload(name string) (workload.Workload, bool) {
	return ibench.Workload{}, name == "ibench"
}

func (few) WorkloadNames() []string { return []string{"ibench"} }

// wire is one way of a connection. What is sent arrives in its order, and waits while the wire is cut.
type wire struct {
	chunks chan chunk
	closed chan struct{}

	mu    sync.Mutex
	cut   chan struct{} // closed when it is whole again
	delay time.Duration
}

type chunk struct {
	due  time.Time
	data []byte
}

func newWire() *wire {
	w := &wire{chunks: make(chan chunk, 10_000), closed: make(chan struct{}), cut: make(chan struct{})}
	close(w.cut)
	return w
}

func (w *wire) state() (cut chan struct{}, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cut, w.delay
}

// cutFor cuts the wire for a time.
func (w *wire) cutFor(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cut := make(chan struct{})
	w.cut = cut
	time.AfterFunc(d, func() { close(cut) })
}

func (w *wire) slow(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

// end is one end of a connection.
type end struct {
	net.Conn // nil: nobody asks for more
	in, out  *wire
	rest     []byte
	once     sync.Once
	over     chan struct{}
}

func (e *end) Write(b []byte) (int, error) {
	_, delay := e.out.state()
	select {
	case e.out.chunks <- chunk{time.Now().Add(delay), slices.Clone(b)}:
		return len(b), nil
	case <-e.over:
		return 0, io.ErrClosedPipe
	}
}

func (e *end) Read(b []byte) (int, error) {
	if len(e.rest) == 0 {
		var c chunk
		select {
		case c = <-e.in.chunks:
		case <-e.over:
		case <-e.in.closed:
			select {
			case c = <-e.in.chunks:
			default:
			}
		}
		time.Sleep(time.Until(c.due))
		cut, _ := e.in.state()
		select {
		case <-cut:
		case <-e.over:
		}
		if e.rest = c.data; len(c.data) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(b, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

func (e *end) Close() error {
	e.once.Do(func() { close(e.over); close(e.out.closed) })
	return nil
}

// deaf is a listener that hears nobody.
type deaf struct{ net.Listener }

func (deaf) Close() error { return nil }

// world is machines in virtual time. Coordinators, hubs, agents and conductors are as they are; connections are in memory,
// and trials are functions. A trial of one machine takes a time; one whose clients are elsewhere has a load that long.
type world struct {
	*testing.T
	dir      string
	own      program.Build
	length   time.Duration
	stubborn bool          // trials do not end when they are asked to
	counting func()        // is called before each try of a start; nil: nothing is to be done
	asked    chan struct{} // the user asks again to end
	away     string        // a machine whose agent does not join
	servers  sync.Map      // of trials: the operations that each has counted
	numbers  atomic.Int64  // of servers

	mu      sync.Mutex
	notes   []string
	wires   map[string][2]*wire // to each machine and from it, the last
	ends    map[string]*end
	running map[string]map[*func()]bool // processes on each machine
	agents  sync.WaitGroup
}

var errKilled = errors.New("killed")

// inWorld tests in a world.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, dir: t.TempDir(), length: time.Minute, wires: map[string][2]*wire{},
			running: map[string]map[*func()]bool{}, asked: make(chan struct{}, 1), ends: map[string]*end{}}
		path := filepath.Join(w.dir, programName)
		err := os.WriteFile(path, []byte("#!"), 0o700)
		if err == nil {
			w.own, err = program.Build{}.Of(path)
		}
		expect.NoError(t, err)
		test(w)
		w.agents.Wait() // each ends by itself
		w.idle()
	})
}

// idle checks that nothing runs on any machine.
func (w *world) idle() {
	w.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, all := range w.running {
		if len(all) > 0 {
			w.Errorf("%d processes run on %s", len(all), name)
		}
	}
}

// working returns whether processes run on a machine.
func (w *world) working(machine string) bool {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.running[machine]) > 0
}

// cut cuts what is sent to a machine, what it sends, or both.
func (w *world) cut(machine, way string, d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, own := range []string{"down", "up"} {
		if wire := w.wires[machine][i]; wire != nil && (way == "both" || way == own) {
			wire.cutFor(d)
		}
	}
}

// slow delays what is sent to a machine, and what it sends.
func (w *world) slow(machine string, down, up time.Duration) {
	w.wires[machine][0].slow(down)
	w.wires[machine][1].slow(up)
}

// kill kills the processes of trials on a machine.
func (w *world) kill(machine string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.running[machine] {
		(*end)()
	}
}

// plan returns a plan for some cells: m1, or db+c1+c2. Cells of one machine compare two targets.
func (w *world) plan(trials int, cells ...string) *plan.Plan {
	w.Helper()
	targets := "memory, null"
	if strings.Contains(cells[0], "+") {
		targets = "memory"
	}
	p := w.load(fmt.Sprintf("workload: ibench\nparams: {rows: 1k, steps: [l.i0]}\ntrials: %d\ncalibrate: false\n"+
		"common: {durability: none}\ntargets: [%s]\n", trials, targets))
	for _, text := range cells {
		names := strings.Split(text, "+")
		p.Fleet.Cells = append(p.Fleet.Cells, plan.Cell{Server: names[0], Clients: names[1:]})
		for _, name := range names {
			p.Fleet.Machines = append(p.Fleet.Machines, plan.Host{Name: name, Join: true, Dir: filepath.Join(w.dir, name)})
		}
	}
	p.Fleet.Retries, p.Fleet.Lost = 1, 3*time.Second
	return p
}

func (w *world) load(source string) *plan.Plan {
	p, err := plan.Load("test.yaml", []byte(source), nil, few{})
	expect.NoError(w, err)
	return p
}

// gate is where agents on all machines of a plan have joined.
func (w *world) gate(p *plan.Plan) *gate {
	g := &gate{seats: map[string]chan net.Conn{}, began: time.Now(), wait: time.Hour, listener: deaf{}}
	g.over, g.end = context.WithCancel(context.Background())
	for _, host := range p.Fleet.Used() {
		to, from := newWire(), newWire()
		there := &end{in: to, out: from, over: make(chan struct{})}
		if g.seats[host.Name] = make(chan net.Conn, 1); host.Name == w.away {
			continue
		}
		g.seats[host.Name] <- &end{in: from, out: to, over: make(chan struct{})}
		w.mu.Lock()
		w.wires[host.Name], w.ends[host.Name] = [2]*wire{to, from}, there
		w.mu.Unlock()
		local := Local{Build: w.own, LockFile: filepath.Join(w.dir, host.Name+".lock"), Start: w.starter(host.Name),
			InfoOf: func(*plan.Target) engine.Info { return engine.Info{} },
			Load: func(context.Context, string, Flags, bool) (*plan.Plan, []server.Found, error) {
				return w.load(string(p.Source)), nil, nil
			}}
		w.agents.Go(func() {
			_ = Serve(context.Background(), local, there, there)
			_ = there.Close()
		})
	}
	return g
}

// starter returns what starts processes on a machine.
func (w *world) starter(machine string) func(*exec.Cmd, cpuset.Set) (*campaign.Process, error) {
	return func(cmd *exec.Cmd, _ cpuset.Set) (*campaign.Process, error) {
		dir, name := cmd.Args[len(cmd.Args)-2], cmd.Args[len(cmd.Args)-1]
		in, input := io.Pipe()
		output, out := io.Pipe()
		ctx, cancel := context.WithCancelCause(context.Background())
		kill := func() { // it says nothing more
			_ = out.Close()
			cancel(errKilled)
		}
		ended := make(chan struct{})
		w.mu.Lock()
		if w.running[machine] == nil {
			w.running[machine] = map[*func()]bool{}
		}
		w.running[machine][&kill] = true
		w.mu.Unlock()
		go func() {
			w.process(ctx, campaign.Connect(in, out, func() { cancel(nil) }), dir, name)
			w.mu.Lock()
			delete(w.running[machine], &kill)
			w.mu.Unlock()
			_ = out.Close()
			close(ended)
		}()
		return &campaign.Process{Input: input, Output: output, Wait: func() error { <-ended; return context.Cause(ctx) },
			Signal: func(s os.Signal) error {
				if s == os.Kill {
					kill()
				} else if !w.stubborn {
					cancel(nil)
				}
				return nil
			}}, nil
	}
}

// process runs a trial or its clients.
func (w *world) process(ctx context.Context, line *campaign.Line, dir, name string) {
	if _, part := campaign.PartOf(name); part {
		_ = (&divided.Part{Line: line.Load(), Coarse: true, Open: w.open}).Serve(ctx)
		return
	}
	state, err := result.ReadCampaign(dir)
	if err != nil {
		w.Error(err)
		return
	}
	e := state.Trials[slices.IndexFunc(state.Trials, func(e result.Entry) bool { return e.Dir == name })]
	t := &result.Trial{Format: result.Format, Campaign: state.Name, Target: e.Target, Trial: e.Trial, Machine: state.Machine, Started: time.Now(),
		Status: result.Complete, Steps: []result.Step{{Name: "l.i0", Status: result.Complete}}}
	if len(state.Clients) > 0 {
		err = w.lead(ctx, line, state.Clients, t)
	} else {
		select {
		case <-time.After(w.length):
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	lost, is := errors.AsType[*divided.LostError](err)
	switch {
	case errors.Is(context.Cause(ctx), errKilled):
		return
	case ctx.Err() != nil:
		t.Status = result.Partial
	case is:
		t.Status, t.Lost, t.Reason = result.Failed, true, lost.Text
	case err != nil:
		t.Status, t.Reason = result.Failed, err.Error()
	}
	ended := time.Now()
	t.Ended = &ended
	if err := result.WriteJSON(filepath.Join(result.TrialPath(dir, name), result.TrialFile), t); err != nil {
		w.Error(err)
	}
}

func loadOf(length time.Duration) *drive.Config {
	return &drive.Config{Interval: time.Second, Step: &workload.Step{Name: "l.i0", Divides: true, Seconds: length.Seconds(), Primary: "op",
		Groups: []workload.Group{{Name: "all", Clients: 5, Ops: []workload.OpKind{{Name: "op", Unit: "row"}}}}}}
}

// lead is the head of a trial: it has a server, which counts.
func (w *world) lead(ctx context.Context, line *campaign.Line, clients []string, t *result.Trial) error {
	id, counted := fmt.Sprint(w.numbers.Add(1)), &atomic.Int64{}
	w.servers.Store(id, counted)
	h := &divided.Head{Line: line.Load(), Machines: clients}
	defer h.Close()
	c := loadOf(w.length)
	_, err := h.Open(ctx, &divided.Task{Step: "l.i0", Route: engine.Route{DSNs: []string{id}}, Numbers: *divided.NumbersOf(c)})
	if err == nil {
		err = h.Load(ctx, c)
	}
	var before, after int64
	if err == nil {
		err = h.Start(ctx, func() {
			if before = counted.Load(); w.counting != nil {
				w.counting()
			}
		})
	}
	if err != nil {
		return err
	}
	out, err := h.Run(ctx, func(*divided.Interval) {}, func() { after = counted.Load() })
	if err != nil {
		return err
	}
	ops := out.Result.Groups[0].Kinds[0].Ops
	t.Steps = []result.Step{{Name: "l.i0", Status: result.Complete, Counters: []result.CounterChange{
		{Name: "clients", Value: float64(ops)}, {Name: "server", Value: float64(after - before)}}}}
	return out.Result.Ended
}

// client does an operation each 50 ms at a server.
type client struct{ counted *atomic.Int64 }

func (c *client) Do(ctx context.Context, _ *workload.Outcome) error {
	select {
	case <-time.After(50 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	c.counted.Add(1)
	return nil
}

func (w *world) open(_ context.Context, task *divided.Task) (*divided.Step, error) {
	counted, _ := w.servers.Load(task.DSNs[0])
	out := &divided.Step{Of: loadOf(w.length).Step, Stage: struct{ workload.Stage }{}, Close: func() {},
		Report: func(context.Context) time.Duration { return 0 }, Clients: make([][]workload.Client, 1)}
	for seat := range task.Numbers.Groups[0].Clients {
		var own workload.Client
		if task.Part.Has(seat) {
			own = &client{counted.(*atomic.Int64)}
		}
		out.Clients[0] = append(out.Clients[0], own)
	}
	return out, nil
}

// A world is the progress of its campaigns.
func (w *world) Begin(result.Entry, forecast.Place) {}
func (w *world) Event(trial.Event)                  {}
func (w *world) End(result.Entry, *result.Trial)    {}
func (w *world) Note(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notes = append(w.notes, text)
}

// run runs a campaign, or goes on with it.
func (w *world) run(ctx context.Context, p *plan.Plan, dir string) (*result.Campaign, error) {
	dir = filepath.Join(w.dir, dir)
	c, err := begin(ctx, &p.Fleet, w.own, w.gate(p), w.Note)
	if err != nil && w.away != "" {
		err = c.LeaveOut()
	}
	if err == nil {
		for _, m := range c.machines {
			m.forceEnd = func(ended <-chan struct{}, _ <-chan time.Time, kill func()) {
				select {
				case <-w.asked:
					kill()
				case <-ended:
				}
			}
		}
		builds := result.Builds{{Build: w.own, Targets: []string{"memory", "null"}, Client: campaign.ClientDir}}
		_, err = c.Check(ctx, p, builds, Flags{NoPreflight: true})
		if err == nil {
			_, serr := os.Stat(dir)
			state, rerr := campaign.Run(ctx, campaign.Config{Plan: p, Dir: dir, Progress: w, Builds: builds, Resume: serr == nil,
				NoPreflight: true, Machines: c.Machines(dir)})
			c.Close()
			return state, rerr
		}
	}
	c.Close()
	return nil, err
}

// trial returns a trial, and its status; "": it has no result.
func (w *world) trial(path ...string) *result.Trial {
	t, err := result.ReadTrial(filepath.Join(append([]string{w.dir}, path...)...))
	if err != nil {
		return &result.Trial{}
	}
	return t
}

// complete checks that all trials of a campaign are complete, those of a block on one machine, and that servers have
// counted what clients have.
func (w *world) complete(dir string, state *result.Campaign, err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%v; %q", err, w.notes)
	}
	on := map[int]string{}
	for _, e := range state.Trials {
		t := w.trial(dir, "trials", e.Dir)
		if on[e.Trial] == "" {
			on[e.Trial] = t.Machine
		}
		if t.Status != result.Complete || t.Machine == "" || t.Machine != on[e.Trial] {
			w.Errorf("%s is %s on %q, and its block on %s", e.Dir, t.Status, t.Machine, on[e.Trial])
		}
	}
	trials, _ := filepath.Glob(filepath.Join(w.dir, dir, "trials", "*"))
	for _, path := range trials {
		t, err := result.ReadTrial(path)
		for i := 0; err == nil && i < len(t.Steps); i++ {
			if c := t.Steps[i].Counters; t.Status == result.Complete && len(c) == 2 && (c[0].Value != c[1].Value || c[0].Value == 0) {
				w.Errorf("%s: clients have counted %v, and the server %v", path, c[0].Value, c[1].Value)
			}
		}
	}
}

// aside returns the trials of a campaign that are kept aside.
func (w *world) aside(dir string) (out []*result.Trial) {
	paths, _ := filepath.Glob(filepath.Join(w.dir, dir, "trials", "*.partial*"))
	for _, path := range paths {
		out = append(out, w.trial(strings.TrimPrefix(path, w.dir)))
	}
	return out
}

func (w *world) noted(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.ContainsFunc(w.notes, func(note string) bool { return strings.Contains(note, text) })
}

// Blocks run on the machines of a fleet, and come home whole. Nothing stays there.
func TestFleet(t *testing.T) {
	for _, cells := range [][]string{{"m1", "m2", "m3"}, {"db+c1+c2"}} {
		inWorld(t, func(w *world) {
			w.length = 10 * time.Second
			state, err := w.run(w.Context(), w.plan(2, cells...), "out")
			w.complete("out", state, err)
			for _, name := range []string{"m1", "db", "c2"} {
				if left, _ := filepath.Glob(filepath.Join(w.dir, name, "*")); len(left) > 0 {
					t.Errorf("%s has %v", name, left)
				}
			}
		})
	}
}

// A campaign goes on without a machine that cannot be reached, and those that need it, if others are left.
func TestLeaveOut(t *testing.T) {
	for name, c := range map[string]struct {
		cells      []string
		away, left string
	}{
		"a machine":     {[]string{"m1", "m2"}, "m1", "m2"},
		"its clients":   {[]string{"db1+c1", "db2+c2"}, "c2", "db1"},
		"the only one":  {[]string{"m1"}, "m1", ""},
		"the only cell": {[]string{"db+c1+c2"}, "c1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.away = c.away
				state, err := w.run(w.Context(), w.plan(2, c.cells...), "out")
				if c.left == "" {
					expect.True(t, err != nil && strings.Contains(err.Error(), "machine "+c.away),
						"no machine is left", err)
					return
				}
				w.complete("out", state, err)
				for _, e := range state.Trials {
					expect.Equal(t, w.trial("out", "trials", e.Dir).Machine, c.left, e.Dir, "ran on", "not on")
				}
				expect.True(t, w.noted("the campaign goes on without it"), "notes", w.notes)
			})
		})
	}
}

// Two campaigns that have the same machines, in opposite order, do not wait for each other for ever.
func TestOppositeOrder(t *testing.T) {
	inWorld(t, func(w *world) {
		var both sync.WaitGroup
		for _, cells := range [][]string{{"m1", "m2"}, {"m2", "m1"}} {
			both.Go(func() {
				state, err := w.run(w.Context(), w.plan(2, cells...), cells[0]+"-out")
				w.complete(cells[0]+"-out", state, err)
			})
		}
		both.Wait()
		expect.True(t, w.noted("it waits: another benchmark runs"), "no campaign has waited", w.notes)
	})
}

// A machine is lost when it has said nothing for a time, and no sooner: then its block is run on another, and what it
// has measured is kept aside. Its own answer, if it comes later, changes nothing.
func TestSilentMachine(t *testing.T) {
	const at = 90 * time.Second // the second trial of a block runs
	for name, c := range map[string]struct {
		way    string
		length time.Duration
		why    string // "": it is not lost
	}{
		"cut for less":       {"both", silenceTimeout - beatEvery - time.Second, ""},
		"cut for longer":     {"both", silenceTimeout + 2*beatEvery, "nothing was heard of it for 13"},
		"it is not heard":    {"up", silenceTimeout + 2*beatEvery, "nothing was heard of it for 13"},
		"it hears nothing":   {"down", silenceTimeout + 2*beatEvery, "its agent has ended"},
		"it comes back late": {"up", 10 * silenceTimeout, "nothing was heard of it for 13"},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				time.AfterFunc(at, func() { w.cut("m1", c.way, c.length) })
				lost := time.AfterFunc(at+silenceTimeout-time.Second, func() {
					if w.noted("was lost") {
						w.Error("it is lost too soon")
					}
					time.Sleep(beatEvery + 2*time.Second)
					if w.noted("machine m1 was lost: "+c.why) != (c.why != "") {
						w.Errorf("%q", w.notes)
					}
				})
				defer lost.Stop()
				state, err := w.run(w.Context(), w.plan(6, "m1", "m2"), "out")
				w.complete("out", state, err)
				aside := w.aside("out")
				if c.why == "" && len(aside) > 0 || c.why != "" && len(aside) != 2 {
					w.Errorf("%d trials are kept aside", len(aside))
				}
				for _, t := range aside {
					if t.Status != result.Complete && (!t.Lost || !strings.Contains(t.Reason, "machine m1 was lost")) {
						w.Errorf("kept is %s: %s", t.Status, t.Reason)
					}
				}
			})
		})
	}
}

// Who ends a campaign waits until its trials have ended in good order, at most as long as they have for that; or no
// longer, who asks again.
func TestInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		stubborn, again bool
		after           time.Duration
	}{"in good order": {false, false, 0}, "killed": {true, false, campaign.Grace}, "asked again": {true, true, 2 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.stubborn, w.length = c.stubborn, 10*time.Minute
				ctx, cancel := context.WithCancel(w.Context())
				var since time.Time
				time.AfterFunc(90*time.Second, func() {
					since = time.Now()
					cancel()
					if time.Sleep(2 * time.Second); c.again {
						w.asked <- struct{}{}
					}
				})
				state, err := w.run(ctx, w.plan(2, "m1"), "out")
				if failed := func(e result.Entry) bool { return e.Status == result.Failed }; w.noted("was lost") ||
					slices.ContainsFunc(state.Trials, failed) {
					w.Errorf("what its user ends is no loss: %+v, %q", state.Trials, w.notes)
				}
				if took := time.Since(since); !errors.Is(err, context.Canceled) || took < c.after || took > c.after+time.Second {
					w.Errorf("it ended after %v: %v", took, err)
				}
				w.agents.Wait()
				w.stubborn = false
				state, err = w.run(w.Context(), w.plan(2, "m1"), "out")
				w.complete("out", state, err)
			})
		})
	}
}

// When the coordinator is gone, agents end what they have started. Its campaign can be completed.
func TestCoordinatorGone(t *testing.T) {
	for _, c := range []struct {
		cells []string
		lost  time.Duration
	}{{[]string{"m1", "m2"}, silenceTimeout + beatEvery}, {[]string{"db+c1+c2"}, 3500 * time.Millisecond}} {
		inWorld(t, func(w *world) {
			ctx, cancel := context.WithCancel(w.Context())
			var first sync.WaitGroup
			if w.length = 2 * silenceTimeout; len(c.cells) == 1 {
				w.length = 20 * time.Second
			}
			first.Go(func() { _, _ = w.run(ctx, w.plan(2, c.cells...), "out") })
			time.Sleep(10 * time.Second)
			machines := strings.Split(strings.Join(c.cells, "+"), "+")
			for _, name := range machines {
				if w.cut(name, "both", time.Hour); !w.working(name) {
					w.Errorf("nothing runs on %s", name)
				}
			}
			if err := os.CopyFS(filepath.Join(w.dir, "copy"), os.DirFS(filepath.Join(w.dir, "out"))); err != nil { // as it is when it is killed
				w.Fatal(err)
			}
			time.Sleep(c.lost)
			for _, name := range machines {
				if w.working(name) {
					w.Errorf("%s goes on", name)
				}
			}
			w.length = 10 * time.Second
			state, err := w.run(w.Context(), w.plan(2, c.cells...), "copy")
			w.complete("copy", state, err)
			cancel()
			first.Wait()
		})
	}
}

// What is lost voids a step whose clients are elsewhere, and nothing runs afterwards. The trial is run again if its
// machines remain; else the campaign can be completed later.
func TestLostInStep(t *testing.T) {
	cut := func(machine, way string, d time.Duration) func(w *world) {
		return func(w *world) { w.cut(machine, way, d) }
	}
	for name, c := range map[string]struct {
		fault func(w *world)
		after time.Duration // when it is noted; 0: never
		noted string
		later bool // the campaign has to be resumed
		aside int  // trials that are kept aside
	}{
		"clients killed": {func(w *world) { w.kill("c2") }, time.Millisecond, "client machine c2 was lost 4.8 s into the load " +
			"of step l.i0: its operations are unknown", false, 1},
		"clients killed again": {func(w *world) {
			w.kill("c2")
			time.AfterFunc(5*time.Second, func() { w.kill("c2") })
		}, time.Millisecond, "memory.1: run again", true, 2},
		"head killed":         {func(w *world) { w.kill("db") }, 0, "", true, 1},
		"clients, for less":   {cut("c2", "both", 2400*time.Millisecond), 0, "", false, 0},
		"clients, cut":        {cut("c2", "both", time.Minute), 3 * time.Second, "client machine c2 was lost", true, 1},
		"clients not heard":   {cut("c1", "up", time.Minute), 3 * time.Second, "client machine c1 was lost", true, 1},
		"clients do not hear": {cut("c1", "down", time.Minute), 3 * time.Second, "client machine c1 was lost", true, 1},
		"server, for less":    {cut("db", "both", 2400*time.Millisecond), 0, "", false, 0},
		"server, cut":         {cut("db", "both", time.Minute), 3 * time.Second, "machine db was lost: nothing was heard of it for 3", true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.length = 10 * time.Second // longer than it takes until anything is lost
				p := func() *plan.Plan { return w.plan(1, "db+c1+c2") }
				time.AfterFunc(5*time.Second, func() { c.fault(w) })
				if c.after > 0 {
					time.AfterFunc(5*time.Second+c.after-time.Millisecond, func() {
						if w.noted("was lost") {
							w.Error("it is lost too soon")
						}
						if time.Sleep(600 * time.Millisecond); !w.noted(c.noted) {
							w.Errorf("%q", w.notes)
						}
					})
				}
				state, err := w.run(w.Context(), p(), "out")
				if c.later != (err != nil) {
					w.Errorf("%v", err)
				}
				w.agents.Wait()
				if w.idle(); c.later {
					state, err = w.run(w.Context(), p(), "out")
				}
				w.complete("out", state, err)
				if aside := w.aside("out"); len(aside) != c.aside {
					w.Errorf("%d trials are kept aside", len(aside))
				}
			})
		})
	}
}

// A start that a machine learns too late is tried again, with all that is between.
func TestLateStart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.length = 10 * time.Second
		tries := 0
		w.counting = func() {
			if tries++; tries == 1 {
				w.slow("c2", 0, 300*time.Millisecond)
			}
		}
		state, err := w.run(w.Context(), w.plan(1, "db+c1+c2"), "out")
		w.complete("out", state, err)
		if tries != 2 || len(w.aside("out")) > 0 {
			w.Errorf("counted %d times, %d trials are kept aside", tries, len(w.aside("out")))
		}
	})
}

// The clock of a machine is known as well as the printed bound says, also if one way takes longer than the other.
func TestClocks(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.plan(1, "m1")
		c, err := begin(w.Context(), &p.Fleet, w.own, w.gate(p), w.Note)
		expect.NoError(w, err)
		defer c.Close()
		for _, ways := range [][2]time.Duration{{0, 0}, {5, 5}, {9, 1}, {0, 300}} {
			w.slow("m1", ways[0]*time.Millisecond, ways[1]*time.Millisecond)
			o, err := c.machines[0].offset(w.Context(), 40)
			if trip := (ways[0] + ways[1]) * time.Millisecond; err != nil || o.Trip != trip || o.Slowest != trip || o.Bound != trip/2 ||
				o.Ahead != (ways[0]-ways[1])*time.Millisecond/2 {
				w.Errorf("%v: %+v, %v", ways, o, err)
			}
		}
	})
}

// Whatever is lost, whenever and for however long: the campaign ends, nothing runs afterwards, what is complete is what
// the server counted, and the rest can be completed.
func TestRandomFaults(t *testing.T) { randomFaults(t, 0, 3) }

func TestManyRandomFaults(t *testing.T) {
	need.Long(t)
	randomFaults(t, 3, 60)
}

func randomFaults(t *testing.T, first, last uint64) {
	for seed := first; seed < last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.length = 8 * time.Second
				random := rand.New(rand.NewPCG(seed, 0))
				ctx, cancel := context.WithCancel(w.Context())
				defer cancel()
				for range 2 {
					machine := []string{"db", "c1", "c2"}[random.IntN(3)]
					way, length := []string{"up", "down", "both"}[random.IntN(3)], time.Duration(random.Int64N(int64(10*time.Second)))
					what := random.IntN(6)
					time.AfterFunc(time.Duration(random.Int64N(int64(9*time.Second))), func() {
						switch what {
						case 0:
							w.kill(machine)
						case 1:
							w.ends[machine].Close() // its agent is killed
						case 2:
							cancel()
						case 3:
							w.slow(machine, length/20, length/30)
						default:
							w.cut(machine, way, length)
						}
					})
				}
				state, err := w.run(ctx, w.plan(1, "db+c1+c2"), "out")
				for tries := 0; err != nil && tries < 5; tries++ {
					w.agents.Wait()
					w.idle()
					state, err = w.run(w.Context(), w.plan(1, "db+c1+c2"), "out")
				}
				w.complete("out", state, err)
			})
		})
	}
}

// After Ctrl-C what was measured is still taken, but not for ever.
func TestFetchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, _ := answering(t, map[string]any{opTrial: returned{Attempt: 1, Files: []file{one("trials/a.1/trial.json")}}})
		_, err := h.hub.conn.Subscribe("to."+opRead, func(*nats.Msg) {})
		expect.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		expect.Error(t, h.Trial(ctx, result.Entry{Dir: "a.1"}), "it did not come within 30s after the end")
		expect.Equal(t, time.Since(begun), time.Second+fetchGrace)
	})
}
