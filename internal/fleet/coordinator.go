package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"golang.org/x/sync/errgroup"

	"rumbench/internal/compare"
	"rumbench/internal/plan"
	"rumbench/internal/result"
	"rumbench/internal/result/program"
	"rumbench/internal/run/campaign"
	"rumbench/internal/server"
	"rumbench/internal/text/hint"
)

// Coordinator directs the agents of a plan's machines.
type Coordinator struct {
	hub      *hub
	machines []*machine
}

// machine is a machine with its agent.
type machine struct {
	plan.Host
	id    string
	hub   *hub
	link  *link
	files jetstream.ObjectStore
	last  atomic.Int64 // when it was heard last, in nanoseconds
	lost  chan struct{}
	once  sync.Once
	cause string // of its loss
	note  func(text string)
	hello Hello
	err   error // why it could not begin

	dir      string // of the campaign
	first    bool   // of the machines: its calibration is the campaign's
	attempts atomic.Int64
}

// Start starts an agent on each machine, with this program; note gets what machines have to say. The
// error is about the machines on which it cannot: Reports has the others.
func Start(ctx context.Context, hosts []plan.Host, own program.Build,
	note func(machine, text string)) (*Coordinator, error) {
	var ids []string
	for i := range hosts {
		ids = append(ids, fmt.Sprintf("m%d", i))
	}
	h, err := newHub(ids)
	if err != nil {
		return nil, err
	}
	c := &Coordinator{hub: h}
	js, err := jetstream.New(h.conn)
	if err != nil {
		h.close()
		return nil, err
	}
	var all errgroup.Group
	all.SetLimit(mostAtOnce)
	for i, host := range hosts {
		m := &machine{Host: host, id: ids[i], hub: h, lost: make(chan struct{}), first: i == 0,
			note: func(text string) { note(host.Name, text) }}
		c.machines = append(c.machines, m)
		all.Go(func() error {
			m.err = m.begin(ctx, js, own)
			return nil
		})
	}
	_ = all.Wait()
	var failed []error
	for _, m := range c.machines {
		failed = append(failed, m.err)
	}
	return c, errors.Join(failed...)
}

// mostAtOnce is how many machines are begun at a time: each is a process of ssh and a copy of a program.
const mostAtOnce = 16

// begin starts the agent of a machine.
func (m *machine) begin(ctx context.Context, js jetstream.JetStream, own program.Build) (err error) {
	path, err := install(ctx, m.Host, own.Path, own.SHA256)
	if err != nil {
		return err
	}
	if m.files, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucket(m.id)}); err != nil {
		return fmt.Errorf("make a place for files: %w", err)
	}
	m.last.Store(time.Now().UnixNano())
	for subject, heard := range map[string]nats.MsgHandler{
		isAlive: func(*nats.Msg) { m.last.Store(time.Now().UnixNano()) },
		isNote:  func(msg *nats.Msg) { m.note(string(msg.Data)) },
	} {
		if _, err := m.hub.conn.Subscribe("from."+m.id+"."+subject, heard); err != nil {
			return err
		}
	}
	w := welcome{ID: m.id, Seed: m.hub.seeds[m.id], Dir: m.Host.Dir}
	if m.link, err = start(m.hub, m.Host, path, w); err != nil {
		return err
	}
	go m.watch()
	if err := m.meet(ctx); err != nil {
		return err
	}
	if m.hello.Build.SHA256 != own.SHA256 {
		return fmt.Errorf("machine %s runs another rumbench (%s) than this one (%s)", m.Name, m.hello.Build.SHA256,
			own.SHA256)
	}
	return nil
}

