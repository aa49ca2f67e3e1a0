package importer

import (
	"strings"

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
	c := companionSet{o: o, ps: ps, io: parseSingle(d.filesFor(first.file, fmtIOStat), ps, parseIOStat),
		vm:  parseSingle(d.filesFor(first.file, fmtVMStat), ps, parseVMStat),
		met: parseSingle(d.filesFor(first.file, fmtMet), ps, readMet)}
	for _, f := range d.filesFor(first.file, fmtTime) {
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
		first.companions = append(first.companions, f.path)
	}
}

// parseSingle parses the single file of a kind next to a run.
func parseSingle[T any](files []*file, ps *hint.Problems, parse func(*file, *hint.Problems) *T) *T {
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
	r.warnIf(r.reason != "", "the log has no final figures: what iostat, vmstat and time measured alongside is left "+
		"out")
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
		r.warn("the log has %d CPUs and iostat %d, which also counts unused ones: %d is taken; --cpus overrides it",
			r.cpus, counted, r.cpus)
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
		r.warnIf(len(used) > 1, "iostat saw the devices %s: which of them hold the database? Their figures are left "+
			"out; "+
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
		if !c.io.hasDevice(d) {
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
		r.warnIf(len(c.times) > 0, "time was taken of %d of %d clients: their CPU time is left out", len(c.times),
			r.processes)
		return nil
	}
	cost := account.Cost{Metric: metric.ClientCPUUS, Source: "/usr/bin/time of the client"}
	for _, u := range c.times {
		if u.elapsed > 0 {
			cost.Value += account.MicrosOfSeconds(account.PerSecond(u.cpu, u.elapsed))
		}
		if s := r.step.Seconds; s > 0 && (u.elapsed > s*(1+lifeTolerance) || u.elapsed < s*(1-lifeTolerance)) {
			cost.Warnings = metric.AppendNew(cost.Warnings,
				noted("the client's process lived longer or shorter than the window: its mean over its life is taken"))
		}
		r.warnIf(u.failed != "", "the client failed: %s", u.failed)
	}
	return []account.Cost{cost}
}
