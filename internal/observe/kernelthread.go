package observe

import "maps"

// kernelThreads sums the CPU time of kernel threads: those that write dirty pages
// and the journal, complete I/O, and the like. They work on behalf of processes,
// but their time is in no process's figures.
type kernelThreads struct {
	procRoot string
	last     map[int]float64 // CPU time of each when last seen
	others   map[int]bool    // processes that are not kernel threads
	total    float64         // since the first sample
	began    bool
}

// kthreadd is the parent of all other kernel threads.
const kthreadd = 2

func newKernelThreads(procRoot string) *kernelThreads {
	return &kernelThreads{procRoot: procRoot, last: map[int]float64{}, others: map[int]bool{}}
}

// read returns their CPU time since the first sample, in nanoseconds; ok is false
// if they are not visible, as in most containers.
func (k *kernelThreads) read() (ns float64, ok bool) {
	pids, err := listPIDs(k.procRoot)
	if err != nil || !pids[kthreadd] {
		return 0, false
	}
	if parent, err := readParent(k.procRoot, kthreadd); err != nil || parent != 0 {
		return 0, false // another process has that number here
	}
	for pid := range pids {
		k.add(pid)
	}
	maps.DeleteFunc(k.last, func(pid int, _ float64) bool { return !pids[pid] }) // its time is in the total
	maps.DeleteFunc(k.others, func(pid int, _ bool) bool { return !pids[pid] })
	k.began = true
	return k.total, true
}

// add adds the CPU time of a process since it was last seen, if it is a kernel thread.
func (k *kernelThreads) add(pid int) {
	if k.others[pid] {
		return
	}
	previous, seen := k.last[pid]
	if !seen {
		parent, err := readParent(k.procRoot, pid)
		if err != nil {
			return
		}
		if parent != kthreadd && pid != kthreadd {
			k.others[pid] = true
			return
		}
	}
	used, err := cpuClock(pid)
	if err != nil {
		return
	}
	now := float64(used)
	switch {
	case seen && now >= previous:
		k.total += now - previous
	case k.began: // started since the last sample
		k.total += now
	}
	k.last[pid] = now
}
