package profile

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"rumbench/internal/expect"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	expect.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

// ownTable returns this program and its table of functions.
func ownTable(t *testing.T) (*elf.File, *elf.Section) {
	t.Helper()
	f := expect.Value(elf.Open("/proc/self/exe"))(t)
	t.Cleanup(func() { f.Close() })
	return f, f.Section(".gopclntab")
}

// recorder makes recordings by hand.
type recorder struct{ *Recording }

func (r recorder) event(at int, e event) {
	e.time = time.Duration(at) * time.Millisecond
	r.events = append(r.events, e)
}

func (r recorder) sample(at int, pid, tid int32, addresses ...uint64) {
	var stack []byte
	for _, a := range addresses {
		stack = binary.NativeEndian.AppendUint64(stack, a)
	}
	r.samples = append(r.samples, sample{time: time.Duration(at) * time.Millisecond, period: 10 * time.Millisecond, pid: pid, tid: tid, stack: r.stacks.id(stack)})
}

const (
	inKernel = ^uint64(128 - 1)
	inUser   = ^uint64(512 - 1)
)

// Threads of the kernel are known whichever process a look at /proc meets first.
func TestKernelThreadsInAnyOrder(t *testing.T) {
	r := recorder{newRecording()}
	r.symbols.kernel = &image{Image: Image{Name: KernelImage}}
	r.event(0, event{kind: forked, pid: 150, tid: 150, parent: 2, parentThread: 2})
	r.event(0, event{kind: named, pid: 150, tid: 150, name: "jbd2"})
	r.event(0, event{kind: forked, pid: 2, tid: 2, parent: 0})
	r.event(0, event{kind: named, pid: 2, tid: 2, name: "kthreadd"})
	r.sample(1, 150, 150, inKernel, 1<<63)
	p := r.Cut(0, 10*time.Millisecond, Trees(1, 10))
	expect.True(t, len(p.Samples) == 1 && p.Samples[0].Side == Kernel, p.Samples)
}

// TestCut: processes are born, named, become other programs and end; a number is
// used again; samples are what was mapped at their time.
func TestCut(t *testing.T) {
	r := recorder{newRecording()}
	r.symbols.images = map[file]*image{
		{"/bin/one", 1}: {Image: Image{Name: "one", Path: "/bin/one"}, named: []function{{begin: 0x100, end: 0x200, name: "f"}, {begin: 0x200, end: 0x300, name: "main"}}},
		{"/bin/two", 2}: {Image: Image{Name: "two", Path: "/bin/two"}, unnamed: []function{{begin: 0x100, end: 0x180}}},
	}
	r.symbols.kernel = &image{Image: Image{Name: KernelImage}, named: []function{{begin: 1 << 63, end: 1<<63 + 16, name: "vfs_write"}}}
	one := mapping{begin: 0x1000, end: 0x2000, inode: 1, path: "/bin/one"}
	two := mapping{begin: 0x1000, end: 0x2000, inode: 2, path: "/bin/two"}
	r.event(0, event{kind: named, pid: 2, tid: 2, name: "kthreadd"})
	r.event(0, event{kind: forked, pid: 20, tid: 20, parent: 2, parentThread: 2})
	r.event(0, event{kind: named, pid: 20, tid: 20, name: "jbd2/vda-8"})
	r.event(0, event{kind: named, pid: 10, tid: 10, name: "server"})
	r.event(0, event{kind: mapped, pid: 10, mapping: one})
	r.event(10, event{kind: forked, pid: 10, tid: 11, parent: 10, parentThread: 10})
	r.event(11, event{kind: named, pid: 10, tid: 11, name: "worker7"})
	r.event(20, event{kind: forked, pid: 12, tid: 12, parent: 10, parentThread: 11}) // with the parent's code, until it is another program
	r.event(30, event{kind: named, pid: 12, tid: 12, name: "helper", exec: true})
	r.event(31, event{kind: mapped, pid: 12, mapping: two})
	r.event(50, event{kind: mapped, pid: 12, mapping: one})                            // in its place
	r.event(1500, event{kind: forked, pid: 12, tid: 12, parent: 99, parentThread: 99}) // another process of that number
	r.event(1501, event{kind: mapped, pid: 12, mapping: one})
	r.sample(4, 10, 10, inUser, 0x1100) // before the window
	r.sample(5, 10, 10, inUser, 0x1150, 0x1201)
	r.sample(12, 10, 11, inKernel, 1<<63, inUser, 0x1100, 0x1200, 0x99999, 0x1100) // returns to main's end; then no frames
	r.sample(25, 12, 12, inUser, 0x1100)
	r.sample(31, 12, 12, inUser, 0x1101) // at the time of its mapping
	r.sample(36, 12, 12, inUser, 0x1190)
	r.sample(30, 12, 12, inUser, 0x1100) // its code is not there yet
	r.sample(55, 12, 12, inUser, 0x1100)
	r.sample(40, 20, 20, inKernel, 1<<63)
	r.sample(1005, 10, 10, inUser, 0x1150, 0x1201)
	r.sample(1600, 12, 12, inUser, 0x1100)
	r.sample(2104, 10, 10, inUser, 0x1150, 0x1201) // the rest of a second
	r.sample(2405, 10, 10, inUser, 0x1150)         // after the window
	slices.Reverse(r.samples)                      // rings come one after the other
	p := r.Cut(5*time.Millisecond, 2405*time.Millisecond, Trees(1, 10))
	var got []string
	for i := range p.Samples {
		s := &p.Samples[i]
		var stack []Frame
		for _, f := range s.Stack {
			stack = append(stack, p.Frames[f])
		}
		got = append(got, fmt.Sprintf("%v %s/%s %s %v", s.Side, s.Process, s.Thread, shown(stack), s.Parts))
	}
	want := []string{
		"server server/server main;f [{0 10ms} {1 20ms}]",
		"server server/worker f;f;vfs_write [{0 10ms}]",
		"server worker/worker f [{0 10ms}]",
		"server helper/helper [unknown] [{0 10ms}]",
		"server helper/helper two@100 [{0 10ms}]",
		"server helper/helper two@? [{0 10ms}]",
		"kernel jbd2/vda/jbd2/vda vfs_write [{0 10ms}]",
		"server helper/helper f [{0 10ms}]",
		"other ?/?  [{1 10ms}]",
	}
	expect.True(t, slices.Equal(got, want), "got", strings.Join(got, "\n"), strings.Join(want, "\n"))
	expect.True(t, p.Seconds() == 2 && p.CPU() == 110*time.Millisecond && p.Count() == 11 && p.Of(Server).CPU() == 90*time.Millisecond && p.PerUnit(11) == 10000, p.Seconds(), p.CPU(), p.Count())
	again := r.Cut(5*time.Millisecond, 2405*time.Millisecond, Trees(1, 10))
	expect.True(t, again.CPU() == p.CPU() && len(again.Samples) == len(p.Samples), "the second cut differs")
}

