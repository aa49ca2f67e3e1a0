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

	"github.com/prometheus/procfs"
)

// ThreadTimes holds the uses of a thread's time since it began, exactly and without
// samples.
type ThreadTimes struct {
	CPU   time.Duration // it ran
	Queue time.Duration // it was ready to run, and waited for a processor
	IO    time.Duration // it waited for a device, in ticks of 10 ms; 0 if CountsIO is false
}

// Since returns the growth of the times.
func (t ThreadTimes) Since(earlier ThreadTimes) ThreadTimes {
	return ThreadTimes{t.CPU - earlier.CPU, t.Queue - earlier.Queue, t.IO - earlier.IO}
}

// ReadThreads returns the times of threads by their numbers; procRoot is "/proc". Those
// that have ended are left out.
func ReadThreads(procRoot string, tids []int) (map[int]ThreadTimes, error) {
	kernel, err := procfs.NewFS(procRoot)
	if err != nil {
		return nil, fmt.Errorf("read threads: %w", err)
	}
	out := map[int]ThreadTimes{}
	for _, tid := range tids {
		t, err := kernel.Thread(tid, tid)
		if err != nil {
			continue
		}
		sched, err := t.Schedstat()
		if err != nil {
			continue
		}
		stat, err := t.Stat()
		if err != nil {
			continue
		}
		const tick = 10 * time.Millisecond
		out[tid] = ThreadTimes{
			CPU: time.Duration(sched.RunningNanoseconds), Queue: time.Duration(sched.WaitingNanoseconds),
			IO: time.Duration(stat.DelayAcctBlkIOTicks) * tick,
		}
	}
	return out, nil
}

// CountsIO reports whether the kernel counts how long threads wait for devices. It does
// so only if enabled, and only for threads that started after that.
func CountsIO(procRoot string) bool {
	on, err := os.ReadFile(filepath.Join(procRoot, "sys/kernel/task_delayacct"))
	return err == nil && strings.TrimSpace(string(on)) == "1"
}

// RunQueue is the CPU use of each thread of some processes since it began; see
// https://docs.kernel.org/scheduler/sched-stats.html.
type RunQueue map[int]ThreadRun

// ThreadRun is how long a thread of a process ran, and its run-queue delay: how long it
// was runnable and waited for a CPU.
type ThreadRun struct {
	PID        int
	CPU, Delay time.Duration
}

// RunQueue returns the CPU use of the threads of the process tree.
func (p *Process) RunQueue() (RunQueue, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.update(); err != nil {
		return nil, fmt.Errorf("read the run queue: %w", err)
	}
	return ReadRunQueue(p.procRoot, slices.Collect(maps.Keys(p.members))...)
}

// ReadRunQueue returns the CPU use of the threads of processes, without their
// descendants; procRoot is "/proc". It takes some microseconds per thread.
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
				q[t.PID] = ThreadRun{pid, time.Duration(stat.RunningNanoseconds), time.Duration(stat.WaitingNanoseconds)}
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
	for tid, now := range q {
		if previousRun, ok := earlier[tid]; ok && now.Delay > previousRun.Delay {
			sum += now.Delay - previousRun.Delay
		}
	}
	return sum
}

// Busiest returns the thread that ran longest since, and for how long, of those that exist
// at both times.
func (q RunQueue) Busiest(earlier RunQueue) (tid int, cpu time.Duration) {
	for id, now := range q {
		if previousRun, ok := earlier[id]; ok && now.CPU-previousRun.CPU > cpu {
			tid, cpu = id, now.CPU-previousRun.CPU
		}
	}
	return tid, cpu
}

// Name returns the name of one of the threads; "" if it has ended.
func (q RunQueue) Name(procRoot string, tid int) string {
	name, _ := os.ReadFile(filepath.Join(procRoot, strconv.Itoa(q[tid].PID), "task", strconv.Itoa(tid), "comm"))
	return strings.TrimSpace(string(name))
}
