package doctor

import (
	"slices"
	"strings"

	"rumbench/internal/observe"
)

const hostHint = "in a virtual machine ask who runs its host; else see the firmware and the cpufreq driver"

func setGovernor(m *machine) string {
	return m.set("performance", "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor")
}

func turboOff(m *machine) string {
	if exists(m.sys, "devices", "system", "cpu", "intel_pstate", "no_turbo") {
		return m.set("1", "/sys/devices/system/cpu/intel_pstate/no_turbo")
	}
	return m.set("0", "/sys/devices/system/cpu/cpufreq/boost")
}

const clockDir = "/sys/devices/system/clocksource/clocksource0"

// clocks are the clock sources that can be read in user space.
var clocks = []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase", "tod",
	"riscv_clocksource"}

func setClock(m *machine) string {
	available := strings.Fields(observe.Text(m.sys, "devices/system/clocksource/clocksource0/available_clocksource"))
	for _, c := range clocks {
		if slices.Contains(available, c) {
			return m.set(c, clockDir+"/current_clocksource")
		}
	}
	return "see why the kernel does not trust the tsc: dmesg | grep -i tsc"
}

func cpuLimit(m *machine) Finding {
	usable := m.factOr("cpus usable", "?") + " of " + m.factOr("cpus online", "?") + " CPUs usable"
	if quota := m.facts.Value("cpu quota"); quota != "" {
		return warn("a quota of "+quota+" CPUs; "+usable,
			"lift the quota of the container or service (cpu.max), or run outside of it")
	}
	if !m.showsLimits() {
		return unknown(usable+"; control groups cannot be read",
			"mount /sys/fs/cgroup in the container, or run outside of it")
	}
	return ok("no quota; " + usable)
}

// showsLimits reports whether the limits of control groups can be read:
// unreadable limits would go unnoticed.
func (m *machine) showsLimits() bool {
	return observe.Text(m.proc, "self", "cgroup") != "" &&
		(exists(m.sys, "fs", "cgroup", "cgroup.controllers") || exists(m.sys, "fs", "cgroup", "memory") ||
			exists(m.sys, "fs", "cgroup", "cpu"))
}