// meet asks the agent for its machine, until it listens.
func (m *machine) meet(ctx context.Context) error {
	for {
		err := m.ask(ctx, opHello, nil, &m.hello)
		if !errors.Is(err, nats.ErrNoResponders) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// watch beats, and notices that the machine is lost.
func (m *machine) watch() {
	for tick := time.Tick(beatEvery); ; {
		select {
		case <-m.lost:
			return
		case <-m.link.gone:
			said := strings.Split(strings.TrimSpace(string(m.link.problem)), "\n")
			m.lose(strings.TrimSuffix("its agent has ended: "+said[len(said)-1], ": "))
		case <-tick:
			_ = m.hub.conn.Publish("to."+m.id+"."+isAlive, nil)
			if silent := time.Since(time.Unix(0, m.last.Load())); silent > patience {
				m.lose(fmt.Sprintf("nothing was heard of it for %.0f s", silent.Seconds()))
			}
		}
	}
}

func (m *machine) lose(reason string) {
	m.once.Do(func() {
		m.cause = reason
		close(m.lost)
	})
}

// ask sends a request and waits for its answer, however long it takes.
func (m *machine) ask(ctx context.Context, op string, request, value any) error {
	b, err := json.Marshal(request)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-m.lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	msg, err := m.request(ctx, op, b)
	select {
	case <-m.lost:
		return &campaign.LostError{Machine: m.Host.Name, Reason: m.cause}
	default:
	}
	if err != nil {
		return err
	}
	var a answer
	if err := json.Unmarshal(msg.Data, &a); err != nil {
		return fmt.Errorf("machine %s: read its answer: %w", m.Host.Name, err)
	}
	return a.read(value)
}

// request sends a request. Its answer has a subject of the agent's own.
func (m *machine) request(ctx context.Context, op string, b []byte) (*nats.Msg, error) {
	reply := fmt.Sprintf("from.%s.answer.%d", m.id, m.attempts.Add(1))
	answers, err := m.hub.conn.SubscribeSync(reply)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answers.Unsubscribe() }()
	if err := m.hub.conn.PublishRequest("to."+m.id+"."+op, reply, b); err != nil {
		return nil, err
	}
	return answers.NextMsgWithContext(ctx)
}

// Close ends the agents, and with them what they have started.
func (c *Coordinator) Close() {
	var all sync.WaitGroup
	for _, m := range c.machines {
		if m.link == nil {
			continue
		}
		all.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), campaign.Grace)
			defer cancel()
			_ = m.ask(ctx, opClose, nil, nil) // a lost one sweeps when it begins again
			m.lose("the fleet has ended")
			m.link.end()
		})
	}
	all.Wait()
	c.hub.close()
}

// Report is what is known of a machine.
type Report struct {
	Host  plan.Host
	Hello Hello
	Trip  time.Duration // the best round trip of a message; 0: unknown
	Err   error         // why it cannot be used
}

// Reports returns what is known of each machine.
func (c *Coordinator) Reports(ctx context.Context) []Report {
	out := make([]Report, len(c.machines))
	var all errgroup.Group
	for i, m := range c.machines {
		all.Go(func() error {
			out[i] = Report{Host: m.Host, Hello: m.hello, Err: m.err}
			for range 10 {
				if began := time.Now(); m.err == nil && m.ask(ctx, opHello, nil, nil) == nil {
					if took := time.Since(began); out[i].Trip == 0 || took < out[i].Trip {
						out[i].Trip = took
					}
				}
			}
			return nil
		})
	}
	_ = all.Wait()
	return out
}

// Clear removes what earlier campaigns have left on the machines, and the programs.
func (c *Coordinator) Clear(ctx context.Context) error {
	var all errgroup.Group
	for _, m := range c.machines {
		all.Go(func() error {
			if m.err != nil {
				return nil
			}
			if err := m.ask(ctx, opClear, nil, nil); err != nil {
				return fmt.Errorf("machine %s: %w", m.Host.Name, err)
			}
			_, err := run(ctx, m.Host, "rm -rf "+programDir, nil)
			return err
		})
	}
	return all.Wait()
}

// Flags are the flags of rumbench run that machines follow too.
type Flags struct{ Force, AA, NoPreflight bool }

