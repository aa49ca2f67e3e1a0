package profile

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// PageFault is the Syscall of threads that wait for a page of a mapped file.
const PageFault = "page fault"

// fileCalls are the system calls that servers sleep in and that take a file as their
// first argument; otherCalls the rest.
var fileCalls = map[int]string{
	unix.SYS_READ: "read", unix.SYS_WRITE: "write", unix.SYS_READV: "readv", unix.SYS_WRITEV: "writev",
	unix.SYS_PREAD64: "pread64", unix.SYS_PWRITE64: "pwrite64", unix.SYS_PREADV: "preadv", unix.SYS_PWRITEV: "pwritev",
	unix.SYS_PREADV2: "preadv2", unix.SYS_PWRITEV2: "pwritev2", unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
	unix.SYS_SYNCFS:    "syncfs",
	unix.SYS_FALLOCATE: "fallocate", unix.SYS_FTRUNCATE: "ftruncate", unix.SYS_CLOSE: "close", unix.SYS_FLOCK: "flock",
	unix.SYS_IOCTL:    "ioctl",
	unix.SYS_RECVFROM: "recvfrom", unix.SYS_RECVMSG: "recvmsg", unix.SYS_SENDTO: "sendto", unix.SYS_SENDMSG: "sendmsg",
	unix.SYS_ACCEPT: "accept", unix.SYS_ACCEPT4: "accept4", unix.SYS_CONNECT: "connect",
}

var otherCalls = map[int]string{
	unix.SYS_FUTEX: "futex", unix.SYS_PPOLL: "ppoll", unix.SYS_PSELECT6: "pselect6", unix.SYS_EPOLL_PWAIT: "epoll_pwait",
	unix.SYS_IO_GETEVENTS: "io_getevents", unix.SYS_IO_SUBMIT: "io_submit", unix.SYS_IO_URING_ENTER: "io_uring_enter",
	unix.SYS_NANOSLEEP: "nanosleep", unix.SYS_CLOCK_NANOSLEEP: "clock_nanosleep", unix.SYS_SEMOP: "semop",
	unix.SYS_SEMTIMEDOP:      "semtimedop",
	unix.SYS_RT_SIGTIMEDWAIT: "rt_sigtimedwait", unix.SYS_RT_SIGSUSPEND: "rt_sigsuspend", unix.SYS_WAIT4: "wait4",
	unix.SYS_WAITID: "waitid",
	unix.SYS_OPENAT: "openat", unix.SYS_UNLINKAT: "unlinkat", unix.SYS_RENAMEAT: "renameat", unix.SYS_MADVISE: "madvise",
	unix.SYS_MSYNC: "msync",
	unix.SYS_MMAP:  "mmap", unix.SYS_MUNMAP: "munmap", unix.SYS_SYNC: "sync",
	unix.SYS_RESTART_SYSCALL: "restart_syscall", // of a call with a timeout that a signal interrupted
}

// callName returns the name of a system call, and whether its first argument is a
// file.
func callName(number int) (name string, onFile bool) {
	if number < 0 {
		return PageFault, false
	}
	if name, ok := fileCalls[number]; ok {
		return name, true
	}
	for _, calls := range []map[int]string{otherCalls, olderCalls} {
		if name, ok := calls[number]; ok {
			return name, false
		}
	}
	return fmt.Sprintf("syscall %d", number), false
}
