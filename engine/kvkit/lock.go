package kvkit

import (
	"hash/maphash"
	"slices"
	"sync"
)

// buckets is the number of lists that hold the locks of a table.
const buckets = 1024

// rowLocks serialises operations on a table that read rows before they write
// them, in stores that do not isolate transactions. A row is identified by the
// 64-bit hash of its key, so two rows practically never share a lock. Locks are
// acquired in ascending order of the hashes, so operations on several rows do
// not deadlock, and granted in FIFO order.
//
// The mutex of a bucket is held only while its list is changed.
type rowLocks struct {
	seed    maphash.Seed
	buckets [buckets]bucket
	// lowest serialises deletions of the lowest rows, which would find the same
	// ones. It is acquired before any row lock.
	lowest sync.Mutex
}

type bucket struct {
	mu   sync.Mutex
	held *rowLock
}

// rowLock is a lock that an operation holds or waits for, in memory of its
// lockSet.
type rowLock struct {
	hash uint64
	next *rowLock // in the bucket if held, else in the queue
	// first and last are the ends of the queue for a held lock.
	first, last *rowLock
	granted     chan struct{} // of the lockSet
}

// lockSet holds the locks of one operation; it is reused.
type lockSet struct {
	hashes  []uint64
	locks   []rowLock
	granted chan struct{} // receives when a lock is granted after a wait
	lowest  bool          // rowLocks.lowest is held
}

func (l *rowLocks) bucket(hash uint64) *bucket { return &l.buckets[hash%buckets] }

func (l *rowLocks) lock(set *lockSet, keys *arena) {
	if keys.len() == 0 {
		return
	}
	if set.granted == nil {
		set.granted = make(chan struct{}, 1)
	}
	set.hashes = set.hashes[:0]
	for i := range keys.len() {
		set.hashes = append(set.hashes, maphash.Bytes(l.seed, keys.at(i)))
	}
	if len(set.hashes) > 1 {
		slices.Sort(set.hashes)
		set.hashes = slices.Compact(set.hashes)
	}
	set.locks = slices.Grow(set.locks[:0], len(set.hashes))[:len(set.hashes)] // none is held, so they may move
	for i, h := range set.hashes {
		set.locks[i] = rowLock{hash: h, granted: set.granted}
		if !l.bucket(h).take(&set.locks[i]) {
			<-set.granted
		}
	}
}

// unlock releases all locks of the set, including that of lockLowest. Unlocking
// again does nothing.
func (l *rowLocks) unlock(set *lockSet) {
	for i := range set.locks {
		l.bucket(set.locks[i].hash).release(&set.locks[i])
	}
	set.locks = set.locks[:0]
	if set.lowest {
		set.lowest = false
		l.lowest.Unlock()
	}
}

// lockLowest acquires the lock for deleting the lowest rows.
func (l *rowLocks) lockLowest(set *lockSet) {
	l.lowest.Lock()
	set.lowest = true
}

// find returns the held lock of a hash, nil if there is none. b.mu is held.
func (b *bucket) find(hash uint64) *rowLock {
	k := b.held
	for k != nil && k.hash != hash {
		k = k.next
	}
	return k
}

// take acquires a lock and returns true, or appends it to the holder's queue.
func (b *bucket) take(k *rowLock) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	holder := b.find(k.hash)
	switch {
	case holder == nil:
		k.next, b.held = b.held, k
		return true
	case holder.first == nil:
		holder.first = k
	default:
		holder.last.next = k
	}
	holder.last = k
	return false
}

// release passes a lock to the first waiter, if there is one.
func (b *bucket) release(k *rowLock) {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := &b.held
	for *at != k {
		at = &(*at).next
	}
	heir := k.first
	if heir == nil {
		*at = k.next
		return
	}
	if heir.first = heir.next; heir.first != nil {
		heir.last = k.last
	}
	heir.next, *at = k.next, heir
	heir.granted <- struct{}{} // never blocks: a set waits for one lock at a time
}
