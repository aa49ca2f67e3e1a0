package drive

import (
	"sync"
	"time"

	"rumbench/internal/hist"
	"rumbench/internal/pace"
)

// queue hands out the arrivals of an open group: who is free takes the next,
// waits until it is due and does it. It keeps no list, but walks the schedule
// twice: up to now, and up to what was taken. So it is as quick with a million
// waiting as with none: a lock and two steps of a schedule, under 100 ns.
type queue struct {
	mu       sync.Mutex
	limit    int64          // how many may wait; 0: any number
	coming   *pace.Schedule // of next and those behind it
	next     time.Duration  // the first arrival that is not due yet
	arrived  int64          // those before it
	waiting  *pace.Schedule // of those that nobody has taken
	taken    int64
	shed     int64
	greatest int64 // number waiting, as far as somebody looked
}

func newQueue(a *pace.Arrivals, seed uint64) (*queue, error) {
	coming, err := a.Schedule(seed)
	if err != nil {
		return nil, err
	}
	waiting, err := a.Schedule(seed)
	if err != nil {
		return nil, err
	}
	return &queue{limit: a.Queue, coming: coming, next: coming.Next(), waiting: waiting}, nil
}

// take gives the caller the next arrival, pace.Never if none comes any more.
func (q *queue) take(now time.Duration) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.look(now)
	q.taken++
	return q.waiting.Next()
}

// look lets arrive what is due. Of more than may wait the oldest are shed: that
// this is seen only now makes no difference, as nobody took one meanwhile.
func (q *queue) look(now time.Duration) {
	for q.next <= now {
		q.arrived++
		q.next = q.coming.Next()
	}
	waiting := q.arrived - q.taken - q.shed
	q.greatest = max(q.greatest, waiting)
	if q.limit == 0 {
		return
	}
	q.greatest = min(q.greatest, q.limit)
	for ; waiting > q.limit; waiting-- {
		q.waiting.Next()
		q.shed++
	}
}

// at tells how the queue stands.
func (q *queue) at(now time.Duration) (arrived, shed, waiting int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.look(now)
	// Clients that wait for an arrival have taken one that is not due.
	return q.arrived, q.shed, max(0, q.arrived-q.taken-q.shed)
}

// leave records for how long those had waited that nobody had taken at the end.
func (q *queue) leave(end time.Duration, waits *hist.Dist) {
	for n := q.arrived - q.taken - q.shed; n > 0; n-- {
		waits.Record(int64(end - q.waiting.Next()))
	}
}
