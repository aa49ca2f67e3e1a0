package importer

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"rumbench/internal/account"
	"rumbench/internal/metric"
	"rumbench/internal/observe"
	"rumbench/internal/text/hint"
)

// companionSet holds the companion files of a run.
type companionSet struct {
	o     *Options
	ps    *hint.Problems
	io    *iostat
	vm    *vmstat
	met   *met
	times []*usage
}

// addCompanions adds to runs the measurements that iostat, vmstat and time took
// alongside.
func (d *folder) addCompanions(runs []*run, o *Options, ps *hint.Problems) {
	first := runs[0]
	c := companionSet{o: o, ps: ps, io: one(d.beside(first.file, fmtIOStat), ps, parseIOStat),
		vm: one(d.beside(first.file, fmtVMStat), ps, parseVMStat), met: one(d.beside(first.file, fmtMet), ps, readMet)}
	for _, f := range d.beside(first.file, fmtTime) {
		if u := parseTime(f, ps); u != nil {
			c.times = append(c.times, u)
		}
	}
	if c.io == nil && c.vm == nil && c.met == nil && len(c.times) == 0 {
		return
	}
	if len(runs) > 1 {
		for _, r := range runs {
			r.warn("iostat, vmstat or time next to the log cover all its runs together: their figures are left out")
		}
		return
	}
	c.addTo(first)
	for _, f := range d.companionsOf(first.file) {
		first.beside = append(first.beside, f.path)
	}
}

// one parses the single file of a kind next to a run.
func one[T any](files []*file, ps *hint.Problems, parse func(*file, *hint.Problems) *T) *T {
	switch len(files) {
	case 0:
		return nil
	case 1:
		return parse(files[0], ps)
	}
	ps.Add(files[1].path, 0, "give it the name of its log",
		"it belongs to the same run as %s: which of the two is right?", files[0].path)
	return nil
}

func (c *companionSet) addTo(r *run) {
	c.countCPUs(r)
	r.warnIf(r.reason != "", "the log has no final figures: what iostat, vmstat and time measured alongside is left out")
	if r.reason != "" || len(r.costs) == 0 {
		return
	}
	var figures []account.Cost
	if c.vm != nil {
		figures = c.vmstat(r)
	} else if c.io != nil {
		figures = ioBusy(c.io, r.cpus)
	}
	if c.io != nil {
		figures = append(figures, c.iostat(r)...)
	}
	figures = append(figures, c.client(r)...)
	if c.met != nil {
		figures = append(figures, c.met.lacking(figures, r, c.o.Compatible)...)
	}
	r.addCosts(figures)
}

// countCPUs sets the number of CPUs: as given, or from the log, or from iostat.
func (c *companionSet) countCPUs(r *run) {
	counted := 0
	if c.io != nil {
		if counted = c.io.cpus; c.io.kernel != "" {
			r.host = append(r.host, observe.Fact{Name: "kernel", Value: c.io.kernel})
		}
	}
	switch {
	case c.o.CPUs > 0:
		r.cpus = c.o.CPUs
	case r.cpus == 0:
		r.cpus = counted
	case counted > 0 && counted != r.cpus:
		r.warn("the log has %d CPUs and iostat %d, which also counts unused ones: %d is taken; --cpus overrides it", r.cpus,
			counted, r.cpus)
	}
}

func (c *companionSet) vmstat(r *run) []account.Cost {
	r.warnIf(r.cpus == 0, noCPUs)
	if len(c.vm.samples) < 2 {
		r.warn("%s has no sample but the average since boot: its figures are left out", c.vm.path)
		return nil
	}
	if c.o.Compatible {
		return compatibleVMFigures(c.vm, r.cpus)
	}
	return vmFigures(c.vm, r.cpus)
}

// iostat returns the figures of the devices under the database. If several were
// used and it is unknown which hold the database, none is used: a stacked device
// and its parts would count twice, and other disks are no cost of the run.
func (c *companionSet) iostat(r *run) []account.Cost {
	devices, used := c.o.Devices, c.io.used()
	switch {
	case c.io.joined:
		r.warn("iostat -s adds up reads and writes: its figures of devices are left out")
		return nil
	case len(devices) == 0 && len(used) != 1:
		r.warnIf(len(used) > 1, "iostat saw the devices %s: which of them hold the database? Their figures are left out; "+
			"give --device", strings.Join(used, ", "))
		return nil
	case len(devices) == 0:
		devices = used
		r.guess("the database is on device %s, the only one that iostat saw in use", used[0])
	}
	if len(c.io.reports) < 2 {
		r.warn("%s has one report only, which without option -y is the average since boot: its figures are left out",
			c.io.path)
		return nil
	}
	if c.o.Compatible {
		return compatibleIOFigures(c.io, devices[0])
	}
	for _, d := range devices {
		if !c.io.has(d) {
			c.ps.Add(c.io.path, 0, "the devices that were used are "+strings.Join(used, ", "), "it has no device %s", d)
			return nil
		}
	}
	return ioFigures(c.io, devices)
}

