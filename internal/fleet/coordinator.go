package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

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
	gate     *gate // nil: no agents join
	machines []*machine
	fleet    *plan.Fleet
	claimed  bool // by the campaign
}

// Start starts an agent on each machine of a fleet, with this program; note gets what machines have to say, from
// several at a time. The error is about the machines on which it cannot: Reports has the others.
func Start(ctx context.Context, f *plan.Fleet, build program.Build, note func(text string)) (*Coordinator, error) {
	g, err := gateOf(f, note)
	if err != nil {
		return nil, err
	}
	return begin(ctx, f, build, g, note)
}

// begin begins with the agents that join at a gate, if any do, and starts the others.
func begin(ctx context.Context, f *plan.Fleet, build program.Build, g *gate, note func(string)) (*Coordinator, error) {
	hosts, lost := f.Used(), silenceTimeout
	if f.Divided() {
		lost = f.Lost
	}
	c := &Coordinator{fleet: f, gate: g}
	var group, joins errgroup.Group
	group.SetLimit(mostAtOnce)
	for _, host := range hosts {
		m := &machine{Host: host, gate: g, heard: newHeartbeat(),
			forceEnd: campaign.AskedAgain, silence: lost, part: !slices.Contains(f.Names(), host.Name),
			observes: f.Observes(host.Name), note: func(text string) { note(host.Name + ": " + text) }}
		m.lost, m.lose = context.WithCancelCause(context.Background())
		c.machines = append(c.machines, m)
		begin := group.Go
		if host.Join { // it only waits
			begin = joins.Go
		}
		begin(func() error {
			if m.err = m.begin(ctx, build); m.err != nil && c.gate != nil && ctx.Err() == nil {
				note(m.err.Error()) // others may be waited for until this is said
			}
			return nil
		})
	}
	_, _ = group.Wait(), joins.Wait()
	if ctx.Err() != nil {
		return c, context.Cause(ctx)
	}
	c.chooseFirst()
	var failed []error
	for _, m := range c.machines {
		failed = append(failed, m.err)
	}
	return c, errors.Join(append(failed, c.alone())...)
}

// mostAtOnce is how many machines are begun at a time: each is a process of ssh and a copy of a program.
const mostAtOnce = 16

// gateOf opens a gate for the machines that join; nil: there are none.
func gateOf(f *plan.Fleet, note func(text string)) (*gate, error) {
	names := namesOf(joining(f))
	if len(names) == 0 {
		return nil, nil
	}
	path, err := PassPath(f.Address)
	if err != nil {
		return nil, err
	}
	g, err := newGate(f.Address, path, names, tokenLife, note)
	if err == nil {
		g.wait = f.Wait
		note(fmt.Sprintf("waiting for %s: rumbench agent --join %s", strings.Join(names, ", "), path))
	}
	return g, err
}

// alone refuses two names of one machine: it would wait for itself.
func (c *Coordinator) alone() error {
	for i, m := range c.machines {
		same := func(o *machine) bool { return o.err == nil && m.err == nil && o.hello.Host == m.hello.Host }
		if j := slices.IndexFunc(c.machines[:i], same); j >= 0 {
			return hint.Errorf("name each machine once", "%s and %s are the same machine", c.machines[j].Host.Name, m.Host.Name)
		}
	}
	return nil
}

// LeaveOut goes on without the cells that have a machine on which no agent could be started. It is an error if none
// is left.
func (c *Coordinator) LeaveOut() error {
	left, failed := *c.fleet, error(nil)
	left.Cells = nil
	for _, cell := range c.fleet.Cells {
		var unusable error
		for _, name := range cell.Names() {
			unusable = errors.Join(unusable, c.named(name).err)
		}
		if failed = errors.Join(failed, unusable); unusable == nil {
			left.Cells = append(left.Cells, cell)
		}
	}
	if err := c.alone(); err != nil || len(left.Cells) == 0 {
		return errors.Join(failed, err)
	}
	c.fleet = &left
	c.machines = slices.DeleteFunc(c.machines, func(m *machine) bool {
		out := !left.Uses(m.Host.Name) // perhaps as another of its cell cannot be used
		if m.err != nil {
			m.note("the campaign goes on without it: " + m.err.Error())
		}
		if out {
			m.end()
		}
		return out
	})
	c.chooseFirst()
	return nil
}

// chooseFirst chooses the machine whose calibration is the campaign's: the first that has clients.
func (c *Coordinator) chooseFirst() {
	c.machines[max(0, slices.IndexFunc(c.machines, func(m *machine) bool { return m.part && !m.observes }))].first = true
}

// Close ends the agents, and with them what they have started.
func (c *Coordinator) Close() {
	var group sync.WaitGroup
	for _, m := range c.machines {
		group.Go(m.end)
	}
	group.Wait()
	if c.gate != nil {
		c.gate.close()
	}
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
	var group errgroup.Group
	for i, m := range c.machines {
		group.Go(func() error {
			out[i] = Report{Host: m.Host, Hello: m.hello, Err: m.err}
			for range 10 {
				if began := time.Now(); m.err == nil && m.ask(ctx, opHello, nil, &out[i].Hello) == nil {
					if took := time.Since(began); out[i].Trip == 0 || took < out[i].Trip {
						out[i].Trip = took
					}
				}
			}
			return nil
		})
	}
	_ = group.Wait()
	return out
}

// Clear removes what earlier campaigns have left on the machines, and the programs that do not run.
func (c *Coordinator) Clear(ctx context.Context) error {
	var group errgroup.Group
	for _, m := range c.machines {
		if m.err == nil {
			group.Go(func() error { return m.named(m.ask(ctx, opClear, nil, nil)) })
		}
	}
	return group.Wait()
}

