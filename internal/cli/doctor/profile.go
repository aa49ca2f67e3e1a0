package doctor

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rumbench/internal/observe/blockio"
	"rumbench/internal/observe/profile"
	"rumbench/internal/text/hint"
)

// Collectors reports which profile collectors this host and user can use.
func Collectors() *Report {
	m := &machine{proc: "/proc", dir: "."}
	return m.report("profile collectors", []check{
		{"CPU sampler", "perf_event_open of all processors", cpuSampler,
			"it samples servers, clients and the kernel alike; without it there are no profiles of servers"},
		{"kernel functions", "addresses in /proc/kallsyms", kernelNames,
			"without them the kernel's part of a profile has no names"},
		{"files", "tracepoints of the block layer, and files that are on one device", fileTracer,
			"they say which files of a server are read and written, in extra trials"},
		{"threads", "/proc/PID/syscall of processes of other users", threadLooks,
			"they say where threads sleep, in extra trials"},
		{"waits for devices", "kernel.task_delayacct=1 before servers start", delays,
			"explanations then separate device waits from sleep"},
		{"lock waits", "Go's profiles of blocking",
			func(*machine) Finding { return ok("in rumbench itself, for embedded engines in Go") },
			"they say who waits in an embedded engine, and for whom"},
	})
}

// cpuSampler tries the CPU sampler for a moment.
func cpuSampler(*machine) Finding {
	const moment = 20 * time.Millisecond
	const hertz = 99
	s, err := profile.Start(hertz, false)
	if err != nil {
		return warn(err.Error(), hint.Of(err))
	}
	time.Sleep(moment)
	switch r, err := s.Stop(); {
	case err != nil:
		return warn(err.Error(), "")
	case r.OwnOnly:
		return warn("only this process, without the kernel's part: enough for embedded engines",
			"run as root, or sysctl kernel.perf_event_paranoid=0, or setcap cap_perfmon+ep on rumbench")
	}
	return ok("all processes, and the kernel's part")
}

// fileTracer checks whether requests to the device under a directory can be traced.
func fileTracer(m *machine) Finding {
	if err := blockio.Available(m.dir); err != nil {
		return warn(err.Error(), cmp.Or(hint.Of(err), "keep the data on ext4 or xfs, on a partition or a whole disk"))
	}
	return ok("requests, and the places of files below this directory")
}

// threadLooks checks whether this process may inspect the threads of other users.
func threadLooks(m *machine) Finding {
	if may, _ := m.mayTrace(); !may {
		return warn("only this user’s processes", "run as root; in a container, with CAP_SYS_PTRACE")
	}
	return ok("of all processes")
}

// delays checks whether the kernel counts how long threads wait for devices.
func delays(m *machine) Finding {
	text, err := os.ReadFile(filepath.Join(m.proc, "sys/kernel/task_delayacct"))
	switch {
	case err != nil:
		return warn(err.Error(), "use a kernel with CONFIG_TASK_DELAY_ACCT")
	case strings.TrimSpace(string(text)) != "1":
		return warn("not counted", "sysctl kernel.task_delayacct=1")
	}
	return ok("counted")
}

// kernelNames checks whether the kernel shows the addresses of its functions.
func kernelNames(m *machine) Finding {
	text, err := os.ReadFile(filepath.Join(m.proc, "kallsyms"))
	if err != nil {
		return warn(err.Error(), "use a kernel with CONFIG_KALLSYMS")
	}
	for line := range strings.Lines(string(text)) {
		if address, _, _ := strings.Cut(line, " "); strings.Trim(address, "0") != "" {
			return ok(fmt.Sprintf("%d symbols", strings.Count(string(text), "\n")))
		}
	}
	return warn("all addresses are 0", "run as root, or sysctl kernel.kptr_restrict=0")
}
