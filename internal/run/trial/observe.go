package trial

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"rumbench/engine"
	"rumbench/internal/account"
	"rumbench/internal/observe"
	"rumbench/internal/observe/cpuset"
	"rumbench/internal/observe/pmu"
	"rumbench/internal/remark"
	"rumbench/internal/result"
)

// observer observes the machine, the engine's processes and the client. It has many fields: one for each source
// and what is known of it.
type observer struct {
	sampler       *observe.Sampler
	unwatch       func()                    // ends what watch began
	pids          []int                     // of the engine
	process       *observe.Process          // nil if the server's processes cannot be seen
	device        *observe.Disks            // nil without a device
	under         observe.Device            // the data, if device is not nil
	disks         observe.Sampler           // of all disks, if the data is on any
	otherPrograms *observe.Others           // nil if irrelevant, or indistinguishable from the engine
	started       atomic.Pointer[stepStart] // nil outside of a window
	lastWindow    *window                   // the previous step's
	space         *account.Space            // at the end of the previous step
	reads         atomic.Pointer[readTrack] // nil unless the engine restarted before the step
	sample        atomic.Pointer[sample]    // the last, for the display; nil if there is none
	recorded      bool                      // the load is another program's, and the server is left alone
	elsewhere     bool                      // the data is on another file system than rumbench's own files
	asked         atomic.Int64              // when the server was asked for counters, in ns since 1970; 0: it has answered
	worked        atomic.Int64              // when operations were done last
	events        *pmu.Counter              // nil without a PMU
	dealt         []int                     // sessions of the step's clients at each gateway; none: there is one
}

func deviceSource(t *trial) string {
	if t.clustered() {
		return "devices of " + strings.Join(append([]string{t.Machine}, t.Head.Observed...), ", ")
	}
	return "device " + t.under.Name
}

// warnings returns the observations that the collectors could not make.
func (o *observer) warnings() (out []string) {
	if o.process != nil {
		out = o.process.Warnings()
	}
	if o.device != nil {
		out = append(out, o.device.Warnings()...)
	}
	return out
}

// silence is how long a server may answer nothing, neither its counters nor an operation:
// then it hangs, and the trial ends.
const silence = 2 * time.Minute

// answering notes when a server is asked for its counters, and gives it up at last.
type answering struct {
	observe.Counted
	asked *atomic.Int64
}

// Counters is called at every interval.
func (a answering) Counters(ctx context.Context, s *engine.Sample) error {
	a.asked.Store(time.Now().UnixNano())
	defer a.asked.Store(0)
	ctx, cancel := context.WithTimeout(ctx, 2*silence)
	defer cancel()
	return a.Counted.Counters(ctx, s)
}

// watchServer calls fail when the server is silent.
func (o *observer) watchServer(ctx context.Context, fail func(error)) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			asked := o.asked.Load()
			silent := now.Sub(time.Unix(0, max(asked, o.worked.Load())))
			if asked > 0 && silent >= silence {
				fail(engine.Errorf(engine.Gone, "the server has answered nothing for %v: it hangs, or is cut off",
					silent.Round(time.Second)))
			}
		}
	}
}

// observe sets up the collectors. The engine comes last because it may be slow.
// A duet has no collectors of the whole machine and its devices, because their
// counts of two trials cannot be separated; the disks only limit those of processes.
func (t *trial) observe(counted observe.Counted) {
	var collectors []observe.Collector
	switch {
	case t.Partner != nil:
		t.noteCPUs()
		t.findDevice()
	case t.recorded && len(t.pids) == 0: // the server may be on another machine
	default:
		collectors = append(collectors, observe.NewHost("/proc"))
		if t.findDevice(); t.device != nil {
			collectors = append(collectors, t.device)
		}
	}
	if !t.recorded && t.Head == nil {
		collectors = append(collectors, observe.NewClient())
	}
	if len(t.pids) > 0 {
		t.process = observe.NewProcess("/proc", func() []int { return t.pids })
		t.process.All = len(t.Target.Config.Server.Gateways) > 0
		collectors = append(collectors, t.process)
		if countEvents(t); t.events != nil && !t.clustered() {
			collectors = append(collectors, atRest{&t.observer})
		}
		if t.device != nil {
			t.otherPrograms = observe.NewOthers("/proc", "/sys", t.under, append(slices.Clone(t.pids), os.Getpid())...)
		}
	}
	if t.limits.group != nil {
		collectors = append(collectors, t.limits.group)
	}
	collectors = observeCluster(t, collectors)
	t.sampler = &observe.Sampler{Collectors: append(collectors, engineCounters(t, counted)), Interval: t.Plan.Interval}
}

// engineCounters returns the collector of the engine's counters.
func engineCounters(t *trial, counted observe.Counted) observe.Collector {
	counted = reporting{counted}
	if t.hosted != nil && !t.recorded {
		counted = answering{counted, &t.asked}
	}
	return observe.NewEngine(counted)
}

