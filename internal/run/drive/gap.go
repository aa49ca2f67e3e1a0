package drive

import (
	"sync"
	"sync/atomic"
	"time"

	"rumbench/internal/stat/hist"
)

// gaps are the spans in which a group of clients completed nothing, although operations
// were in flight. They are exact to a millisecond: clients write what they share no more
// often.
type gaps struct {
	shortest int64        // that is of interest
	last     atomic.Int64 // when an operation was completed

	mu    sync.Mutex
	spans []hist.Gap
}

// complete notes that an operation was completed.
func (l *loop) complete(end int64) {
	g := l.gaps
	last := g.last.Load()
	if end-last >= int64(time.Millisecond) && g.last.CompareAndSwap(last, end) && end-last >= g.shortest {
		l.addGap(last, end)
	}
}

// addGap adds a gap, which begins with the oldest operation in flight.
func (l *loop) addGap(last, end int64) {
	begun := l.op.Start
	for _, o := range l.loops {
		if since := o.since.Load(); o.at == l.at && since > 0 {
			begun = min(begun, since-1)
		}
	}
	if last = max(last, begun); end-last < l.gaps.shortest {
		return
	}
	l.gaps.mu.Lock()
	defer l.gaps.mu.Unlock()
	l.gaps.spans = append(l.gaps.spans,
		hist.Gap{From: time.Duration(last).Seconds(), To: time.Duration(end).Seconds()})
}
