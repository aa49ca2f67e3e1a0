package observe

import (
	"context"
	"fmt"
	"slices"

	"github.com/prometheus/procfs/blockdevice"

	"rumbench/engine"
)

// sector is the unit of /proc/diskstats in bytes, whatever the device's sector size.
const sector = 512

// discardsAreWrites is the warning about kernels before 4.18.
const discardsAreWrites = "discards are counted as writes on this kernel"

// DeviceCollector collects a device's line of /proc/diskstats.
//
// The names begin with "device." for the device itself. If there are other disks
// beneath it, theirs begin with "device.leaf.": what is written to a RAID-1 counts
// once for the array and twice for its members, and must not be added up.
type DeviceCollector struct {
	disks     []disk
	proc, sys string
	warnings  []string
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

// diskstats reads /proc/diskstats.
func diskstats(procRoot, sysRoot string) ([]blockdevice.Diskstats, error) {
	kernel, err := blockdevice.NewFS(procRoot, sysRoot)
	if err != nil {
		return nil, err
	}
	return kernel.ProcDiskstats()
}

// named returns the line of a device, nil if there is none.
func named(all []blockdevice.Diskstats, name string) *blockdevice.Diskstats {
	for i := range all {
		if all[i].DeviceName == name {
			return &all[i]
		}
	}
	return nil
}

// countsDiscards reports whether the kernel counts discards.
func countsDiscards(d *blockdevice.Diskstats) bool { return d.IoStatsCount >= 18 }

// NewDevice returns a collector of the device's counters; the roots are
// "/proc" and "/sys".
func NewDevice(dev Device, procRoot, sysRoot string) *DeviceCollector {
	c := &DeviceCollector{proc: procRoot, sys: sysRoot}
	c.add(dev.Name, seriesOf("device."), slices.Contains(dev.Leaves, dev.Name))
	for _, leaf := range dev.Leaves {
		if leaf != dev.Name {
			c.add(leaf, seriesOf("device.leaf."), true)
		}
	}
	for _, d := range c.disks {
		if text(sysRoot, "class", "block", d.name, "queue", "iostats") == "0" {
			c.warnings = append(c.warnings, fmt.Sprintf("%s may not count its I/O: queue/iostats is 0", d.name))
		}
	}
	if all, err := diskstats(procRoot, sysRoot); err == nil {
		if d := named(all, dev.Name); d != nil && !countsDiscards(d) {
			c.warnings = append(c.warnings, discardsAreWrites)
		}
	}
	return c
}

func (c *DeviceCollector) add(name string, series *[diskFields]diskSeries, flushes bool) {
	c.disks = append(c.disks, disk{name: name, labels: `dev="` + name + `"`, series: series, flushes: flushes})
}

// Name is "device".
func (c *DeviceCollector) Name() string { return "device" }

// Warnings returns warnings about the device's figures.
func (c *DeviceCollector) Warnings() []string { return c.warnings }

// Collect adds the points of the device and of the disks beneath it.
func (c *DeviceCollector) Collect(_ context.Context, s *engine.Sample) error {
	all, err := diskstats(c.proc, c.sys)
	if err != nil {
		return fmt.Errorf("sample device: %w", err)
	}
	for i := range c.disks {
		d := named(all, c.disks[i].name)
		if d == nil {
			return fmt.Errorf("sample device: %s is not in diskstats, or has less than 14 fields there", c.disks[i].name)
		}
		c.disks[i].sample(d, s)
	}
	return nil
}

// diskFields is the number of fields of a line that become points.
const diskFields = 13

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
	}
}

// sample adds the points that the line has.
func (d *disk) sample(b *blockdevice.Diskstats, s *engine.Sample) {
	for i, v := range [diskFields]uint64{
		b.ReadIOs, b.ReadSectors, b.ReadTicks, b.WriteIOs, b.WriteSectors, b.WriteTicks, b.IOsInProgress, b.IOsTotalTicks, b.WeightedIOTicks,
		b.DiscardIOs, b.DiscardSectors, b.DiscardTicks, b.FlushRequestsCompleted,
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
