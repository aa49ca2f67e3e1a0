package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
	"rumbench/internal/hint"
	"rumbench/internal/observe"
	"rumbench/internal/plan"
	"rumbench/internal/watch"
)

// attachment is what --attach asks for.
type attachment struct {
	name, dsn string
	watcher   engine.Watcher
}

// engines is the part of the registry that attachments need.
type engines interface {
	Engine(name string) (engine.Engine, bool)
	EngineNames() []string
}

const attachHint = "--attach wants [NAME=]ENGINE:DSN, such as prod=postgres:postgres://me@localhost/ or 'mysql:${DSN}', from the environment"

var targetName = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func parseAttachments(texts []string, have engines) ([]attachment, error) {
	var all []attachment
	for _, text := range texts {
		one, err := parseAttachment(text, have)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(other attachment) bool { return other.name == one.name }) {
			return nil, hint.Errorf("give each a name of its own: --attach NAME=ENGINE:DSN", "--attach: two servers are called %s", one.name)
		}
		all = append(all, one)
	}
	return all, nil
}

// parseAttachment never shows the DSN in an error: it may hold a password.
func parseAttachment(text string, have engines) (attachment, error) {
	head, dsn, ok := strings.Cut(text, ":")
	name, engineName, named := strings.Cut(head, "=")
	if !named {
		name, engineName = head, head
	}
	switch {
	case !ok || engineName == "" || dsn == "":
		return attachment{}, hint.Errorf(attachHint, "--attach: there is no engine, or no DSN")
	case !targetName.MatchString(name):
		return attachment{}, hint.Errorf(attachHint, "--attach: %q is no name", name)
	}
	if strings.HasPrefix(dsn, "//") { // an engine's own URL, without its name before
		dsn = engineName + ":" + dsn
	}
	if engineName == "postgresql" {
		engineName = "postgres"
	}
	e, ok := have.Engine(engineName)
	if !ok {
		return attachment{}, hint.Errorf(watchable(have), "--attach: there is no engine %q", engineName)
	}
	w, ok := e.(engine.Watcher)
	if !ok {
		return attachment{}, hint.Errorf(watchable(have), "--attach: %s is no server that could be watched from outside", engineName)
	}
	dsn, err := plan.ResolveDSN(dsn)
	if err != nil {
		return attachment{}, hint.Errorf(attachHint, "--attach: %w", err)
	}
	return attachment{name, dsn, w}, nil
}

// watchable tells which engines can be attached to.
func watchable(have engines) string {
	var names []string
	for _, name := range have.EngineNames() {
		e, _ := have.Engine(name)
		if _, ok := e.(engine.Watcher); ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "no engine of this binary can be attached to"
	}
	return "engines that can be attached to: " + strings.Join(names, ", ")
}

// attach connects to all servers.
func (w *watching) attach(ctx context.Context, list []attachment) error {
	for _, at := range list {
		t, err := watch.Attach(ctx, at.name, at.watcher, at.dsn)
		if err != nil {
			return err
		}
		w.targets = append(w.targets, t)
		if pids, why := t.Processes(); len(pids) == 0 {
			w.say("warning: %s: its processes are not watched: %s", at.name, why)
		}
	}
	return nil
}

const (
	procRoot = "/proc"
	sysRoot  = "/sys"
)

// collectors returns those of this machine.
func (w *watching) collectors() ([]observe.Collector, error) {
	all := []observe.Collector{observe.NewHost(procRoot)}
	devices, err := w.devices()
	if err != nil {
		return nil, err
	}
	all = append(all, devices...)
	seen := make(map[int]bool)
	for _, pid := range w.options.pids {
		if seen[pid] {
			continue
		}
		seen[pid] = true
		command, err := observe.Command(procRoot, pid)
		if err != nil {
			return nil, fmt.Errorf("--pid: %w", err)
		}
		number := strconv.Itoa(pid)
		tree := observe.NewProcess(procRoot, func() []int { return []int{pid} })
		all = append(all, observe.NewLabelled(tree, "process/"+number, "command", command, "pid", number))
	}
	for _, t := range w.targets {
		all = append(all, t.ProcessCollector(procRoot))
	}
	return append(all, observe.NewClient()), nil
}

// devices returns collectors of the devices that were asked for, of those
// under the data of servers and, if none was asked for, of all other disks. No
// device is sampled twice, not even as a disk beneath another.
func (w *watching) devices() ([]observe.Collector, error) {
	asked, err := w.askedDevices()
	if err != nil {
		return nil, err
	}
	chosen := append(asked, w.targetDevices()...)
	var all []observe.Collector
	named, beneath := make(map[string]bool), make(map[string]bool)
	for _, d := range chosen {
		if named[d.Name] {
			continue
		}
		named[d.Name] = true
		d.Leaves = slices.DeleteFunc(slices.Clone(d.Leaves), func(leaf string) bool { return leaf != d.Name && beneath[leaf] })
		for _, leaf := range d.Leaves {
			beneath[leaf] = true
		}
		c := observe.NewDevice(d, procRoot, sysRoot)
		for _, warning := range c.Warnings() {
			w.say("warning: %s", warning)
		}
		all = append(all, observe.NewLabelled(c, "device/"+d.Name))
	}
	w.named = len(all) > 0
	if len(asked) > 0 {
		return all, nil
	}
	var except []string
	for name := range beneath {
		except = append(except, name)
	}
	return append(all, observe.NewDisks(procRoot, sysRoot, except...)), nil
}

func (w *watching) askedDevices() ([]observe.Device, error) {
	var asked []observe.Device
	for _, name := range w.options.devices {
		d, err := observe.DeviceNamed(name)
		if errors.Is(err, observe.ErrNoDevice) {
			return nil, hint.Errorf("there are: "+deviceNames(), "--device: %v", err)
		}
		if err != nil {
			return nil, err
		}
		asked = append(asked, d)
	}
	for _, dir := range w.options.dirs {
		d, err := observe.FindDevice(dir)
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		asked = append(asked, d)
	}
	return asked, nil
}

// targetDevices are the devices under the data of servers on this host.
func (w *watching) targetDevices() []observe.Device {
	var all []observe.Device
	for _, t := range w.targets {
		dir := t.DataDir()
		if dir == "" {
			continue
		}
		d, err := observe.FindDevice(dir)
		if err != nil {
			w.say("warning: %s: the device under its data is not watched: %v", t.Name, err)
			continue
		}
		w.say("%s: its data is in %s, on %s", t.Name, dir, d.Name)
		all = append(all, d)
	}
	return all
}

// deviceNames lists the block devices that may hold data.
func deviceNames() string {
	entries, err := os.ReadDir(sysRoot + "/class/block")
	if err != nil {
		return "none that may be seen"
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "loop") && !strings.HasPrefix(e.Name(), "ram") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, ", ")
}
