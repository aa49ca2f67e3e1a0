// Package confine limits the memory of processes, and reads back that it did. The page cache of the
// files that they use is part of it.
package confine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/observe"
	"rumbench/internal/text/hint"
)

// Group is a control group that limits the memory of the processes in it, with the page cache of the
// files that they were the first to use.
type Group struct {
	dir   string
	files files
}

// files are the names of a group's files in a version of control groups.
type files struct{ limit, used, peak, events, swap string }

var versions = map[string]files{
	"v1": {limit: "memory.limit_in_bytes", used: "memory.usage_in_bytes", peak: "memory.max_usage_in_bytes",
		events: "memory.oom_control", swap: "memory.memsw.limit_in_bytes"},
	"v2": {limit: "memory.max", used: "memory.current", peak: "memory.peak", events: "memory.events",
		swap: "memory.swap.max"},
}

// NameOf returns the name of the group of a trial, by its directory: the campaign removes the group of a
// trial that was killed.
func NameOf(trialDir string) string {
	if full, err := filepath.Abs(trialDir); err == nil {
		trialDir = full
	}
	h := fnv.New64a()
	h.Write([]byte(trialDir))
	return fmt.Sprintf("rumbench-%016x", h.Sum64())
}

// NewGroup makes the group of a name with a limit in bytes, in place of one that an earlier process has
// left.
func NewGroup(name string, limit int64) (*Group, error) {
	parent, version, err := home()
	if err != nil {
		return nil, err
	}
	g := &Group{filepath.Join(parent, name), versions[version]}
	if err := errors.Join(g.Remove(), os.Mkdir(g.dir, 0o755)); err != nil {
		return nil, refused(err)
	}
	if err := g.write(g.files.limit, strconv.FormatInt(limit, 10)); err != nil {
		return nil, errors.Join(refused(err), g.Remove())
	}
	swap := map[string]string{"v1": strconv.FormatInt(limit, 10), "v2": "0"}[version]
	_ = g.write(g.files.swap, swap) // where swap is counted
	return g, nil
}

func refused(err error) error {
	return hint.With(fmt.Errorf("limit memory: %w", err), "run rumbench as root, or in a control group whose memory "+
		"controller is delegated, as by systemd-run --user --scope -p Delegate=yes")
}

// home returns the group below which groups with a limit of memory can be made. In version 2 a group
// with processes has none below it that limit memory, so that it is one above that of this process.
func home() (dir, version string, err error) {
	for _, dir := range observe.ControlGroups("memory") {
		if observe.Text(dir, versions["v1"].limit) != "" {
			return dir, "v1", nil
		}
		if strings.Contains(observe.Text(dir, "cgroup.subtree_control"), "memory") {
			return dir, "v2", nil
		}
	}
	return "", "", refused(errors.New("no control group of this process can have others with a limit below it"))
}

func (g *Group) write(name, value string) error {
	return os.WriteFile(filepath.Join(g.dir, name), []byte(value), 0o644)
}

// Add moves a process into the group; its later children are in it, too. Memory that it had before
// stays where it was.
func (g *Group) Add(pid int) error {
	if err := g.write("cgroup.procs", strconv.Itoa(pid)); err != nil {
		return refused(err)
	}
	return nil
}

// Holds reports whether a process is in the group.
func (g *Group) Holds(pid int) bool {
	groups := observe.Text("/proc", strconv.Itoa(pid), "cgroup") + "\n"
	return strings.Contains(groups, "/"+filepath.Base(g.dir)+"\n")
}

// Limit returns the limit in bytes as the kernel keeps it, rounded to pages.
func (g *Group) Limit() (int64, error) {
	n, err := strconv.ParseInt(observe.Text(g.dir, g.files.limit), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read back the limit of memory: %w", err)
	}
	return n, nil
}

// Name returns "group", the source of the group's numbers.
func (g *Group) Name() string { return "group" }

// Collect adds the memory in use with its peak, the pages that were read again soon after they had to
// go, and how often the kernel killed a process for lack of memory.
func (g *Group) Collect(_ context.Context, s *engine.Sample) error {
	number := func(file string) (float64, bool) {
		n, err := strconv.ParseFloat(observe.Text(g.dir, file), 64)
		return n, err == nil
	}
	for _, gauge := range []struct{ name, file string }{
		{"group.memory_bytes", g.files.used}, {"group.memory_peak_bytes", g.files.peak},
	} {
		if n, ok := number(gauge.file); ok {
			s.Gauge(gauge.name, "bytes", n)
		}
	}
	for _, counter := range []struct{ name, file, key string }{
		{"group.refaults", "memory.stat", "workingset_refault_file"}, {"group.oom_kills", g.files.events, "oom_kill"},
	} {
		if n, ok := keyed(filepath.Join(g.dir, counter.file), counter.key); ok {
			s.Counter(counter.name, "count", n)
		}
	}
	return nil
}

// keyed returns the number behind a key in a file of keys and numbers.
func keyed(path, key string) (float64, bool) {
	for line := range strings.Lines(observe.Text(path)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == key {
			n, err := strconv.ParseFloat(value, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// Killed reports whether the kernel killed a process of the group for lack of memory.
func (g *Group) Killed() bool {
	n, _ := keyed(filepath.Join(g.dir, g.files.events), "oom_kill")
	return n > 0
}

// Remove removes the group; its processes must have ended.
func (g *Group) Remove() error {
	if err := os.Remove(g.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the control group: %w", err)
	}
	return nil
}

// Left returns the group of a name that a process has left; nil if there is none.
func Left(name string) *Group {
	parent, version, err := home()
	if err != nil {
		return nil
	}
	g := &Group{filepath.Join(parent, name), versions[version]}
	if _, err := os.Stat(g.dir); err != nil {
		return nil
	}
	return g
}
