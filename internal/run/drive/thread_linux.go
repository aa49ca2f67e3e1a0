package drive

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// measureThread locks the goroutine to its thread until the returned function
// is called, which stores the CPU time that the thread used in between.
func measureThread(cpu *time.Duration) func() {
	runtime.LockOSThread()
	start := threadCPU()
	return func() {
		*cpu = threadCPU() - start
		runtime.UnlockOSThread()
	}
}

func threadCPU() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// nap sleeps for a short time, about 60 µs longer than d. It blocks the thread.
func nap(d time.Duration) {
	for ts := unix.NsecToTimespec(int64(d)); d > 0; {
		if unix.Nanosleep(&ts, &ts) != unix.EINTR {
			return
		}
	}
}
