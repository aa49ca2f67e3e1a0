package trial

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"rumbench/engine"
	"rumbench/internal/observe/confine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/plan"
	"rumbench/internal/text/quantity"
)

// limits are what the engine's processes are confined to.
type limits struct {
	cpus   cpuset.Set     // nil: not limited
	group  *confine.Group // nil: memory is not limited
	memory int64          // as asked for
	client cpuset.Set     // of the client of a server; nil: not limited
}

// begin limits this process, and prepares the limits of the engine. An embedded engine is in this
// process; a server is confined as soon as it runs.
func (l *limits) begin(m *plan.Machine, dir string, hosted bool) (err error) {
	if l.cpus, l.client, err = m.Choose(); err != nil {
		return err
	}
	if len(l.client) > 0 && l.cpus == nil { // the server would inherit the client's
		if l.cpus, err = cpuset.Others(l.client); err != nil {
			return fmt.Errorf("client_cpus: %w", err)
		}
	}
	if l.memory = m.Memory; l.memory > 0 {
		if l.group, err = confine.NewGroup(confine.NameOf(dir), l.memory); err != nil {
			return err
		}
	}
	if hosted {
		return cpuset.Bind(os.Getpid(), l.client)
	}
	return l.add(os.Getpid())
}

// add confines a process of the engine.
func (l *limits) add(pid int) error {
	if err := cpuset.Bind(pid, l.cpus); err != nil || l.group == nil {
		return err
	}
	return l.group.Add(pid)
}

// adder returns a function that confines a container's process: a daemon may have started it, of
// which it inherits other processors than this process has now.
func (l *limits) adder() (func(pid int) error, error) {
	set, err := cpuset.Allowed()
	return func(pid int) error { return errors.Join(cpuset.Bind(pid, set), l.add(pid)) }, err
}

// readBack reads back the limits of the engine's processes, as settings.
func (l *limits) readBack(pids []int) (out []engine.Setting, err error) {
	note := func(name, value string) {
		out = append(out, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
	}
	if g := l.group; g != nil {
		for _, pid := range pids { // such as those that began before the server was in the group
			if g.Holds(pid) {
				continue
			}
			if err := g.Add(pid); err != nil {
				return nil, err
			}
			if !g.Holds(pid) {
				return nil, fmt.Errorf("memory: process %d is not in its control group", pid)
			}
		}
		n, err := g.Limit()
		if err != nil {
			return nil, err
		}
		note("memory", quantity.Bytes(n))
	}
	if l.client != nil {
		on, err := cpuset.Of(os.Getpid())
		if err != nil {
			return nil, err
		}
		note("client_cpus", on.String())
	}
	if l.cpus == nil {
		return out, nil
	}
	for _, pid := range pids {
		on, err := cpuset.Of(pid)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(on, l.cpus) {
			return nil, fmt.Errorf("cpus: process %d may run on %v, not on %v alone", pid, on, l.cpus)
		}
	}
	note("cpus", l.cpus.String())
	return out, nil
}

// explain adds to an error that the kernel killed a process for lack of memory, if it did.
func (l *limits) explain(err error) error {
	if err == nil || l.group == nil || !l.group.Killed() {
		return err
	}
	return errors.Join(fmt.Errorf("the engine needs more memory than memory: %s: the kernel killed a process of it",
		quantity.FormatSize(l.memory)), err)
}

// pageCache returns whether the engine reads through the page cache. Engines that can bypass it say so.
func pageCache(t *trial) engine.PageCache {
	info := engine.InfoOf(t.Engine, t.Target.Config)
	switch message := t.res.Setting(engine.PageCacheSetting); {
	case message != "":
		return engine.PageCache(message)
	case t.Target.Config.Server.DSN != "" || info.SpaceFactor == 0:
		return "" // unknown, or without I/O
	}
	return engine.CacheUsed
}
