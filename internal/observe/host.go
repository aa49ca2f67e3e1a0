package observe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"rumbench/engine"
)

// Host collects the activity of the whole machine: CPU time by state, context
// switches, memory, swapping and pressure.
type Host struct {
	procRoot string
	cpu      [8]float64 // the highest values of the CPU counters so far
	threads  *kernelThreads
	net      traffic
	speed    speed
	// For the time that the processors were not idle.
	began time.Time // of the first sample
	rest  float64   // idle, iowait and steal time at the first sample
	busy  float64   // the highest value so far
}

// NewHost returns a collector of the machine's counters; procRoot is "/proc".
func NewHost(procRoot string) *Host {
	return &Host{procRoot: procRoot, threads: newKernelThreads(procRoot),
		speed: newSpeed(filepath.Join(procRoot, "..", "sys"))}
}

// Name returns "host".
func (h *Host) Name() string { return "host" }

// Collect adds the host's points.
func (h *Host) Collect(_ context.Context, s *engine.Sample) error {
	kernel, err := procfs.NewFS(h.procRoot)
	if err == nil {
		err = cmp.Or(h.stat(kernel, s), memory(kernel, s), swapping(h.procRoot, s), pressure(kernel, s))
	}
	if err != nil {
		return fmt.Errorf("sample host: %w", err)
	}
	h.net.read(kernel, s)
	h.speed.read(s)
	return nil
}

var cpuStates = [8]string{
	"host.cpu.user_ns", "host.cpu.nice_ns", "host.cpu.system_ns", "host.cpu.irq_ns",
	"host.cpu.softirq_ns", "host.cpu.iowait_ns", "host.cpu.steal_ns", "host.cpu.idle_ns",
}

func (h *Host) stat(kernel procfs.FS, s *engine.Sample) error {
	stat, err := kernel.Stat()
	if err != nil {
		return err
	}
	c := stat.CPUTotal
	for i, seconds := range [8]float64{c.User, c.Nice, c.System, c.IRQ, c.SoftIRQ, c.Iowait, c.Steal, c.Idle} {
		// The kernel lets idle and iowait fall by a tick now and then. That is
		// not a reset, so the counter stays until the kernel has caught up.
		h.cpu[i] = max(h.cpu[i], math.Round(seconds*1e9))
		s.Counter(cpuStates[i], "ns", h.cpu[i])
	}
	s.Counter("host.context_switches", "count", float64(stat.ContextSwitches))
	s.Counter("host.cpu.busy_ns", "ns", h.notIdle(len(stat.CPU)))
	if ns, ok := h.threads.read(); ok {
		s.Counter("host.cpu.kernel_threads_ns", "ns", ns)
	}
	return nil
}

// notIdle returns how long the processors have been busy since the first
// sample: the time that passed on all of them, less idle, iowait and steal
// time.
//
// The busy states are sampled at each tick, which misses much of the work that
// wakes and sleeps between ticks. Idle time is exact on kernels that stop the
// tick of an idle processor, as nearly all do.
func (h *Host) notIdle(processors int) float64 {
	now := time.Now()
	var remainder float64
	for i, name := range cpuStates {
		switch name {
		case "host.cpu.idle_ns", "host.cpu.iowait_ns", "host.cpu.steal_ns":
			remainder += h.cpu[i]
		}
	}
	if h.began.IsZero() {
		h.began, h.rest = now, remainder
	}
	passed := float64(now.Sub(h.began)) * float64(processors)
	h.busy = max(h.busy, passed-(remainder-h.rest)) // idle time comes in whole ticks
	return h.busy
}

func memory(kernel procfs.FS, s *engine.Sample) error {
	m, err := kernel.Meminfo()
	if err != nil {
		return err
	}
	for _, g := range []struct {
		name  string
		bytes *uint64
	}{
		{"host.memory.available_bytes", m.MemAvailableBytes},
		{"host.memory.free_bytes", m.MemFreeBytes},
		{"host.memory.cached_bytes", m.CachedBytes},
		{"host.memory.dirty_bytes", m.DirtyBytes},
		{"host.memory.writeback_bytes", m.WritebackBytes},
	} {
		if g.bytes != nil {
			s.Gauge(g.name, "bytes", float64(*g.bytes))
		}
	}
	return nil
}

// swapping reads /proc/vmstat, which has lines like "pswpin 3", in pages.
func swapping(procRoot string, s *engine.Sample) error {
	data, err := os.ReadFile(filepath.Join(procRoot, "vmstat"))
	if err != nil {
		return err
	}
	page := float64(os.Getpagesize())
	for _, c := range []struct {
		field, name, unit string
		scale             float64
	}{
		{"pswpin ", "host.swap.in_bytes", "bytes", page},
		{"pswpout ", "host.swap.out_bytes", "bytes", page},
		{"pgmajfault ", "host.major_faults", "count", 1},
	} {
		if value, ok := valueOf(string(data), c.field); ok {
			s.Counter(c.name, c.unit, value*c.scale)
		}
	}
	return nil
}

// pressure adds the time that tasks were stalled, in microseconds; nothing on a
// kernel without pressure stall information.
func pressure(kernel procfs.FS, s *engine.Sample) error {
	for _, resource := range []string{"cpu", "io", "memory"} {
		psi, err := kernel.PSIStatsForResource(resource)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.EOPNOTSUPP) {
			continue
		}
		if err != nil {
			return err
		}
		if psi.Some != nil {
			s.Counter("host.pressure."+resource+"_some_us", "us", float64(psi.Some.Total))
		}
		// The machine as a whole is never fully stalled on CPU: the kernel
		// prints that line only for uniformity.
		if psi.Full != nil && resource != "cpu" {
			s.Counter("host.pressure."+resource+"_full_us", "us", float64(psi.Full.Total))
		}
	}
	return nil
}

// speed reads what the machine says of its processors' speed: how often heat slowed them down, and
// their mean frequency. Virtual machines say neither. Its files are found once: a sample only reads.
type speed struct{ throttles, clocks []string }

func newSpeed(sysRoot string) speed {
	files := func(elem ...string) []string {
		found, _ := filepath.Glob(filepath.Join(append([]string{sysRoot, "devices/system/cpu/cpu[0-9]*"}, elem...)...))
		return found // the pattern is well-formed
	}
	return speed{
		throttles: slices.DeleteFunc(files("thermal_throttle", "core_throttle_count"), laterOfCore),
		clocks:    files("cpufreq", "scaling_cur_freq"),
	}
}

// laterOfCore reports whether a file is of another than the first of the threads that share a core, and
// its counts.
func laterOfCore(file string) bool {
	cpu := filepath.Dir(filepath.Dir(file))
	siblings := Text(cpu, "topology", "thread_siblings_list")
	first, _, _ := strings.Cut(strings.ReplaceAll(siblings, "-", ","), ",")
	return siblings != "" && "cpu"+first != filepath.Base(cpu)
}

func (p speed) read(s *engine.Sample) {
	if n, files := sum(p.throttles); files > 0 {
		s.Counter("host.thermal_throttles", "count", n)
	}
	if khz, files := sum(p.clocks); files > 0 {
		s.Gauge("host.cpu_hz", "Hz", khz*1e3/float64(files))
	}
}

// sum adds up the numbers in files; n is how many there are.
func sum(files []string) (total float64, n int) {
	for _, f := range files {
		if v, err := strconv.ParseFloat(Text(f), 64); err == nil {
			total, n = total+v, n+1
		}
	}
	return total, n
}
