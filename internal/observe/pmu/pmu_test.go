package pmu

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"rumbench/engine"
	"rumbench/internal/expect"
)

// A group as the kernel writes it, recorded from two events that had the counters for half of the time.
func TestParse(t *testing.T) {
	var b []byte
	for _, v := range []uint64{2, 1_000_000, 500_000, 3_000_000, 4_500_000} {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	enabled, running, counts, err := parse(b, 2)
	expect.True(t, err == nil && enabled == 1e6 && running == 5e5 && cmp.Diff([]float64{3e6, 4.5e6}, counts) == "",
		enabled, running, counts, err)
	for _, wrong := range [][]byte{nil, b[:32], append(b, 0)} {
		if _, _, _, err := parse(wrong, 2); err == nil {
			t.Errorf("%d bytes are accepted", len(wrong))
		}
	}
}

// software are events that every machine counts. The clock is apart: the kernel loses counts of a group
// whose events are not of one kind, which those of the hardware are.
func software() [][]Event {
	return [][]Event{
		{{"clock", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_TASK_CLOCK}},
		{{"faults", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS}, {"switches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES}},
	}
}

func opened(t *testing.T, pid int, groups [][]Event) *Counter {
	t.Helper()
	c := Open([]int{pid}, groups)
	if c == nil {
		t.Skip("perf_event_open is not allowed here")
	}
	t.Cleanup(c.Close)
	return c
}

func counts(t *testing.T, c *Counter) map[string]float64 {
	t.Helper()
	var s engine.Sample
	expect.NoError(t, c.Collect(context.Background(), &s))
	out := map[string]float64{}
	for _, p := range s.Points {
		out[p.Name] = p.Value
	}
	return out
}

// Events are counted in threads that begin after the events were opened, and after these have ended.
func TestThreads(t *testing.T) {
	c := opened(t, os.Getpid(), software())
	before := counts(t, c)
	const pages = 2000
	var done sync.WaitGroup
	done.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		memory, err := unix.Mmap(-1, 0, pages*os.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = unix.Munmap(memory) }()
		_ = unix.Madvise(memory, unix.MADV_NOHUGEPAGE)
		for i := 0; i < len(memory); i += os.Getpagesize() {
			memory[i] = 1
		}
	})
	done.Wait()
	after := counts(t, c)
	faults := after["faults"] - before["faults"]
	expect.True(t, faults >= pages, "page faults of at least", faults, pages)
	expect.True(t, after["clock"] > before["clock"] && after["faults_enabled_ns"] == after["faults_running_ns"] && after["clock_running_ns"] != 0, after)
}

// Events are counted in a tree of processes: a shell that ran before and processes that it begins later.
func TestProcesses(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read go; for i in 1 2 3 4 5; do (head -c 3000000 /dev/zero | tail -c 1); done >/dev/null; echo done; read end")
	in := expect.Value(cmd.StdinPipe())(t)
	out := expect.Value(cmd.StdoutPipe())(t)
	expect.NoError(t, cmd.Start())
	defer func() {
		_ = in.Close()
		_ = cmd.Wait()
	}()
	c := opened(t, cmd.Process.Pid, software())
	before := counts(t, c)
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 5)
	if _, err := out.Read(answer); err != nil || !strings.HasPrefix(string(answer), "done") {
		t.Fatalf("%q, %v", answer, err)
	}
	after := counts(t, c)
	if after["faults"]-before["faults"] < 500 { // of ten programs, none of which begins with fewer than 50
		t.Errorf("page faults %v, before %v", after["faults"], before["faults"])
	}
	expect.True(t, after["clock"] > before["clock"] && after["switches"] > before["switches"], "before", after, before)
}

// Events that a machine does not have are absent, and the others are counted.
func TestAbsent(t *testing.T) {
	none := []Event{{"none", 99_999, 0}}
	if c := Open([]int{os.Getpid()}, [][]Event{none}); c != nil {
		t.Error("an event that no machine has is counted")
		c.Close()
	}
	c := opened(t, os.Getpid(), append(software(), none))
	got := counts(t, c)
	expect.True(t, got["clock"] != 0 && len(got) == 9, got)
	if c := Open([]int{1 << 30}, software()); c != nil {
		t.Error("a process that is not there is counted")
		c.Close()
	}
}
