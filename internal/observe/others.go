package observe

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"rumbench/engine"
)

// Traffic is the reads of processes from storage and the writes to it that they
// caused, in bytes, on all devices.
type Traffic struct {
	Read, Written float64
	Processes     int
	// Closed are the programs whose I/O counters are not readable and which
	// used CPU time in the meantime: their I/O is not included.
	Closed []string
	// DiskRead and DiskWritten are the bytes of all physical disks, for any
	// process, and Dirty is the growth of the data still to be written. The
	// disks of a device made of several are left out.
	DiskRead, DiskWritten, Dirty float64
	// Beneath is set if the disks include the device under the data.
	Beneath bool

	closed map[int]float64 // CPU time of processes whose I/O is not readable
}

// Since returns the traffic since an earlier reading.
func (t Traffic) Since(previousTraffic Traffic) Traffic {
	d := t
	d.Read -= previousTraffic.Read
	d.Written = max(0, d.Written-previousTraffic.Written)
	d.DiskRead -= previousTraffic.DiskRead
	d.DiskWritten -= previousTraffic.DiskWritten
	d.Dirty -= previousTraffic.Dirty
	d.Closed, d.closed = nil, nil
	for pid, cpu := range t.closed {
		if was, seen := previousTraffic.closed[pid]; !seen || cpu > was {
			name, err := Command("/proc", pid)
			if err != nil {
				name = fmt.Sprintf("process %d", pid)
			}
			d.Closed = append(d.Closed, name)
		}
	}
	slices.Sort(d.Closed)
	return d
}

// Here returns how much of the traffic may have been on the device under the
// data, given that device's total: the traffic without that of the other disks
// and without data still to be written to them. The kernel does not count a
// process's I/O by device.
func (t Traffic) Here(deviceRead, deviceWritten float64) (read, written float64) {
	elsewhere := func(disks, device float64) float64 {
		if t.Beneath {
			disks -= device
		}
		return max(0, disks)
	}
	read = t.Read - elsewhere(t.DiskRead, deviceRead)
	written = t.Written - elsewhere(t.DiskWritten, deviceWritten) - t.Dirty
	return min(max(0, read), t.Read), min(max(0, written), t.Written)
}

// Others measures the I/O of all processes of the machine except some roots, their
// descendants, and kernel threads, which write on behalf of processes. A reading
// takes some ms, as it covers every process: it is meant for the ends of a step.
type Others struct {
	procRoot string
	roots    []int
	disks    *Disks
	beneath  bool

	mu   sync.Mutex
	own  tree
	tree tree
}

// NewOthers returns a meter of all processes except the roots and their
// descendants, for the device under the data; procRoot is "/proc", sysRoot "/sys".
func NewOthers(procRoot, sysRoot string, data Device, roots ...int) *Others {
	o := &Others{procRoot: procRoot, roots: roots, own: newTree(procRoot), tree: newTree(procRoot),
		disks: NewDisks(procRoot, sysRoot)}
	if o.beneath = len(data.Leaves) <= 1; !o.beneath {
		o.disks.except = data.Leaves
	}
	return o
}

// Follow changes the roots, as when a server was started again.
func (o *Others) Follow(roots ...int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.roots = roots
}

// Look returns their traffic so far. Only its growth is meaningful, see Since.
// The error states why it is unknown.
func (o *Others) Look() (Traffic, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	own, err := o.own.find(o.roots)
	if err != nil {
		return Traffic{}, err
	}
	living, err := listPIDs(o.procRoot)
	if err != nil {
		return Traffic{}, err
	}
	if parent, err := readParent(o.procRoot, kthreadd); err != nil || parent != 0 {
		return Traffic{}, errors.New("not all processes of the machine are visible")
	}
	for _, pid := range own {
		delete(living, pid)
	}
	return o.read(living)
}

func (o *Others) read(pids map[int]bool) (t Traffic, err error) {
	alive, err := o.tree.read(maps.Keys(pids))
	if err != nil {
		return t, err
	}
	maps.DeleteFunc(alive, func(pid int, m *member) bool { return pid == kthreadd || m.parent == kthreadd })
	closed := map[int]float64{}
	for pid, m := range alive {
		if !m.storage {
			closed[pid] = m.used[usedCPU]
		}
	}
	o.tree.succeed(alive)
	highest := o.tree.total()
	t = Traffic{Read: highest[readBytes], Written: highest[writeBytes] - highest[cancelledBytes], Processes: len(alive),
		closed: closed, Beneath: o.beneath}
	err = o.addDisks(&t)
	return t, err
}

// addDisks adds the I/O of the disks, and the data still to be written.
func (o *Others) addDisks(t *Traffic) error {
	var s engine.Sample
	if err := o.disks.Collect(context.Background(), &s); err != nil {
		return err
	}
	for _, p := range s.Points {
		switch p.Name {
		case "device.read_bytes":
			t.DiskRead += p.Value
		case "device.write_bytes":
			t.DiskWritten += p.Value
		}
	}
	data, err := os.ReadFile(filepath.Join(o.procRoot, "meminfo"))
	if err != nil {
		return err
	}
	for _, name := range []string{"Dirty:", "Writeback:"} {
		if kb, ok := valueOf(string(data), name); ok {
			t.Dirty += kb * 1024
		}
	}
	return nil
}
