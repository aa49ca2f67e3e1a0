package observe

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RunQueue is for how long each thread of some processes has stood in line for
// a processor, ready to run, since it began; see
// https://docs.kernel.org/scheduler/sched-stats.html.
type RunQueue map[int]time.Duration

// RunQueue reads it for the threads of the process tree.
func (p *Process) RunQueue() (RunQueue, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.update(); err != nil {
		return nil, fmt.Errorf("read the run queue: %w", err)
	}
	return ReadRunQueue(p.procRoot, slices.Collect(maps.Keys(p.tree.members))...)
}

// ReadRunQueue reads it for the threads of processes, without their
// descendants; procRoot is "/proc". It takes some microseconds a thread.
func ReadRunQueue(procRoot string, pids ...int) (RunQueue, error) {
	q := RunQueue{}
	for _, pid := range pids {
		tasks, err := filepath.Glob(filepath.Join(procRoot, strconv.Itoa(pid), "task", "*"))
		if err != nil {
			return nil, fmt.Errorf("read the run queue: %w", err)
		}
		for _, dir := range tasks {
			data, err := os.ReadFile(filepath.Join(dir, "schedstat"))
			if err != nil {
				if _, gone := os.Stat(dir); gone != nil {
					continue
				}
				return nil, fmt.Errorf("read the run queue: %w", err) // the kernel does not count it
			}
			waited, err := parseRunDelay(string(data))
			if err != nil {
				return nil, fmt.Errorf("read the run queue: %s: %w", dir, err)
			}
			tid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				return nil, fmt.Errorf("read the run queue: %w", err)
			}
			q[tid] = waited
		}
	}
	return q, nil
}

// parseRunDelay reads the second of the three numbers: nanoseconds on a
// processor, nanoseconds in line for one, and turns.
func parseRunDelay(text string) (time.Duration, error) {
	f := strings.Fields(text)
	if len(f) < 2 {
		return 0, fmt.Errorf("%q has no two numbers", text)
	}
	ns, err := strconv.ParseInt(f[1], 10, 64)
	return time.Duration(ns), err
}

// Since is for how long threads that lived at both times stood in line in
// between, all of them together.
func (q RunQueue) Since(earlier RunQueue) (sum time.Duration) {
	for tid, waited := range q {
		if before, ok := earlier[tid]; ok && waited > before {
			sum += waited - before
		}
	}
	return sum
}
