package kvkit

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync"
)

// stripes is how many locks the rows of a database share.
const stripes = 512

// rowLocks serialise operations that read a row before they write it, in stores
// that do not isolate transactions. Locks are taken in ascending order, so that
// operations on several rows cannot wait for each other in a circle.
type rowLocks struct {
	seed  maphash.Seed
	locks [stripes]sync.Mutex
}

// lockSet are the locks that one operation holds; it is reused.
type lockSet struct {
	held []int
}

func (l *rowLocks) lock(set *lockSet, keys *arena) {
	set.held = set.held[:0]
	for i := range keys.len() {
		set.held = append(set.held, int(maphash.Bytes(l.seed, keys.at(i))%stripes))
	}
	slices.Sort(set.held)
	set.held = slices.Compact(set.held)
	for _, s := range set.held {
		l.locks[s].Lock()
	}
}

func (l *rowLocks) unlock(set *lockSet) {
	for _, s := range set.held {
		l.locks[s].Unlock()
	}
	set.held = set.held[:0]
}

// arena is a list of byte strings in one piece of memory that is reused.
type arena struct {
	buf   []byte
	ends  []int
	order []int // of unique
}

func (a *arena) reset()   { a.buf, a.ends = a.buf[:0], a.ends[:0] }
func (a *arena) len() int { return len(a.ends) }
func (a *arena) end()     { a.ends = append(a.ends, len(a.buf)) }
func (a *arena) add(b []byte) {
	a.buf = append(a.buf, b...)
	a.end()
}

func (a *arena) at(i int) []byte {
	from := 0
	if i > 0 {
		from = a.ends[i-1]
	}
	return a.buf[from:a.ends[i]:a.ends[i]]
}

// unique puts the strings into another arena, in order and each once.
func (a *arena) unique(to *arena) {
	a.order = a.order[:0]
	for i := range a.len() {
		a.order = append(a.order, i)
	}
	slices.SortFunc(a.order, func(i, j int) int { return bytes.Compare(a.at(i), a.at(j)) })
	to.reset()
	for k, i := range a.order {
		if k == 0 || !bytes.Equal(a.at(i), a.at(a.order[k-1])) {
			to.add(a.at(i))
		}
	}
}
