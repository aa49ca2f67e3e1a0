package observe

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/procfs"
)

// RunQueue is the run-queue delay of each thread of some processes since the
// thread began: the time that it was runnable and waited for a CPU; see
// https://docs.kernel.org/scheduler/sched-stats.html.
type RunQueue map[int]time.Duration

// RunQueue returns the run-queue delay of the threads of the process tree.
func (p *Process) RunQueue() (RunQueue, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.update(); err != nil {
		return nil, fmt.Errorf("read the run queue: %w", err)
	}
	return ReadRunQueue(p.procRoot, slices.Collect(maps.Keys(p.members))...)
}

// ReadRunQueue returns the run-queue delay of the threads of processes, without
// their descendants; procRoot is "/proc". It takes some microseconds per thread.
func ReadRunQueue(procRoot string, pids ...int) (RunQueue, error) {
	kernel, err := procfs.NewFS(procRoot)
	if err != nil {
		return nil, fmt.Errorf("read the run queue: %w", err)
	}
	q := RunQueue{}
	for _, pid := range pids {
		threads, err := kernel.AllThreads(pid)
		if err != nil {
			continue // it has ended
		}
		for _, t := range threads {
			stat, err := t.Schedstat()
			if err == nil {
				q[t.PID] = time.Duration(stat.WaitingNanoseconds)
			} else if _, gone := os.Stat(filepath.Join(procRoot, strconv.Itoa(pid), "task", strconv.Itoa(t.PID))); gone == nil {
				return nil, fmt.Errorf("read the run queue of thread %d: %w", t.PID, err) // the kernel does not count it
			}
		}
	}
	return q, nil
}

// Since returns the total growth of the delay, over the threads that exist at both
// times.
func (q RunQueue) Since(earlier RunQueue) (sum time.Duration) {
	for tid, waited := range q {
		if before, ok := earlier[tid]; ok && waited > before {
			sum += waited - before
		}
	}
	return sum
}
