package importer

import (
	"slices"
	"strings"

	"rumbench/internal/observe"
)

// addCompanions adds to runs what iostat, vmstat and time saw beside them.
func (d *folder) addCompanions(runs []*run, o *Options, ps *Problems) {
	first := runs[0]
	c := companionSet{o: o, ps: ps}
	c.io = one(d.beside(first.file, fmtIOStat), ps, parseIOStat)
	c.vm = one(d.beside(first.file, fmtVMStat), ps, parseVMStat)
	c.met = one(d.beside(first.file, fmtMet), ps, readMet)
	times := d.beside(first.file, fmtTime)
	for _, f := range times {
		if u := parseTime(f, ps); u != nil {
			c.times = append(c.times, u)
		}
	}
	if c.io == nil && c.vm == nil && c.met == nil && len(c.times) == 0 {
		return
	}
	if len(runs) > 1 {
		for _, r := range runs {
			r.warn("iostat, vmstat or time beside the log are of all its runs together: their figures are left out")
		}
		return
	}
	c.addTo(first)
	for _, name := range companionFormats {
		for _, f := range d.beside(first.file, name) {
			first.beside = append(first.beside, f.path)
		}
	}
}

// one parses the only file of a kind beside a run.
func one[T any](files []*file, ps *Problems, parse func(*file, *Problems) *T) *T {
	if len(files) == 0 {
		return nil
	}
	if len(files) > 1 {
		ps.add(files[1].path, 0, "give it the name of its log", "it stands beside the same run as %s: which of the two is the run's?", files[0].path)
		return nil
	}
	return parse(files[0], ps)
}

// companionSet is what stands beside a run.
type companionSet struct {
	o     *Options
	ps    *Problems
	io    *iostat
	vm    *vmstat
	met   *met
	times []*usage
}

func (c *companionSet) addTo(r *run) {
	c.countCPUs(r)
	if r.reason != "" {
		r.warn("the log has no final figures: what iostat, vmstat and time saw beside it is left out")
		return
	}
	if len(r.costs) == 0 {
		return
	}
	var figures []figure
	if c.vm != nil {
		figures = append(figures, c.vmstat(r)...)
	} else if c.io != nil {
		figures = append(figures, ioBusy(c.io, r.cpus)...)
	}
	if c.io != nil {
		figures = append(figures, c.iostat(r)...)
	}
	figures = append(figures, c.client(r)...)
	if c.met != nil {
		figures = append(figures, c.computed(r, figures)...)
	}
	r.addCosts(figures)
}

// countCPUs finds the number of CPUs: as it was given, as the log tells it, as
// iostat does.
func (c *companionSet) countCPUs(r *run) {
	if c.io != nil && c.io.kernel != "" {
		r.host = append(r.host, observe.Fact{Name: "kernel", Value: c.io.kernel})
	}
	told := 0
	if c.io != nil {
		told = c.io.cpus
	}
	switch {
	case c.o.CPUs > 0:
		r.cpus = c.o.CPUs
	case r.cpus == 0:
		r.cpus = told
	case told > 0 && told != r.cpus:
		r.warn("the log tells of %d CPUs and iostat of %d, which counts also those that are not in use: %d is taken; --cpus says otherwise", r.cpus, told, r.cpus)
	}
}

func (c *companionSet) vmstat(r *run) []figure {
	if r.cpus == 0 {
		r.warn(noCPUs)
	}
	if len(c.vm.samples) < 2 {
		r.warn("%s has no sample but the average since boot: its figures are left out", c.vm.file.path)
		return nil
	}
	if c.o.Compatible {
		return compatibleVMFigures(c.vm, r.cpus)
	}
	return vmFigures(c.vm, r.cpus)
}

// iostat are the figures of the devices under the database. Where it is not
// said which they are, and several were used, none is taken: a stacked device
// and its parts would count twice, and another disk is no cost of the run.
func (c *companionSet) iostat(r *run) []figure {
	devices := c.o.Devices
	if len(devices) == 0 {
		used := c.io.used()
		if len(used) != 1 {
			if len(used) > 1 {
				r.warn("iostat saw the devices %s: which of them hold the database? Their figures are left out; give --device", strings.Join(used, ", "))
			}
			return nil
		}
		devices = used
		r.guess("the database is on device %s, the only one that iostat saw in use", used[0])
	}
	if len(c.io.reports) < 2 {
		r.warn("%s has one report only, which without option -y is the average since boot: its figures are left out", c.io.file.path)
		return nil
	}
	if c.o.Compatible {
		return compatibleIOFigures(c.io, devices[0])
	}
	for _, d := range devices {
		if !c.io.has(d) {
			c.ps.add(c.io.file.path, 0, "the devices that were used are "+strings.Join(c.io.used(), ", "), "it has no device %s", d)
			return nil
		}
	}
	return ioFigures(c.io, devices)
}

// afar is how far the life of the client's process may differ from the window
// without a word.
const afar = 0.05

// client is the CPU time of the clients' processes, as a share of their lives:
// a warm-up is in it, and costs per operation are then of warm-up and window.
func (c *companionSet) client(r *run) []figure {
	if len(c.times) == 0 {
		return nil
	}
	if len(c.times) < r.processes {
		r.warn("time was taken of %d of %d clients: their CPU time is left out", len(c.times), r.processes)
		return nil
	}
	all := figure{metric: "client_cpu_us", source: "/usr/bin/time of the client"}
	for _, u := range c.times {
		for _, f := range timeFigures(u) {
			all.perSecond += f.perSecond
		}
		if s := r.step.Seconds; s > 0 && (u.elapsed > s*(1+afar) || u.elapsed < s*(1-afar)) {
			doubt := "the client's process lived longer or shorter than the window: its mean over its life is taken"
			if !slices.Contains(all.doubts, doubt) {
				all.doubts = append(all.doubts, doubt)
			}
		}
		if u.failed != "" {
			r.warn("the client failed: %s", u.failed)
		}
	}
	return []figure{all}
}
