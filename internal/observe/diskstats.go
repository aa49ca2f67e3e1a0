package observe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/prometheus/procfs/blockdevice"

	"rumbench/engine"
)

// sector is the unit of /proc/diskstats in bytes, whatever the device's sector size.
const sector = 512

// Disks collects the lines of /proc/diskstats of a device and the disks beneath it,
// or of all disks.
type Disks struct {
	machine
	disks    []*disk  // nil: all physical disks that exist at the time of a sample
	except   []string // of all disks
	known    map[string]*disk
	warnings []string
}

// disk is a device whose line is sampled.
type disk struct {
	name   string
	labels string
	series *[diskFields]diskSeries
	// The kernel counts flushes on whole physical disks only; on other devices
	// the fields exist and stay zero.
	flushes bool
}

func newDisk(name, prefix string, flushes bool) *disk {
	return &disk{name: name, labels: `dev="` + name + `"`, series: seriesOf(prefix), flushes: flushes}
}

// NewDisks returns a collector of all whole physical disks with some exceptions; the
// roots are "/proc" and "/sys". Arrays, volumes and partitions are left out: writes
// to them are also writes to a disk, and would be counted twice.
func NewDisks(procRoot, sysRoot string, except ...string) *Disks {
	return &Disks{machine: machine{proc: procRoot, sys: sysRoot}, except: except, known: make(map[string]*disk)}
}

// NewDevice returns a collector of the device's counters; the roots are "/proc"
// and "/sys".
//
// The names begin with "device." for the device itself. If there are other
// disks beneath it, theirs begin with "device.leaf.": a write to a RAID-1
// counts once for the array and twice for its members, and these must not be
// added up.
func NewDevice(dev Device, procRoot, sysRoot string) *Disks {
	d := &Disks{machine: machine{proc: procRoot, sys: sysRoot}}
	d.disks = []*disk{newDisk(dev.Name, "device.", slices.Contains(dev.Leaves, dev.Name))}
	for _, leaf := range dev.Leaves {
		if leaf != dev.Name {
			d.disks = append(d.disks, newDisk(leaf, "device.leaf.", true))
		}
	}
	for _, one := range d.disks {
		if Text(sysRoot, "class/block", one.name, "queue/iostats") == "0" {
			d.warnings = append(d.warnings, fmt.Sprintf("%s may not count its I/O: queue/iostats is 0", one.name))
		}
	}
	if warning := d.discardWarning(dev.Name); warning != "" {
		d.warnings = append(d.warnings, warning)
	}
	return d
}

// discardWarning returns a warning about the kernel's accounting of discards, "" if
// it is right.
func (m machine) discardWarning(device string) string {
	devices, _ := m.diskstats()
	if d := named(devices, device); d != nil && d.IoStatsCount < 18 {
		return "discards are counted as writes on this kernel" // before 4.18
	}
	return ""
}

func (m machine) diskstats() ([]blockdevice.Diskstats, error) {
	kernel, err := blockdevice.NewFS(m.proc, m.sys)
	if err != nil {
		return nil, err
	}
	return kernel.ProcDiskstats()
}

// named returns the line of a device, nil if there is none.
func named(devices []blockdevice.Diskstats, name string) *blockdevice.Diskstats {
	for i := range devices {
		if devices[i].DeviceName == name {
			return &devices[i]
		}
	}
	return nil
}

// Name returns "device".
func (d *Disks) Name() string { return "device" }

// Warnings returns warnings about the device's figures.
func (d *Disks) Warnings() []string { return d.warnings }

// Collect adds the points of the disks.
func (d *Disks) Collect(_ context.Context, s *engine.Sample) error {
	devices, err := d.diskstats()
	if err != nil {
		return fmt.Errorf("sample device: %w", err)
	}
	disks := d.disks
	if disks == nil {
		disks = d.physical(devices)
	}
	for _, one := range disks {
		line := named(devices, one.name)
		if line == nil {
			return fmt.Errorf("sample device: %s is not in diskstats, or has fewer than 14 fields", one.name)
		}
		one.sample(line, s)
	}
	return nil
}

// physical returns the whole physical disks among the devices.
func (d *Disks) physical(devices []blockdevice.Diskstats) (disks []*disk) {
	for i := range devices {
		name := devices[i].DeviceName
		one, found := d.known[name]
		if !found {
			if d.isPhysical(name) {
				one = newDisk(name, "device.", true)
			}
			d.known[name] = one
		}
		if one != nil {
			disks = append(disks, one)
		}
	}
	return disks
}

func (d *Disks) isPhysical(name string) bool {
	dir := filepath.Join(d.sys, "class/block", name)
	// Only devices with a driver have "device"; a drive without a medium has size 0.
	_, err := os.Stat(filepath.Join(dir, "device"))
	return err == nil && Text(dir, "size") != "0" && !slices.Contains(d.except, name) && !isPartition(dir)
}

// diskFields is the number of fields of a line that become points.
const diskFields = 14

// diskSeries describes the series of a field of a line.
type diskSeries struct {
	fields int // the least fields of a line with this one: kernels before 4.18 write 14, before 5.5 18
	name   string
	kind   engine.CounterKind
	unit   string
	scale  float64
}

// seriesOf returns the series of the fields, in the order of sample; see the
// kernel's Documentation/admin-guide/iostats.rst.
func seriesOf(prefix string) *[diskFields]diskSeries {
	const ms = 1e6 // in ns
	return &[diskFields]diskSeries{
		{14, prefix + "reads", engine.Counter, "count", 1},
		{14, prefix + "read_bytes", engine.Counter, "bytes", sector},
		{14, prefix + "read_ns", engine.Counter, "ns", ms},
		{14, prefix + "writes", engine.Counter, "count", 1},
		{14, prefix + "write_bytes", engine.Counter, "bytes", sector},
		{14, prefix + "write_ns", engine.Counter, "ns", ms},
		{14, prefix + "in_flight", engine.Gauge, "count", 1},
		{14, prefix + "busy_ns", engine.Counter, "ns", ms},
		{14, prefix + "queue_ns", engine.Counter, "ns", ms}, // requests × time
		{18, prefix + "discards", engine.Counter, "count", 1},
		{18, prefix + "discard_bytes", engine.Counter, "bytes", sector},
		{18, prefix + "discard_ns", engine.Counter, "ns", ms},
		{20, prefix + "flushes", engine.Counter, "count", 1},
		{20, prefix + "flush_ns", engine.Counter, "ns", ms},
	}
}

// sample adds the points that the line has.
func (d *disk) sample(b *blockdevice.Diskstats, s *engine.Sample) {
	for i, v := range [diskFields]uint64{
		b.ReadIOs, b.ReadSectors, b.ReadTicks, b.WriteIOs, b.WriteSectors, b.WriteTicks, b.IOsInProgress, b.IOsTotalTicks,
		b.WeightedIOTicks,
		b.DiscardIOs, b.DiscardSectors, b.DiscardTicks, b.FlushRequestsCompleted, b.TimeSpentFlushing,
	} {
		series := &d.series[i]
		if series.fields > b.IoStatsCount || series.fields == 20 && !d.flushes {
			continue
		}
		s.Points = append(s.Points, engine.Point{
			Name: series.name, Labels: d.labels, Kind: series.kind, Unit: series.unit, Value: float64(v) * series.scale,
		})
	}
}
