package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of CPU time in /proc/PID/stat on all architectures.
const tick = 10 * time.Millisecond

var errEnded = errors.New("process has ended")

// usage is the resource use of processes. All of it only grows.
type usage [usages]float64

const (
	usedCPU   = iota // ns
	systemCPU        // of it, in the kernel; by ticks, which the kernel scales to the exact sum
	minorFaults
	majorFaults
	readBytes
	writeBytes
	cancelledBytes
	readCalls
	writeCalls
	usages
)

func (u *usage) add(v usage) {
	for i := range u {
		u[i] += v[i]
	}
}

// member is the state of a process of the tree when last seen.
type member struct {
	parent  int
	started uint64 // ticks since boot: distinguishes processes with the same PID
	used    usage  // its own, and that taken over from children
	storage bool   // its I/O was readable
	threads float64
	rss     float64 // bytes

	reapedFaults float64 // minor faults taken over from children
	unclaimed    float64 // of these, the faults of none of the members that vanished so far
}

// Command returns the command name of a process, from /proc/PID/comm.
func Command(procRoot string, pid int) (string, error) {
	data, err := os.ReadFile(filepath.Join(procRoot, strconv.Itoa(pid), "comm"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no process %d", pid)
	}
	if err != nil {
		return "", fmt.Errorf("process %d: %w", pid, err)
	}
	return strings.TrimSpace(string(data)), nil
}

// cpuClock returns the CPU time of a process, including that of threads that
// ended, without that of its children.
func cpuClock(pid int) (time.Duration, error) {
	// The clock number is that of clock_getcpuclockid(3); 2 selects the
	// scheduler's exact time.
	const scheduler = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|scheduler), &ts); err != nil {
		return 0, err
	}
	return time.Duration(ts.Nano()), nil
}

// readMember reads a process; the error is errEnded if it has ended.
func readMember(procRoot string, pid int, clock func(int) (time.Duration, error)) (*member, error) {
	dir := filepath.Join(procRoot, strconv.Itoa(pid))
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return nil, ended(dir, err)
	}
	m, own, err := parseStat(string(data))
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	if exact, err := clock(pid); err == nil {
		own = exact
	}
	m.used[usedCPU] += float64(own)
	data, err = os.ReadFile(filepath.Join(dir, "io"))
	if err == nil {
		m.storage = true
		return m, m.used.parseIO(string(data))
	}
	if err = ended(dir, err); errors.Is(err, errEnded) {
		return nil, err
	}
	return m, nil // no permission, or a kernel that does not count it
}

// ended returns errEnded if a file of the process was not readable because it has
// ended, otherwise the error itself.
func ended(dir string, err error) error {
	if errors.Is(err, unix.ESRCH) {
		return errEnded
	}
	if _, missing := os.Stat(dir); missing != nil {
		return errEnded
	}
	return err
}

// parseStat parses the line of /proc/PID/stat, see proc_pid_stat(5). The CPU time
// of the process itself is returned separately, as there is a better clock.
func parseStat(line string) (m *member, own time.Duration, err error) {
	// The second field is the command in parentheses, which may contain parentheses.
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const first = 3 // number of the first field after the command
	var n [24 + 1]uint64
	if len(fields) < len(n)-first {
		return &member{}, 0, fmt.Errorf("parse stat: unexpected line %q", line)
	}
	for _, i := range []int{4, 10, 11, 12, 13, 14, 15, 16, 17, 20, 22, 24} {
		if n[i], err = strconv.ParseUint(fields[i-first], 10, 64); err != nil {
			return &member{}, 0, fmt.Errorf("parse stat: field %d: %w", i, err)
		}
	}
	m = &member{
		parent:  int(n[4]),
		started: n[22],
		threads: float64(n[20]),
		rss:     float64(n[24]) * float64(os.Getpagesize()),
		used: usage{
			usedCPU:     float64(n[16]+n[17]) * float64(tick),
			systemCPU:   float64(n[15]+n[17]) * float64(tick),
			minorFaults: float64(n[10] + n[11]),
			majorFaults: float64(n[12] + n[13]),
		},
		reapedFaults: float64(n[11]),
	}
	return m, time.Duration(n[14]+n[15]) * tick, nil
}

// parseIO parses /proc/PID/io, which includes the children waited for.
func (u *usage) parseIO(text string) error {
	for i, name := range []string{"read_bytes:", "write_bytes:", "cancelled_write_bytes:", "syscr:", "syscw:"} {
		value, ok := valueOf(text, name)
		if !ok {
			return fmt.Errorf("parse io: no %s", name)
		}
		u[readBytes+i] = value
	}
	return nil
}

// fieldsOf returns the fields that follow a name on the line that begins with it.
func fieldsOf(text, name string) []string {
	for line := range strings.Lines(text) {
		if tail, ok := strings.CutPrefix(line, name); ok {
			return strings.Fields(tail)
		}
	}
	return nil
}

// valueOf returns the number on the line that begins with the name.
func valueOf(text, name string) (float64, bool) {
	fields := fieldsOf(text, name)
	if len(fields) == 0 {
		return 0, false
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	return value, err == nil
}

// Text returns the content of a small file, trimmed; "" if it cannot be read.
func Text(elem ...string) string {
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
