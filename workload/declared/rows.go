package declared

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// rowState is the knowledge that the clients of a process share about the rows of a
// table: which numbers exist.
type rowState struct {
	next atomic.Int64 // the number of the next row
	// limit is the number below which all rows have been inserted, or given up.
	limit atomic.Int64
	ring  []atomic.Bool // rows from limit on that have been inserted
	mu    sync.Mutex    // moves limit
	dead  deadRows
	gone  atomic.Int64 // missing rows whose numbers are unknown
	// holes is whether unknown rows of an earlier run are missing.
	holes bool
}

// ringSize is how far inserts may be ahead of the oldest one in flight.
const ringSize = 1 << 20

// reset sets the number of rows; all of them exist.
func (s *rowState) reset(rows int64) {
	s.next.Store(rows)
	s.limit.Store(rows)
	s.dead.clear()
	s.gone.Store(0)
	s.holes = false
}

// grow adds rows behind the last one; all of them exist.
func (s *rowState) grow(rows int64) { s.limit.Store(s.next.Add(rows)) }

// prepare makes room for inserts.
func (s *rowState) prepare() {
	if s.ring == nil {
		s.ring = make([]atomic.Bool, ringSize)
	}
}

// rows returns the number of rows to choose from: rows before which no insert is pending,
// as in YCSB's acknowledged counter.
func (s *rowState) rows() int64 { return s.limit.Load() }

// counted sets the actual number of rows.
func (s *rowState) counted(rows int64) { s.gone.Store(s.rows() - s.dead.size.Load() - rows) }

// giveUp marks a row number as one that will never be inserted.
func (s *rowState) giveUp(row int64) error {
	s.dead.set(row, true)
	return s.done(row)
}

// done marks a row as inserted, or given up.
func (s *rowState) done(row int64) error {
	if row < s.limit.Load() { // it existed before
		return nil
	}
	if row-s.limit.Load() >= ringSize {
		return fmt.Errorf("inserts are %d rows ahead of one in flight", ringSize)
	}
	s.ring[row%ringSize].Store(true)
	if !s.mu.TryLock() {
		return nil // the client that holds it, or the next one, moves the limit
	}
	defer s.mu.Unlock()
	at := s.limit.Load()
	for s.ring[at%ringSize].CompareAndSwap(true, false) {
		at++
		s.limit.Store(at)
	}
	return nil
}

// settle gives up the rows that have a number and were never inserted.
func (s *rowState) settle() {
	for row := s.limit.Load(); row < s.next.Load(); row++ {
		if s.ring != nil && s.ring[row%ringSize].CompareAndSwap(true, false) {
			continue
		}
		s.dead.set(row, true)
	}
	s.limit.Store(s.next.Load())
}

// pending returns how many rows have a number and were not inserted so far.
func (s *rowState) pending() (n int64) {
	for row := s.limit.Load(); row < s.next.Load(); row++ {
		if s.ring == nil || !s.ring[row%ringSize].Load() {
			n++
		}
	}
	return n
}

// isDead reports whether a row no longer exists.
func (s *rowState) isDead(row int64) bool { return s.dead.has(row) }

// deadRows is a set of row numbers, in blocks that are allocated when needed.
type deadRows struct {
	blocks atomic.Pointer[[]atomic.Pointer[block]]
	some   atomic.Bool
	mu     sync.Mutex
	size   atomic.Int64
}

const blockBits = 1 << 16

type block [blockBits / 64]atomic.Uint64

func (d *deadRows) clear() {
	d.blocks.Store(nil)
	d.some.Store(false)
	d.size.Store(0)
}

func (d *deadRows) has(row int64) bool {
	if !d.some.Load() {
		return false
	}
	b := d.block(row)
	return b != nil && b[row%blockBits/64].Load()&(1<<(row%64)) != 0
}

func (d *deadRows) block(row int64) *block {
	blocks := d.blocks.Load()
	if blocks == nil || row/blockBits >= int64(len(*blocks)) {
		return nil
	}
	return (*blocks)[row/blockBits].Load()
}

// set adds a row, or removes it.
func (d *deadRows) set(row int64, dead bool) {
	if !dead && !d.some.Load() {
		return
	}
	b := d.block(row)
	if b == nil {
		if !dead {
			return
		}
		b = d.grow(row)
	}
	bit := uint64(1) << (row % 64)
	word := &b[row%blockBits/64]
	if dead {
		if word.Or(bit)&bit == 0 {
			d.size.Add(1)
		}
		d.some.Store(true)
	} else if word.And(^bit)&bit != 0 {
		d.size.Add(-1)
	}
}

func (d *deadRows) grow(row int64) *block {
	d.mu.Lock()
	defer d.mu.Unlock()
	old := d.blocks.Load()
	if old == nil || row/blockBits >= int64(len(*old)) {
		grown := make([]atomic.Pointer[block], 2*(row/blockBits+1))
		if old != nil {
			for i := range *old {
				grown[i].Store((*old)[i].Load())
			}
		}
		d.blocks.Store(&grown)
	}
	at := &(*d.blocks.Load())[row/blockBits]
	at.CompareAndSwap(nil, new(block))
	return at.Load()
}
