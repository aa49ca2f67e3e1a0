package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// minFiles is a limit of open files that a large LSM tree may reach.
const minFiles = 10_000

// maxParanoid is the highest setting at which users can sample all processes.
const maxParanoid = 0

func openFiles(m *machine) Finding {
	limit := m.facts.Value("open files limit")
	n, err := strconv.Atoi(limit)
	switch {
	case limit == "unlimited":
		return ok(limit)
	case err != nil:
		return notShown("ulimit -Hn")
	case n < minFiles:
		return warn(limit, "raise the hard limit: nofile in /etc/security/limits.conf, or LimitNOFILE of the service")
	}
	return ok(limit)
}

// processIO tries to read the I/O counters of another user's process. If there
// is no such process, the capability decides.
func processIO(m *machine) Finding {
	if !exists(m.proc, "self", "io") {
		return unknown("the kernel does not count the I/O of processes", "use a kernel with CONFIG_TASK_IO_ACCOUNTING")
	}
	fix := "run rumbench as root: sudo rumbench …"
	if m.uid == 0 {
		fix = "give the container the right: docker run --cap-add SYS_PTRACE …"
	}
	if pid, found := m.foreignProcess(); found {
		_, err := os.ReadFile(filepath.Join(m.proc, strconv.Itoa(pid), "io"))
		switch {
		case err == nil:
			return ok("can be read")
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH):
			return warn(fmt.Sprintf("that of process %d cannot be read", pid), fix)
		}
	}
	switch may, valid := m.mayTrace(); {
	case !valid:
		return unknown("there is no process of another user to try", fix)
	case !may:
		return warn("cannot be read: CAP_SYS_PTRACE is missing", fix)
	}
	return ok("can be read (CAP_SYS_PTRACE)")
}

func (m *machine) foreignProcess() (pid int, found bool) {
	for _, p := range m.processes() {
		if status, err := p.NewStatus(); err == nil && status.UIDs[0] != uint64(m.uid) {
			return p.PID, true
		}
	}
	return 0, false
}

// mayTrace reports whether this process may inspect the processes of other users.
func (m *machine) mayTrace() (may, found bool) {
	self, err := m.kernel().Self()
	if err != nil {
		return false, false
	}
	status, err := self.NewStatus()
	return status.CapEff>>unix.CAP_SYS_PTRACE&1 == 1, err == nil
}

func perf(m *machine) Finding {
	counters, level := m.facts.Value("hardware counters"), m.facts.Value("kernel.perf_event_paranoid")
	n, err := strconv.Atoi(level)
	if counters == "" || err != nil && m.uid != 0 {
		return notShown("cat /proc/sys/kernel/perf_event_paranoid; ls /sys/bus/event_source/devices")
	}
	found := "hardware counters: " + counters
	if level != "" {
		found += ", kernel.perf_event_paranoid " + level
	}
	switch {
	case m.uid != 0 && n > maxParanoid:
		return warn(found, m.root("sysctl -w kernel.perf_event_paranoid=0"))
	case counters == "no":
		return warn(found, "in a virtual machine ask for a PMU; the clock still works: perf record -e cpu-clock")
	}
	return ok(found)
}
