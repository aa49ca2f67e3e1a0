// Package cpuset reads the CPU affinity of processes, divides CPUs into halves or
// chooses some, and binds programs to them. It measures nothing.
package cpuset

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Set is a set of CPUs by the kernel's numbers, in ascending order.
type Set []int

// maxCPUs is the number of CPUs in an affinity mask.
const maxCPUs = 1024

// String returns the set as the kernel writes it: "0-3,8".
func (s Set) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		end := i
		for end+1 < len(s) && s[end+1] == s[end]+1 {
			end++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(s[i]))
		if end > i {
			b.WriteString("-" + strconv.Itoa(s[end]))
		}
		i = end + 1
	}
	return b.String()
}

// Parse parses a set as the kernel writes it.
func Parse(text string) (Set, error) {
	var s Set
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		start, err := strconv.Atoi(low)
		end, err2 := strconv.Atoi(high)
		if err := errors.Join(err, err2); err != nil || start < 0 || end < start || end >= maxCPUs {
			return nil, fmt.Errorf("%q is not a list of CPUs", text)
		}
		for cpu := start; cpu <= end; cpu++ {
			s = append(s, cpu)
		}
	}
	slices.Sort(s)
	return slices.Compact(s), nil
}

// Allowed returns the CPUs that this process may run on.
func Allowed() (Set, error) { return Of(0) }

// Of returns the CPUs that the main thread of a process may run on; 0 is the calling thread.
func Of(pid int) (s Set, err error) {
	mask, err := affinity(pid)
	if err != nil {
		return nil, err
	}
	for cpu := range maxCPUs {
		if mask.IsSet(cpu) {
			s = append(s, cpu)
		}
	}
	return s, nil
}

func affinity(pid int) (mask unix.CPUSet, err error) {
	if err = unix.SchedGetaffinity(pid, &mask); err != nil {
		err = fmt.Errorf("read the CPU affinity: %w", err)
	}
	return mask, err
}

func (s Set) mask() (mask unix.CPUSet) {
	for _, cpu := range s {
		mask.Set(cpu)
	}
	return mask
}

// Start starts a program bound to the CPUs of a set, with all its threads and
// child processes. An empty set does not bind it.
//
// A new process inherits the affinity of the thread that starts it, so this
// thread is bound for a moment. See sched_setaffinity(2).
func Start(cmd *exec.Cmd, on Set) error {
	if len(on) == 0 {
		return cmd.Start()
	}
	mask := on.mask()
	runtime.LockOSThread()
	before, err := affinity(0)
	if err == nil {
		err = unix.SchedSetaffinity(0, &mask)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("bind to CPUs %v: %w", on, err)
	}
	started := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		// The thread stays locked, so that it ends with its goroutine and no
		// other goroutine runs on it.
		return errors.Join(started, fmt.Errorf("unbind from CPUs %v: %w", on, err))
	}
	runtime.UnlockOSThread()
	return started
}
