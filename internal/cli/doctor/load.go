package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"rumbench/internal/observe"
	"rumbench/internal/remark"
	"rumbench/internal/text/quantity"

	"golang.org/x/sys/unix"
)

// Limits on the time that tasks wait for CPU and I/O, and for memory, as shares.
const waitWarn, memoryWaitWarn = 0.05, 0.01

// anotherBenchmark tries the lock that campaigns hold. Taking it shared, for a
// moment, also detects a campaign whose process died while one of its trials still
// runs.
func anotherBenchmark(m *machine) Finding {
	const fix = "name another file in RUMBENCH_LOCK"
	f, err := os.OpenFile(m.lock, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) && m.lock != "" {
		return ok("none")
	}
	if err != nil {
		return unknown(fmt.Sprintf("the lock of this host cannot be read: %v", err), fix)
	}
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case err == nil:
		return ok("none")
	case !errors.Is(err, unix.EWOULDBLOCK):
		return unknown(fmt.Sprintf("the lock of this host cannot be tried: %v", err), fix)
	}
	who, _ := io.ReadAll(io.LimitReader(f, 1000))
	return bad(cmp.Or(strings.TrimSpace(string(who)), "one whose name is not known"), "wait until it has ended")
}

// cpuTime returns the CPU time that the kernel counted during the check, and the
// busy and stolen parts of it, in nanoseconds; false if it counted none.
func (m *machine) cpuTime() (total, busy, stolen float64, counted bool) {
	busy, found := m.grown("host.cpu.user_ns", "host.cpu.nice_ns", "host.cpu.system_ns", "host.cpu.irq_ns",
		"host.cpu.softirq_ns")
	remainder, _ := m.grown("host.cpu.idle_ns", "host.cpu.iowait_ns")
	stolen, _ = m.grown("host.cpu.steal_ns")
	total = busy + remainder + stolen
	return total, busy, stolen, found && total > 0
}

const notCounted = "the kernel did not show how busy the CPUs are"

func otherLoad(m *machine) Finding {
	total, busy, _, counted := m.cpuTime()
	if !counted {
		return unknown(notCounted, "watch longer: --seconds 5")
	}
	me := os.Getpid()
	busy = max(0, busy-m.used(me))
	found := quantity.Percent(busy/total) + " of " + m.factOr("cpus online", "all") + " CPUs"
	share := 100 * busy / total
	if share < remark.LittleShared {
		return ok(found)
	}
	const fix = "end or wait for what runs: top"
	busiest, all := m.otherProcesses(me, total)
	if len(busiest) > 0 {
		found += "; most: " + strings.Join(busiest, ", ")
	}
	if all < busy/2 {
		found += "; much of it by processes that came and went, or are not seen from here"
	}
	return grade(share > remark.MuchShared, true, found, fix)
}

// used returns the CPU time that a process used during the check, in nanoseconds.
func (m *machine) used(pid int) float64 {
	now, previousProcess := m.after.procs[pid], m.before.procs[pid]
	if now.started != previousProcess.started {
		previousProcess = process{} // a different process that reuses the PID of one that ended
	}
	return 1e9 * max(0, now.seconds-previousProcess.seconds)
}

// otherProcesses returns up to three processes that used more than 1 % of all CPUs, and
// the total CPU time of all processes that are visible at the end.
func (m *machine) otherProcesses(me int, total float64) (busiest []string, all float64) {
	pids := slices.Sorted(maps.Keys(m.after.procs))
	slices.SortStableFunc(pids, func(a, b int) int { return cmp.Compare(m.used(b), m.used(a)) })
	for _, pid := range pids {
		if pid == me {
			continue
		}
		used := m.used(pid)
		if all += used; used/total > 0.01 && len(busiest) < 3 {
			busiest = append(busiest, fmt.Sprintf("%s (process %d) %s", m.after.procs[pid].name, pid,
				quantity.Percent(used/total)))
		}
	}
	return busiest, all
}

func stolenTime(m *machine) Finding {
	total, _, stolen, counted := m.cpuTime()
	if !counted {
		return unknown(notCounted, "watch longer: --seconds 5")
	}
	if m.after.host["host.cpu.steal_ns"] == 0 && m.facts.Value("virtualization") != "" {
		// Not every hypervisor reports steal time; a guest has rarely lost none at
		// all.
		return unknown("none since the start: the host of this virtual machine may not report it",
			"ask who runs that host; compare trials at different times of the day")
	}
	share, found := 100*stolen/total, quantity.Percent(stolen/total)
	return grade(share >= remark.MuchStolen, share >= remark.LittleStolen, found+" of all CPU time",
		"ask for CPUs of your own, or measure at another time and with more trials")
}

func pressure(m *machine) Finding {
	elapsed := m.after.at.Sub(m.before.at).Seconds()
	var parts []string
	high := false
	for _, r := range []struct {
		file, name string
		limit      float64
	}{{"cpu", "CPU ", waitWarn}, {"io", "I/O ", waitWarn}, {"memory", "memory ", memoryWaitWarn}} {
		waited, valid := m.grown("host.pressure." + r.file + "_some_us")
		if !valid || elapsed <= 0 {
			return notShown("start the kernel with psi=1 (version 4.20 or newer)")
		}
		share := waited / 1e6 / elapsed
		high = high || share >= r.limit
		parts = append(parts, r.name+quantity.Percent(share))
	}
	return grade(false, high, strings.Join(parts, ", "), "end or wait for what runs: top, iotop")
}

// timersWithin is how far ahead doctor looks for jobs of the system.
const timersWithin = 6 * time.Hour

func timersDue(m *machine) Finding {
	due := quantity.Texts(m.timers, func(t observe.Timer) string { return t.Name + " at " + t.At.Format("15:04") })
	if !m.scheduled {
		return unknown("systemd does not run here", "in a container, ask its host: systemctl list-timers")
	}
	return grade(false, len(due) > 0, cmp.Or(strings.Join(due, ", "), "none"), "stop them for that time: "+
		m.root("systemctl stop NAME.timer"))
}
