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
	// Its figures are the ones that are reported.
	Name string
	// Leaves are the whole physical disks beneath it, each once; only Name
	// itself if that is one.
	Leaves []string
	// Mount is the directory on which the filesystem is mounted.
	Mount string
	// FSType is the kind of filesystem: "ext4", "xfs".
	FSType string
	// MountOptions is a comma-separated list: "rw,noatime,discard".
	MountOptions string
}

// ErrNoDevice is wrapped by errors that state why there is no single block
// device under a directory, so that its I/O cannot be measured.
var ErrNoDevice = errors.New("no block device")

// machine holds the roots of the kernel's filesystems; tests use fixtures.
type machine struct{ proc, sys, dev, etc string }

func thisMachine() machine { return machine{"/proc", "/sys", "/dev", "/etc"} }

// FindDevice returns the block device under an existing directory. If there is
// none, the error is ErrNoDevice, and the device still has mount and filesystem.
func FindDevice(dir string) (Device, error) { return thisMachine().findDevice(dir) }

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

// deviceOf returns the device of a directory from the device number of its files.
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

// DeviceNamed returns a block device by its name, such as "vda", "/dev/vda" or
// "/dev/mapper/vg-data", without its mounts.
func DeviceNamed(name string) (Device, error) { return thisMachine().deviceNamed(name) }

func (m machine) deviceNamed(name string) (Device, error) {
	kernel := strings.TrimPrefix(name, "/dev/")
	if kernel != name {
		if own, err := m.kernelName(kernel); err == nil {
			kernel = own
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

// kernelName returns the kernel's own name of a device below /dev: names like
// mapper/vg-data are links to it.
func (m machine) kernelName(node string) (string, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(m.dev, node))
	return filepath.Base(path), err
}

// sysPath returns the device's directory under /sys/devices. Filesystems that
// do not correspond to one device have their own device numbers (major 0); some
// of them still report the device that they are mounted from.
func (m machine) sysPath(mounted mount, major, minor uint32) (string, error) {
	if major != 0 {
		return filepath.EvalSymlinks(filepath.Join(m.sys, "dev", "block", fmt.Sprintf("%d:%d", major, minor)))
	}
	node, isNode := strings.CutPrefix(mounted.source, "/dev/")
	if !isNode {
		return "", fmt.Errorf("%s is a %s, mounted from %q, which is not a device", mounted.point, mounted.fsType,
			mounted.source)
	}
	device, err := m.kernelName(node)
	if err != nil {
		return "", err
	}
	return m.block(device)
}

// block returns a block device's directory.
func (m machine) block(name string) (string, error) {
	return filepath.EvalSymlinks(filepath.Join(m.sys, "class", "block", name))
}

// alone refuses a device that shares its btrfs with others: the mount names only
// one of them, which has only a part of the I/O.
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

// physical returns the whole disks beneath the device with this directory: the
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
		extra, err := physical(below)
		if err != nil {
			return nil, err
		}
		disks = append(disks, extra...)
	}
	slices.Sort(disks)
	return slices.Compact(disks), nil
}

func isPartition(path string) bool {
	_, err := os.Stat(filepath.Join(path, "partition"))
	return err == nil
}

// SyncDir flushes the dirty pages of the filesystem that holds the directory, and
// waits until they are written.
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

// mount is a line of /proc/self/mountinfo.
type mount struct {
	point   string // the directory
	fsType  string
	source  string // "/dev/vda", "tmpfs", "server:/export"…
	options string // as mounted there and of the filesystem, in the kernel's order
}

// findMount returns the mount that holds a directory. The directory's path has no
// symbolic links.
func findMount(procRoot, dir string) (mount, error) {
	data, err := os.ReadFile(filepath.Join(procRoot, "self", "mountinfo"))
	if err != nil {
		return mount{}, err
	}
	mounts, err := parseMounts(string(data))
	if err != nil {
		return mount{}, err
	}
	var best mount
	for _, m := range mounts {
		// The last mount on a mount point hides the others.
		if under(dir, m.point) && len(m.point) >= len(best.point) {
			best = m
		}
	}
	if best.point == "" {
		return mount{}, fmt.Errorf("no mount holds %s", dir)
	}
	return best, nil
}

func under(dir, point string) bool {
	return point == "/" || dir == point || strings.HasPrefix(dir, point+"/")
}

// parseMounts parses lines like
//
//	36 35 98:0 /root /data rw,noatime shared:1 - ext4 /dev/vda rw,discard
//
// with six fields and any number of optional ones before the dash.
func parseMounts(text string) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		dash := 6
		for dash < len(fields) && fields[dash] != "-" {
			dash++
		}
		if dash+1 >= len(fields) {
			return nil, fmt.Errorf("parse mountinfo: unexpected line %q", line)
		}
		m := mount{point: unescape(fields[4]), fsType: fields[dash+1]}
		if dash+2 < len(fields) {
			m.source = unescape(fields[dash+2])
		}
		m.options = fields[5]
		if dash+3 < len(fields) {
			m.options = join(fields[5], fields[dash+3])
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// join adds to the mount's options those of the filesystem that it lacks.
func join(own, super string) string {
	all := strings.Split(own, ",")
	mounted := all
	for o := range strings.SplitSeq(super, ",") {
		// A read-only mount of a writable filesystem is read-only.
		if o != "rw" && !slices.Contains(mounted, o) {
			all = append(all, o)
		}
	}
	return strings.Join(all, ",")
}

// unescape undoes the kernel's octal escapes of separators.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace
