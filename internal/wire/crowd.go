package wire

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// crowd counts the connections of this process whose reads keep a thread
// waiting. Go's scheduler gives such a thread one of its processors
// (GOMAXPROCS) and leaves it there as long as others are idle, which is cheap;
// without idle ones it takes them away again and again, which is dearer than
// its poller. So there are as many more processors as there are such
// connections, for that long.
//
// With many connections the poller is cheaper, as it hands over several answers
// at once. Then all go there, since clients of one kind should be served alike.
type crowd struct {
	live atomic.Int32

	mu   sync.Mutex
	base int // GOMAXPROCS without connections
}

// most is how many connections may keep threads waiting. Measured with point
// selects over a unix socket, server and client on one core each, CPU of the
// client per query in microseconds: with 1 connection 31 by threads and 57 by
// the poller, with 2 24 and 27, with 8 9.5 and 10.7, with 16 10.6 and 18, with 64 16 and
// 13, with 256 30 and 23. Some connections are beside the clients'.
const most = 24

// threads is of the process, as GOMAXPROCS is.
var threads crowd

// enter counts a connection.
func (c *crowd) enter() {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := int(c.live.Add(1))
	if c.base == 0 {
		c.base = runtime.GOMAXPROCS(0)
	}
	switch {
	case n <= most:
		c.resize(c.base + (n+3)/4*4) // all stands still for a moment, so it is not done for each
	case n == most+1:
		c.resize(c.base)
	}
}

// leave counts a connection that has ended.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.live.Add(-1) == 0 {
		c.resize(c.base)
		c.base = 0
	}
}

// crowded tells whether the poller is to wait.
func (c *crowd) crowded() bool { return c.live.Load() > most }

func (c *crowd) resize(procs int) {
	if c.base != procs && runtime.GOMAXPROCS(0) > procs { // only ever back to the base
		return
	}
	runtime.GOMAXPROCS(procs)
}
