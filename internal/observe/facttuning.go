package observe

import (
	"os"
	"path/filepath"
	"strings"
)

// tuning adds kernel settings that affect what a benchmark measures and that are
// often tuned, so that machines may differ in them.
func (m machine) tuning(l *factList, d Device, err error) {
	l.add("transparent huge page defrag", chosen(text(m.sys, "kernel", "mm", "transparent_hugepage", "defrag")))
	l.add("vm.swappiness", text(m.proc, "sys", "vm", "swappiness"))
	l.add("vm.dirty_expire_centisecs", text(m.proc, "sys", "vm", "dirty_expire_centisecs"))
	l.add("open files limit", m.openFiles())
	l.add("kernel.perf_event_paranoid", text(m.proc, "sys", "kernel", "perf_event_paranoid"))
	l.add("hardware counters", m.hardwareCounters())
	if err == nil {
		l.add("device read-ahead", m.readAhead(d.Name))
	}
}

// openFiles returns the hard limit of open files: Go raises the soft limit to just
// below it, and servers that need many files do the same.
func (m machine) openFiles() string {
	for line := range strings.Lines(text(m.proc, "self", "limits")) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			if fields := strings.Fields(rest); len(fields) > 1 {
				return fields[1]
			}
		}
	}
	return ""
}

// hardwareCounters returns whether the processor's event counters, such as cycles
// and cache misses, are available: most virtual machines have none.
func (m machine) hardwareCounters() string {
	sources, err := os.ReadDir(filepath.Join(m.sys, "bus", "event_source", "devices"))
	if err != nil {
		return ""
	}
	for _, s := range sources {
		switch name := s.Name(); {
		case name == "cpu", name == "cpu_core", name == "cpu_atom", name == "cpum_cf", strings.HasPrefix(name, "armv8_"):
			return "yes"
		}
	}
	return "no"
}

// readAhead returns the kernel's read-ahead on the device that holds the
// filesystem, not of the disks beneath an array. A partition has the setting of
// its disk.
func (m machine) readAhead(name string) string {
	dir, err := m.block(name)
	if err != nil {
		return ""
	}
	if isPartition(dir) {
		dir = filepath.Dir(dir)
	}
	if kib := text(dir, "queue", "read_ahead_kb"); kib != "" {
		return kib + " KiB"
	}
	return ""
}
