package telemetry

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
)

// clock is the virtual time that the clients of a step share. The progress of the writers
// advances it, so it runs at their speed.
type clock struct {
	*run
	writers []progress
	active  []int64 // the writers of this step; none: the clock stands still
	// dropped is the number of partitions that retention has removed, and so the number
	// of the oldest existing partition.
	dropped atomic.Int64
	reads   sync.RWMutex // a table that is cleared must not be read

	waiting atomic.Int32
	changed sync.Cond
}

// progress is the progress of a writer: it has done all slots before start, and is
// working on those before end. Each progress has its own cache line.
type progress struct {
	start, end atomic.Int64
	_          [48]byte
}

func (p *progress) set(slot int64) {
	p.end.Store(slot)
	p.start.Store(slot)
}

func newClock(r *run, start *state) *clock {
	c := &clock{run: r, writers: make([]progress, len(start.Slots)), changed: sync.Cond{L: new(sync.Mutex)}}
	for w, s := range start.Slots {
		c.writers[w].set(s)
	}
	c.dropped.Store(start.Dropped)
	return c
}

// tick returns the first tick that is not completely sent.
func (c *clock) tick() int64 {
	lowest := int64(math.MaxInt64)
	for _, w := range c.active {
		lowest = min(lowest, c.writers[w].start.Load())
	}
	if len(c.active) == 0 {
		lowest = c.writers[0].start.Load()
	}
	return lowest / c.perTick
}

// oldest returns the oldest partition that readers may read: the next drop removes those
// before it.
func (c *clock) oldest() int64 { return max(0, c.tick()/c.partition+2-c.tables) }

// open reports whether the table for measurements of a tick is free.
func (c *clock) open(tick int64) bool { return tick/c.partition < c.dropped.Load()+c.tables }

// advance notes that a writer has done all slots before a slot. At the end of a tick it
// wakes the waiting clients.
func (c *clock) advance(writer, slot int64) {
	c.writers[writer].set(slot)
	if slot%c.perTick == 0 {
		c.notify()
	}
}

// notify wakes the clients that wait for a change.
func (c *clock) notify() {
	if c.waiting.Load() == 0 {
		return
	}
	c.changed.L.Lock()
	defer c.changed.L.Unlock()
	c.changed.Broadcast()
}

// await returns when a condition holds, or with the error of the context.
func (c *clock) await(ctx context.Context, holds func() bool) error {
	if holds() {
		return nil
	}
	defer context.AfterFunc(ctx, c.notify)()
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	c.changed.L.Lock()
	defer c.changed.L.Unlock()
	for !holds() {
		if err := ctx.Err(); err != nil {
			return err
		}
		c.changed.Wait()
	}
	return nil
}
