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

// tree tracks the processes of a tree from one sample to the next.
//
// When a parent reaps a child, the child's usage is added to the parent's: CPU
// time and faults to separate counters, I/O to the parent's own. So the sum
// over living processes, with the usage they took over, misses nothing, not
// even processes that began and ended between two samples. But the usage of a
// process is lost if its parent does not wait or is not in the tree. The usage
// of such a process when last seen is kept in gone.
//
// Minor faults show which of the two happened: they are passed on as an exact
// count, and every process has many of them.
type tree struct {
	procRoot string
	cpuClock func(pid int) (time.Duration, error)
	members  map[int]*member
	outside  map[int]bool // living processes that are not members
	roots    []int
	gone     usage
	highest  usage // the highest sum so far
}

func newTree(procRoot string) tree {
	return tree{procRoot: procRoot, cpuClock: cpuClock, members: make(map[int]*member), outside: make(map[int]bool)}
}

// total returns the usage of all members, including gone. CPU time of children is
// passed on in ticks of 10 ms, and a child may end while its parent is being read,
// so the sum may fall or run ahead a little. It stays until the true value has
// caught up.
func (t *tree) total() usage {
	now := t.gone
	for _, m := range t.members {
		now.add(m.used)
	}
	for i := range t.highest {
		t.highest[i] = max(t.highest[i], now[i])
	}
	return t.highest
}

// find returns the PIDs of the processes in the tree, children before their
// parents: a child that ends in between is then in its parent's figures.
//
// A member stays one until it ends, even as an orphan. Any other process is looked
// at only once: it cannot become a member unless the roots change.
func (t *tree) find(roots []int) ([]int, error) {
	if !slices.Equal(roots, t.roots) {
		t.roots = slices.Clone(roots)
		clear(t.outside)
	}
	living, err := listPIDs(t.procRoot)
	if err != nil {
		return nil, err
	}
	children := make(map[int][]int)
	for pid := range living {
		if t.outside[pid] {
			continue
		}
		if m := t.members[pid]; m != nil {
			children[m.parent] = append(children[m.parent], pid)
		} else if parent, err := readParent(t.procRoot, pid); err == nil {
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
	t.outside = living
	for _, pid := range found {
		delete(t.outside, pid)
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

// listPIDs returns the PIDs of all living processes.
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

// read reads processes, children before their parents. It leaves out those that
// have ended, and those with a reused PID: they are members at the next sample.
func (t *tree) read(pids iter.Seq[int]) (map[int]*member, error) {
	alive := make(map[int]*member)
	for pid := range pids {
		m, err := readMember(t.procRoot, pid, t.cpuClock)
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

// succeed makes alive the current members and accounts for the usage of those that
// vanished.
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

// heir returns the nearest living ancestor, nil if there is none.
func (t *tree) heir(pid int, alive map[int]*member) *member {
	for m := t.members[pid]; m != nil; m = t.members[m.parent] {
		if heir := alive[m.parent]; heir != nil {
			return heir
		}
	}
	return nil
}

// Descendants finds the processes of trees. A process outside of them is looked at
// only once.
type Descendants struct {
	tree  tree
	roots []int
}

// NewDescendants returns the descendants of roots, including the roots.
func NewDescendants(roots ...int) *Descendants { return &Descendants{newTree("/proc"), roots} }

// Find returns the processes that live now.
func (d *Descendants) Find() ([]int, error) { return d.tree.find(d.roots) }
