package importer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rumbench/internal/text/hint"
	"rumbench/internal/text/quantity"
)

// iostat holds the reports of a file of iostat.
type iostat struct {
	*input
	kernel  string
	cpus    int
	columns ioColumns // the same in all headers
	reports []ioReport

	// The context of the lines that follow.
	when    time.Time
	cpuNext bool              // the next line holds the figures of the CPU
	devices bool              // the lines hold figures of devices
	names   map[string]string // interned names of devices: a substring keeps its whole line in memory
}

// ioReport is one report: the CPU and the devices over one interval.
type ioReport struct {
	when    time.Time // end of the interval; zero without option -t
	busy    float64   // user + nice + system, percent of all CPUs; -1: unknown
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
	count  int
	at     [ioFigureCount]int
	factor float64 // to KB
}

// scale returns the factor of a figure to its unit.
func (c *ioColumns) scale(figure int) float64 {
	if figure == ioReads || figure == ioWrites {
		return 1
	}
	return c.factor
}

// ioUnits are the names of the columns in each unit of iostat: kB (option -k, and
// the default since 2020), MB (-m), and sectors or blocks of 512 bytes. A kB is
// always 1024 bytes.
var ioUnits = []struct {
	names  [ioFigureCount]string
	factor float64 // to KB
}{
	{[...]string{"r/s", "rkB/s", "w/s", "wkB/s", "dkB/s"}, 1},
	{[...]string{"r/s", "rMB/s", "w/s", "wMB/s", "dMB/s"}, 1024},
	{[...]string{"r/s", "rsec/s", "w/s", "wsec/s", "dsec/s"}, 0.5},
	{[...]string{"r/s", "kB_read/s", "w/s", "kB_wrtn/s", "kB_dscd/s"}, 1},
	{[...]string{"r/s", "MB_read/s", "w/s", "MB_wrtn/s", "MB_dscd/s"}, 1024},
	{[...]string{"r/s", "Blk_read/s", "w/s", "Blk_wrtn/s", "Blk_dscd/s"}, 0.5},
}

// newIOColumns returns the columns of a header; ok is false for a header without a
// known unit, or with two.
func newIOColumns(header []string) (c ioColumns, ok bool) {
	units := 0
	for _, u := range ioUnits {
		if !slices.Contains(header, u.names[ioReadKB]) || !slices.Contains(header, u.names[ioWriteKB]) {
			continue
		}
		units++
		c = ioColumns{count: len(header), factor: u.factor}
		for i, name := range u.names {
			c.at[i] = slices.Index(header, name)
		}
	}
	return c, units == 1
}

func isIOStat(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "avg-cpu:") || strings.HasPrefix(l, "Device") && strings.Contains(l, "/s")
	})
}

// parseIOStat reads a file of iostat.
func parseIOStat(f *file, ps *hint.Problems) *iostat {
	s := &iostat{input: &input{file: f, ps: ps}, names: map[string]string{}}
	s.each(s.line)
	if s.columns.count == 0 && !s.faulty {
		s.at = 0
		s.problem("run it as iostat -y -kx SECONDS", "no line begins with Device: it is not a device report of iostat")
	}
	return s
}

func (s *iostat) line(line string) {
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		s.devices = false
	case words[0] == "Linux":
		s.banner(line)
	case words[0] == "avg-cpu:":
		s.report()
		s.cpuNext = true
	case s.cpuNext:
		s.cpuNext = false
		if busy, ok := sumOf(words[:min(3, len(words))]); ok && len(words) >= 5 {
			s.reports[len(s.reports)-1].busy = busy
		} else if !s.last {
			s.bad(words, "the figures of the CPU")
		}
	case strings.HasPrefix(words[0], "Device"):
		s.header(words)
	case s.devices:
		s.device(words)
	default:
		if t, ok := timestamp(line); ok {
			s.when, s.devices = t, false
		} else if !s.last { // else cut off in the middle of a line
			s.refuse("", "%q is not a line of iostat", clip(line))
		}
	}
}

