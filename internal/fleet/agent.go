package fleet

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/result/regular"
	"rumbench/internal/run/campaign"
	"rumbench/internal/run/forecast"
	"rumbench/internal/run/trial"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// Local is what an agent needs of its rumbench.
type Local struct {
	Build    program.Build // this program
	LockFile string        // of the machine
	// Load reads the plan in a directory, as a machine of its fleet, with the servers' programs.
	Load func(ctx context.Context, dir string, force, aa bool) (*plan.Plan, []server.Found, error)
	// InfoOf returns the description of a target's engine.
	InfoOf func(t *plan.Target) engine.Info
}

// agent is the agent's side of a connection. It has many fields: those of the connection, of the campaign
// and of the request that runs.
type agent struct {
	Local
	id   string
	root string // where it keeps campaigns
	conn *nats.Conn
	put  jetstream.ObjectStore
	over context.Context // until the coordinator is gone
	lose context.CancelFunc
	last atomic.Int64 // when the coordinator was heard last, in nanoseconds

	mu     sync.Mutex // held while a request runs, but hello and end
	dir    string     // of the campaign; "": none yet
	papers papers
	plan   *plan.Plan
	found  []server.Found
	place  *campaign.Station // nil: not opened yet
	keep   bool              // its directory: it holds the logs that an error names

	ending sync.Mutex
	cancel context.CancelFunc // of the request that runs
	ended  bool               // the campaign: no request does more than to say so
}

// Serve runs an agent on the standard input and output of its ssh, until the coordinator ends the
// connection or is not heard for a minute. What it has started is ended then.
func Serve(ctx context.Context, local Local, in io.Reader, out io.Writer) error {
	if _, err := fmt.Fprintln(out, greeting); err != nil {
		return err
	}
	lines := bufio.NewReader(in)
	var w welcome
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &w)
	}
	if err != nil {
		return hint.Errorf("rumbench run starts agents by ssh", "an agent serves another rumbench, which has not greeted "+
			"it: %w", err)
	}
	a := &agent{Local: local, id: w.ID}
	if a.root, err = rootOf(w.Dir); err != nil {
		return err
	}
	a.over, a.lose = context.WithCancel(ctx)
	defer a.lose()
	if a.conn, err = connect(w.Seed, w.ID, nats.SetCustomDialer(dialer{&pipe{Reader: lines, Writer: out, gone: a.lose}}),
		nats.ClosedHandler(func(*nats.Conn) { a.lose() })); err != nil {
		return err
	}
	defer a.conn.Close()
	js, err := jetstream.New(a.conn)
	if err != nil {
		return err
	}
	if a.put, err = js.ObjectStore(ctx, bucket(a.id)); err != nil {
		return fmt.Errorf("find the fleet's files: %w", err)
	}
	if err := a.listen(); err != nil {
		return err
	}
	a.beat()
	a.mu.Lock() // the request that runs has ended
	defer a.mu.Unlock()
	return a.leave()
}

// rootOf makes the directory of an agent.
func rootOf(dir string) (string, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, "rumbench-fleet")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("make the directory of the agent: %w", err)
	}
	return dir, nil
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
	a.last.Store(time.Now().UnixNano())
	heard := func(*nats.Msg) { a.last.Store(time.Now().UnixNano()) }
	_, err := a.conn.Subscribe("to."+a.id+"."+isAlive, heard)
	if err != nil {
		return err
	}
	handlers := map[string]func(ctx context.Context, data []byte) (any, error){
		opHello: a.hello, opCheck: a.check, opOpen: a.open, opTrial: a.trial, opEnd: a.end, opClose: a.close,
		opClear: a.clear,
	}
	for op, handle := range handlers {
		_, err := a.conn.Subscribe("to."+a.id+"."+op, func(m *nats.Msg) {
			v, err := handle(a.over, m.Data)
			_ = a.conn.Publish(m.Reply, answerOf(v, err)) // without a coordinator nobody waits for it
		})
		if err != nil {
			return err
		}
	}
	return a.conn.Flush()
}

// beat reports to the coordinator that this agent lives, and ends when the coordinator does not.
func (a *agent) beat() {
	for tick := time.Tick(beatEvery); ; {
		select {
		case <-a.over.Done():
			return
		case <-tick:
			_ = a.conn.Publish("from."+a.id+"."+isAlive, nil)
			if time.Since(time.Unix(0, a.last.Load())) > patience {
				a.lose()
			}
		}
	}
}

func (a *agent) hello(context.Context, []byte) (any, error) {
	return Hello{Build: a.Build, Dir: a.root, Busy: campaign.Busy(a.LockFile), Left: a.left()}, nil
}

// left returns the directories of earlier campaigns that no longer run.
func (a *agent) left() []string {
	dirs, _ := filepath.Glob(filepath.Join(a.root, prefix+"*"))
	return slices.DeleteFunc(dirs, func(dir string) bool { return dir == a.dir || result.IsRunning(dir) })
}

// prefix begins the names of the directories of campaigns.
const prefix = "campaign-"