// lifeTolerance is the relative difference between the client's lifetime and the window
// above which there is a warning.
const lifeTolerance = 0.05

// client returns the mean CPU use of the clients' processes over their lifetimes: a
// warm-up is included, so costs per operation cover warm-up and window.
func (c *companionSet) client(r *run) []account.Cost {
	if len(c.times) < max(r.processes, 1) {
		r.warnIf(len(c.times) > 0, "time was taken of %d of %d clients: their CPU time is left out", len(c.times), r.processes)
		return nil
	}
	all := account.Cost{Metric: metric.ClientCPUUS, Source: "/usr/bin/time of the client"}
	for _, u := range c.times {
		if u.elapsed > 0 {
			all.Value += account.MicrosOfSeconds(account.PerSecond(u.cpu, u.elapsed))
		}
		if s := r.step.Seconds; s > 0 && (u.elapsed > s*(1+lifeTolerance) || u.elapsed < s*(1-lifeTolerance)) {
			all.Warnings = metric.AppendNew(all.Warnings,
				remark("the client's process lived longer or shorter than the window: its mean over its life is taken"))
		}
		r.warnIf(u.failed != "", "the client failed: %s", u.failed)
	}
	return []account.Cost{all}
}

// vmstat holds the samples of a file of vmstat.
type vmstat struct {
	*input
	header
	samples []vmSample
}

// vmSample is a line: the activity of the whole machine in one interval.
type vmSample struct {
	when     time.Time // zero without option -t
	switches float64   // context switches per second
	busy     float64   // user + system, percent of all CPUs
}

var isVMStat = anyLine(`swpd.* cs (?:.* )?us `)

// parseVMStat reads a file of vmstat. Its two header lines are repeated every twenty
// lines or so.
func parseVMStat(f *file, ps *hint.Problems) *vmstat {
	v := &vmstat{input: &input{file: f, ps: ps}}
	usable(func() { v.each(v.line) })
	return v
}

// line adds a sample by the names in the header. Option -t adds a date and a time,
// which share one name in the header.
func (v *vmstat) line(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.Contains(words[0], "procs") {
		return
	}
	if slices.Contains(words, "swpd") {
		v.header = words
		return
	}
	us, user := positive(v.text(words, "us"))
	sy, system := positive(v.text(words, "sy"))
	cs, switches := positive(v.text(words, "cs"))
	n, columns := len(words), len(v.header)
	ok := user && system && switches && (n == columns || n == columns+1)
	v.refuseIf(!ok && !v.last, "", "%q is not a line of vmstat: %d numbers were expected", clip(line), columns)
	if !ok {
		return // it is cut off
	}
	s := vmSample{switches: cs, busy: us + sy}
	if n > columns {
		s.when, _ = timestamp(words[n-2] + " " + words[n-1])
	}
	v.samples = append(v.samples, s)
}

// usage is the resource use of the client's process, from a file of /usr/bin/time.
type usage struct {
	cpu     float64 // user + system, seconds
	elapsed float64 // seconds
	failed  string  // the failure of the command, "" if it succeeded
}

// timeFields is what the scripts of RocksDB ask for: elapsed, user and system time.
var timeFields = regexp.MustCompile(`^(\d+\.\d\d) (\d+\.\d\d) (\d+\.\d\d)$`)

var isTimeLine = anyLine(`user .*elapsed|User time \(seconds\):|^real\S*\s+\S+\s*$`)

func isTime(head []string) bool {
	return isTimeLine(head) || len(head) == 1 && timeFields.MatchString(head[0])
}

// parseTime reads a file of /usr/bin/time in its default format, in the long
// format of option -v or the POSIX format (-p), or the output of a shell's time.
func parseTime(f *file, ps *hint.Problems) *usage {
	in := &input{file: f, ps: ps}
	times, failed := map[string]float64{}, "" // by the names of the default format
	if !usable(func() {
		in.each(func(line string) {
			line = strings.TrimSpace(line)
			timesIn(line, times)
			if timeFailed.MatchString(line) {
				failed = line
			}
		})
	}) {
		return nil
	}
	if len(times) < 3 {
		ps.Add(f.path, 0, "run the command as /usr/bin/time -o FILE COMMAND",
			"it does not contain the user, system and elapsed time of a command")
		return nil
	}
	return &usage{cpu: times["user"] + times["system"], elapsed: times["elapsed"], failed: failed}
}

var timeFailed = regexp.MustCompile(`^Command (exited|terminated)|^Exit status:.*(\s[^0]\S*|\s0\S+)$`)

