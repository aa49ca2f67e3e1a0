// Package doctor judges whether this machine is fit to measure on: settings, limits and other
// programs that run, why each matters and how to fix it, and which packages are missing. Only
// Install changes anything, and no engine is measured.
package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"rumbench/internal/text/quantity"
)

// Status rates a finding.
type Status string

// The statuses. Facts that a machine does not show are Unknown, never OK.
const (
	OK      Status = "ok"
	Warn    Status = "warn"    // measurements are possible, but blurred, hard to explain or unlike other hosts'
	Bad     Status = "bad"     // measurements would be worthless, or would abort
	Unknown Status = "unknown" // it could not be determined
)

// Finding is the result of one check.
type Finding struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Found  string `json:"found"`
	Wanted string `json:"wanted"`
	Why    string `json:"why"`           // why it matters
	Fix    string `json:"fix,omitempty"` // commands or an action, one per line; none if OK
}

// Report holds the results of all checks.
type Report struct {
	Host     string // the machine and the location of the data, on one line
	Findings []Finding
}

// Bad names the checks that found the machine unfit.
func (r *Report) Bad() []string {
	return quantity.Texts(r.findings(Bad), func(f Finding) string { return f.Name })
}

func (r *Report) findings(status Status) []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Status != status })
}

// Options select the checks' subject and duration.
type Options struct {
	Dir    string        // where the data will be stored: an existing directory
	Period time.Duration // how long to watch other programs
	Lock   string        // the file that a running campaign keeps locked
}

// Look runs all checks. It takes slightly longer than the period.
func Look(ctx context.Context, o Options) (*Report, error) {
	m, err := thisMachine(o)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", o.Dir, err)
	}
	if err := m.watch(ctx, o.Period); err != nil {
		return nil, err
	}
	return m.report(m.headline(), checks), nil
}

// watch counts what the machine does in a period.
func (m *machine) watch(ctx context.Context, period time.Duration) error {
	m.before = m.sample()
	select {
	case <-time.After(period):
	case <-ctx.Done():
		return fmt.Errorf("watch this host: %w", ctx.Err())
	}
	m.after = m.sample()
	return nil
}

// LookForOthers watches what other programs and other guests use of the processors for a period, and returns what is
// wrong with that; nil if nothing is.
func LookForOthers(ctx context.Context, period time.Duration) *Finding {
	m := &machine{proc: "/proc", sys: "/sys"}
	if m.watch(ctx, period) != nil {
		return nil
	}
	for _, look := range []func(*machine) Finding{otherLoad, stolenTime} {
		if f := look(m); f.Status == Bad || f.Status == Warn {
			return &f
		}
	}
	return nil
}

type check struct {
	name, wanted string
	look         func(*machine) Finding
	reason       string // why it matters
}

