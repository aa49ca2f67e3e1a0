package observe

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rumbench/internal/expect"
	"rumbench/internal/need"
)

// fakeProc is a directory of processes.
type fakeProc struct {
	t   *testing.T
	dir string
}

func newProc(t *testing.T) fakeProc {
	f := fakeProc{t, t.TempDir()}
	f.machine("", 0)
	return f
}

// machine writes what the disks did and how much is dirty, in KB.
func (f fakeProc) machine(diskstats string, dirty int) {
	expect.NoError(f.t, os.WriteFile(filepath.Join(f.dir, "diskstats"), []byte(diskstats), 0o644))
	expect.NoError(f.t, os.WriteFile(filepath.Join(f.dir, "meminfo"), []byte("Dirty: "+strconv.Itoa(dirty)+" kB\nWriteback: 1 kB\n"), 0o644))
}

// process writes a process: its parent, when it began, its faults and those of
// children it waited for, and what it read and wrote.
func (f fakeProc) process(pid, parent, started, faults, reaped int, read, written, cancelled int) {
	dir := filepath.Join(f.dir, strconv.Itoa(pid))
	expect.NoError(f.t, os.MkdirAll(dir, 0o755))
	fields := make([]string, 22) // from the third on
	for i := range fields {
		fields[i] = "0"
	}
	fields[0] = "S"
	for field, v := range map[int]int{4: parent, 10: faults, 11: reaped, 20: 1, 22: started} {
		fields[field-3] = strconv.Itoa(v)
	}
	expect.NoError(f.t, os.WriteFile(filepath.Join(dir, "stat"), []byte(strconv.Itoa(pid)+" (x) "+strings.Join(fields, " ")+"\n"), 0o644))
	io := "rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: " + strconv.Itoa(read) + "\nwrite_bytes: " + strconv.Itoa(written) + "\ncancelled_write_bytes: " + strconv.Itoa(cancelled) + "\n"
	expect.NoError(f.t, os.WriteFile(filepath.Join(dir, "io"), []byte(io), 0o644))
}

func (f fakeProc) end(pid int) {
	expect.NoError(f.t, os.RemoveAll(filepath.Join(f.dir, strconv.Itoa(pid))))
}

// What others write is the growth of all processes but ours and the kernel's
// threads, whoever of them is born or ends meanwhile.
func TestOthers(t *testing.T) {
	const (
		us, ourChild = 1_000_050, 1_000_051 // numbers that no process of this machine has
		shell, copy_ = 1_000_060, 1_000_061
		journal      = 1_000_070
		unrelated    = 1_000_080
	)
	f := newProc(t)
	f.process(1, 0, 1, 100, 0, 0, 5000, 0)
	f.process(2, 0, 1, 0, 0, 0, 0, 0)
	f.process(journal, 2, 2, 0, 0, 0, 1<<20, 0)
	f.process(us, 1, 5, 100, 0, 0, 1000, 0)
	f.process(ourChild, us, 6, 100, 0, 0, 1000, 0)
	f.process(shell, 1, 7, 100, 0, 10, 100, 0)
	f.process(copy_, shell, 8, 100, 0, 1<<30, 1<<30, 0) // long before
	f.process(unrelated, 1, 9, 100, 0, 0, 1<<30, 0)
	o := NewOthers(f.dir, t.TempDir(), Device{}, us)
	growth := func(subject string, read, written float64, do func()) {
		t.Helper()
		a, err := o.Look()
		expect.NoError(t, err)
		do()
		b, err := o.Look()
		expect.NoError(t, err)
		d := b.Since(a)
		expect.True(t, d.Read == read && d.Written == written && len(d.Closed) == 0, subject, d, read, written)
	}
	growth("only we and the kernel write", 0, 0, func() {
		f.process(journal, 2, 2, 0, 0, 0, 9<<20, 0)
		f.process(us, 1, 5, 100, 0, 0, 5<<20, 0)
		f.process(ourChild, us, 6, 100, 0, 0, 5<<20, 0)
	})
	growth("a neighbour", 40, 7000-1000, func() { f.process(shell, 1, 7, 100, 0, 50, 7100, 1000) })
	growth("what ends hands on what it did long before", 0, 100, func() {
		f.end(copy_)
		f.process(shell, 1, 7, 100, 100, 50+1<<30, 7200+1<<30, 1000)
	})
	growth("what ends without being waited for", 0, 0, func() { f.end(unrelated) })
	growth("born and ended meanwhile", 0, 300, func() { f.process(1, 0, 1, 100, 55, 0, 5300, 0) })
	growth("born meanwhile", 0, 800, func() { f.process(copy_, shell, 99, 5, 0, 0, 800, 0) })
}

