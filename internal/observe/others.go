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

// Traffic is what processes read from storage and caused to be written to it,
// in bytes, on whatever device.
type Traffic struct {
	Read, Written float64
	Processes     int
	// Closed are the programs whose I/O may not be read, and which did something
	// meanwhile: what they read and wrote is not in it.
	Closed []string
	// DiskRead and DiskWritten are what the physical disks did meanwhile, for
	// whomever, and Dirty is by how much more there is that is still to be
	// written. Of a device made of several disks these are left out.
	DiskRead, DiskWritten, Dirty float64
	// Beneath: what the device under the data does is in the disks' figures too.
	Beneath bool

	closed map[int]float64 // CPU time of all that may not be read
}

// Since is what they did since an earlier look.
func (t Traffic) Since(before Traffic) Traffic {
	d := t
	d.Read -= before.Read
	d.Written = max(0, d.Written-before.Written)
	d.DiskRead -= before.DiskRead
	d.DiskWritten -= before.DiskWritten
	d.Dirty -= before.Dirty
	d.Closed, d.closed = nil, nil
	for pid, cpu := range t.closed {
		if was, seen := before.closed[pid]; !seen || cpu > was {
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

// Here is how much of the traffic may have been on the device under the data,
// which read and wrote so much in all: what the other disks did not do, and what
// is not still to be written to them. The kernel says of no process which device
// it used.
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

// Others knows what all processes of the machine read and write but some, with
// their descendants, and the kernel's own threads, which write for whoever makes
// them. A look reads every process once, some ms: it is for the ends of a step.
type Others struct {
	procRoot string
	roots    []int
	disks    *Disks
	beneath  bool

	mu   sync.Mutex
	own  tree
	tree tree
	most usage // the highest sum so far
}

// NewOthers returns what knows all processes but the roots and their
// descendants, beside the device under the data; procRoot is "/proc", sysRoot
// "/sys".
func NewOthers(procRoot, sysRoot string, data Device, roots ...int) *Others {
	o := &Others{procRoot: procRoot, roots: roots, own: newTree(), tree: newTree(), beneath: len(data.Leaves) <= 1}
	if o.beneath {
		o.disks = NewDisks(procRoot, sysRoot)
	} else {
		o.disks = NewDisks(procRoot, sysRoot, data.Leaves...)
	}
	return o
}

// Look reads what they did so far; only its growth means anything, see Since.
// The error says why they are not known.
func (o *Others) Look() (Traffic, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	own, err := o.own.find(o.procRoot, o.roots)
	if err != nil {
		return Traffic{}, err
	}
	living, err := listPIDs(o.procRoot)
	if err != nil {
		return Traffic{}, err
	}
	if parent, err := readParent(o.procRoot, kthreadd); err != nil || parent != 0 {
		return Traffic{}, errors.New("not all processes of the machine can be seen from here")
	}
	for _, pid := range own {
		delete(living, pid)
	}
	return o.read(living)
}

func (o *Others) read(pids map[int]bool) (t Traffic, err error) {
	alive, err := o.tree.read(o.procRoot, maps.Keys(pids), cpuClock)
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
	now := o.tree.gone
	for _, m := range alive {
		now.add(m.used)
	}
	o.most.raise(now)
	t = Traffic{Read: o.most[readBytes], Written: o.most[writeBytes] - o.most[cancelledBytes], Processes: len(alive), closed: closed, Beneath: o.beneath}
	err = o.addDisks(&t)
	return t, err
}

// addDisks adds what the disks did, and what is still to be written.
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