// checks are all checks of a machine, in the order of reports.
var checks = []check{
	{"another benchmark", "none", anotherBenchmark, "two benchmarks at a time measure each other"},
	{"other load", "others use less than 5 % of all CPUs", otherLoad,
		"CPU time of other programs is not available to the engine, and they evict its data from the CPU's caches"},
	{"stolen time", "below 1 %", stolenTime,
		"while another virtual machine has the processor, the engine seems slow: a trial depends on its neighbors"},
	{"pressure", "CPU and I/O below 5 %, memory below 1 %", pressure,
		"tasks wait already for CPU, storage or memory: a benchmark would have to share them"},
	{"timers", "none that read or write much in 6 h", timersDue,
		"they share the device and the CPUs with some trials, not with all"},
	{"cpu governor", "performance", setting("cpu governor", hostHint, setGovernor, "performance"),
		"other governors change the clock with the load: the engine that waits more gets a slower processor"},
	{"cpu turbo", "off", setting("cpu turbo", hostHint, turboOff, "off"),
		"with turbo the clock depends on heat and on how many cores work: trials differ by their order"},
	{"clock source", "one that needs no system call, such as tsc",
		setting("clock source", "cat "+clockDir+"/current_clocksource", setClock, clocks...),
		"every operation reads the clock twice: a slow clock is in each latency and costs CPU time"},
	{"cpu limit", "no quota", cpuLimit,
		"when a control group has used up its quota, all its threads stand still: that looks like stalls of the engine"},
	{"transparent huge pages", "madvise or never",
		setting("transparent huge pages", "cat "+hugePages, madvise, "madvise", "never"),
		"with always the kernel joins pages behind the engine's back: memory grows, and moving pages stalls threads"},
	{"swap", "off; or nothing in it and vm.swappiness at most 10", swap,
		"a page of the engine's cache that was swapped out costs a read on access, and no counter of the engine shows it"},
	{"dirty pages", "writing begins at 1 GiB at most", dirtyPages,
		"the kernel collects that many buffered writes, and then writes them at once: stalls, and writes in a later step"},
	{"free memory", "at least half", freeMemory,
		"files of buffered engines are cached in what is free: with less of it the same engine reads more"},
	{"memory limit", "none", memoryLimit,
		"the page cache counts towards a control group's limit, and who goes beyond it is killed"},
	{"free disk", "at least 10 GiB and 15 %", freeDisk,
		"a full disk ends a campaign; a nearly full one makes filesystem and SSD slow"},
	{"mount options", "a local disk, written to with barriers and without sync; noatime or relatime", mountOptions,
		"they decide what a commit costs and survives, and whether the device's traffic can be counted"},
	{"discard", "not at each delete", discard,
		"deleting a file then also sends discards, which slow concurrent requests; LSM trees delete files all the time"},
	{"read-ahead", "at most 128 KiB", readAhead,
		"the kernel may read that much of a buffered or mapped file where one row was wanted"},
	{"I/O scheduler", "none or mq-deadline", scheduler,
		"other schedulers hold requests back by their own rules, and move time between readers and writers"},
	{"open files", "at least 10,000", openFiles,
		"LSM trees keep thousands of files open: at the limit they fail, or open and close files all the time"},
	{"process I/O", "/proc/PID/io of other users' processes can be read", processIO,
		"it shows what a server reads and writes: without it there is the device alone, which counts all programs"},
	{"perf", "hardware counters, and kernel.perf_event_paranoid at most 0", perf,
		"without the right to sample all processes nothing says which subsystems used the CPU time; without hardware " +
			"counters, how many instructions and cache misses it was; numbers do not depend on either"},
}

// A check returns one of these; its name, the wanted value and the reason are added later.

func ok(found string) Finding           { return Finding{Status: OK, Found: found} }
func warn(found, fix string) Finding    { return Finding{Status: Warn, Found: found, Fix: fix} }
func bad(found, fix string) Finding     { return Finding{Status: Bad, Found: found, Fix: fix} }
func unknown(found, fix string) Finding { return Finding{Status: Unknown, Found: found, Fix: fix} }
func notShown(fix string) Finding       { return unknown("the kernel does not show it", fix) }

// grade returns a finding that is bad, or only a warning, or OK.
func grade(isBad, isWarn bool, found, fix string) Finding {
	switch {
	case isBad:
		return bad(found, fix)
	case isWarn:
		return warn(found, fix)
	}
	return ok(found)
}

// setting returns a check that a fact, if shown, has one of several good values; fix returns
// the remedy otherwise.
func setting(fact, whereShown string, fix func(*machine) string, good ...string) func(*machine) Finding {
	return func(m *machine) Finding {
		switch found := m.facts.Value(fact); {
		case found == "":
			return notShown(whereShown)
		case slices.Contains(good, found):
			return ok(found)
		default:
			return warn(found, fix(m))
		}
	}
}

func (m *machine) report(host string, checks []check) *Report {
	r := &Report{Host: host}
	for _, c := range checks {
		f := c.look(m)
		f.Name, f.Wanted, f.Why = c.name, c.wanted, c.reason
		r.Findings = append(r.Findings, f)
	}
	return r
}

func (m *machine) headline() string {
	s := m.factOr("hostname", "this host") + ": " + m.factOr("cpu", "CPU unknown")
	for _, f := range []struct{ before, name, after string }{
		{"", "cpus online", " CPUs"}, {"", "memory", ""}, {"", "distribution", ""}, {"kernel ", "kernel", ""},
		{"", "virtualization", ""},
	} {
		if v := m.facts.Value(f.name); v != "" {
			if f.name == "cpus online" && v == "1" {
				f.after = " CPU"
			}
			s += ", " + f.before + v + f.after
		}
	}
	s += fmt.Sprintf("; data in %s: %s", m.dir, m.factOr("filesystem", "filesystem unknown"))
	if m.device.Name != "" {
		s += " on " + m.device.Name
	}
	return s
}

// factOr returns a fact as a trial's result would record it for this machine, or otherwise if
// it is unknown.
func (m *machine) factOr(name, otherwise string) string {
	return cmp.Or(m.facts.Value(name), otherwise)
}