func timesIn(line string, times map[string]float64) {
	if m := timeFields.FindStringSubmatch(line); m != nil {
		for i, name := range []string{"elapsed", "user", "system"} {
			times[name], _ = positive(m[1+i])
		}
		return
	}
	words := strings.Fields(line)
	set := func(name, text string) {
		if v, ok := clock(text); ok {
			times[name] = v
		}
	}
	for name, other := range map[string][2]string{"user": {"User time", "user"}, "system": {"System time", "sys"},
		"elapsed": {"Elapsed", "real"}} {
		if strings.HasPrefix(line, other[0]) || len(words) == 2 && words[0] == other[1] {
			set(name, words[len(words)-1])
		}
		for _, w := range words {
			if v, ok := strings.CutSuffix(w, name); ok && v != "" {
				set(name, v)
			}
		}
	}
}

// clock parses a time such as 5.02, 0:05.02, 1:02:03 or 0m5.020s.
func clock(s string) (seconds float64, ok bool) {
	if m, rest, ok := strings.Cut(strings.TrimSuffix(s, "s"), "m"); ok {
		s = m + ":" + rest
	}
	for part := range strings.SplitSeq(s, ":") {
		v, ok := positive(part)
		if !ok {
			return 0, false
		}
		seconds = 60*seconds + v
	}
	return seconds, true
}

// met holds a file sb.met of the sysbench suite: the costs per operation that its
// scripts computed from iostat and vmstat.
type met struct {
	*input
	header
	values map[string]float64 // by the names of columns: r/s, rKB/o, cpu/o
	io, vm float64            // samples
}

const metTitle = "iostat, vmstat normalized by operation rate"

func isMet(head []string) bool { return len(head) > 0 && strings.TrimSpace(head[0]) == metTitle }

// readMet reads such a file: two blocks of a header and a line. It returns nil if
// the file is unusable.
func readMet(f *file, ps *hint.Problems) *met {
	m := &met{input: &input{file: f, ps: ps}, values: map[string]float64{}}
	if !usable(func() {
		m.each(m.line)
		m.at = 0
		m.refuseIf(m.values["o/s"] <= 0, "", "it has no rate of operations above 0 (o/s)")
	}) {
		return nil
	}
	return m
}

func (m *met) line(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || line == metTitle {
		return
	}
	if words[0] == "samp" {
		m.header = words
		return
	}
	m.refuseIf(len(words) != len(m.header), "", "%q: %d numbers were expected", clip(line), len(m.header))
	for i, name := range m.header {
		v, ok := positive(words[i])
		m.refuseIf(!ok, "", "%s is %q: a number was expected", name, clip(words[i]))
		switch {
		case name == "samp" && slices.Contains(m.header, "cs/s"):
			m.vm = v
		case name == "samp":
			m.io = v
		default:
			m.values[name] = v
		}
	}
}

// perSecond returns a cost per second: from the cost per operation, or, if that is
// printed as 0 and the cost per second is not, from the latter. ok is false if
// there is neither.
func (m *met) perSecond(per, second string, factor float64) (v float64, ok bool) {
	a, has := m.values[per]
	b, also := m.values[second]
	if has && (a > 0 || b == 0) {
		return a * m.values["o/s"], true
	}
	return b * factor, also
}

func (m *met) figures(r *run, compatible bool) (out []account.Cost) {
	add := func(name, per, second string, factor float64, warnings ...metric.Warning) {
		if compatible {
			second = "" // published tables have the printed cost
		}
		v, ok := m.perSecond(per, second, factor)
		if !ok {
			return
		}
		if v == 0 {
			warnings = append(warnings, remark("printed as 0: below the last digit"))
		}
		if name == hostCPU {
			v = cpuTime(v, r.cpus)
		}
		out = append(out, account.Cost{Metric: name, Value: v, Source: "sb.met, as the suite's scripts computed it",
			Warnings: warnings})
	}
	add(metric.DeviceReads, "r/o", "r/s", 1)
	add(metric.ReadKB, "rKB/o", "rMB/s", 1024)
	add(metric.WriteKB, "wKB/o", "wMB/s", 1024, undrained())
	var low []metric.Warning
	if m.vm > m.io && m.io > 0 {
		low = []metric.Warning{remark("compatible: of %.0f samples of vmstat about %.0f are header lines that count as "+
			"zeros: it is about %.1f %% too low", m.vm, m.vm-m.io, 100*(1-m.io/m.vm))}
	}
	add(metric.ContextSwitches, "cs/o", "cs/s", 1, low...)
	if _, ok := m.values["cpu/o"]; r.cpus > 0 {
		add(hostCPU, "cpu/o", "cpu/s", 1, low...)
	} else {
		r.warnIf(ok, "%s", noCPUs)
	}
	return out
}

const noCPUs = "no file says how many CPUs the host has: percents of all CPUs cannot be converted to CPU time; give " +
	"--cpus N"

// lacking returns the costs that have no better source.
func (m *met) lacking(known []account.Cost, r *run, compatible bool) []account.Cost {
	return slices.DeleteFunc(m.figures(r, compatible), func(f account.Cost) bool {
		return slices.ContainsFunc(known, func(k account.Cost) bool { return k.Metric == f.Metric })
	})
}