// Check lays the plan out on all machines. They must have the same servers and, unless the plan
// allows others, be of one kind. It returns the servers.
func (c *Coordinator) Check(ctx context.Context, p *plan.Plan, builds result.Builds, f Flags) ([]server.Found, error) {
	have := make([]checked, len(c.machines))
	all, over := errgroup.WithContext(ctx)
	for i, m := range c.machines {
		all.Go(func() error {
			pp := papers{Plan: p.Source, Declared: p.Declared, Secrets: p.Secrets, Builds: builds, Force: f.Force, AA: f.AA,
				NoPreflight: f.NoPreflight}
			for _, b := range builds {
				if _, err := install(over, m.Host, b.Path, b.SHA256); err != nil {
					return err
				}
				programs := filepath.Dir(filepath.Dir(m.hello.Build.Path))
				pp.Programs = append(pp.Programs, filepath.Join(programs, b.SHA256, programName))
			}
			if err := m.ask(over, opCheck, pp, &have[i]); err != nil {
				return hint.With(fmt.Errorf("machine %s: %w", m.Host.Name, err), hint.Of(err))
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	for i := range have[1:] {
		if err := c.alike(&have[0], &have[i+1], c.machines[i+1].Host.Name, p.Fleet.Mixed); err != nil {
			return nil, err
		}
	}
	return have[0].Servers, nil
}

// alike compares what the first machine and another have.
func (c *Coordinator) alike(a, b *checked, name string, mixed bool) error {
	first := c.machines[0].Host.Name
	for i := range a.Servers {
		x, y := a.Servers[i], b.Servers[i]
		if x.Version != y.Version || x.Kind != y.Kind || x.Container != nil && x.Container.ID != y.Container.ID {
			return hint.Errorf("install the same on both", "%s has %s %s, and %s has %s %s", first, x.Kind, x.Version, name,
				y.Kind, y.Version)
		}
	}
	if mixed {
		return nil
	}
	for _, fact := range compare.HostApart(a.Facts, b.Facts) {
		return hint.Errorf("spread: {mixed: true} allows that; trials of one block run on one machine all the same",
			"%s of %s and %s differ: %s and %s", fact, first, name, a.Facts.Value(fact), b.Facts.Value(fact))
	}
	return nil
}

// Machines returns the machines of the campaign in a directory.
func (c *Coordinator) Machines(dir string) (out []campaign.Machine) {
	for _, m := range c.machines {
		m.dir = dir
		out = append(out, handle{m})
	}
	return out
}

// handle is a machine as a campaign sees it.
type handle struct{ *machine }

func (h handle) Name() string { return h.Host.Name }

func (h handle) Prepare(ctx context.Context, state *result.Campaign) error {
	own := *state
	own.Machine = h.Host.Name
	var made returned
	if err := h.endable(ctx, opOpen, own, &made); err != nil {
		return err
	}
	kept := map[string]bool{} // the calibration of a campaign that is resumed is the one that it began with
	return h.fetch(made.Files, func(name string) string {
		dir, file, _ := strings.Cut(strings.TrimPrefix(name, result.TrialsDir+"/"), "/")
		if !h.first {
			dir += "@" + h.Host.Name
		}
		if _, known := kept[dir]; !known {
			_, err := os.Stat(filepath.Join(h.dir, result.TrialsDir, dir))
			kept[dir] = err == nil
		}
		if kept[dir] {
			return ""
		}
		return filepath.Join(result.TrialsDir, dir, file)
	})
}

func (h handle) Trial(ctx context.Context, e result.Entry) error {
	o := order{Dir: e.Dir, Attempt: int(h.attempts.Add(1))}
	var made returned
	if err := h.endable(ctx, opTrial, o, &made); err != nil {
		return err
	}
	if made.Attempt != o.Attempt {
		return fmt.Errorf("machine %s answered attempt %d of %s, not %d", h.Host.Name, made.Attempt, e.Dir, o.Attempt)
	}
	return h.fetch(made.Files, func(name string) string { return name })
}

// endable makes a request that the end of a context ends in good order: its answer is waited for.
func (h handle) endable(ctx context.Context, op string, request, value any) error {
	stop := context.AfterFunc(ctx, func() { _ = h.hub.conn.Publish("to."+h.id+"."+opEnd, nil) })
	defer stop()
	return h.ask(context.WithoutCancel(ctx), op, request, value)
}

// fetch takes files of the machine into the campaign's directory, each to its place; "": it is not needed.
// They cannot leave it.
func (h handle) fetch(names []string, place func(name string) string) error {
	root, err := os.OpenRoot(h.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range names {
		path := place(name)
		if path == "" {
			err = h.files.Delete(context.Background(), name)
		} else {
			err = h.fetchFile(root, name, path)
		}
		if err != nil {
			return fmt.Errorf("take %s from %s: %w", name, h.Host.Name, err)
		}
	}
	return nil
}

func (h handle) fetchFile(root *os.Root, name, path string) error {
	if !filepath.IsLocal(path) || !strings.HasPrefix(path, result.TrialsDir+"/") {
		return errors.New("it is no file of a trial")
	}
	ctx := context.Background()
	object, err := h.files.Get(ctx, name)
	if err != nil {
		return err
	}
	defer object.Close()
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, object) // which checks its digest
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return h.files.Delete(ctx, name)
}