func (a *agent) clear(context.Context, []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sweep()
	var err error
	for _, dir := range a.left() {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return nil, err
}

// check lays out the papers of a campaign, and reports what this machine has for them.
func (a *agent) check(ctx context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := json.Unmarshal(data, &a.papers); err != nil {
		return nil, err
	}
	a.sweep()
	dir, err := os.MkdirTemp(a.root, time.Now().Format(prefix+"2006-01-02-150405-"))
	if err == nil {
		err = os.Chmod(dir, 0o755) // servers run as other users
	}
	if err != nil {
		return nil, fmt.Errorf("make a directory for the campaign: %w", err)
	}
	a.dir = dir
	for name, text := range map[string][]byte{result.PlanFile: a.papers.Plan, plan.WorkloadFile: a.papers.Declared,
		plan.SecretFile: a.papers.Secrets} {
		if len(text) > 0 {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				return nil, err
			}
		}
	}
	if a.plan, a.found, err = a.Load(ctx, dir, a.papers.Force, a.papers.AA); err != nil {
		return nil, err
	}
	for i, b := range a.papers.Builds {
		is, err := program.Build{}.Of(a.papers.Programs[i])
		if err != nil {
			return nil, err
		}
		if is.SHA256 != b.SHA256 {
			return nil, fmt.Errorf("%s here is not the %s of the coordinator", a.papers.Programs[i], b.Path)
		}
	}
	return checked{a.found, observe.FactsOf(dir)}, nil
}

// sweep ends what earlier campaigns have left running here, and removes their data and secrets.
func (a *agent) sweep() {
	for _, dir := range a.left() {
		_ = campaign.SweepTrials(dir)
		_ = os.Remove(filepath.Join(dir, plan.SecretFile))
	}
}

// open begins the campaign here, as soon as no other benchmark runs.
func (a *agent) open(ctx context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, done := a.begin(ctx)
	defer done()
	var state result.Campaign
	if err := json.Unmarshal(data, &state); err != nil {
		return nil, err
	}
	// The directory is to be new.
	for _, name := range []string{result.PlanFile, plan.WorkloadFile, plan.SecretFile} {
		if err := os.Remove(filepath.Join(a.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := a.enter(ctx, &state); err != nil {
		return nil, err
	}
	if err := a.place.Prepare(ctx); err != nil {
		a.keep = true
		return nil, err
	}
	return a.send(ctx, 0, a.files(result.TrialsDir))
}

// enter opens the campaign on this machine, as soon as no other benchmark runs here.
func (a *agent) enter(ctx context.Context, state *result.Campaign) (err error) {
	for said := ""; ; {
		if a.place, err = campaign.OpenStation(a.config(), state.Machine, state); !errors.Is(err, campaign.ErrBusy) {
			return err
		}
		if text := "it waits: " + err.Error(); text != said {
			a.note(text)
			said = text
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *agent) config() campaign.Config {
	return campaign.Config{
		Plan: a.plan, Dir: a.dir, Command: []string{"rumbench", "agent"}, Builds: a.papers.Builds, Programs: a.found,
		Child: func(path string) []string {
			for i, b := range a.papers.Builds {
				if b.Path == path {
					path = a.papers.Programs[i]
				}
			}
			return []string{path, "trial", "--"}
		},
		LockFile: a.LockFile, Progress: relay{a}, InfoOf: a.InfoOf, Force: a.papers.Force, AA: a.papers.AA,
		NoPreflight: a.papers.NoPreflight,
	}
}

// trial runs a trial and returns its files.
func (a *agent) trial(ctx context.Context, data []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	ctx, done := a.begin(ctx)
	defer done()
	var o order
	if err := json.Unmarshal(data, &o); err != nil {
		return nil, err
	}
	if a.place == nil {
		return nil, errors.New("the campaign is not open here")
	}
	if err := a.place.Trial(ctx, o.Dir); err != nil {
		return nil, err
	}
	return a.send(a.over, o.Attempt, a.files(filepath.Join(result.TrialsDir, o.Dir)))
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

// close ends the campaign here and removes its directory: its files are with the coordinator.
func (a *agent) close(context.Context, []byte) (any, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.leave()
	if a.dir == "" {
		return nil, err
	}
	if a.keep || a.plan != nil && a.plan.Keep { // the latter keeps data
		return nil, err
	}
	err = errors.Join(err, os.RemoveAll(a.dir))
	a.dir = ""
	return nil, err
}

// leave ends the use of the machine.
func (a *agent) leave() (err error) {
	if a.place != nil {
		err = a.place.Close()
		a.place = nil
	}
	if a.dir != "" {
		_ = os.Remove(filepath.Join(a.dir, plan.SecretFile))
	}
	return err
}

// files lists the regular files below a path of the campaign's directory, without the data of trials.
func (a *agent) files(below string) (out []string) {
	_ = filepath.WalkDir(filepath.Join(a.dir, below), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(a.dir, path)
		switch {
		case err != nil:
			return nil //nolint:nilerr // it is gone
		case d.IsDir() && (d.Name() == result.DataDir || d.Name() == result.TempDir):
			return fs.SkipDir
		case d.Type().IsRegular():
			out = append(out, rel)
		}
		return nil
	})
	return out
}

// send puts files into the hub.
func (a *agent) send(ctx context.Context, attempt int, files []string) (any, error) {
	for _, name := range files {
		f, err := regular.Open(filepath.Join(a.dir, name))
		if err != nil {
			return nil, err
		}
		_, err = a.put.Put(ctx, jetstream.ObjectMeta{Name: name}, f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("return %s: %w", name, err)
		}
	}
	return returned{attempt, files}, nil
}

func (a *agent) note(text string) { _ = a.conn.Publish("from."+a.id+"."+isNote, []byte(text)) }

// relay passes on what a campaign says.
type relay struct{ *agent }

func (relay) Begin(result.Entry, forecast.Place) {}
func (relay) Event(trial.Event)                  {}
func (relay) End(result.Entry, *result.Trial)    {}
func (r relay) Note(text string)                 { r.note(text) }
