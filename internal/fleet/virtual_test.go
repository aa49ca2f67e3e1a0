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

	"rumbench/engine"
	"rumbench/engine/memory"
	"rumbench/engine/null"
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
	stubborn bool                        // trials do not end when they are asked to
	begun    func(machine, trial string) // is called when a process begins; nil: nothing is to be done
	asked    chan struct{}               // the user asks again to end
	servers  sync.Map                    // of trials: the operations that each has counted
	numbers  atomic.Int64                // of servers

	mu      sync.Mutex
	notes   []string
	wires   map[string][2]*wire                          // to each machine and from it, the last
	running map[string]map[*context.CancelCauseFunc]bool // processes on each machine
	agents  sync.WaitGroup
}

var errKilled = errors.New("killed")

// inWorld tests in a world.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, dir: t.TempDir(), length: time.Minute, wires: map[string][2]*wire{},
			running: map[string]map[*context.CancelCauseFunc]bool{}, asked: make(chan struct{}, 1)}
		path := filepath.Join(w.dir, programName)
		err := os.WriteFile(path, []byte("#!"), 0o700)
		if err == nil {
			w.own, err = program.Build{}.Of(path)
		}
		if err != nil {
			t.Fatal(err)
		}
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

// kill kills the processes of trials on a machine.
func (w *world) kill(machine string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for end := range w.running[machine] {
		(*end)(errKilled)
	}
}

// plan returns a plan with two targets for some cells: m1, or db+c1+c2.
func (w *world) plan(trials int, cells ...string) *plan.Plan {
	w.Helper()
	p := w.load(trials)
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

func (w *world) load(trials int) *plan.Plan {
	source := fmt.Sprintf("workload: ibench\nparams: {rows: 1k, steps: [l.i0]}\ntrials: %d\ncalibrate: false\ncommon: {durability: none}\n"+
		"targets: [memory, null]\n", trials)
	p, err := plan.Load("test.yaml", []byte(source), nil, few{})
	if err != nil {
		w.Fatal(err)
	}
	return p
}

// gate is where agents on all machines of a fleet have joined.
func (w *world) gate(f *plan.Fleet, trials int) *gate {
	g := &gate{seats: map[string]chan net.Conn{}, began: time.Now(), wait: time.Hour, listener: deaf{}}
	g.over, g.end = context.WithCancel(context.Background())
	for _, host := range f.Used() {
		to, from := newWire(), newWire()
		there := &end{in: to, out: from, over: make(chan struct{})}
		g.seats[host.Name] = make(chan net.Conn, 1)
		g.seats[host.Name] <- &end{in: from, out: to, over: make(chan struct{})}
		w.mu.Lock()
		w.wires[host.Name] = [2]*wire{to, from}
		w.mu.Unlock()
		local := Local{Build: w.own, LockFile: filepath.Join(w.dir, host.Name+".lock"), Start: w.starter(host.Name),
			InfoOf: func(*plan.Target) engine.Info { return engine.Info{} },
			Load: func(context.Context, string, Flags, bool) (*plan.Plan, []server.Found, error) {
				return w.load(trials), nil, nil
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
		ended := make(chan struct{})
		w.mu.Lock()
		if w.running[machine] == nil {
			w.running[machine] = map[*context.CancelCauseFunc]bool{}
		}
		w.running[machine][&cancel] = true
		w.mu.Unlock()
		go func() {
			if w.begun != nil {
				w.begun(machine, name)
			}
			w.process(ctx, campaign.Connect(in, out, func() { cancel(nil) }), dir, name)
			w.mu.Lock()
			delete(w.running[machine], &cancel)
			w.mu.Unlock()
			_ = out.Close()
			close(ended)
		}()
		return &campaign.Process{Input: input, Output: output, Wait: func() error { <-ended; return context.Cause(ctx) },
			Signal: func(s os.Signal) error {
				if s == os.Kill {
					cancel(errKilled)
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
	t := &result.Trial{Format: result.Format, Target: e.Target, Trial: e.Trial, Machine: state.Machine, Started: time.Now(),
		Status: result.Complete}
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
	return &drive.Config{Interval: time.Second, Step: &workload.Step{Name: "s", Divides: true, Seconds: length.Seconds(), Primary: "op",
		Groups: []workload.Group{{Name: "all", Clients: 5, Ops: []workload.OpKind{{Name: "op", Unit: "row"}}}}}}
}

// lead is the head of a trial: it has a server, which counts.
func (w *world) lead(ctx context.Context, line *campaign.Line, clients []string, t *result.Trial) error {
	id, counted := fmt.Sprint(w.numbers.Add(1)), &atomic.Int64{}
	w.servers.Store(id, counted)
	h := &divided.Head{Line: line.Load(), Machines: clients}
	defer h.Close()
	c := loadOf(w.length)
	_, err := h.Open(ctx, &divided.Task{Step: "s", Route: engine.Route{DSNs: []string{id}}, Numbers: *divided.NumbersOf(c)})
	if err == nil {
		err = h.Load(ctx, c)
	}
	var before, after int64
	if err == nil {
		err = h.Start(ctx, func() { before = counted.Load() })
	}
	if err != nil {
		return err
	}
	out, err := h.Run(ctx, func(*divided.Interval) {}, func() { after = counted.Load() })
	if err != nil {
		return err
	}
	ops := out.Result.Groups[0].Kinds[0].Ops
	t.Steps = []result.Step{{Name: "s", Status: result.Complete, Counters: []result.CounterChange{
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
	c, err := begin(ctx, &p.Fleet, w.own, w.gate(&p.Fleet, len(campaign.Entries(p))/2), w.Note)
	if err == nil {
		for _, m := range c.machines {
			m.again = func(ended <-chan struct{}, _ <-chan time.Time, kill func()) {
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
			if c := t.Steps[i].Counters; t.Status == result.Complete && (c[0].Value != c[1].Value || c[0].Value == 0) {
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
			state, err := w.run(w.Context(), w.plan(2, cells...), "out")
			w.complete("out", state, err)
			for _, name := range []string{"m1", "db", "c2"} {
				if left, _ := filepath.Glob(filepath.Join(w.dir, name, "*")); len(left) > 0 {
					t.Errorf("%s has %v", name, left)
				}
			}
		})
	}
	_ = rand.Int
}
