// Package confine limits processes to some CPUs and to some memory, and reads back that it did. The
// page cache of the files that they use is part of the memory.
package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"rumbench/internal/observe/cpuset"
	"rumbench/internal/text/hint"
)

// Limits is what processes may use. Its zero value limits nothing.
type Limits struct {
	CPUs   cpuset.Set // nil: all
	Number int        // of CPUs, if the set is not given; 0: all
	Memory int64      // bytes; 0: any
}

// Set returns the CPUs of the limits, of those that are free: all that this process may run on, but
// for some; nil if they are not limited.
func (l *Limits) Set(taken cpuset.Set) (cpuset.Set, error) {
	allowed, err := cpuset.Allowed()
	if err != nil {
		return nil, err
	}
	for _, cpu := range l.CPUs {
		if !slices.Contains(allowed, cpu) {
			return nil, hint.Errorf("rumbench doctor lists them", "there is no CPU %d that rumbench may use: there are %v", cpu,
				allowed)
		}
	}
	if len(l.CPUs) > 0 || l.Number == 0 {
		return l.CPUs, nil
	}
	free := slices.DeleteFunc(allowed, func(cpu int) bool { return slices.Contains(taken, cpu) })
	if len(free) < l.Number {
		return nil, hint.Errorf("ask for fewer", "%d CPUs are asked for, and %d are free: %v", l.Number, len(free), free)
	}
	return free[:l.Number], nil
}

// Others returns the CPUs that this process may run on but for some; all if none is left.
func (l *Limits) Others(taken cpuset.Set) (cpuset.Set, error) {
	allowed, err := cpuset.Allowed()
	free := slices.DeleteFunc(slices.Clone(allowed), func(cpu int) bool { return slices.Contains(taken, cpu) })
	if len(free) == 0 {
		return allowed, err
	}
	return free, err
}

// Bind binds a process with all its threads to CPUs; its later threads and children inherit that. An
// empty set does nothing.
func Bind(pid int, on cpuset.Set) error {
	if len(on) == 0 {
		return nil
	}
	var mask unix.CPUSet
	for _, cpu := range on {
		mask.Set(cpu)
	}
	// Threads that begin meanwhile inherit the old CPUs from those not bound yet.
	for bound := map[string]bool{}; ; {
		threads, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		if err != nil {
			return fmt.Errorf("bind process %d to CPUs %v: %w", pid, on, err)
		}
		fresh := false
		for _, t := range threads {
			if bound[t.Name()] {
				continue
			}
			tid, _ := strconv.Atoi(t.Name()) // as the kernel writes it
			if err := unix.SchedSetaffinity(tid, &mask); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("bind process %d to CPUs %v: %w", pid, on, err)
			}
			bound[t.Name()], fresh = true, true
		}
		if !fresh {
			break
		}
	}
	if pid == os.Getpid() {
		runtime.GOMAXPROCS(len(on))
	}
	return nil
}

// Bound returns the CPUs that a process may run on.
func Bound(pid int) (cpuset.Set, error) {
	var mask unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &mask); err != nil {
		return nil, fmt.Errorf("read the CPUs of process %d: %w", pid, err)
	}
	return cpuset.Of(&mask), nil
}
