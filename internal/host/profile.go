package host

import (
	"fmt"
	"os"
	"strings"
	"time"

	"rumbench/internal/hint"
	"rumbench/internal/profile"
)

// Collectors reports which collectors of profiles this host and user can use.
func Collectors() *Report {
	r := &Report{Host: "what profiles are collected by"}
	add := func(name, wanted, why string, f Finding) {
		f.Name, f.Wanted, f.Why = name, wanted, why
		r.Findings = append(r.Findings, f)
	}
	add("CPU sampler", "perf_event_open of all processors",
		"it samples servers, clients and the kernel alike; without it there are no profiles of servers", cpuSampler())
	add("kernel functions", "addresses in /proc/kallsyms", "without them the kernel's part of a profile has no names", kernelNames("/proc/kallsyms"))
	add("lock waits", "Go's profiles of blocking", "they say who waits in an embedded engine, and for whom", ok("in rumbench itself, for embedded engines in Go"))
	return r
}

// cpuSampler tries it for a moment.
func cpuSampler() Finding {
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

// kernelNames looks whether the kernel shows the addresses of its functions.
func kernelNames(path string) Finding {
	text, err := os.ReadFile(path)
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
