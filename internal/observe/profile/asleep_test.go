package profile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/expect"
	"rumbench/internal/need"
	"rumbench/internal/text/hint"
)

// sleeper runs a function on a thread of its own, with a name, and returns the thread's
// directory.
func sleeper(name string, sleep func()) (thread string) {
	named := make(chan int)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		_ = os.WriteFile("/proc/thread-self/comm", []byte(name), 0)
		named <- unix.Gettid()
		sleep()
	}()
	return fmt.Sprint("/proc/self/task/", <-named)
}

// untilIn returns when a thread is in a system call.
func untilIn(thread string, call int) {
	for {
		now, err := os.ReadFile(thread + "/syscall")
		if err != nil || strings.HasPrefix(string(now), fmt.Sprint(call, " ")) { // Look says what is wrong
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// TestLook: threads that sleep all the time are seen in each look, where they are.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "first.log")
	expect.NoError(t, unix.Mkfifo(fifo, 0o600))
	fd, err := unix.Open(fifo, unix.O_RDWR, 0)
	expect.NoError(t, err)
	var pair [2]int
	if pair, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); err != nil {
		t.Fatal(err)
	}
	other := exec.Command("cat")
	other.Args = []string{"cat: log writer 7 idle"}
	in := expect.Value(other.StdinPipe())(t)
	expect.NoError(t, other.Start())
	read := func(fd int) func() { return func() { _, _ = unix.Read(fd, make([]byte, 1)) } }
	untilIn(sleeper("planted1", read(fd)), unix.SYS_READ)
	untilIn(sleeper("planted2", read(fd)), unix.SYS_READ)
	untilIn(sleeper("waiter", read(pair[0])), unix.SYS_READ)
	untilIn(sleeper("poller", func() {
		_, _ = unix.Ppoll([]unix.PollFd{{Fd: int32(pair[0]), Events: unix.POLLPRI}}, &unix.Timespec{Sec: 3600}, nil)
	}), unix.SYS_PPOLL)
	untilIn(fmt.Sprint("/proc/", other.Process.Pid), unix.SYS_READ)

	l, err := Look(20, []int{os.Getpid()}, []string{dir}, engine.FileUses{{Pattern: "*.log", Use: engine.UseLog}})
	if errors.Is(err, ErrNoLooks) {
		need.Installed(t, err)
	}
	expect.NoError(t, err)
	start := now(t)
	time.Sleep(1500 * time.Millisecond)
	end := now(t)
	l.Stop()
	expect.NoError(t, errors.Join(in.Close(), other.Wait()))
	a := l.Cut(start, end)
	expect.True(t, a.Looks >= 2 && a.Window == end-start && a.Used > 0 && a.Ran > 0 && a.Used <= used(), a)
	for _, want := range []struct {
		Place
		threads time.Duration
	}{
		{Place{"planted", "read", "pipe_read", engine.UseLog}, 2},
		{Place{"waiter", "read", "unix_stream", "socket"}, 1},
		{Place{"poller", "ppoll", "poll", ""}, 1},
		{Place{"cat: log writer", "read", "pipe_read", "pipe"}, 1},
	} {
		i := slices.IndexFunc(a.Sleeps, func(s Sleep) bool { return s.Thread == want.Thread })
		if i < 0 {
			t.Errorf("%s was not seen: %+v", want.Thread, a.Sleeps)
			continue
		}
		s := a.Sleeps[i]
		expect.True(t, s.Syscall == want.Syscall && s.File == want.File && strings.Contains(s.Kernel, want.Kernel) && s.Time == want.threads*a.Window, s, want, a.Window)
	}
	none := l.Cut(end, end)
	expect.True(t, none.Looks == 0 && none.Sleeps == nil, none)
	// The sleepers end.
	if _, err := unix.Write(fd, []byte("..")); err != nil {
		t.Error(err)
	}
	expect.NoError(t, unix.Close(pair[1]))
}

func TestNoLooks(t *testing.T) {
	gone := exec.Command("true")
	expect.NoError(t, gone.Run())
	if _, err := Look(20, []int{gone.Process.Pid}, nil, nil); !errors.Is(err, ErrNoLooks) || hint.Of(err) == "" {
		t.Error(err)
	}
}

func TestPlaceNames(t *testing.T) {
	for name, want := range map[string]string{"pipe_read": "pipe_read", "do_sys_poll.constprop.0": "do_sys_poll", "0": "0", "futex_do_wait\n": "futex_do_wait"} {
		expect.Equal(t, kernelName(name), want, name)
	}
	for number, want := range map[int]string{unix.SYS_FDATASYNC: "fdatasync", unix.SYS_FUTEX: "futex", -1: PageFault, 99999: "syscall 99999"} {
		got, onFile := callName(number)
		expect.True(t, got == want && onFile == (want == "fdatasync"), "is, on a file", number, got, onFile)
	}
}