// TestTake feeds records as perf_event_open(2) describes them.
func TestTake(t *testing.T) {
	r := newRecording()
	u32 := binary.NativeEndian.AppendUint32
	u64 := binary.NativeEndian.AppendUint64
	trailer := func(b []byte) []byte { return u64(u32(u32(b, 5), 6), 1000) }
	sampled := u64(u64(u64(u64(u32(u32(u64(nil, 0xabc), 5), 6), 2000), 10101010), 2), inUser)
	r.take(unix.PERF_RECORD_SAMPLE, 0, u64(sampled, 0xabc))
	r.take(unix.PERF_RECORD_SAMPLE, 0, sampled) // shorter than it says
	r.take(unix.PERF_RECORD_FORK, 0, trailer(u64(u32(u32(u32(u32(nil, 7), 5), 8), 6), 1000)))
	r.take(unix.PERF_RECORD_COMM, 1<<13, trailer(append(u32(u32(nil, 7), 8), "name\x00\x00\x00\x00"...)))
	r.take(unix.PERF_RECORD_MMAP2, 0, trailer(append(u64(u64(u64(u64(u64(u64(u64(u32(u32(nil, 7), 8), 0x1000), 0x500), 0x20), 0), 33), 0), 0), "/bin/x\x00\x00"...)))
	r.take(unix.PERF_RECORD_LOST, 0, trailer(u64(u64(nil, 1), 41)))
	r.take(unix.PERF_RECORD_THROTTLE, 0, trailer(u64(u64(u64(nil, 1), 2), 3)))
	r.take(unix.PERF_RECORD_MMAP2, 0, []byte("short"))
	r.take(99, 0, trailer(nil))
	r.take(unix.PERF_RECORD_COMM, 0, trailer(nil))
	expect.True(t, len(r.samples) == 1 && r.samples[0] == (sample{2000, 10101010, 5, 6, 0}) && slices.Equal(addresses(r.stacks.list[0]), []uint64{inUser, 0xabc}), r.samples, r.stacks.list)
	want := []event{
		{time: 1000, kind: forked, pid: 7, parent: 5, tid: 8, parentThread: 6},
		{time: 1000, kind: named, exec: true, pid: 7, tid: 8, name: "name"},
		{time: 1000, kind: mapped, pid: 7, tid: 8, mapping: mapping{pid: 7, begin: 0x1000, end: 0x1500, offset: 0x20, inode: 33, path: "/bin/x"}},
		{time: 1000, kind: named}, // cut off
	}
	expect.List(t, r.events, want)
	expect.True(t, r.Lost == 42 && r.Throttled == 1, "lost, throttled", r.Lost, r.Throttled)
}

func TestParseMapping(t *testing.T) {
	for line, want := range map[string]mapping{
		"55d0-56d0 r-xp 00001000 fe:00 123   /usr/lib/with space/x (deleted)\n": {begin: 0x55d0, end: 0x56d0, offset: 0x1000, inode: 123, path: "/usr/lib/with space/x (deleted)"},
		"7ff0-7ff1 r-xp 00000000 00:00 0     [vdso]\n":                          {begin: 0x7ff0, end: 0x7ff1, path: "[vdso]"},
		"7ff0-7ff1 rwxp 00000000 00:00 0\n":                                     {begin: 0x7ff0, end: 0x7ff1},
	} {
		if got, ok := parseMapping(line); !ok || got != want {
			t.Errorf("%q: %+v, %t", line, got, ok)
		}
	}
	for _, line := range []string{"55d0-56d0 r--p 00001000 fe:00 123 /x", "", "zz"} {
		if _, ok := parseMapping(line); ok {
			t.Errorf("%q is code", line)
		}
	}
}
