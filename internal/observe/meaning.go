package observe

import "rumbench/engine"

// meanings are the meanings of the counters of hosts, devices and processes by which
// engines are compared. Counters that follow from these, or that describe the whole
// host, are not included.
var meanings = map[string]string{
	"process.cpu_ns":        "CPU time of the processes",
	"process.system_ns":     "CPU time of the processes in the kernel",
	"process.read_bytes":    "read by the processes",
	"process.write_bytes":   "written by the processes",
	"process.syscall_reads": "read calls", "process.syscall_writes": "write calls",
	"process.minor_faults": "minor page faults", "process.major_faults": "major page faults",
	"device.reads": "device reads", "device.read_bytes": "read from the device",
	"device.writes": "device writes", "device.write_bytes": "written to the device",
	"device.flushes": "device flushes", "device.discard_bytes": "discarded on the device",
	"host.context_switches": "context switches of the host",
}

// Meaning returns the meaning of a counter that is the same for all engines; ""
// for a counter of one engine.
func Meaning(counter string) string {
	for _, m := range engine.Meanings() {
		if m.Name == counter {
			return m.Title
		}
	}
	return meanings[counter]
}
