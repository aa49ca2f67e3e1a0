package observe

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"rumbench/engine"
	"rumbench/internal/expect"
)

func self() []int { return []int{os.Getpid()} }

// shell is a process that runs one command after the other and reports when done.
type shell struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{cmd: exec.Command("sh")}
	var err error
	s.in, err = s.cmd.StdinPipe()
	expect.NoError(t, err)
	out, err := s.cmd.StdoutPipe()
	expect.NoError(t, err)
	s.out = bufio.NewScanner(out)
	expect.NoError(t, s.cmd.Start())
	t.Cleanup(s.end)
	return s
}

func (s *shell) pid() int { return s.cmd.Process.Pid }

func (s *shell) do(t *testing.T, command string) {
	t.Helper()
	_, err := fmt.Fprintf(s.in, "%s\necho done\n", command)
	expect.NoError(t, err)
	expect.Must(t, s.out.Scan() && s.out.Text() == "done", command, s.out.Text())
}

func (s *shell) end() {
	s.in.Close()
	_ = s.cmd.Wait() // it is only to be gone
}

const burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"

// grown runs do and returns the growth of all points. No counter may fall.
func grown(t *testing.T, p *Process, do func()) map[string]float64 {
	t.Helper()
	before := collect(t, p)
	do()
	after := collect(t, p)
	growth := make(map[string]float64)
	for key, value := range after {
		if growth[key] = value - before[key]; growth[key] < 0 && counters[key] {
			t.Errorf("%s fell from %v to %v", key, before[key], value)
		}
	}
	return growth
}

var counters = map[string]bool{
	"process.cpu_ns": true, "process.read_bytes": true, "process.write_bytes": true,
	"process.cancelled_write_bytes": true, "process.syscall_reads": true, "process.syscall_writes": true,
	"process.minor_faults": true, "process.major_faults": true,
}

func TestProcessCPU(t *testing.T) {
	s := newShell(t)
	p := NewProcess("/proc", func() []int { return []int{s.pid()} })
	if got := grown(t, p, func() { s.do(t, burn) })["process.cpu_ns"]; got <= 0 {
		t.Errorf("CPU time grew by %v ns while the process worked", got)
	}
	// A child that is born and ends between two samples.
	got := grown(t, p, func() { s.do(t, "( "+strings.Repeat(burn+"; ", 3)+" )") })
	expect.True(t, got["process.cpu_ns"] >= float64(tick),
		"CPU time grew by ns while a child worked and ended", got["process.cpu_ns"])
	expect.True(t, got["process.minor_faults"] > 0, "faults of the child are missing", got)
}

func TestProcessChildSeenAlive(t *testing.T) {
	s := newShell(t)
	p := NewProcess("/proc", func() []int { return []int{s.pid()} })
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	s.do(t, "mkfifo "+fifo)
	// The child works, signals that, without a process of its own, and then waits for the fifo.
	s.do(t, fmt.Sprintf("{ %s; %[1]s; %[1]s; : > %[2]s/busy; read x; } < %[3]s & exec 9> %[3]s; while [ ! -e %[2]s/busy ]; do sleep 0.01; done", burn, dir, fifo))
	expect.Equal(t, collect(t, p)["process.processes"], 2, "processes")
	grown(t, p, func() { s.do(t, "echo >&9; wait") }) // fails if a counter falls
	got := collect(t, p)
	expect.Equal(t, got["process.processes"], 1, "processes after the child ended")
	// What the child did must not be counted twice, before and after its end.
	s.end()
	all := s.cmd.ProcessState.UserTime() + s.cmd.ProcessState.SystemTime()
	sum := time.Duration(got["process.cpu_ns"])
	expect.True(t, sum <= all+2*tick, "the tree had of CPU time in the end, was counted", all, sum)
}

func TestProcessWrites(t *testing.T) {
	s := newShell(t)
	p := NewProcess("/proc", func() []int { return []int{s.pid()} })
	dir := t.TempDir()
	got := grown(t, p, func() {
		s.do(t, "dd if=/dev/zero of="+dir+"/file bs=65536 count=16 conv=fsync 2> /dev/null")
	})
	expect.True(t, got["process.syscall_writes"] >= 16, "write calls", got["process.syscall_writes"])
	_, err := FindDevice(dir)
	expect.True(t, err != nil || got["process.write_bytes"] >= 1<<20, "bytes written", got["process.write_bytes"])
}

// A server that is killed keeps what it had, and its successor adds to it.
func TestProcessRestart(t *testing.T) {
	first, second := newShell(t), newShell(t)
	roots := []int{first.pid(), second.pid()}
	p := NewProcess("/proc", func() []int { return roots })
	first.do(t, burn)
	grown(t, p, func() { first.end() }) // fails if a counter falls
	roots = []int{second.pid()}
	got := grown(t, p, func() { second.do(t, burn) })["process.cpu_ns"]
	expect.True(t, got > 0, "CPU time grew by ns after the restart", got)
	second.end()
	err := p.Collect(t.Context(), &engine.Sample{})
	expect.True(t, err != nil, "no error though no process lives")
}

