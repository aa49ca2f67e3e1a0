package cpuset

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"rumbench/internal/text/hint"
)

// Choose returns the CPUs of a list, or else the first n of those that are free: all that this process
// may run on, but for those taken. It is nil for no list and n = 0.
func Choose(list Set, n int, taken Set) (Set, error) {
	allowed, err := Allowed()
	if err != nil {
		return nil, err
	}
	for _, cpu := range list {
		if !slices.Contains(allowed, cpu) {
			return nil, hint.Errorf("choose among these", "there is no CPU %d that rumbench may use: there are %v", cpu, allowed)
		}
	}
	if len(list) > 0 || n == 0 {
		return list, nil
	}
	free := allowed.without(taken)
	if len(free) < n {
		return nil, hint.Errorf("ask for fewer", "%d CPUs are asked for, and %d are free: %v", n, len(free), free)
	}
	return free[:n], nil
}

// Others returns the CPUs that this process may run on but for some; all if none is left.
func Others(taken Set) (Set, error) {
	allowed, err := Allowed()
	if free := allowed.without(taken); len(free) > 0 {
		return free, err
	}
	return allowed, err
}

func (s Set) without(taken Set) Set {
	return slices.DeleteFunc(slices.Clone(s), func(cpu int) bool { return slices.Contains(taken, cpu) })
}

// Bind binds a process with all its threads to CPUs; its later threads and children inherit that. An
// empty set does nothing.
func Bind(pid int, on Set) error {
	if len(on) == 0 {
		return nil
	}
	mask := on.mask()
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
