package kvkit

import (
	"hash/maphash"
	"slices"
	"sync"
)

// buckets is how many lists the locks of a table are spread over.
const buckets = 1024

// rowLocks serialise operations on a table that read rows before they write
// them, in stores that do not isolate transactions. A row is known by the hash
// of its key: 64 bits, so that two rows that are locked at the same time are one
// lock in practice never. Locks are taken in ascending order of the hashes, so
// that operations on several rows cannot wait for each other in a circle. Who
// waits for a lock gets it in turn.
//
// The mutex of a bucket is held while its list is changed, never for longer.
type rowLocks struct {
	seed    maphash.Seed
	buckets [buckets]bucket
	// lowest makes concurrent deletions of the lowest rows take turns: they
	// would find the same ones. It is taken before any lock of a row.
	lowest sync.Mutex
}

type bucket struct {
	mu   sync.Mutex
	held *rowLock
}

// rowLock is a lock that an operation holds or waits for, in memory of its set.
type rowLock struct {
	hash uint64
	next *rowLock // in the bucket, of one that is held; in the queue, of one that is waited for
	// first and last are, of one that is held, the ends of the queue of those
	// that wait for it.
	first, last *rowLock
	granted     chan struct{} // of the set
}

// lockSet are the locks that one operation holds; it is reused.
type lockSet struct {
	hashes  []uint64
	locks   []rowLock
	granted chan struct{} // receives when a lock that was waited for is had
	lowest  bool          // rowLocks.lowest is held
}

func (l *rowLocks) bucket(hash uint64) *bucket { return &l.buckets[hash%buckets] }

// lock takes the locks of keys.
func (l *rowLocks) lock(set *lockSet, keys *arena) {
	if set.granted == nil {
		set.granted = make(chan struct{}, 1)
	}
	set.hashes = set.hashes[:0]
	for i := range keys.len() {
		set.hashes = append(set.hashes, maphash.Bytes(l.seed, keys.at(i)))
	}
	slices.Sort(set.hashes)
	set.hashes = slices.Compact(set.hashes)
	set.locks = slices.Grow(set.locks[:0], len(set.hashes))[:len(set.hashes)] // none is held, so they may move
	for i, h := range set.hashes {
		set.locks[i] = rowLock{hash: h, granted: set.granted}
		if !l.bucket(h).take(&set.locks[i]) {
			<-set.granted
		}
	}
}

// unlock gives back all locks of the set, the turn of lockLowest too. Doing so
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

// lockLowest waits for the turn to delete the lowest rows.
func (l *rowLocks) lockLowest(set *lockSet) {
	l.lowest.Lock()
	set.lowest = true
}

// find returns the lock of a hash if it is held. The bucket is locked.
func (b *bucket) find(hash uint64) *rowLock {
	k := b.held
	for k != nil && k.hash != hash {
		k = k.next
	}
	return k
}

// take takes a lock, or else puts it into the queue of who holds it.
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

// release gives a lock to the first that waits for it, if there is one.
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
