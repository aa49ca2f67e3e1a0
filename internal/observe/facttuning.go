package observe

import (
	"os"
	"path/filepath"
	"strings"
)

// tuning tells of settings of the kernel that change what a benchmark measures
// and that somebody may have tuned, on this machine or on the other one.
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

// openFiles is the hard limit of open files: Go raises the soft one to just
// below it, and servers that want many files do the same.
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

// hardwareCounters tells whether the processor's own event counters, such as
// cycles and cache misses, can be seen: most virtual machines have none.
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

// readAhead is what the kernel reads ahead on the device that holds the
// filesystem: the disks beneath an array are not asked. A partition has the
// setting of its disk.
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
