package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Device is the block device under a directory.
type Device struct {
	// Name is the device that holds the filesystem: "vda", "nvme0n1p2", "md0".
	// Its figures are the ones of record.
	Name string
	// Leaves are the whole physical disks beneath, each once; only Name itself
	// if that is one.
	Leaves []string
	// Mount is the directory on which the filesystem is mounted.
	Mount string
	// FSType is the kind of filesystem: "ext4", "xfs".
	FSType string
	// MountOptions are separated by commas: "rw,noatime,discard".
	MountOptions string
}

// ErrNoDevice is wrapped by errors that tell why there is no single block
// device under a directory, so that its storage traffic cannot be counted.
var ErrNoDevice = errors.New("no block device")

// machine is where the kernel shows itself; tests point it at fixtures.
type machine struct{ proc, sys, dev, etc string }

func thisMachine() machine { return machine{"/proc", "/sys", "/dev", "/etc"} }

// FindDevice finds the block device under an existing directory. Without one
// the error is ErrNoDevice, and the device still tells mount and filesystem.
func FindDevice(dir string) (Device, error) {
	return thisMachine().findDevice(dir)
}

func (m machine) findDevice(dir string) (Device, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Device{}, fmt.Errorf("find device of %s: %w", dir, err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return Device{}, fmt.Errorf("find device: %w", err)
	}
	var stat unix.Stat_t
	if err := unix.Stat(dir, &stat); err != nil {
		return Device{}, fmt.Errorf("find device of %s: %w", dir, err)
	}
	return m.deviceOf(dir, unix.Major(stat.Dev), unix.Minor(stat.Dev))
}

// deviceOf finds the device of a directory from the device number of its files.
func (m machine) deviceOf(dir string, major, minor uint32) (Device, error) {
	mounted, err := findMount(m.proc, dir)
	if err != nil {
		return Device{}, fmt.Errorf("find device of %s: %w", dir, err)
	}
	d := Device{Mount: mounted.point, FSType: mounted.fsType, MountOptions: mounted.options}
	path, err := m.sysPath(mounted, major, minor)
	if err != nil {
		return d, fmt.Errorf("%w under %s: %w", ErrNoDevice, dir, err)
	}
	name := filepath.Base(path)
	if err := m.alone(name); err != nil {
		return d, fmt.Errorf("%w under %s: %w", ErrNoDevice, dir, err)
	}
	leaves, err := physical(path)
	if err != nil {
		return d, fmt.Errorf("find disks under %s: %w", name, err)
	}
	d.Name, d.Leaves = name, leaves
	return d, nil
}

// sysPath returns the device's own directory under /sys/devices. Filesystems
// that are not one to one with a device number their files by themselves
// (major 0); some of them still tell the device that they are mounted from.
func (m machine) sysPath(mounted mount, major, minor uint32) (string, error) {
	if major != 0 {
		return filepath.EvalSymlinks(filepath.Join(m.sys, "dev", "block", fmt.Sprintf("%d:%d", major, minor)))
	}
	node, isNode := strings.CutPrefix(mounted.source, "/dev/")
	if !isNode {
		return "", fmt.Errorf("%s is a %s, mounted from %q, which is no device", mounted.point, mounted.fsType, mounted.source)
	}
	// Names like /dev/mapper/vg-data are links to the kernel's own name.
	device, err := filepath.EvalSymlinks(filepath.Join(m.dev, node))
	if err != nil {
		return "", err
	}
	return m.block(filepath.Base(device))
}

// block returns a block device's own directory.
func (m machine) block(name string) (string, error) {
	return filepath.EvalSymlinks(filepath.Join(m.sys, "class", "block", name))
}

// alone refuses a device that shares its btrfs with others: the mount tells
// only one of them, which has a part of the traffic.
func (m machine) alone(name string) error {
	own, err := filepath.Glob(filepath.Join(m.sys, "fs", "btrfs", "*", "devices", name))
	if err != nil || len(own) == 0 {
		return err
	}
	all, err := os.ReadDir(filepath.Dir(own[0]))
	if err != nil {
		return err
	}
	if len(all) > 1 {
		return fmt.Errorf("its btrfs spans %d devices, of which %s is one", len(all), name)
	}
	return nil
}

// physical lists the whole disks beneath the device with that directory: the
// members of an array or volume, the disk of a partition, or the device itself.
func physical(path string) ([]string, error) {
	if isPartition(path) {
		return physical(filepath.Dir(path))
	}
	members, err := os.ReadDir(filepath.Join(path, "slaves"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if len(members) == 0 {
		return []string{filepath.Base(path)}, nil
	}
	var disks []string
	for _, member := range members {
		below, err := filepath.EvalSymlinks(filepath.Join(path, "slaves", member.Name()))
		if err != nil {
			return nil, err
		}
		more, err := physical(below)
		if err != nil {
			return nil, err
		}
		disks = append(disks, more...)
	}
	slices.Sort(disks)
	return slices.Compact(disks), nil
}

func isPartition(path string) bool {
	_, err := os.Stat(filepath.Join(path, "partition"))
	return err == nil
}

// SyncDir writes everything dirty of the filesystem that holds the directory
// to its device, and waits for it.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync filesystem: %w", err)
	}
	defer d.Close()
	if err := unix.Syncfs(int(d.Fd())); err != nil {
		return fmt.Errorf("sync filesystem of %s: %w", dir, err)
	}
	return nil
}
