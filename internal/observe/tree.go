package observe

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// usage is what processes consume. All of it only grows.
type usage [usages]float64

const (
	usedCPU = iota // ns
	minorFaults
	majorFaults
	readBytes
	writeBytes
	cancelledBytes
	readCalls
	writeCalls
	usages
)

func (u *usage) add(v usage) {
	for i := range u {
		u[i] += v[i]
	}
}

// raise lifts every figure that is lower than in v.
func (u *usage) raise(v usage) {
	for i := range u {
		u[i] = max(u[i], v[i])
	}
}

// tree knows the processes of a tree from one sample to the next.
//
// A process that its parent waited for hands everything it consumed to the
// parent: CPU time and faults to counters of their own, I/O to the parent's.
// So the sum over the living, with what they took over, misses nothing, not
// even processes that were born and ended between two samples. But a process
// whose parent does not wait, or is not in the tree, takes its past with it.
// What such a process had when it was last seen is kept in gone.
//
// Which of the two happened is told by minor faults: they are handed over as
// an exact count, and no process lives without a good many of them.
type tree struct {
	members   map[int]*member
	strangers map[int]bool // living processes that are not members
	roots     []int
	gone      usage
}

// member is a process of the tree as it was last seen.
type member struct {
	parent  int
	started uint64 // ticks since boot: tells a process from one with a reused number
	used    usage  // its own, and what it took over from children
	storage bool   // its I/O was readable
	threads float64
	rss     float64 // bytes

	reapedFaults float64 // minor faults taken over from children
	unclaimed    float64 // of them, what belongs to none of the members that vanished so far
}

func newTree() tree {
	return tree{members: make(map[int]*member), strangers: make(map[int]bool)}
}

// find lists the numbers of the processes in the tree, children before their
// parents: a child that ends in between is then in its parent's figures.
//
// Who was a member stays one until the end, even as an orphan. A stranger is
// looked at only once: it cannot become a member unless the roots change.
func (t *tree) find(procRoot string, roots []int) ([]int, error) {
	if !slices.Equal(roots, t.roots) {
		t.roots = slices.Clone(roots)
		clear(t.strangers)
	}
	living, err := listPIDs(procRoot)
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for pid := range living {
		if t.strangers[pid] {
			continue
		}
		if m := t.members[pid]; m != nil {
			children[m.parent] = append(children[m.parent], pid)
		} else if parent, err := readParent(procRoot, pid); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	inside := make(map[int]bool)
	var found []int
	for _, pid := range append(slices.Clone(roots), slices.Sorted(maps.Keys(t.members))...) {
		if living[pid] {
			found = descend(pid, children, inside, found)
		}
	}
	t.strangers = living
	for _, pid := range found {
		delete(t.strangers, pid)
	}
	slices.Reverse(found)
	return found, nil
}

// descend appends a process and its descendants, parents before children.
func descend(pid int, children map[int][]int, inside map[int]bool, found []int) []int {
	if inside[pid] {
		return found
	}
	inside[pid] = true
	found = append(found, pid)
	for _, child := range children[pid] {
		found = descend(child, children, inside, found)
	}
	return found
}

// listPIDs reads the numbers of all living processes.
func listPIDs(procRoot string) (map[int]bool, error) {
	dir, err := os.Open(procRoot)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	pids := make(map[int]bool, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids[pid] = true
		}
	}
	return pids, nil
}

func readParent(procRoot string, pid int) (int, error) {
	data, err := os.ReadFile(filepath.Join(procRoot, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	m, _, err := parseStat(string(data))
	return m.parent, err
}

// read reads processes, children before their parents. Left out are those that
// have ended, and those with the number of another one: they are members next time.
func (t *tree) read(procRoot string, pids iter.Seq[int], clock func(int) (time.Duration, error)) (map[int]*member, error) {
	alive := make(map[int]*member)
	for pid := range pids {
		m, err := readMember(procRoot, pid, clock)
		if errors.Is(err, errEnded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if old := t.members[pid]; old == nil || old.started == m.started {
			alive[pid] = m
		}
	}
	return alive, nil
}

// succeed makes the living members the present ones and settles what those
// that vanished leave behind.
func (t *tree) succeed(alive map[int]*member) {
	for pid, m := range alive {
		if old := t.members[pid]; old != nil {
			m.unclaimed = old.unclaimed + m.reapedFaults - old.reapedFaults
		}
	}
	for _, pid := range slices.Sorted(maps.Keys(t.members)) {
		if alive[pid] != nil {
			continue
		}
		left := t.members[pid].used
		if heir := t.heir(pid, alive); heir != nil && heir.unclaimed >= left[minorFaults] {
			heir.unclaimed -= left[minorFaults]
			continue
		}
		t.gone.add(left)
	}
	t.members = alive
}

// heir returns the nearest ancestor that lives, nil if there is none.
func (t *tree) heir(pid int, alive map[int]*member) *member {
	for m := t.members[pid]; m != nil; m = t.members[m.parent] {
		if heir := alive[m.parent]; heir != nil {
			return heir
		}
	}
	return nil
}
