package observe

import (
	"syscall"
	"time"
)

// OwnCPU returns the CPU time of this process, 0 if it is unknown.
func OwnCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
