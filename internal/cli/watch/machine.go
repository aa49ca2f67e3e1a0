package watch

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"rumbench/internal/observe"
	"rumbench/internal/text/hint"
)

const (
	procRoot = "/proc"
	sysRoot  = "/sys"
)

// Machine selects the parts of this machine to watch in addition to the host as a
// whole.
type Machine struct {
	Devices []string // by name
	Dirs    []string // the devices under these directories
	PIDs    []int    // processes, with their descendants
}

// Collectors returns the collectors of this machine: for the host, the chosen
// devices and processes, and the processes and devices of the targets. If no
// devices are chosen, all physical disks are sampled. It calls note with warnings
// and with the devices that it found.
func (m *Machine) Collectors(targets []*Target, note func(string)) ([]observe.Collector, error) {
	asked, err := m.devices()
	if err != nil {
		return nil, err
	}
	collectors := []observe.Collector{observe.NewHost(procRoot)}
	named, beneath := make(map[string]bool), make(map[string]bool)
	for _, d := range append(asked, devicesOf(targets, note)...) {
		if !named[d.Name] {
			named[d.Name] = true
			collectors = append(collectors, device(d, beneath, note))
		}
	}
	if len(asked) == 0 {
		collectors = append(collectors, observe.NewDisks(procRoot, sysRoot, slices.Collect(maps.Keys(beneath))...))
	}
	for i, pid := range m.PIDs {
		if slices.Contains(m.PIDs[:i], pid) {
			continue
		}
		command, err := observe.Command(procRoot, pid)
		if err != nil {
			return nil, fmt.Errorf("--pid: %w", err)
		}
		number := strconv.Itoa(pid)
		tree := observe.NewProcess(procRoot, func() []int { return []int{pid} })
		collectors = append(collectors, observe.NewLabelled(tree, "process/"+number, "command", command, "pid", number))
	}
	for _, t := range targets {
		collectors = append(collectors, t.ProcessCollector(procRoot))
	}
	return append(collectors, observe.NewClient()), nil
}

// device returns the collector of a device, without the disks beneath it that are
// already sampled.
func device(d observe.Device, beneath map[string]bool, note func(string)) observe.Collector {
	d.Leaves = slices.DeleteFunc(slices.Clone(d.Leaves), func(leaf string) bool { return leaf != d.Name && beneath[leaf] })
	for _, leaf := range d.Leaves {
		beneath[leaf] = true
	}
	c := observe.NewDevice(d, procRoot, sysRoot)
	for _, text := range c.Warnings() {
		note("warning: " + text)
	}
	return observe.NewLabelled(c, "device/"+d.Name)
}

func (m *Machine) devices() (asked []observe.Device, err error) {
	for _, name := range m.Devices {
		d, err := observe.DeviceNamed(name)
		if errors.Is(err, observe.ErrNoDevice) {
			return nil, hint.Errorf("there are: "+deviceNames(), "--device: %v", err)
		}
		if err != nil {
			return nil, err
		}
		asked = append(asked, d)
	}
	for _, dir := range m.Dirs {
		d, err := observe.FindDevice(dir)
		if err != nil {
			return nil, fmt.Errorf("--dir: %w", err)
		}
		asked = append(asked, d)
	}
	return asked, nil
}

func devicesOf(targets []*Target, note func(string)) (devices []observe.Device) {
	for _, t := range targets {
		dir := t.current().dir
		if dir == "" {
			continue
		}
		d, err := observe.FindDevice(dir)
		if err != nil {
			note(fmt.Sprintf("warning: %s: the device under its data is not watched: %v", t.Name, err))
			continue
		}
		note(fmt.Sprintf("%s: its data is in %s, on %s", t.Name, dir, d.Name))
		devices = append(devices, d)
	}
	return devices
}

// deviceNames returns the block devices that may hold data.
func deviceNames() string {
	entries, err := os.ReadDir(sysRoot + "/class/block")
	if err != nil {
		return "none visible"
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "loop") && !strings.HasPrefix(e.Name(), "ram") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, ", ")
}