func TestProcessMemory(t *testing.T) {
	p := NewProcess("/proc", self)
	bytes, source, err := p.Memory(t.Context())
	expect.NoError(t, err)
	expect.True(t, bytes >= 1<<20 && source == MemoryPSS, "bytes of", bytes, source)
	first, second := collect(t, p), collect(t, p)
	if _, ok := first["process.pss_bytes"]; !ok {
		t.Error("no proportional set size in the first sample")
	}
	if _, ok := second["process.pss_bytes"]; ok {
		t.Error("the proportional set size was read again at once")
	}
	p.memoryNext = time.Time{}
	if _, ok := collect(t, p)["process.pss_bytes"]; !ok {
		t.Error("no proportional set size though its time had come")
	}
}

func TestProcessMemoryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := NewProcess("/proc", self).Memory(ctx)
	expect.True(t, errors.Is(err, context.Canceled), err)
}

// forest is a /proc made by hand.
type forest struct {
	t    *testing.T
	root string
}

// proc describes a process of a forest. Its CPU time is in ticks.
type proc struct {
	parent                    int
	faults, reapedFaults      int
	cpu, reapedCPU            int
	written, started, threads int
	noIO                      bool
}

func newForest(t *testing.T) forest { return forest{t, t.TempDir()} }

func (f forest) set(pid int, p proc) {
	f.t.Helper()
	dir := filepath.Join(f.root, fmt.Sprint(pid))
	stat := fmt.Sprintf("%d (a (strange) name) S %d 1 1 0 -1 4194560 %d %d 0 0 %d 0 %d 0 20 0 %d 0 %d 5124096 10 0\n",
		pid, p.parent, p.faults, p.reapedFaults, p.cpu, p.reapedCPU, max(p.threads, 1), p.started)
	write(f.t, filepath.Join(dir, "stat"), stat, false)
	if p.noIO {
		write(f.t, filepath.Join(dir, "io"), "", true) // like a file that must not be read
		return
	}
	write(f.t, filepath.Join(dir, "io"), fmt.Sprintf("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 0\nwrite_bytes: %d\ncancelled_write_bytes: 0\n", p.written), false)
}

func (f forest) process(roots ...int) *Process {
	p := NewProcess(f.root, func() []int { return roots })
	p.cpuClock = func(int) (time.Duration, error) { return 0, errors.New("no such process") }
	return p
}

// sums are the figures of a tree that the tests below look at.
type sums struct{ ticks, written, faults, processes float64 }

// anything is what is not looked at.
var anything = sums{-1, -1, -1, -1}

