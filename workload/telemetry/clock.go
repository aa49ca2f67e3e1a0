package telemetry

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// clock is the virtual time that the clients of a step share. It advances by what
// the writers have done, so that its speed is theirs.
type clock struct {
	*run
	writers []progress
	readers []mark
	// dropped is the number of partitions that retention has removed: it is the
	// oldest one that exists.
	dropped atomic.Int64
	// ended is whether a writer has done its work: others that would wait for it
	// are done as well, a few operations earlier.
	ended atomic.Bool

	waiting atomic.Int32
	mu      sync.Mutex
	changed chan struct{}
}

// progress is what a writer has done: all slots before from; it is at work on
// those before to. Each has a cache line of its own.
type progress struct {
	from, to atomic.Int64
	_        [48]byte
}

// mark is the lowest partition that a reader reads, plus one; 0: it reads none.
type mark struct {
	atomic.Int64
	_ [56]byte
}

func newClock(r *run, slots []int64, dropped int64, readers int) *clock {
	c := &clock{run: r, writers: make([]progress, len(slots)), readers: make([]mark, readers), changed: make(chan struct{})}
	for w, s := range slots {
		c.writers[w].from.Store(s)
		c.writers[w].to.Store(s)
	}
	c.dropped.Store(dropped)
	return c
}

// tick returns the first tick that is not completely sent.
func (c *clock) tick() int64 {
	least := int64(math.MaxInt64)
	for w := range c.writers {
		least = min(least, c.writers[w].from.Load())
	}
	return least / c.perTick
}

// oldest returns the oldest partition that readers may read: the next drop takes
// those before it.
func (c *clock) oldest() int64 { return max(0, c.tick()/c.partition+2-c.tables) }

// open reports whether a writer may write measurements of a tick: it is at most
// one tick ahead of the others, and its partition's table is free.
func (c *clock) open(tick int64) bool {
	return tick <= c.tick()+1 && tick/c.partition < c.dropped.Load()+c.tables
}

// enter keeps the partitions from the one returned on until leave.
func (c *clock) enter(reader int) (lowest int64) {
	for {
		lowest = c.oldest()
		c.readers[reader].Store(lowest + 1)
		if c.oldest() == lowest { // else it may be dropped already
			return lowest
		}
	}
}

func (c *clock) leave(reader int) {
	c.readers[reader].Store(0)
	c.notify()
}

// droppable reports whether a partition is over its retention and not in use.
func (c *clock) droppable(partition int64) bool {
	if partition >= c.oldest() {
		return false
	}
	for i := range c.readers {
		if m := c.readers[i].Load(); m > 0 && m-1 <= partition {
			return false
		}
	}
	return true
}

// notify wakes those who await a change.
func (c *clock) notify() {
	if c.waiting.Load() == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// await returns when a condition holds, or with the error of the context.
func (c *clock) await(ctx context.Context, holds func() bool) error {
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	for {
		c.mu.Lock()
		changed := c.changed
		c.mu.Unlock()
		if holds() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