// report begins a report, unless its CPU line has begun it.
func (s *iostat) report() {
	s.reports = append(s.reports, ioReport{when: s.when, busy: -1})
	s.devices = false
}

func (s *iostat) header(words []string) {
	columns, ok := newIOColumns(words)
	switch {
	case !ok:
		s.refuse("run iostat with -k", "the columns %s have no known unit: kB, MB or sectors per second",
			strings.Join(words, " "))
		return
	case s.columns.count != 0 && s.columns != columns:
		s.refuse("the files of two runs were concatenated",
			"the columns differ from earlier ones: the file mixes layouts or units")
		return
	}
	if n := len(s.reports); n == 0 || len(s.reports[n-1].devices) > 0 {
		s.report() // without CPU figures: option -d
	}
	s.columns, s.devices = columns, true
}

func (s *iostat) device(words []string) {
	c := &s.columns
	if len(words) != c.count {
		s.bad(words, "a device's figures")
		return
	}
	name, known := s.names[words[0]]
	if !known {
		name = strings.Clone(words[0])
		s.names[name] = name
	}
	d := ioDevice{name: name}
	for i, at := range c.at {
		if d.values[i] = -1; at < 0 {
			continue
		}
		v, ok := positive(words[at])
		if !ok {
			s.bad(words, "a device's figures")
			return
		}
		d.values[i] = v * c.scale(i)
	}
	r := &s.reports[len(s.reports)-1]
	r.devices = append(r.devices, d)
}

// bad refuses a line that cannot be read. If it is the last one, iostat was ended
// while writing, and its report is left out instead.
func (s *iostat) bad(words []string, subject string) {
	if s.last {
		s.reports = s.reports[:len(s.reports)-1]
		return
	}
	hint := ""
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, ",") }) {
		hint = "run iostat with LC_ALL=C, so that its numbers have a decimal point"
	}
	s.refuse(hint, "%q are not %s: %d numbers were expected", clip(strings.Join(words, " ")), subject, s.columns.count-1)
}

// banner parses the first line: Linux RELEASE (HOST) DATE _ARCHITECTURE_ (N CPU).
func (s *iostat) banner(line string) {
	if words := strings.Fields(line); len(words) > 1 {
		s.kernel = words[1]
	}
	if i := strings.LastIndex(line, "("); i >= 0 {
		n, _ := between(line[i:], "(", " CPU")
		if cpus, ok := whole(n); ok {
			s.cpus = int(cpus)
		}
	}
}

// used returns the names of devices with any I/O, except those in memory.
func (s *iostat) used() (names []string) {
	for _, r := range s.reports {
		for _, d := range r.devices {
			pseudo := slices.ContainsFunc([]string{"loop", "ram", "zram", "sr", "fd"}, func(p string) bool {
				rest, ok := strings.CutPrefix(d.name, p)
				return ok && digits(rest)
			})
			active := slices.ContainsFunc(d.values[:ioDiscardKB], func(v float64) bool { return v > 0 })
			if !pseudo && active && !slices.Contains(names, d.name) {
				names = append(names, d.name)
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(quantity.Natural(a, b), cmp.Compare(a, b)) })
	return names
}

// has reports whether the device is in any report.
func (s *iostat) has(device string) bool {
	return slices.ContainsFunc(s.reports, func(r ioReport) bool {
		return slices.ContainsFunc(r.devices, func(d ioDevice) bool { return d.name == device })
	})
}

func sumOf(words []string) (sum float64, ok bool) {
	for _, w := range words {
		v, ok := positive(w)
		if !ok {
			return 0, false
		}
		sum += v
	}
	return sum, len(words) > 0
}

// timestamp parses the time that option -t of iostat and vmstat prints.
func timestamp(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	for _, layout := range []string{
		"2006-01-02T15:04:05-0700", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05",
		"01/02/2006 03:04:05 PM", "01/02/2006 15:04:05", "01/02/06 15:04:05", "01/02/06 03:04:05 PM",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}
