package observe

import (
	"fmt"
	"os"
	"path/filepath"
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
