package importer

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"rumbench/internal/quantity"
)

// iostat holds the reports of a file of iostat.
type iostat struct {
	file    *file
	kernel  string
	cpus    int
	columns ioColumns // of the first header
	reports []ioReport
}

// ioReport is one report: the CPU and the devices over one interval.
type ioReport struct {
	when    time.Time // end of the interval; zero without option -t
	busy    float64   // user + nice + system, percent of all CPUs; -1: unknown
	devices []ioDevice
}

// ioDevice holds a device's figures in a report, per second; -1: unknown.
type ioDevice struct {
	name                                      string
	reads, readKB, writes, writeKB, discardKB float64
}

// ioColumns are the positions of the relevant columns in a header, which differ
// between releases of iostat; -1: no such column.
type ioColumns struct {
	count                                     int
	reads, readKB, writes, writeKB, discardKB ioColumn
}

type ioColumn struct {
	at     int
	factor float64 // to KB
}

// ioUnits returns the units of iostat: kB (option -k, and the default since 2020),
// MB (-m), and sectors or blocks of 512 bytes. A kB is always 1024 bytes.
func ioUnits() []struct {
	read, write, discard string
	factor               float64
} {
	return []struct {
		read, write, discard string
		factor               float64
	}{
		{"rkB/s", "wkB/s", "dkB/s", 1},
		{"rMB/s", "wMB/s", "dMB/s", 1024},
		{"rsec/s", "wsec/s", "dsec/s", 0.5},
		{"kB_read/s", "kB_wrtn/s", "kB_dscd/s", 1},
		{"MB_read/s", "MB_wrtn/s", "MB_dscd/s", 1024},
		{"Blk_read/s", "Blk_wrtn/s", "Blk_dscd/s", 0.5},
	}
}

// newIOColumns returns the columns of a header; ok is false for a header without a
// known unit, or with two.
func newIOColumns(header []string) (c ioColumns, ok bool) {
	at := func(name string, factor float64) ioColumn {
		return ioColumn{slices.Index(header, name), factor}
	}
	c.count = len(header)
	c.reads, c.writes = at("r/s", 1), at("w/s", 1)
	c.readKB, c.writeKB, c.discardKB = at("", 1), at("", 1), at("", 1)
	units := 0
	for _, u := range ioUnits() {
		if !slices.Contains(header, u.read) || !slices.Contains(header, u.write) {
			continue
		}
		units++
		c.readKB, c.writeKB, c.discardKB = at(u.read, u.factor), at(u.write, u.factor), at(u.discard, u.factor)
	}
	return c, units == 1
}

func isIOStat(head []string) bool {
	return slices.ContainsFunc(head, func(l string) bool {
		return strings.HasPrefix(l, "avg-cpu:") || strings.HasPrefix(l, "Device") && strings.Contains(l, "/s")
	})
}

// parseIOStat reads a file of iostat.
func parseIOStat(f *file, ps *Problems) *iostat {
	p := ioParser{out: &iostat{file: f}, ps: ps, names: map[string]string{}}
	f.each(ps, func(n int, line string, last bool) bool {
		p.n, p.last = n, last
		return p.line(line)
	})
	out := p.out
	if out.columns.count == 0 && len(*ps) == 0 {
		ps.add(f.path, 0, "run it as iostat -y -kx SECONDS", "no line begins with Device: it is not a device report of iostat")
	}
	return out
}

type ioParser struct {
	out     *iostat
	ps      *Problems
	columns ioColumns
	when    time.Time
	cpuNext bool              // the line holds the figures of the CPU
	devices bool              // the lines hold figures of devices
	n       int               // number of the line, from 1
	last    bool              // it is the last line
	names   map[string]string // interned names of devices: a substring keeps its whole line in memory
}

