package profile

import "golang.org/x/sys/unix"

// olderCalls are the system calls that newer architectures lack.
var olderCalls = map[int]string{
	unix.SYS_POLL: "poll", unix.SYS_SELECT: "select", unix.SYS_EPOLL_WAIT: "epoll_wait", unix.SYS_PAUSE: "pause",
	unix.SYS_OPEN: "open", unix.SYS_UNLINK: "unlink", unix.SYS_RENAME: "rename",
}
