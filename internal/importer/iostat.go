package importer

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

type iostat struct {
	*input
	kernel  string
	cpus    int
	columns ioColumns // of all headers of a report
	reports []ioReport
	joined  bool // option -s: reads and writes are added up
	human   bool // option -h: figures have two or three digits
	zeros   bool // idle devices have lines: there is no option -z

	// The context of the lines that follow.
	when    time.Time
	cpuNext bool              // the next line holds the figures of the CPU
	devices bool              // the lines hold figures of devices
	part    ioColumns         // of the last header
	name    string            // of the device whose figures are on the next line
	names   map[string]string // interned names of devices: a substring keeps its whole line in memory
}

// ioReport is one report: the CPU and the devices over one interval.
type ioReport struct {
	when    time.Time // end of the interval; zero without option -t
	busy    float64   // user + nice + system, percent of all CPUs; -1: unknown
	headed  bool      // it has a header of devices
	devices []ioDevice
}

// The figures of a device.
const (
	ioReads = iota
	ioReadKB
	ioWrites
	ioWriteKB
	ioDiscardKB
	ioFigureCount
)

// ioDevice holds a device's figures in a report, per second; -1: unknown.
type ioDevice struct {
	name   string
	values [ioFigureCount]float64
}

// ioColumns are the positions of the relevant columns in a header, which differ
// between releases of iostat; -1: no such column.
type ioColumns struct {
	count     int
	device    int // the position of the device's name
	positions [ioFigureCount]int
	factor    float64 // to KB; 0: no column has a unit
}

func (c *ioColumns) scale(figure int) float64 {
	if figure == ioReads || figure == ioWrites {
		return 1
	}
	return c.factor
}

// ioUnits are the names of the columns in each unit of iostat, with its factor to KB: kB (option -k, and
// the default since 2020), MB (-m), and sectors or blocks of 512 bytes. A kB is
// always 1024 bytes.
var ioUnits = map[[ioFigureCount]string]float64{
	{"r/s", "rkB/s", "w/s", "wkB/s", "dkB/s"}:                1,
	{"r/s", "rMB/s", "w/s", "wMB/s", "dMB/s"}:                1024,
	{"r/s", "rsec/s", "w/s", "wsec/s", "dsec/s"}:             0.5,
	{"r/s", "kB_read/s", "w/s", "kB_wrtn/s", "kB_dscd/s"}:    1,
	{"r/s", "MB_read/s", "w/s", "MB_wrtn/s", "MB_dscd/s"}:    1024,
	{"r/s", "Blk_read/s", "w/s", "Blk_wrtn/s", "Blk_dscd/s"}: 0.5,
}

// newIOColumns returns the columns of a header; ok is false for a header without a
// known unit, or with two. Option -h splits the columns into several headers, the last
// of which has no unit, and puts the names last.
func newIOColumns(header []string) (c ioColumns, ok bool) {
	c = ioColumns{count: len(header), positions: [...]int{-1, -1, -1, -1, -1}}
	last := !strings.HasPrefix(header[0], "Device")
	if last {
		c.device = len(header) - 1
	}
	units := 0
	for names, factor := range ioUnits {
		var found [ioFigureCount]int
		for i, name := range names {
			found[i] = slices.Index(header, name)
		}
		if max(found[ioReadKB], found[ioWriteKB], found[ioDiscardKB]) >= 0 {
			units++
			c.factor, c.positions = factor, found
		}
	}
	return c, units == 1 || units == 0 && (last || isJoined(header))
}

// isJoined reports whether a header is that of option -s, which adds reads and writes.
func isJoined(header []string) bool {
	return slices.Contains(header, "tps") && slices.ContainsFunc(header, func(name string) bool {
		return name == "kB/s" || name == "MB/s" || name == "sec/s" || strings.HasSuffix(name, "_w+d/s")
	})
}

// isDevices recognises the header of devices.
var isDevices = regexp.MustCompile(`^Device.*/s|/s.* Device *$`).MatchString

var isIOStat = anyLine(`^avg-cpu:|^Device.*/s|/s.* Device *$`)

