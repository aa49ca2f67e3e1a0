package observe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"rumbench/engine"
)

// sector is the unit of /proc/diskstats in bytes, whatever the device's own.
const sector = 512

// discardsAreWrites is the doubt of kernels before 4.18.
const discardsAreWrites = "discards are counted as writes on this kernel"

// DeviceCollector collects a device's line of /proc/diskstats.
//
// The names begin with "device." for the device of record. If there are other
// disks beneath, theirs begin with "device.leaf.": what is written to a RAID-1
// is on the array once and on its members twice, and must never be added up.
type DeviceCollector struct {
	disks    []disk
	stats    string // path of diskstats
	warnings []string
}

// disk is a device whose line is sampled.
type disk struct {
	name   string
	labels string
	series *[diskFields]diskSeries
	// The kernel counts flushes on whole physical disks only; elsewhere the
	// fields are there and stay zero.
	flushes bool
}

// NewDevice returns a collector of the device's counters; the roots are
// "/proc" and "/sys".
func NewDevice(dev Device, procRoot, sysRoot string) *DeviceCollector {
	c := &DeviceCollector{stats: filepath.Join(procRoot, "diskstats")}
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
	if data, err := os.ReadFile(c.stats); err == nil {
		if fields, err := diskLine(string(data), dev.Name); err == nil && len(fields) < 15 {
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

// Warnings are the doubts about the device's figures.
func (c *DeviceCollector) Warnings() []string { return c.warnings }

// Collect adds the points of the device and of the disks beneath it.
func (c *DeviceCollector) Collect(_ context.Context, s *engine.Sample) error {
	data, err := os.ReadFile(c.stats)
	if err != nil {
		return fmt.Errorf("sample device: %w", err)
	}
	lines := string(data)
	for i := range c.disks {
		fields, err := diskLine(lines, c.disks[i].name)
		if err != nil {
			return fmt.Errorf("sample device: %w", err)
		}
		if err := c.disks[i].sample(fields, s); err != nil {
			return fmt.Errorf("sample device %s: %w", c.disks[i].name, err)
		}
	}
	return nil
}

// diskFields is how many fields of a line become points.
const diskFields = 13

// diskSeries tells what a field of a line means.
type diskSeries struct {
	field int // position in the line, from 0; the name of the device is 2
	name  string
	kind  engine.CounterKind
	unit  string
	scale float64
}

// seriesOf names the fields, see the kernel's Documentation/admin-guide/iostats.rst.
func seriesOf(prefix string) *[diskFields]diskSeries {
	const ms = 1e6 // in ns
	return &[diskFields]diskSeries{
		{3, prefix + "reads", engine.Counter, "count", 1},
		{5, prefix + "read_bytes", engine.Counter, "bytes", sector},
		{6, prefix + "read_ns", engine.Counter, "ns", ms},
		{7, prefix + "writes", engine.Counter, "count", 1},
		{9, prefix + "write_bytes", engine.Counter, "bytes", sector},
		{10, prefix + "write_ns", engine.Counter, "ns", ms},
		{11, prefix + "in_flight", engine.Gauge, "count", 1},
		{12, prefix + "busy_ns", engine.Counter, "ns", ms},
		{13, prefix + "queue_ns", engine.Counter, "ns", ms}, // requests × time
		{14, prefix + "discards", engine.Counter, "count", 1},
		{16, prefix + "discard_bytes", engine.Counter, "bytes", sector},
		{17, prefix + "discard_ns", engine.Counter, "ns", ms},
		{flushField, prefix + "flushes", engine.Counter, "count", 1},
	}
}

const flushField = 18

// sample adds the points that the line has: kernels before 4.18 count no
// discards (14 fields), before 5.5 no flushes (18 fields).
func (d *disk) sample(fields []string, s *engine.Sample) error {
	for _, series := range d.series {
		if series.field >= len(fields) || series.field == flushField && !d.flushes {
			continue
		}
		n, err := strconv.ParseUint(fields[series.field], 10, 64)
		if err != nil {
			return fmt.Errorf("field %d: %w", series.field+1, err)
		}
		s.Points = append(s.Points, engine.Point{
			Name: series.name, Labels: d.labels, Kind: series.kind, Unit: series.unit, Value: float64(n) * series.scale,
		})
	}
	return nil
}

// diskLine returns the fields of a device's line in /proc/diskstats.
func diskLine(lines, name string) ([]string, error) {
	for line := range strings.Lines(lines) {
		// Only the device's own line is worth splitting.
		if !strings.Contains(line, name) {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != name {
			continue
		}
		if len(fields) < 14 {
			return nil, fmt.Errorf("%s has a line of %d fields in diskstats, expected 14 or more", name, len(fields))
		}
		return fields, nil
	}
	return nil, fmt.Errorf("%s is not in diskstats", name)
}