// line parses a line; it returns false to stop.
func (p *ioParser) line(line string) bool {
	f := p.out.file
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		p.devices = false
	case words[0] == "Linux":
		p.banner(line)
	case words[0] == "avg-cpu:":
		p.report()
		p.cpuNext = true
	case p.cpuNext:
		p.cpuNext = false
		r := &p.out.reports[len(p.out.reports)-1]
		if busy, ok := sumOf(words[:min(3, len(words))]); ok && len(words) >= 5 {
			r.busy = busy
		} else if !p.last {
			return p.bad(words, "the figures of the CPU")
		}
	case strings.HasPrefix(words[0], "Device"):
		return p.header(words)
	case p.devices:
		return p.device(words)
	default:
		if t, ok := timestamp(line); ok {
			p.when = t
			p.devices = false
			return true
		}
		if p.last {
			return false // cut off in the middle of a line
		}
		p.ps.add(f.path, p.n, "", "%q is not a line of iostat", clip(line))
		return false
	}
	return true
}

// report begins a report, unless its CPU line has begun it.
func (p *ioParser) report() {
	p.out.reports = append(p.out.reports, ioReport{when: p.when, busy: -1})
	p.devices = false
}

func (p *ioParser) header(words []string) bool {
	f := p.out.file
	columns, ok := newIOColumns(words)
	if !ok {
		p.ps.add(f.path, p.n, "run iostat with -k", "the columns %s have no known unit: kB, MB or sectors per second", strings.Join(words, " "))
		return false
	}
	if p.columns.count != 0 && p.columns != columns {
		p.ps.add(f.path, p.n, "the files of two runs were concatenated", "the columns differ from earlier ones: the file mixes layouts or units")
		return false
	}
	if n := len(p.out.reports); n == 0 || len(p.out.reports[n-1].devices) > 0 {
		p.report() // without CPU figures: option -d
	}
	p.columns, p.out.columns, p.devices = columns, columns, true
	return true
}

func (p *ioParser) device(words []string) bool {
	if len(words) != p.columns.count {
		return p.bad(words, "a device's figures")
	}
	name, known := p.names[words[0]]
	if !known {
		name = strings.Clone(words[0])
		p.names[name] = name
	}
	d := ioDevice{name: name}
	for _, c := range []struct {
		to  *float64
		col ioColumn
	}{
		{&d.reads, p.columns.reads}, {&d.readKB, p.columns.readKB},
		{&d.writes, p.columns.writes}, {&d.writeKB, p.columns.writeKB}, {&d.discardKB, p.columns.discardKB},
	} {
		*c.to = -1
		if c.col.at < 0 {
			continue
		}
		v, ok := positive(words[c.col.at])
		if !ok {
			return p.bad(words, "a device's figures")
		}
		*c.to = v * c.col.factor
	}
	r := &p.out.reports[len(p.out.reports)-1]
	r.devices = append(r.devices, d)
	return true
}

// bad reports a line that cannot be read. If it is the last one, iostat was ended
// while writing, and its report is left out instead.
func (p *ioParser) bad(words []string, what string) bool {
	if p.last {
		p.out.reports = p.out.reports[:len(p.out.reports)-1]
		return false
	}
	hint := ""
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, ",") }) {
		hint = "run iostat with LC_ALL=C, so that its numbers have a decimal point"
	}
	p.ps.add(p.out.file.path, p.n, hint, "%q are not %s: %d numbers were expected", clip(strings.Join(words, " ")), what, p.columns.count-1)
	return false
}

// banner parses the first line: Linux RELEASE (HOST) DATE _ARCHITECTURE_ (N CPU).
func (p *ioParser) banner(line string) {
	words := strings.Fields(line)
	if len(words) > 1 {
		p.out.kernel = words[1]
	}
	if i := strings.LastIndex(line, "("); i >= 0 {
		if n, ok := between(line[i:], "(", " CPU"); ok {
			if v, ok := whole(n); ok {
				p.out.cpus = int(v)
			}
		}
	}
}

// used returns the names of devices with any I/O, except those in memory.
func (s *iostat) used() (names []string) {
	for _, r := range s.reports {
		for _, d := range r.devices {
			pseudo := slices.ContainsFunc([]string{"loop", "ram", "zram", "sr", "fd"}, func(p string) bool {
				rest, ok := strings.CutPrefix(d.name, p)
				return ok && digits(rest) == len(rest)
			})
			if !pseudo && (d.reads > 0 || d.writes > 0 || d.readKB > 0 || d.writeKB > 0) && !slices.Contains(names, d.name) {
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

// clip shortens a quotation from a file.
func clip(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return s
}