func parseIOStat(f *file, ps *hint.Problems) *iostat {
	s := &iostat{input: &input{file: f, ps: ps}, names: map[string]string{}}
	usable(func() { s.each(s.line) })
	idle := !s.zeros && !s.devices // the last report ended, and may lack devices
	if n := len(s.reports); n > 1 && !s.reports[n-1].covers(&s.reports[n-2], &s.columns, idle) {
		s.reports = s.reports[:n-1] // cut off between two lines
	}
	if s.columns.count > 0 {
		s.reports = slices.DeleteFunc(s.reports, func(r ioReport) bool {
			return len(r.devices) == 0 && (s.zeros || !r.headed)
		})
	} else if !s.faulty {
		s.lineNumber = 0
		s.problem("run it as iostat -y -kx SECONDS", "no line begins with Device: it is not a device report of iostat")
	}
	return s
}

func (s *iostat) line(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) == 0 && s.name != "":
		s.bad([]string{s.name}, "a device's figures")
	case len(words) == 0:
		s.devices = false
	case words[0] == "Linux":
		s.banner(line)
	case words[0] == "avg-cpu:":
		s.report()
		s.cpuNext = true
	case s.cpuNext:
		s.cpuNext = false
		if busy, ok := sumOf(words[:min(3, len(words))]); ok && len(words) >= 5 { // with -h they end in %
			s.reports[len(s.reports)-1].busy = busy
		} else if !s.last {
			s.bad(words, "the figures of the CPU")
		}
	case isDevices(line):
		s.header(words)
	case s.devices:
		s.device(words)
	default:
		t, ok := timestamp(line)
		s.refuseIf(!ok && !s.last, "", "%q is not a line of iostat", clip(line)) // the last one may be cut off
		if ok {
			s.when, s.devices = t, false
		}
	}
}

// banner takes the first line: Linux RELEASE (HOST) DATE _ARCHITECTURE_ (N CPU).
func (s *iostat) banner(line string) {
	if words := strings.Fields(line); len(words) > 1 {
		s.kernel = words[1]
	}
	n, _ := textBetween(line[max(0, strings.LastIndex(line, "(")):], "(", " CPU")
	if cpus, ok := wholeNumber(n); ok {
		s.cpus = int(cpus)
	}
}

// report begins a report, unless its CPU line has begun it.
func (s *iostat) report() {
	s.reports = append(s.reports, ioReport{when: s.when, busy: -1})
	s.devices = false
}

func (s *iostat) header(words []string) {
	c, ok := newIOColumns(words)
	s.refuseIf(!ok, "run iostat with -k", "the columns %s have no known unit: kB, MB or sectors per second",
		strings.Join(words, " "))
	s.refuseIf(s.columns.count != 0 && !s.columns.allows(c), "the files of two runs were concatenated",
		"the columns differ from earlier ones: the file mixes layouts or units")
	if n := len(s.reports); n == 0 || c.device == 0 && s.reports[n-1].headed || s.reports[n-1].hasFigures(c) {
		s.report() // without CPU figures: option -d
	}
	if s.joined = isJoined(words); s.columns.count == 0 {
		s.columns = c
	}
	for i := range c.positions {
		s.columns.positions[i] = max(s.columns.positions[i], c.positions[i])
	}
	s.columns.factor = max(s.columns.factor, c.factor)
	s.reports[len(s.reports)-1].headed = true
	s.part, s.devices, s.name = c, true, ""
}

// allows reports whether a header may follow those that were read: the same, or another
// part of one that option -h splits.
func (c ioColumns) allows(next ioColumns) bool {
	if c.device == 0 || next.device == 0 {
		return c == next
	}
	return c.factor == 0 || next.factor == 0 || c.factor == next.factor
}

// hasFigures reports whether a report has figures of these columns.
func (r *ioReport) hasFigures(c ioColumns) bool {
	return slices.ContainsFunc(r.devices, func(d ioDevice) bool { return c.device == 0 || d.countFigures(c) > 0 })
}

// covers reports whether a report has all devices of the one before, or some are idle, and all figures.
func (r *ioReport) covers(previous *ioReport, c *ioColumns, idle bool) bool {
	figures := 0
	for _, position := range c.positions {
		if position >= 0 {
			figures++
		}
	}
	return (idle || len(r.devices) >= len(previous.devices)) &&
		!slices.ContainsFunc(r.devices, func(d ioDevice) bool { return d.countFigures(*c) < figures })
}