// Whoever of a tree is born and ends: what its processes did is counted once, and never falls.
func TestTrees(t *testing.T) {
	type procs map[int]proc
	type look struct {
		when string
		set  procs
		gone []int
		want sums
	}
	for name, looks := range map[string][]look{
		"descendants": {
			{"at first", procs{1: {cpu: 1000}, 10: {parent: 1, cpu: 5, written: 100, faults: 50},
				11: {parent: 10, cpu: 6, written: 200, faults: 60}, 12: {parent: 11, cpu: 7, written: 300, faults: 70},
				20: {parent: 1, cpu: 1000, written: 1000}}, nil, sums{18, 600, 180, 3}},
			{"a child more", procs{13: {parent: 12, cpu: 1, written: 1, faults: 1}, 21: {parent: 20, cpu: 1}}, nil,
				sums{19, 601, 181, 4}},
		},
		"a child that is waited for": {
			{"alive", procs{10: {cpu: 5, written: 100, faults: 50}, 11: {parent: 10, cpu: 6, written: 200, faults: 60}}, nil,
				sums{11, 300, 110, 2}},
			// It did a little more before it ended.
			{"waited for", procs{10: {cpu: 5, written: 301, faults: 50, reapedCPU: 7, reapedFaults: 61}}, []int{11},
				sums{12, 301, 111, 1}},
			{"later", nil, nil, sums{12, 301, 111, 1}},
		},
		"a child that is not waited for": {
			{"alive", procs{10: {cpu: 5, written: 100, faults: 50}, 11: {parent: 10, cpu: 6, written: 200, faults: 60}}, nil,
				sums{11, 300, 110, 2}},
			{"gone", nil, []int{11}, sums{11, 300, 110, 1}},
			{"the parent goes on", procs{10: {cpu: 6, written: 101, faults: 51}}, nil, sums{12, 301, 111, 1}},
		},
		"a grandchild through its parent": {
			{"alive", procs{10: {faults: 50}, 11: {parent: 10, cpu: 5, written: 100, faults: 60},
				12: {parent: 11, cpu: 6, written: 200, faults: 70}}, nil, sums{11, 300, 180, 3}},
			// 12 was waited for by 11, which was waited for by 10.
			{"gone", procs{10: {written: 300, faults: 50, reapedCPU: 11, reapedFaults: 130}}, []int{11, 12}, sums{11, 300, 180, 1}},
		},
		"an orphan": {
			{"alive", procs{1: {}, 10: {parent: 1, faults: 50}, 11: {parent: 10, cpu: 5, faults: 60},
				12: {parent: 11, cpu: 6, faults: 70}}, nil, sums{11, 0, 180, 3}},
			{"orphaned", procs{10: {parent: 1, faults: 50, reapedCPU: 5, reapedFaults: 60}, 12: {parent: 1, cpu: 7, faults: 70}},
				[]int{11}, sums{12, 0, 180, 2}},
		},
		"a number that is used again": {
			{"alive", procs{10: {faults: 50}, 11: {parent: 10, cpu: 5, faults: 60, started: 1}}, nil, sums{5, 0, 110, 2}},
			{"by another process", procs{11: {parent: 1, cpu: 1000, faults: 1000, started: 2}}, nil, sums{5, 0, 110, 1}},
			{"later", nil, nil, sums{5, 0, 110, 1}},
		},
		// It may end between being read and its parent being read: for one sample both have its figures.
		"a child that ends while it is read": {
			{"alive", procs{10: {faults: 50}, 11: {parent: 10, cpu: 5, faults: 60}}, nil, sums{5, 0, 110, 2}},
			{"both", procs{10: {faults: 50, reapedCPU: 5, reapedFaults: 60}}, nil, anything},
			{"later", procs{10: {cpu: 100, faults: 150, reapedCPU: 5, reapedFaults: 60}}, []int{11}, sums{105, 0, 210, 1}},
		},
		"ticks that are lost": {
			{"alive", procs{10: {cpu: 50, faults: 50}, 11: {parent: 10, cpu: 6, faults: 60}}, nil, sums{56, 0, 110, 2}},
			{"rounded off", procs{10: {cpu: 50, faults: 50, reapedCPU: 4, reapedFaults: 60}}, []int{11}, sums{56, 0, 110, 1}},
			{"caught up", procs{10: {cpu: 60, faults: 50, reapedCPU: 4, reapedFaults: 60}}, nil, sums{64, 0, 110, 1}},
		},
	} {
		f := newForest(t)
		p := f.process(10)
		for _, l := range looks {
			for _, pid := range l.gone {
				expect.NoError(t, os.RemoveAll(filepath.Join(f.root, fmt.Sprint(pid))))
			}
			for pid, state := range l.set {
				f.set(pid, state)
			}
			got := collect(t, p)
			have := sums{got["process.cpu_ns"] / float64(tick), got["process.write_bytes"], got["process.minor_faults"],
				got["process.processes"]}
			expect.True(t, have == l.want || l.want == anything, name, l.when, have, l.want)
		}
	}
}

func TestProcessIODenied(t *testing.T) {
	f := newForest(t)
	f.set(10, proc{cpu: 1, written: 100})
	f.set(11, proc{parent: 10, cpu: 1, noIO: true})
	p := f.process(10)
	for range 2 {
		got := collect(t, p)
		_, ok := got["process.write_bytes"]
		expect.True(t, !ok && got["process.cpu_ns"] != 0, "points", got)
	}
	expect.True(t, len(p.Warnings()) == 1, "warnings", p.Warnings())
}

func TestProcessMemoryFallsBack(t *testing.T) {
	f := newForest(t)
	f.set(10, proc{})
	f.set(11, proc{parent: 10})
	bytes, source, err := f.process(10).Memory(t.Context())
	expect.NoError(t, err)
	want := int64(20 * os.Getpagesize())
	expect.True(t, bytes == want && source == MemoryRSS, "bytes of", bytes, source, want, MemoryRSS)
	for _, pid := range []string{"10", "11"} {
		write(t, filepath.Join(f.root, pid, "smaps_rollup"), "55-7f ---p 0 00:00 0 [rollup]\nRss: 1768 kB\nPss: 431 kB\nPss_Dirty: 116 kB\n", false)
	}
	bytes, source, err = f.process(10).Memory(t.Context())
	expect.NoError(t, err)
	expect.True(t, bytes == 2*431*1024 && source == MemoryPSS, "bytes of", bytes, source)
}

func TestTreeReadsChildrenFirst(t *testing.T) {
	f := newForest(t)
	f.set(30, proc{})
	f.set(20, proc{parent: 30})
	f.set(25, proc{parent: 20})
	tree := newTree(f.root)
	got, err := tree.find([]int{30})
	expect.NoError(t, err)
	expect.Equal(t, fmt.Sprint(got), "[25 20 30]", "order", got)
}
