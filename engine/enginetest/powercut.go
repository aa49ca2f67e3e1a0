package enginetest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"rumbench/engine"
	"rumbench/internal/need"
	"rumbench/model"
)

// testPowerCut: at level os, commits survive a power cut.
func (s Suite) testPowerCut(t *testing.T) {
	t.Parallel()
	s.Config.Durability = model.DurabilityOS
	skipWithoutLevel(t, s)
	acked, dir := PowerCut(t, s)
	checkKilled(t, s, dir, acked)
}

// commitTime is how long a child commits before the power is cut. It is shorter
// than the interval of ext4's own journal writes.
const commitTime = 1500 * time.Millisecond

// PowerCut starts this test again as a child that inserts into a database on a
// separate file system, cuts the power of that file system and returns how many
// rows had been committed before, and the directory with the remaining data. Data
// that was written but not synced is lost; torn sectors and disks that lie are
// not imitated. It skips the test if the process may not mount a loop device. The
// calling test must be named TestConformance.
func PowerCut(t *testing.T, s Suite) (acked int64, dir string) {
	t.Helper()
	d := newDisk(t)
	dir = filepath.Join(d.mounted, "db")
	check(t, os.Mkdir(dir, 0o755))
	cmd, in := startChild(t, s, dir)
	var last atomic.Int64
	began, ended := make(chan bool, 1), make(chan bool)
	go func() {
		defer close(ended)
		for in.Scan() {
			if n, err := strconv.ParseInt(in.Text(), 10, 64); err == nil {
				if last.Swap(n) == 0 {
					began <- true
				}
			}
		}
	}()
	select {
	case <-began:
		time.Sleep(commitTime)
	case <-ended:
	}
	// Commits acknowledged after this moment do not count: an engine that maps
	// its file continues as if nothing had happened.
	acked = last.Load()
	d.cut(t)
	_ = cmd.Process.Kill()
	<-ended
	_ = cmd.Wait()
	d.remount(t)
	fatalIf(t, acked == 0, "the child committed nothing")
	t.Logf("%d rows were committed at level %s when the power was cut", acked, s.Config.Durability)
	return acked, dir
}

// Rows returns how many rows PowerCut's child has left in the directory. An error
// means that the database does not open any more.
func (s Suite) Rows(t *testing.T, dir string) (int64, error) {
	t.Helper()
	db, err := s.Engine.Open(t.Context(), s.config(dir))
	if err != nil {
		return 0, err
	}
	defer db.Close()
	session, err := db.Session(t.Context())
	if err != nil {
		return 0, err
	}
	st, err := session.Prepare(t.Context(), &countOp)
	if err != nil { // there is not even a table
		return 0, err
	}
	var r engine.Result
	err = st.Exec(t.Context(), nil, &r)
	return r.Value.Int(), err
}

// disk is an ext4 file system in a file, mounted through a loop device.
type disk struct{ image, mounted, device string }

// diskSize is the greatest size of a database on a disk; the file is sparse.
const diskSize = 4 << 30

func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := need.TempDir(t)
	d := &disk{image: filepath.Join(dir, "image"), mounted: filepath.Join(dir, "disk")}
	need.Root(t, "mount a loop device, on which a power cut is imitated")
	check(t, os.Mkdir(d.mounted, 0o755))
	check(t, os.WriteFile(d.image, nil, 0o600))
	check(t, os.Truncate(d.image, diskSize))
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", d.image).CombinedOutput(); err != nil {
		t.Skipf("a power cut is imitated on ext4: %v: %s", err, out)
	}
	if out, err := d.mount(); err != nil {
		t.Skipf("a power cut is imitated on a loop device, and none can be mounted: %v: %s", err, out)
	}
	t.Cleanup(func() { d.unmount(t) })
	return d
}

// mount takes a new loop device: a process in another mount namespace, which began meanwhile, may still have the
// old one mounted, and mount alone would find that again.
func (d *disk) mount() ([]byte, error) {
	out, err := exec.Command("losetup", "--find", "--show", d.image).CombinedOutput()
	if err != nil {
		return out, err
	}
	d.device = strings.TrimSpace(string(out))
	return exec.Command("mount", d.device, d.mounted).CombinedOutput()
}

// The ioctl FS_IOC_SHUTDOWN and its flag NOLOGFLUSH: from now on the file system
// writes nothing, its journal included.
const (
	fsShutdown = 0x8004587d
	noLogFlush = 2
)

func (d *disk) cut(t *testing.T) {
	t.Helper()
	f, err := os.Open(d.mounted)
	check(t, err)
	defer f.Close()
	flag := uint32(noLogFlush)
	_, _, e := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), fsShutdown, uintptr(unsafe.Pointer(&flag)))
	fatalIf(t, e != 0, "cut the power of %s: %v", d.mounted, e)
}

// remount makes the disk readable again, as it is after the machine has started.
func (d *disk) remount(t *testing.T) {
	t.Helper()
	d.unmount(t)
	out, err := d.mount()
	fatalIf(t, err != nil, "mount %s again: %v: %s", d.image, err, out)
}

// unmount ends the servers that still run on the disk, and unmounts it as soon as
// they have closed their files.
func (d *disk) unmount(t *testing.T) {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		d.killUsers()
		err := syscall.Unmount(d.mounted, 0)
		if err == nil || errors.Is(err, syscall.EINVAL) { // it is not mounted
			_ = exec.Command("losetup", "--detach", d.device).Run() // at its last use
			return
		}
		fatalIf(t, time.Now().After(deadline), "unmount %s: %v", d.mounted, err)
	}
}

// killUsers ends the processes that have a file of the disk open, or run in a
// directory of it. This process is not one of them unless a test leaks.
func (d *disk) killUsers() {
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	cwds, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range append(links, cwds...) {
		target, err := os.Readlink(link)
		if err != nil || !strings.HasPrefix(target, d.mounted+"/") {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(link, "/proc/%d/", &pid); err == nil && pid != os.Getpid() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