// countFigures returns how many of the columns' figures a device has.
func (d *ioDevice) countFigures(c ioColumns) (n int) {
	for i, position := range c.positions {
		if position >= 0 && d.values[i] >= 0 {
			n++
		}
	}
	return n
}

func (s *iostat) device(words []string) {
	c := &s.part
	if len(words) == 1 && !s.last && s.name == "" { // old releases with -h: the figures are on the next line
		s.name = words[0]
		return
	}
	if s.name != "" && len(words) == c.count-1 {
		words = append([]string{s.name}, words...)
	}
	s.name = ""
	if len(words) != c.count {
		s.bad(words, "a device's figures")
		return
	}
	name, interned := s.names[words[c.device]]
	if !interned {
		name = strings.Clone(words[c.device])
		s.names[name] = name
	}
	busy := func(w string) bool { return w != name && strings.ContainsAny(w, "123456789") }
	s.zeros = s.zeros || !slices.ContainsFunc(words, busy)
	d := s.reports[len(s.reports)-1].device(name)
	s.refuseIf(d.countFigures(*c) > 0, "", "device %s is twice in the report", name)
	for i, position := range c.positions {
		if position < 0 {
			continue
		}
		v, human, ok := c.number(i, words[position])
		if !ok {
			s.bad(words, "a device's figures")
			return
		}
		d.values[i], s.human = v, s.human || human
	}
}

// device returns the device of a report, a new one if it is not there yet.
func (r *ioReport) device(name string) *ioDevice {
	i := slices.IndexFunc(r.devices, func(d ioDevice) bool { return d.name == name })
	if i < 0 {
		i = len(r.devices)
		r.devices = append(r.devices, ioDevice{name, [...]float64{-1, -1, -1, -1, -1}})
	}
	return &r.devices[i]
}

// number parses a figure, which option -h prints with a unit.
func (c *ioColumns) number(figure int, word string) (v float64, human, ok bool) {
	n := len(word) - 1
	if exp := strings.IndexByte("BkMGTP", word[n]); exp >= 0 && figure != ioReads && figure != ioWrites {
		v, ok = positiveNumber(word[:n])
		return v * math.Pow(1024, float64(exp-1)), true, ok
	}
	v, ok = positiveNumber(word)
	return v * c.scale(figure), false, ok
}

// bad refuses a line that cannot be read. If it is the last one, iostat was ended
// while writing, and its report is left out instead.
func (s *iostat) bad(words []string, subject string) {
	if s.last {
		s.reports = s.reports[:len(s.reports)-1]
		return
	}
	text, hint := strings.Join(words, " "), ""
	if strings.Contains(text, ",") {
		hint = "run iostat with LC_ALL=C, so that its numbers have a decimal point"
	}
	s.refuse(hint, "%q are not %s: %d numbers were expected", clip(text), subject, s.part.count-1)
}

// inMemory matches the names of devices that are no disks.
var inMemory = regexp.MustCompile(`^(loop|ram|zram|sr|fd)\d*$`)

// used returns the names of devices with any I/O, except those in memory.
func (s *iostat) used() (names []string) {
	for _, r := range s.reports {
		for _, d := range r.devices {
			active := slices.ContainsFunc(d.values[:ioDiscardKB], func(v float64) bool { return v > 0 })
			if active && !inMemory.MatchString(d.name) && !slices.Contains(names, d.name) {
				names = append(names, d.name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(quantity.Natural(a, b), cmp.Compare(a, b)) })
	return names
}

func (s *iostat) hasDevice(device string) bool {
	return slices.ContainsFunc(s.reports, func(r ioReport) bool {
		return slices.ContainsFunc(r.devices, func(d ioDevice) bool { return d.name == device })
	})
}

func sumOf(words []string) (sum float64, ok bool) {
	for _, w := range words {
		v, ok := positiveNumber(strings.TrimSuffix(w, "%"))
		if !ok {
			return 0, false
		}
		sum += v
	}
	return sum, len(words) > 0
}