// What may not be read, and did something, is unknown, and not zero; and so is
// what is not seen.
func TestOthersUnknown(t *testing.T) {
	f := newProc(t)
	f.process(1_000_050, 1, 5, 100, 0, 0, 1000, 0)
	f.process(1_000_060, 1, 5, 100, 0, 0, 1000, 0)
	o := NewOthers(f.dir, t.TempDir(), Device{}, 1_000_050)
	expect.Refused(o.Look())(t, "are visible", "in a container")
	f.process(2, 0, 1, 0, 0, 0, 0, 0)
	for _, pid := range []string{"1000060", "1000061"} { // as unreadable as another user's
		f.process(1_000_061, 1, 5, 100, 0, 0, 1000, 0)
		expect.NoError(t, os.Remove(filepath.Join(f.dir, pid, "io")))
		expect.NoError(t, os.Mkdir(filepath.Join(f.dir, pid, "io"), 0o755))
	}
	a, err := o.Look()
	expect.NoError(t, err)
	stat := filepath.Join(f.dir, "1000061", "stat")
	line, err := os.ReadFile(stat)
	expect.NoError(t, err)
	fields := strings.Fields(string(line))
	fields[13] = "7" // its CPU time, in ticks
	expect.NoError(t, os.WriteFile(stat, []byte(strings.Join(fields, " ")), 0o644))
	b, err := o.Look()
	expect.NoError(t, err)
	d := b.Since(a)
	expect.True(t, len(d.Closed) == 1 && d.Closed[0] == "process 1000061", "one of two did something", d)
}

// The disks' figures are those of whole disks; a device of several disks is
// beside them.
func TestOthersDisks(t *testing.T) {
	sys := t.TempDir()
	for _, disk := range []string{"sda", "sdb", "sdc"} {
		expect.NoError(t, os.MkdirAll(filepath.Join(sys, "class", "block", disk, "device"), 0o755))
		expect.NoError(t, os.WriteFile(filepath.Join(sys, "class", "block", disk, "size"), []byte("9\n"), 0o644))
	}
	for _, c := range []struct {
		data    Device
		read    float64
		written float64
	}{
		{Device{Name: "sda", Leaves: []string{"sda"}}, 30 * 512, 60 * 512},
		{Device{Name: "loop0", Leaves: []string{"loop0"}}, 30 * 512, 60 * 512},
		{Device{Name: "md0", Leaves: []string{"sda", "sdb"}}, 10 * 512, 20 * 512},
	} {
		f := newProc(t)
		f.process(1, 0, 1, 100, 0, 0, 5000, 0)
		f.process(2, 0, 1, 0, 0, 0, 0, 0)
		lines := func(sectors int) (text string) {
			for _, disk := range []string{"sda", "sdb", "sdc", "loop0"} {
				text += " 8 0 " + disk + " 1 0 " + strconv.Itoa(sectors) + " 0 1 0 " + strconv.Itoa(2*sectors) + " 0 0 0 0\n"
			}
			return text
		}
		o := NewOthers(f.dir, sys, c.data, 1_000_050)
		f.machine(lines(100), 50)
		a, err := o.Look()
		expect.NoError(t, err)
		f.machine(lines(110), 90)
		b, err := o.Look()
		expect.NoError(t, err)
		if d := b.Since(a); d.DiskRead != c.read || d.DiskWritten != c.written || d.Dirty != 40<<10 || d.Beneath != (c.data.Name != "md0") {
			t.Errorf("%s: %+v", c.data.Name, d)
		}
	}
}

// Of what others did, so much may have been on the device under the data as the
// other disks did not do.
func TestHere(t *testing.T) {
	for _, c := range []struct {
		name          string
		t             Traffic
		read, written float64 // of the device
		want          [2]float64
	}{
		{"one disk for all", Traffic{Read: 30, Written: 50, DiskRead: 100, DiskWritten: 200, Beneath: true}, 100, 200, [2]float64{30, 50}},
		{"a disk of its own", Traffic{Read: 30, Written: 50, DiskRead: 140, DiskWritten: 260, Beneath: true}, 100, 200, [2]float64{0, 0}},
		{"both", Traffic{Read: 30, Written: 50, DiskRead: 110, DiskWritten: 220, Beneath: true}, 100, 200, [2]float64{20, 30}},
		{"still to be written elsewhere", Traffic{Written: 50, DiskWritten: 210, Dirty: 35, Beneath: true}, 0, 200, [2]float64{0, 5}},
		{"written that was dirty before", Traffic{Written: 50, DiskWritten: 290, Dirty: -90, Beneath: true}, 0, 200, [2]float64{0, 50}},
		{"several disks", Traffic{Written: 50, DiskWritten: 20}, 0, 200, [2]float64{0, 30}},
		{"a virtual device that its disk has not seen yet", Traffic{Written: 50, DiskWritten: 20, Beneath: true}, 0, 200, [2]float64{0, 50}},
	} {
		if read, written := c.t.Here(c.read, c.written); [2]float64{read, written} != c.want {
			t.Errorf("%s: %v read and %v written, want %v", c.name, read, written, c.want)
		}
	}
}

// On this machine: a process that is not ours is seen.
func TestNeighbourIsSeen(t *testing.T) {
	need.Root(t, "read the I/O of all processes")
	dir := t.TempDir()
	neighbour := newShell(t)
	o := NewOthers("/proc", "/sys", Device{}, 1<<30) // a number without a process: all are others
	a, err := o.Look()
	if err != nil {
		t.Skip(err)
	}
	var d Traffic
	for range 10 { // deletions of what programs have not written yet, at the same time, count against it
		neighbour.do(t, "dd if=/dev/zero of="+filepath.Join(dir, "x")+" bs=64k count=64 conv=fsync 2>/dev/null")
		b, err := o.Look()
		expect.NoError(t, err)
		if d = b.Since(a); d.Processes >= 2 && (!findable(dir) || d.Written >= 4<<20) {
			return
		}
		a = b
	}
	t.Errorf("4 MiB were written and synced: %+v", d)
}

// findable reports whether a directory is on a device, where writes are counted.
func findable(dir string) bool {
	_, err := FindDevice(dir)
	return err == nil
}
