package trial

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"rumbench/engine"
	"rumbench/internal/observe/confine"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/text/quantity"
)

// limits are what the engine's processes are confined to.
type limits struct {
	cpus  cpuset.Set // nil: not limited
	group *confine.Group
}

// confine limits this process, and prepares the limits of the engine. An embedded engine is in this
// process; a server is confined as soon as it runs. The client on the null engine is not limited.
func (t *trial) confine(hosted bool) (err error) {
	m := &t.Target.Machine
	if t.Calibrate || !m.Limited() {
		return nil
	}
	client := confine.Limits{CPUs: m.ClientCPUs.Set, Number: m.ClientCPUs.Number}
	own, err := client.Set(m.CPUs.Set)
	if err != nil {
		return fmt.Errorf("client_cpus: %w", err)
	}
	of := confine.Limits{CPUs: m.CPUs.Set, Number: m.CPUs.Number}
	if t.limits.cpus, err = of.Set(own); err != nil {
		return fmt.Errorf("cpus: %w", err)
	}
	if m.Memory > 0 {
		if t.limits.group, err = confine.NewGroup(confine.NameOf(t.Dir), m.Memory); err != nil {
			return err
		}
	}
	if hosted {
		return confine.Bind(os.Getpid(), own)
	}
	return t.limit(os.Getpid())
}

// limit confines a process of the engine.
func (t *trial) limit(pid int) error {
	if err := confine.Bind(pid, t.limits.cpus); err != nil || t.limits.group == nil {
		return err
	}
	return t.limits.group.Add(pid)
}

// confined reads back the limits of the engine's processes, and adds them to the settings.
func (t *trial) confined(pids []int) error {
	if g := t.limits.group; g != nil {
		for _, pid := range pids { // such as those that began before the server was in the group
			if !g.Holds(pid) {
				if err := g.Add(pid); err != nil {
					return err
				}
			}
		}
		n, err := g.Limit()
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(pids, func(pid int) bool { return !g.Holds(pid) }); i >= 0 {
			return fmt.Errorf("memory: process %d is not in its control group", pids[i])
		}
		t.note("memory", quantity.Bytes(n))
	}
	if t.limits.cpus == nil {
		return nil
	}
	for _, pid := range pids {
		on, err := confine.Bound(pid)
		if err != nil {
			return err
		}
		if !slices.Equal(on, t.limits.cpus) {
			return fmt.Errorf("cpus: process %d may run on %v, not on %v alone", pid, on, t.limits.cpus)
		}
	}
	t.note("cpus", t.limits.cpus.String())
	return nil
}

func (t *trial) note(name, value string) {
	t.res.Settings = append(t.res.Settings, engine.Setting{Name: name, Value: value, Source: engine.ReadBack})
}

// tooLittle explains an error by a lack of memory, if the kernel killed a process for that.
func (t *trial) tooLittle(err error) error {
	if err == nil || t.limits.group == nil || !t.limits.group.Killed() {
		return err
	}
	return errors.Join(fmt.Errorf("the engine needs more memory than memory: %s: the kernel killed a process of it",
		quantity.FormatSize(t.Target.Machine.Memory)), err)
}

// pageCache returns whether the engine reads through the page cache. Engines that can bypass it say so.
func (t *trial) pageCache() engine.PageCache {
	info := engine.InfoOf(t.Engine, t.Target.Config)
	switch said := t.res.Setting(engine.PageCacheSetting); {
	case said != "":
		return engine.PageCache(said)
	case t.Target.Config.Server.DSN != "" || info.SpaceFactor == 0:
		return "" // unknown, or without I/O
	}
	return engine.CacheUsed
}
