package observe

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"rumbench/internal/expect"
)

// What a thread does is counted: running is running, and sleeping is neither that nor a
// wait for a processor.
func TestReadThreads(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	tid := syscall.Gettid()
	read := func() ThreadTimes {
		all, err := ReadThreads("/proc", []int{tid, 1 << 30})
		expect.Must(t, err == nil && len(all) == 1, all, err)
		return all[tid]
	}
	before := read()
	var usage syscall.Rusage
	used := func() time.Duration {
		_ = syscall.Getrusage(1, &usage) // of the thread
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	start := used()
	for used()-start < 50*time.Millisecond {
	}
	ran := read().Since(before)
	d := used() - start
	expect.True(t, ran.CPU >= 40*time.Millisecond && ran.CPU <= d+50*time.Millisecond, "of CPU, by rusage", ran.CPU, d)
	before = read()
	time.Sleep(50 * time.Millisecond)
	slept := read().Since(before)
	expect.True(t, slept.CPU <= 40*time.Millisecond, "asleep", slept)
	if _, err := os.Stat("/proc/sys/kernel/task_delayacct"); err == nil && CountsIO("/nowhere") {
		t.Error("a kernel that is not there counts")
	}
}
