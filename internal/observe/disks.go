package observe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rumbench/engine"
)

// Disks collects all whole physical disks that exist at the time of a sample.
// Arrays, volumes and partitions are left out: what is written to them is written
// to a disk, and would be counted twice.
type Disks struct {
	proc, sys string
	except    []string
	known     map[string]*disk // nil: not a physical disk
}

// NewDisks returns a collector of all physical disks with some exceptions; the
// roots are "/proc" and "/sys".
func NewDisks(procRoot, sysRoot string, except ...string) *Disks {
	return &Disks{proc: procRoot, sys: sysRoot, except: except, known: make(map[string]*disk)}
}

// Name is "device".
func (d *Disks) Name() string { return "device" }

// Collect adds the points of every disk.
func (d *Disks) Collect(_ context.Context, s *engine.Sample) error {
	all, err := diskstats(d.proc, d.sys)
	if err != nil {
		return fmt.Errorf("sample devices: %w", err)
	}
	for i := range all {
		name := all[i].DeviceName
		one, known := d.known[name]
		if !known {
			one = d.find(name)
			d.known[name] = one
		}
		if one != nil {
			one.sample(&all[i], s)
		}
	}
	return nil
}

func (d *Disks) find(name string) *disk {
	dir := filepath.Join(d.sys, "class", "block", name)
	// Only devices with a driver have "device"; a drive without a medium has size 0.
	if _, err := os.Stat(filepath.Join(dir, "device")); err != nil || text(dir, "size") == "0" {
		return nil
	}
	if slices.Contains(d.except, name) || isPartition(dir) {
		return nil
	}
	return &disk{name: name, labels: `dev="` + name + `"`, series: seriesOf("device."), flushes: true}
}

// DeviceNamed returns a block device by its name, such as "vda", "/dev/vda" or
// "/dev/mapper/vg-data", without its mounts.
func DeviceNamed(name string) (Device, error) { return thisMachine().deviceNamed(name) }

func (m machine) deviceNamed(name string) (Device, error) {
	kernel := strings.TrimPrefix(name, "/dev/")
	if kernel != name { // names like /dev/mapper/vg-data are links to the kernel's own name
		if node, err := filepath.EvalSymlinks(filepath.Join(m.dev, kernel)); err == nil {
			kernel = filepath.Base(node)
		}
	}
	if kernel == "" || strings.Contains(kernel, "/") || strings.HasPrefix(kernel, ".") {
		return Device{}, fmt.Errorf("%w is called %q", ErrNoDevice, name)
	}
	path, err := m.block(kernel)
	if errors.Is(err, fs.ErrNotExist) {
		return Device{}, fmt.Errorf("%w is called %q", ErrNoDevice, name)
	}
	if err != nil {
		return Device{}, fmt.Errorf("find device %s: %w", name, err)
	}
	leaves, err := physical(path)
	if err != nil {
		return Device{}, fmt.Errorf("find disks under %s: %w", name, err)
	}
	return Device{Name: kernel, Leaves: leaves}, nil
}

// Command returns the command name of a process, from /proc/PID/comm.
func Command(procRoot string, pid int) (string, error) {
	data, err := os.ReadFile(filepath.Join(procRoot, fmt.Sprint(pid), "comm"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no process %d", pid)
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(data)), nil
}