// reporting is the counters of an engine, which are current while its sessions are idle.
type reporting struct{ observe.Counted }

// idle is the key of the context of a sample that is taken while no session works; its
// value takes the time by which the counters may lag.
type idle struct{}

// Counters adds the engine's counters.
func (r reporting) Counters(ctx context.Context, s *engine.Sample) error {
	if lag, resting := ctx.Value(idle{}).(*time.Duration); resting {
		if reporter, ok := r.Counted.(engine.Reporter); ok {
			*lag = reporter.Report(ctx)
		}
	}
	return r.Counted.Counters(ctx, s)
}

// processes returns the processes that run the engine: this one, or the
// server's.
func (t *trial) processes(server interface{ Processes() ([]int, string) }) []int {
	if server == nil {
		return []int{os.Getpid()}
	}
	pids, reason := server.Processes()
	if t.res.Unseen = len(pids) == 0; t.res.Unseen {
		t.unobserved("no figures of the server's processes: " + reason)
	}
	return pids
}

// findDevice finds the device under the data.
func (t *trial) findDevice() {
	if t.data == "" {
		t.unobserved("no figures of a device: it is not known where the server keeps its data")
		return
	}
	var own, data syscall.Stat_t
	if syscall.Stat(t.Dir, &own) == nil && syscall.Stat(t.data, &data) == nil {
		t.elsewhere = own.Dev != data.Dev
	}
	var err error
	t.under, err = observe.FindDevice(t.data)
	if err == nil || slices.Contains([]string{"btrfs", "overlay"}, t.under.FSType) {
		t.disks.Collectors = []observe.Collector{observe.NewDisks("/proc", "/sys")}
	}
	if err != nil {
		t.unobserved(fmt.Sprintf("no figures of a device: %v", err))
		return
	}
	t.device = observe.NewDevice(t.under, "/proc", "/sys")
	if drive := observe.NewNVMe(t.under); drive != nil && t.Partner == nil {
		t.disks.Collectors = append(t.disks.Collectors, drive)
	}
}

// noteCPUs notes the processors of a trial of a duet.
func (t *trial) noteCPUs() {
	if cpus, err := cpuset.Allowed(); err != nil {
		t.unobserved(err.Error())
	} else {
		t.res.CPUs = cpus.String()
	}
	t.warn(remark.Duet, nil)
}

// stepStart is the start of the running step's window.
type stepStart struct {
	name  string
	began time.Time
}

// writeSamples writes the collectors' values of an interval.
func (t *trial) writeSamples(prev, cur observe.Snapshot) {
	t.reads.Load().add(cur)
	var lines []result.Line
	var now sample
	for _, iv := range together(t, observe.Diff(prev, cur)) {
		t.show(&now, &iv)
		step := t.started.Load()
		if step == nil || iv.Time.Before(step.began) || len(iv.Changes) == 0 {
			continue
		}
		l := result.Line{Step: step.name, Source: result.SourceOn(iv.Source, iv.Machine),
			T: iv.Time.Sub(step.began).Seconds(), DT: iv.Elapsed.Seconds(), Late: iv.Late.Seconds(),
			V: make(map[string]float64, len(iv.Changes))}
		for _, c := range iv.Changes {
			if c.Value != 0 || c.Kind == engine.Gauge || iv.Source != "engine" { // engines have many, most of them unchanged
				l.V[c.Series] = c.Value
			}
		}
		lines = append(lines, l)
	}
	t.sample.Store(&now)
	t.write(lines)
}

// sample holds the figures of a sample that the display shows.
type sample struct {
	server  float64 // processors that a server used
	written float64 // bytes a second that the engine's processes wrote; else the device
}

// show adds the figures of an interval that the display shows.
func (t *trial) show(s *sample, iv *observe.Interval) {
	if iv.Elapsed <= 0 || iv.Machine != "" {
		return
	}
	for _, c := range iv.Changes {
		switch {
		case c.Name == "process.cpu_ns" && t.hosted != nil:
			s.server = c.Value / float64(iv.Elapsed)
		case c.Name == "process.write_bytes", c.Name == "device.write_bytes" && s.written == 0:
			s.written = c.Value / iv.Elapsed.Seconds()
		}
	}
}

// lookAtOthers starts observing other programs and returns the function that ends it.
func (o *observer) lookAtOthers() func() account.Others {
	if o.otherPrograms == nil {
		return func() account.Others { return account.Others{} }
	}
	a, before := o.otherPrograms.Look()
	return func() account.Others {
		b, after := o.otherPrograms.Look()
		if err := cmp.Or(before, after); err != nil {
			return account.Others{Why: err}
		}
		return account.Others{Known: true, Root: os.Geteuid() == 0, Traffic: b.Since(a)}
	}
}