// Flags are the flags of rumbench run that machines follow too.
type Flags struct{ Force, AA, NoPreflight bool }

// Check lays the plan out on all machines. They must have the same servers and, unless the plan
// allows others, be of one kind. It returns the servers.
func (c *Coordinator) Check(ctx context.Context, p *plan.Plan, builds result.Builds, f Flags) ([]server.Found, error) {
	if err := c.alone(); err != nil {
		return nil, err
	}
	have := make([]checked, len(c.machines))
	group, over := errgroup.WithContext(ctx)
	group.SetLimit(mostAtOnce)
	for i, m := range c.machines {
		group.Go(func() error {
			pp := campaignFiles{Plan: p.Source, Declared: p.Declared, Secrets: slices.Concat(p.Secrets, p.Referred),
				Builds: builds,
				Flags:  f, Part: m.part}
			for _, b := range builds {
				if b.SHA256 == m.hello.Build.SHA256 {
					pp.Programs = append(pp.Programs, m.hello.Build.Path)
					continue
				}
				if m.Host.Join {
					return hint.Errorf("reach it by ssh: {name: …, ssh: …}", "machine %s joins by itself, and has no other program "+
						"than this rumbench", m.Host.Name)
				}
				if _, err := install(over, m.Host, b.Path, b.SHA256); err != nil {
					return err
				}
				programs := filepath.Dir(filepath.Dir(m.hello.Build.Path))
				pp.Programs = append(pp.Programs, filepath.Join(programs, b.SHA256, programName))
			}
			return m.named(m.endable(over, opCheck, pp, &have[i]))
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, m := range c.machines {
		first := slices.IndexFunc(c.machines, func(o *machine) bool { // of its kind
			return o.part == m.part && o.observes == m.observes
		})
		if err := c.checkAlike(&have[first], &have[i], c.machines[first].Host.Name, m.Host.Name, p.Fleet.Mixed); err != nil {
			return nil, err
		}
	}
	return have[0].Servers, nil // the first is the machine of a server
}

// Benchmark measures the client on all machines at a time, this often. Reports have the same order.
func (c *Coordinator) Benchmark(ctx context.Context, name string, times int) ([]campaign.Benchmark, error) {
	if err := c.claim(ctx, &result.Campaign{Format: result.Format, Name: name, Started: time.Now()}); err != nil {
		return nil, err
	}
	out := make([]campaign.Benchmark, len(c.machines))
	group, over := errgroup.WithContext(ctx)
	for i, m := range c.machines {
		group.Go(func() error { return m.named(m.endable(over, opBenchmark, times, &out[i])) })
	}
	return out, group.Wait()
}

// checkAlike compares what a machine and another have.
func (c *Coordinator) checkAlike(a, b *checked, first, name string, mixed bool) error {
	if len(a.Servers) != len(b.Servers) {
		return fmt.Errorf("%s has %d of the plan's servers, and %s has %d", first, len(a.Servers), name, len(b.Servers))
	}
	for i := range a.Servers {
		if x, y := a.Servers[i], b.Servers[i]; x.Kind != y.Kind || x.Version != y.Version || imageOf(x) != imageOf(y) {
			return hint.Errorf("install the same on both", "%s has %s %s%s, and %s has %s %s%s", first, x.Kind, x.Version,
				imageOf(x), name, y.Kind, y.Version, imageOf(y))
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

// imageOf names the image of a server, as the end of a phrase; "": it runs in no container.
func imageOf(f server.Found) string {
	if f.Container == nil {
		return ""
	}
	return fmt.Sprintf(" of image %s (%.12s)", f.Image, f.Container.ID)
}

// Machines returns the cells for the campaign in a directory.
func (c *Coordinator) Machines(dir string) (out []campaign.Machine) {
	for _, m := range c.machines {
		m.dir = dir
	}
	for i := range c.fleet.Cells {
		cell := &c.fleet.Cells[i]
		h := handle{c.named(cell.Server), c}
		if len(cell.Clients) == 0 {
			out = append(out, h)
			continue
		}
		d := &dividedCell{handle: h}
		for _, name := range cell.Clients {
			d.parts = append(d.parts, c.named(name))
		}
		for _, name := range cell.Observed {
			d.observers = append(d.observers, c.named(name))
		}
		out = append(out, d)
	}
	return out
}

func (c *Coordinator) named(name string) *machine {
	return c.machines[slices.IndexFunc(c.machines, func(m *machine) bool { return m.Host.Name == name })]
}

// claim takes all machines for a campaign, in the order in which each campaign takes them: two never wait for
// each other.
func (c *Coordinator) claim(ctx context.Context, state *result.Campaign) error {
	if c.claimed {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(c.machines), func(a, b *machine) int {
		return cmp.Compare(a.hello.Host, b.hello.Host)
	})
	for _, m := range sorted {
		ownClaim := claim{State: *state, Part: m.part}
		ownClaim.State.Machine = m.Host.Name
		if i := slices.Index(c.fleet.Names(), m.Host.Name); i >= 0 {
			cell := &c.fleet.Cells[i]
			ownClaim.State.Clients, ownClaim.State.Observed, ownClaim.State.Listen = cell.Clients, cell.Observed, m.Host.Listen
		}
		m.clients = []string{campaign.ClientDir}
		for _, b := range state.Builds {
			m.clients = append(m.clients, b.Client)
		}
		if err := m.named(m.endable(ctx, opClaim, ownClaim, nil)); err != nil {
			return err
		}
	}
	c.claimed = true
	return nil
}
